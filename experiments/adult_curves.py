"""The curves of the comparison on Adult: name, mechanism, and which figures show them."""

from __future__ import annotations

from dataclasses import dataclass

from experiments import adult_mechanisms as run
from experiments.adult_mechanisms import Mechanism


@dataclass(frozen=True)
class Curve:
    """One mechanism in one or both figures of a feature set.

    Attributes:
        label: In the legend, of at most 20 letters.
        detail: In the table.
        mechanism: What runs it.
        pure: Whether delta is 0; else it is n^-2.
        figures: Of ``FIGURES``, which show it.
        known_bad: Not private as claimed.
    """

    label: str
    detail: str
    mechanism: Mechanism
    pure: bool
    figures: tuple[str, ...]
    known_bad: bool = False


ERRORS, LOGISTIC = "errors", "logistic"
FIGURES = {
    LOGISTIC: "against private logistic regression",
    ERRORS: "mechanisms that minimise errors",
}

CURVES = {
    "exponential": Curve(
        "exact exponential", "exact draw from the exponential mechanism",
        run.exponential, True, (ERRORS, LOGISTIC),
    ),
    "opdisc_one_hot": Curve(
        "OPDisc one-hot", "OPDisc, one-hot lift, geometric noise",
        run.objective_perturbation("one_hot", "geometric"), True, (ERRORS,),
    ),
    "opdisc_pi_gamma": Curve(
        "OPDisc pi gamma", "OPDisc, lift pi, gamma-norm noise",
        run.objective_perturbation("pi", "gamma_norm"), True, (ERRORS,),
    ),
    "opdisc_pi_gaussian": Curve(
        "OPDisc pi Gaussian", "OPDisc, lift pi, calibrated Gaussian noise",
        run.objective_perturbation("pi", "gaussian"), False, (ERRORS,),
    ),
    "released_code": Curve(
        "code: NOT PRIVATE", "NOT PRIVATE as claimed: OPDisc with the released code's scale",
        run.released_code, False, (ERRORS,), known_bad=True,
    ),
    "top_r": Curve("Top-R", "Top-R, R = 10", run.capped, True, (ERRORS,)),
    "counts": Curve(
        "noisy counts", "noise on the counts of all cells", run.noisy_counts, True, (ERRORS,)
    ),
    "blockwise": Curve(
        "blockwise", "attribute by attribute, composed", run.attribute_by_attribute, True,
        (ERRORS,),
    ),
    "newton": Curve(
        "double-noise Newton", "logistic, double-noise Newton", run.logistic("newton"), False,
        (LOGISTIC,),
    ),
    "damped": Curve(
        "damped Newton", "logistic, damped Newton", run.logistic("damped"), False, (LOGISTIC,)
    ),
    "gd": Curve("DP-GD", "logistic, DP-GD", run.logistic("gd"), False, (LOGISTIC,)),
    "sgd": Curve("DP-SGD", "logistic, DP-SGD", run.logistic("sgd"), False, (LOGISTIC,)),
    "preconditioned": Curve(
        "preconditioned", "logistic, preconditioned descent",
        run.logistic("preconditioned"), False, (LOGISTIC,),
    ),
    "amp": Curve(
        "AMP", "logistic, approximate minima perturbation", run.logistic("amp"), False, (LOGISTIC,)
    ),
    "objective_gaussian": Curve(
        "objective, Gaussian", "logistic, Gaussian objective perturbation",
        run.logistic("objective_gaussian"), False, (LOGISTIC,),
    ),
    "objective": Curve(
        "objective, classical", "logistic, classical objective perturbation",
        run.logistic("objective"), True, (LOGISTIC,),
    ),
    "opsamp": Curve(
        "OPSamp", "logistic, OPSamp over a ball", run.logistic("opsamp"), False, (LOGISTIC,)
    ),
    "diffprivlib": Curve(
        "diffprivlib 0.6.6", "logistic, diffprivlib 0.6.6", run.diffprivlib, True, (LOGISTIC,)
    ),
}  # fmt: skip


def shown_in(figure: str) -> dict[str, Curve]:
    """The curves of one figure, in order."""
    return {name: curve for name, curve in CURVES.items() if figure in curve.figures}
