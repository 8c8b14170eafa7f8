"""What OPSamp releases: a point, and what public parameters alone promise of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle_dp.errors import ReleaseFormatError
from oracles.arrays import FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledMinimum:
    """A released point, with what the public parameters alone promise of it.

    Attributes:
        point: Shape ``(d,)``.
        excess: Bound on the expected excess loss per record over the minimum on W; None for
            losses that are not convex, for which there is none.
        baseline: The loss per record that costs no privacy, at w = 0.
        records_needed: About how many records it takes for ``excess`` to fall below
            ``baseline``, if as many calls are made as it takes; None with ``excess``.
        calls_needed: About how many calls that is, with so many records or with those there are
            if they are more; None with ``excess``.
    """

    point: FloatArray
    excess: float | None
    baseline: float
    records_needed: int | None
    calls_needed: int | None

    kind = "sampled_minimum"

    @property
    def is_vacuous(self) -> bool:
        """Whether the accuracy bound promises nothing; False without a bound."""
        return self.excess is not None and self.excess >= self.baseline

    @property
    def statement(self) -> str:
        """What is promised, in a sentence for a person."""
        if self.excess is None:
            return "no accuracy bound: the losses are not convex"
        if self.is_vacuous:
            return (
                f"USELESS AT THIS SIZE by its accuracy bound: expected excess loss up to "
                f"{self.excess:.3g} per record, where w = 0 costs {self.baseline:.3g}; it takes "
                f"about {self.records_needed:,} records and {self.calls_needed:,} calls"
            )
        return f"expected excess loss per record at most {self.excess:.3g}"

    def __str__(self) -> str:
        return f"{self.point}\n{self.statement}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "point": self.point.tolist(),
            "excess": self.excess,
            "baseline": self.baseline,
            "records_needed": self.records_needed,
            "calls_needed": self.calls_needed,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SampledMinimum:
        """Inverse of :meth:`to_dict`.

        Raises:
            ReleaseFormatError: A field is missing or malformed.
        """
        try:
            excess = data["excess"]
            records, calls = data["records_needed"], data["calls_needed"]
            return cls(
                point=np.array(data["point"], dtype=np.float64),
                excess=None if excess is None else float(excess),
                baseline=float(data["baseline"]),
                records_needed=None if records is None else int(records),
                calls_needed=None if calls is None else int(calls),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ReleaseFormatError(f"value: missing or malformed field ({error})") from error
