"""Which mechanism trains a logistic regression, and with which settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from oracle_dp.errors import ParameterError
from oracle_dp.privacy import Neighbors, Release
from oracle_dp.record_losses import LinearModelLoss, require_bounded
from oracles.arrays import FloatArray
from oracles.convex import Rows

if TYPE_CHECKING:
    from oracle_dp.mechanisms.sampled_minimum import SampledMinimum

Settings = Mapping[str, Any]
Train = Callable[[LinearModelLoss, dict[str, Any], dict[str, Any]], Release[Any]]
"""Takes losses, what all methods are given and the method's own options; releases w, or w with what
is promised of it."""


def _newton(
    losses: LinearModelLoss, common: dict[str, Any], own: dict[str, Any]
) -> Release[FloatArray]:
    from oracle_dp.second_order.double_noise import DoubleNoise, double_noise_newton

    return double_noise_newton(losses, settings=DoubleNoise(**own), **common)


def _simple(module: str, function: str) -> Train:
    def train(
        losses: LinearModelLoss, common: dict[str, Any], own: dict[str, Any]
    ) -> Release[FloatArray]:
        from importlib import import_module

        run = getattr(import_module(f"oracle_dp.{module}"), function)
        released: Release[FloatArray] = run(losses, **common, **own)
        return released

    return train


def _opsamp(
    losses: LinearModelLoss, common: dict[str, Any], own: dict[str, Any]
) -> Release[SampledMinimum]:
    from oracle_dp.mechanisms.opsamp import opsamp
    from oracles.convex.perturbed import BallProblem

    require_bounded(losses, Neighbors.parse(common["neighbors"]))
    rows = losses.problem.rows
    assert isinstance(rows, Rows), "of a method that cannot stream"
    radius = own.pop("radius", 5.0)
    if not isinstance(radius, int | float) or not 0 < radius < math.inf:
        raise ParameterError(f"radius: a positive number expected, not {radius!r}")
    # Above what rounding allows the solver to prove.
    n, d = losses.size, losses.dimension
    gap = max(1e-6, 100 * radius * n * (n + d) * 2.0**-53)
    reach = 2 if Neighbors.parse(common["neighbors"]) is Neighbors.REPLACE else 1
    released: Release[SampledMinimum] = opsamp(
        BallProblem(rows=rows, radius=radius, gap=gap),
        # A logistic loss of margins in [-R, R] spans log((1 + e^R) / (1 + e^-R)) = R exactly.
        oscillation=reach * radius,
        oscillation_source="proved for the logistic loss of rows of norm 1 over a ball",
        size=losses.size,
        gap=gap,
        **common,
        **own,
    )
    return released


METHODS: dict[str, tuple[Train, tuple[str, ...]]] = {
    "objective_gaussian": (
        _simple("mechanisms.gaussian_objective", "gaussian_objective"),
        ("ridge_share", "ridge"),
    ),
    "newton": (
        _newton,
        (
            "steps", "refresh", "curvature", "modification", "gradient_share", "trace_share",
            "floor_factor", "floor",
        ),
    ),
    "gd": (_simple("first_order.gd", "gradient_descent"), ("steps", "step_size")),
    "sgd": (
        _simple("first_order.sgd", "stochastic_gradient_descent"),
        ("steps", "step_size", "batch"),
    ),
    "minibatch": (
        _simple("second_order.minibatch", "minibatch_newton"),
        ("steps", "batch", "curvature", "floor"),
    ),
    "preconditioned": (
        _simple("second_order.preconditioned", "preconditioned_descent"),
        ("steps", "matrices", "matrix_share", "curvature"),
    ),
    "damped": (_simple("second_order.damped", "damped_newton"), ("steps", "gradient_share")),
    "cubic": (
        _simple("second_order.cubic", "cubic_newton"),
        ("steps", "radius", "convexity", "most_inner_steps"),
    ),
    "amp": (_simple("mechanisms.approximate_objective", "approximate_objective"), ("noise_share",)),
    "objective": (
        _simple("mechanisms.classical_objective", "classical_objective"),
        ("ridge_share", "ridge"),
    ),
    "opsamp": (_opsamp, ("radius", "calls", "perturbation", "scale", "n_jobs")),
}  # fmt: skip
"""The method's function, and the names of the options that it has. The first is the default."""

PURE = ("objective",)
"""Methods with delta = 0."""


IN_MEMORY = ("opsamp",)
"""Methods that cannot stream their rows."""


def select(
    method: str, options: Settings | None, *, streamed: bool = False
) -> tuple[Train, dict[str, Any]]:
    """A method by name, with its options checked by name.

    Raises:
        ParameterError: There is no such method, it has no such option, or it cannot stream.
    """
    if not isinstance(method, str) or method not in METHODS:
        raise ParameterError(
            f"method: one of {', '.join(map(repr, METHODS))} expected, not {method!r}"
        )
    if streamed and method in IN_MEMORY:
        raise ParameterError(
            f"method: {method!r} minimises about a thousand times and would read all rows at every "
            "step of each; take 'objective_gaussian' or 'preconditioned', or fit(X, y) in memory"
        )
    train, known = METHODS[method]
    given = {} if options is None else options
    if not isinstance(given, Mapping):
        raise ParameterError(f"options: a mapping expected, not {options!r}")
    for name in given:
        if name not in known:
            has = ", ".join(map(repr, known))
            raise ParameterError(f"options: method {method!r} has {has}, not {name!r}")
    return train, dict(given)


def default_delta(method: str, size: int) -> float:
    """0 for a pure method; otherwise ``size^-2``, at most 1e-4, which is public."""
    return 0.0 if method in PURE else small_delta(size)


def small_delta(size: int) -> float:
    """``size^-2``, at most 1e-4: well below the chance of picking one record out of ``size``."""
    return min(1e-4, float(size) ** -2)
