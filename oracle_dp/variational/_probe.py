"""Looking at a caller's own operator before anything is charged.

Classes that ship see to their shapes, finiteness and monotonicity. A caller's function may return
anything: what is wrong with it should not be found once the budget is spent. Passing proves
nothing. Whether a look fails depends on records, as all validation of data does.
"""

from __future__ import annotations

import numpy as np

from oracle_dp.errors import ParameterError
from oracle_dp.noise.floating import FloatArray
from oracles.errors import ProblemError
from oracles.monotone import RecordOperator, sample_points
from oracles.monotone.operators import Records

ENTRIES = 1 << 22
"""Numbers that are held at once."""
PAIRS, LOOKED_AT = 16, 256
"""Pairs of public points, and up to how many records, of which monotonicity is asked."""
SLACK = 1e-9
"""Of L, for what rounding may do to an inner product of differences."""


def check_values(operator: RecordOperator) -> None:
    """Evaluate an operator once for every record, at the centre of its set.

    Raises:
        ParameterError: Its values are not finite numbers of shape ``(records, dimension)``.
    """
    if operator.enforced:
        return
    n, point = operator.n_records, operator.domain.centre
    # Batches are positions or the slice of all; both must be understood.
    _values(operator, point, slice(0, 1), 1)
    rows = max(1, ENTRIES // operator.domain.dimension)
    for start in range(0, n, rows):
        chosen = np.arange(start, min(start + rows, n), dtype=np.int64)
        _values(operator, point, chosen, len(chosen))


def refuted(operator: RecordOperator) -> bool:
    """Whether pairs of public points show a record's operator not to be monotone."""
    if operator.enforced or not operator.monotone:
        return False
    count = min(operator.n_records, LOOKED_AT)
    spread = np.linspace(0, operator.n_records - 1, count).astype(np.int64)
    points = sample_points(operator.domain, 2 * PAIRS, np.random.default_rng(0))
    for first, second in zip(points[:PAIRS], points[PAIRS:], strict=True):
        step = first - second
        before = _values(operator, first, spread, count)
        after = _values(operator, second, spread, count)
        rounding = 1e-12 * operator.bound * np.linalg.norm(step)
        least = float(((before - after) @ step).min())
        if least < -SLACK * operator.lipschitz * (step @ step) - rounding:
            return True
    return False


def _values(
    operator: RecordOperator, point: FloatArray, records: Records, count: int
) -> FloatArray:
    """The records' operators at a point, checked."""
    try:
        found = operator.per_record(point, records)
    except ProblemError as error:  # Of its shape, which tells no value.
        raise ParameterError(f"operator: its {error}") from error
    try:
        values = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        # Not chained: the original message may quote a value.
        raise ParameterError(
            f"operator: its function returned a {type(found).__name__} that is no array of numbers"
        ) from None
    expected = (count, operator.domain.dimension)
    if values.shape != expected:
        raise ParameterError(
            f"operator: its function returned shape {values.shape} for {count} records, not "
            f"{expected}: one row for each record that is asked for, one column per coordinate"
        )
    if not np.isfinite(values).all():
        columns = np.flatnonzero(~np.isfinite(values).all(axis=0)).tolist()
        raise ParameterError(
            f"operator: its function returned NaN or infinite values in coordinates {columns[:10]};"
            " it must be finite on the set for every record; oracles.monotone.Clipped counts such "
            "records as 0"
        )
    return values
