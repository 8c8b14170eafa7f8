"""Evidence: lower bounds on epsilon, instances that can be computed, calibrations that must fail.

An audit can refute a claim and never prove it; the proofs are in docs/theory. ``oracle-dp audit``
runs the standing set, :mod:`oracle_dp.audit.standing`. Of mechanisms of your own:

- :func:`exact_epsilon`: from two finite laws;
- :func:`audit_by_draws`: from runs on neighbouring data sets;
- :func:`audit_in_one_run`: from one run with canaries.
"""

from oracle_dp.audit.bounds import counted_epsilon, event_epsilon, exact_epsilon
from oracle_dp.audit.one_run import audit_in_one_run, one_run_epsilon
from oracle_dp.audit.search import audit_by_draws

__all__ = [
    "audit_by_draws",
    "audit_in_one_run",
    "counted_epsilon",
    "event_epsilon",
    "exact_epsilon",
    "one_run_epsilon",
]
