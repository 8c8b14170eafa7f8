"""Privacy accounting: conversions, calibrations and composition, never on the optimistic side.

Each function is named after what it returns. The theorems, and what is easily got wrong, are in
docs/accounting.md.
"""

from oracle_dp.accounting.gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu
from oracle_dp.accounting.pure import compose_pure
from oracle_dp.accounting.spend import Spend, compose, parallel
from oracle_dp.accounting.subsampled import (
    fixed_size_gaussian_epsilon,
    fixed_size_gaussian_noise_multiplier,
    poisson_gaussian_epsilon,
    poisson_gaussian_noise_multiplier,
)
from oracle_dp.accounting.zcdp import zcdp_epsilon, zcdp_rho

__all__ = [
    "Spend",
    "compose",
    "compose_pure",
    "fixed_size_gaussian_epsilon",
    "fixed_size_gaussian_noise_multiplier",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "parallel",
    "poisson_gaussian_epsilon",
    "poisson_gaussian_noise_multiplier",
    "zcdp_epsilon",
    "zcdp_rho",
]
