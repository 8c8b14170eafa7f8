"""Planted faults of the convex, first-order, second-order and variational mechanisms."""

from __future__ import annotations

from tests.mutations.fault import Fault

STANDING = ("tests/oracle_dp/audit/test_standing.py", "-k", "closed_forms")

CONVEX_FAULTS = [
    Fault(
        "noise of all gradient steps as for one",
        "oracle_dp/first_order/gd.py",
        "scale = sensitivity.gradient(losses, target.reach) * math.sqrt(total) / target.mu",
        "scale = sensitivity.gradient(losses, target.reach) / target.mu",
        STANDING,
    ),
    Fault(
        "the wrong neighbour relation, for gradients",
        "oracle_dp/mechanisms/spending.py",
        "return 2 if self.neighbors is Neighbors.REPLACE else 1",
        "return 1",
        STANDING,
    ),
    Fault(
        "noise on one triangle of a matrix",
        "oracle_dp/second_order/damped.py",
        "return np.asarray(matrix + (whole + whole.T) / 2)",
        "return np.asarray(matrix + (whole + whole.T) / 4)",
        STANDING,
    ),
    Fault(
        "a direction's noise without the bound on one record",
        "oracle_dp/second_order/sensitivity.py",
        "return largest / (losses.size * floor**2 + largest * floor)",
        "return largest / (losses.size * floor**2 + 2 * largest * floor)",
        STANDING,
    ),
    Fault(
        "a proximal step as if its batch were twice as large",
        "oracle_dp/variational/calibration.py",
        "change = reach * bound / schedule.batch_size",
        "change = reach * bound / (2 * schedule.batch_size)",
        STANDING,
    ),
    Fault(
        "objective perturbation for half a slope",
        "oracle_dp/mechanisms/gaussian_objective.py",
        "scale=reach / mu,",
        "scale=reach / mu / 2,",
        STANDING,
    ),
    Fault(
        "a budget lowered below what is spent",
        "oracle_dp/amendment.py",
        "if not fits(changed, spent):",
        "if not fits(changed, Total()):",
        ("tests/oracle_dp/test_amendment.py",),
    ),
]
