"""Differentially private optimisation: noise, accounting and release.

Public names are imported where they are used, so that ``oracle-dp --help`` answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle_dp.domain import Binned, Categorical, Crossed, Domain, Threshold
    from oracle_dp.errors import (
        ColumnTypeError,
        DomainError,
        LedgerError,
        LedgerFileError,
        OverspendError,
        ParameterError,
        PrivacyError,
        PrivacyLeakWarning,
        ReleaseFormatError,
        RepeatedFitWarning,
        UncertifiedError,
        VacuousBoundWarning,
    )
    from oracle_dp.estimators.linear_model import LinearModel
    from oracle_dp.estimators.logistic import LogisticRegression
    from oracle_dp.estimators.minimax import MinimaxClassifier
    from oracle_dp.estimators.one_vs_rest import OneVsRest
    from oracle_dp.estimators.scoring_card import ScoringCard
    from oracle_dp.estimators.zero_one import ZeroOneClassifier
    from oracle_dp.ledger import Budget, Charge, Composition, Ledger
    from oracle_dp.mechanisms.blockwise import blockwise
    from oracle_dp.mechanisms.counts import counts_zero_one
    from oracle_dp.mechanisms.exponential import ZeroOneExponential, exponential
    from oracle_dp.mechanisms.histogram import HistogramObjective
    from oracle_dp.mechanisms.opdisc import opdisc
    from oracle_dp.mechanisms.opsamp import opsamp
    from oracle_dp.mechanisms.top_r import top_r
    from oracle_dp.privacy import Guarantee, Neighbors, Release
    from oracle_dp.solve import solve_private

_HOMES = {
    "Binned": "domain",
    "Budget": "ledger",
    "Categorical": "domain",
    "Charge": "ledger",
    "ColumnTypeError": "errors",
    "Composition": "ledger",
    "Crossed": "domain",
    "Domain": "domain",
    "DomainError": "errors",
    "Guarantee": "privacy",
    "HistogramObjective": "mechanisms.histogram",
    "Ledger": "ledger",
    "LedgerError": "errors",
    "LedgerFileError": "errors",
    "LinearModel": "estimators.linear_model",
    "LogisticRegression": "estimators.logistic",
    "MinimaxClassifier": "estimators.minimax",
    "Neighbors": "privacy",
    "OneVsRest": "estimators.one_vs_rest",
    "OverspendError": "errors",
    "ParameterError": "errors",
    "PrivacyError": "errors",
    "PrivacyLeakWarning": "errors",
    "Release": "privacy",
    "ReleaseFormatError": "errors",
    "RepeatedFitWarning": "errors",
    "ScoringCard": "estimators.scoring_card",
    "Threshold": "domain",
    "UncertifiedError": "errors",
    "VacuousBoundWarning": "errors",
    "ZeroOneClassifier": "estimators.zero_one",
    "ZeroOneExponential": "mechanisms.exponential",
    "blockwise": "mechanisms.blockwise",
    "counts_zero_one": "mechanisms.counts",
    "exponential": "mechanisms.exponential",
    "opdisc": "mechanisms.opdisc",
    "opsamp": "mechanisms.opsamp",
    "solve_private": "solve",
    "top_r": "mechanisms.top_r",
}

__all__ = [
    "Binned",
    "Budget",
    "Categorical",
    "Charge",
    "ColumnTypeError",
    "Composition",
    "Crossed",
    "Domain",
    "DomainError",
    "Guarantee",
    "HistogramObjective",
    "Ledger",
    "LedgerError",
    "LedgerFileError",
    "LinearModel",
    "LogisticRegression",
    "MinimaxClassifier",
    "Neighbors",
    "OneVsRest",
    "OverspendError",
    "ParameterError",
    "PrivacyError",
    "PrivacyLeakWarning",
    "Release",
    "ReleaseFormatError",
    "RepeatedFitWarning",
    "ScoringCard",
    "Threshold",
    "UncertifiedError",
    "VacuousBoundWarning",
    "ZeroOneClassifier",
    "ZeroOneExponential",
    "blockwise",
    "counts_zero_one",
    "exponential",
    "opdisc",
    "opsamp",
    "solve_private",
    "top_r",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"oracle_dp.{_HOMES[name]}"), name)
