"""Monotone operators: variational inequalities and saddle points, with computable gaps.

A convex set W (:class:`Ball`, :class:`Box`, :class:`Simplex`, :class:`Product`, :class:`Polytope`),
an :class:`Operator` on it with its constants, and three methods: :func:`extragradient`,
:func:`extrapolate` and :func:`proximal_point`. Each answers with a point and a certificate
(:func:`strong_gap`). A :class:`RecordOperator` is a mean over records; those that ship are games
(:class:`BilinearGame`, :class:`MatrixGame`, :class:`QuadraticGame`) and worst-case logistic
regression (:class:`GroupRobustLogistic`, :class:`MaxLogistic`).
"""

from oracles.monotone.checks import (
    SampledProperties,
    check_operator,
    sample_points,
    sampled_properties,
)
from oracles.monotone.extragradient import extragradient, extragradient_iterations
from oracles.monotone.extrapolation import (
    extrapolate,
    extrapolation_iterations,
    extrapolation_run,
    iterations_for_gap,
)
from oracles.monotone.games import BilinearGame, MatrixGame, QuadraticGame
from oracles.monotone.gap import VariationalSolution, bilinear_gap, certificate, strong_gap
from oracles.monotone.operators import (
    Clipped,
    Operator,
    RecordFunction,
    RecordOperator,
    saddle_operator,
)
from oracles.monotone.polytope import Polytope
from oracles.monotone.product import Product
from oracles.monotone.proximal import proximal_point
from oracles.monotone.robust import GroupRobustLogistic, MaxLogistic
from oracles.monotone.sets import Ball, Box, ConvexSet
from oracles.monotone.simplex import CappedSimplex, Simplex

__all__ = [
    "Ball",
    "BilinearGame",
    "Box",
    "CappedSimplex",
    "Clipped",
    "ConvexSet",
    "GroupRobustLogistic",
    "MatrixGame",
    "MaxLogistic",
    "Operator",
    "Polytope",
    "Product",
    "QuadraticGame",
    "RecordFunction",
    "RecordOperator",
    "SampledProperties",
    "Simplex",
    "VariationalSolution",
    "bilinear_gap",
    "certificate",
    "check_operator",
    "extragradient",
    "extragradient_iterations",
    "extrapolate",
    "extrapolation_iterations",
    "extrapolation_run",
    "iterations_for_gap",
    "proximal_point",
    "saddle_operator",
    "sample_points",
    "sampled_properties",
    "strong_gap",
]
