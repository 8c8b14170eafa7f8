"""How many workers a caller asks for."""

from __future__ import annotations

from oracle_dp.errors import ParameterError


def workers(n_jobs: int | None) -> int | None:
    """A number of workers as joblib counts them, to be checked before anything is charged.

    Raises:
        ParameterError: It is none.
    """
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise ParameterError(
            f"n_jobs: a number of workers, -1 for all cores, or None expected, not {n_jobs!r}"
        )
    return n_jobs
