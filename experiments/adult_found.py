"""Records of :mod:`experiments.adult_accuracy`, of one set of attributes, by what they are of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from experiments.adult_curves import Curve, shown_in
from experiments.framework import Record


class Found:
    """The records of one set of attributes.

    Args:
        references: The records without privacy, by kind.
        runs: The records of each mechanism, by epsilon.
    """

    def __init__(
        self, references: Mapping[str, Record], runs: Mapping[str, Mapping[float, Record]]
    ) -> None:
        self.references = references
        self.runs = runs

    @classmethod
    def of(cls, records: Iterable[Record]) -> Found:
        """Sort them; there is one for every point."""
        references: dict[str, Record] = {}
        runs: dict[str, dict[float, Record]] = {}
        for record in records:
            config = record["config"]
            if "reference" in config:
                references[config["reference"]] = record
            else:
                runs.setdefault(config["mechanism"], {})[config["epsilon"]] = record
        return cls(references, runs)

    @property
    def epsilons(self) -> list[float]:
        """All that occur."""
        return sorted({epsilon for points in self.runs.values() for epsilon in points})

    def curves(self, figure: str) -> dict[str, Curve]:
        """Those of a figure that have records."""
        return {name: curve for name, curve in shown_in(figure).items() if name in self.runs}

    def reached(self, name: str) -> list[Record]:
        """The records of a curve that have errors, by epsilon."""
        return [r for r in self._ordered(name) if r["reached"]]

    def tried(self, name: str) -> list[Record]:
        """Those, and the ones that were tried in vain, which are gaps in a line."""
        return [r for r in self._ordered(name) if r["reached"] or r["reason"] != "not tried"]

    def lost(self, name: str) -> list[Record]:
        """Those without errors, by epsilon."""
        return [r for r in self._ordered(name) if not r["reached"]]

    def _ordered(self, name: str) -> list[Record]:
        return [r for _, r in sorted(self.runs.get(name, {}).items())]
