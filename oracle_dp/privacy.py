"""What a release promises, in data.

A :class:`Release` is a value and its :class:`Guarantee`, and nothing else that depends on the
private data. A guarantee names the theorem, the neighbour relation, the sensitivity and who vouches
for it, the parameters, the oracle's certificate, and the contingencies: the conditions under which
it holds that the theorem itself does not supply.
"""

from __future__ import annotations

import importlib
import json
import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from oracle_dp.contingency import FLOATING_POINT_NOISE as FLOATING_POINT_NOISE
from oracle_dp.contingency import RUNNING_TIME as RUNNING_TIME
from oracle_dp.contingency import Contingency as Contingency
from oracle_dp.contingency import ContingencyKind as ContingencyKind
from oracle_dp.errors import ParameterError, ReleaseFormatError
from oracles import Certificate

SCHEMA_VERSION = 1

ValueT = TypeVar("ValueT")


class Neighbors(Enum):
    """Which pairs of data sets the guarantee keeps alike."""

    REPLACE = "replace"
    """One record is changed; the number of records is public."""
    ADD_REMOVE = "add_remove"
    """One record is added or removed; the number of records is private."""
    ZERO_OUT = "zero_out"
    """One record's contribution is removed; the number of records is public."""

    @classmethod
    def parse(cls, given: Neighbors | str) -> Neighbors:
        """The member named by a string such as ``"replace"``.

        Raises:
            ParameterError: There is no such relation.
        """
        try:
            return cls(given)
        except ValueError:
            known = ", ".join(repr(member.value) for member in cls)
            raise ParameterError(f"neighbors: one of {known} expected, not {given!r}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """A differential-privacy guarantee.

    Attributes:
        mechanism: Name of the mechanism.
        theorem: The theorem it rests on and where its proof is.
        neighbors: The neighbour relation.
        epsilon: Of (epsilon, delta)-differential privacy.
        delta: 0 for pure differential privacy.
        rho: The same release in zero-concentrated differential privacy, or None if unknown.
        sensitivity: Range sensitivity of the loss: the most by which one record changes a
            difference of two losses. Where ``sensitivity_source`` says so, of something else.
        sensitivity_source: Who vouches for ``sensitivity``.
        certificate: What the optimality of the released point rests on.
        contingencies: Conditions that the theorem does not supply.
    """

    mechanism: str
    theorem: str
    neighbors: Neighbors
    epsilon: float
    delta: float
    rho: float | None
    sensitivity: float
    sensitivity_source: str
    certificate: Certificate
    contingencies: tuple[Contingency, ...]

    @property
    def is_private(self) -> bool:
        """False when the noise was seeded."""
        return all(c.kind is not ContingencyKind.SEEDED for c in self.contingencies)

    def __str__(self) -> str:
        pure = "pure " if self.delta == 0 else ""
        facts = [
            ("mechanism", self.mechanism),
            ("theorem", self.theorem),
            ("sensitivity", f"{self.sensitivity:g} ({self.sensitivity_source})"),
            ("certificate", self.certificate.value),
            *(("provided", f"{c.kind.value}: {c.detail}") for c in self.contingencies),
        ]
        head = (
            f"{pure}(epsilon = {self.epsilon:g}, delta = {self.delta:g}) differential privacy, "
            f"neighbours: {self.neighbors.value}"
        )
        lines = [
            textwrap.fill(f"  {name:<11}  {fact}", 88, subsequent_indent=" " * 15)
            for name, fact in facts
        ]
        return "\n".join(([] if self.is_private else ["SEEDED: NOT PRIVATE"]) + [head, *lines])

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "mechanism": self.mechanism,
            "theorem": self.theorem,
            "neighbors": self.neighbors.value,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "sensitivity": self.sensitivity,
            "sensitivity_source": self.sensitivity_source,
            "certificate": self.certificate.value,
            "contingencies": [
                {"kind": c.kind.value, "detail": c.detail} for c in self.contingencies
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Guarantee:
        """Inverse of :meth:`to_dict`.

        Raises:
            ReleaseFormatError: A field is missing or malformed.
        """
        try:
            return cls(
                mechanism=_text(data["mechanism"]),
                theorem=_text(data["theorem"]),
                neighbors=Neighbors(data["neighbors"]),
                epsilon=_figure(data["epsilon"]),
                delta=_figure(data["delta"], below=1),
                rho=None if data["rho"] is None else _figure(data["rho"]),
                sensitivity=_figure(data["sensitivity"]),
                sensitivity_source=_text(data["sensitivity_source"]),
                certificate=Certificate(data["certificate"]),
                contingencies=tuple(
                    Contingency(ContingencyKind(c["kind"]), _text(c["detail"]))
                    for c in _entries(data["contingencies"])
                ),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ReleaseFormatError(f"guarantee: missing or malformed field ({error})") from error


@runtime_checkable
class Releasable(Protocol):
    """A released value that can be saved; its ``kind`` is listed in ``_KINDS``."""

    kind: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        ...


# Imported only when such a release is read.
_KINDS = {
    "minimax": ("oracle_dp.estimators.minimax_model", "MinimaxModel"),
    "scoring_card": ("oracle_dp.estimators.scoring_card", "ScoringCard"),
    "one_vs_rest": ("oracle_dp.estimators.one_vs_rest", "OneVsRest"),
    "linear_model": ("oracle_dp.estimators.linear_model", "LinearModel"),
    "sampled_minimum": ("oracle_dp.mechanisms.sampled_minimum", "SampledMinimum"),
}


@dataclass(frozen=True, slots=True)
class Release(Generic[ValueT]):
    """A released value and its guarantee. Nothing else in it depends on the data."""

    value: ValueT
    guarantee: Guarantee

    def __str__(self) -> str:
        return f"{self.value}\n\n{self.guarantee}"

    def to_json(self, *, indent: int | None = 2) -> str:
        """The release as one JSON object with its schema version.

        Values are numbers, strings, arrays, sequences and mappings of them, or one
        :class:`Releasable`.

        Raises:
            ParameterError: The value is something else, or holds NaN or an infinity.
        """
        if isinstance(self.value, Releasable):
            kind, value = self.value.kind, self.value.to_dict()
        else:
            kind, value = "plain", _plain(self.value)
        release = {
            "schema": "oracle-dp/release",
            "version": SCHEMA_VERSION,
            "kind": kind,
            "value": value,
            "guarantee": self.guarantee.to_dict(),
        }
        try:
            return json.dumps(release, indent=indent, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"value: cannot be written as JSON ({error})") from error

    @classmethod
    def from_json(cls, text: str | bytes) -> Release[Any]:
        """Inverse of :meth:`to_json`.

        Sequences and arrays come back as tuples, keys of mappings as strings.

        Raises:
            ReleaseFormatError: The text is not a release, is damaged, or is of a newer version.
        """
        try:
            data = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise ReleaseFormatError("release: not JSON, or cut off; save it again") from error
        if not isinstance(data, dict) or data.get("schema") != "oracle-dp/release":
            raise ReleaseFormatError("release: this JSON is not a saved release of oracle-dp")
        version = data.get("version")
        if isinstance(version, bool) or version != SCHEMA_VERSION:
            found = repr(version) if isinstance(version, int | str) else "none that is a number"
            raise ReleaseFormatError(
                f"release: version {SCHEMA_VERSION} expected, found {found}; "
                "read it with the version of oracle-dp that wrote it"
            )
        missing = {"kind", "value", "guarantee"} - set(data)
        if missing:
            raise ReleaseFormatError(f"release: missing {', '.join(sorted(missing))}")
        guarantee = Guarantee.from_dict(data["guarantee"])
        return Release(_revive(data["kind"], data["value"]), guarantee)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text expected")
    return value


def _figure(value: object, *, below: float = math.inf) -> float:
    """A number in [0, below), as every figure of a guarantee is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("number expected")
    if not 0 <= value < below:
        raise ValueError("number out of its range")
    return float(value)


def _entries(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("list expected")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        keyed = {str(key): _plain(entry) for key, entry in value.items()}
        if len(keyed) < len(value):
            raise ParameterError("value: two keys of a mapping are the same as text")
        return keyed
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value


def _revive(kind: object, value: Any) -> Any:
    if kind == "plain":
        try:
            return _tuples(value)
        except RecursionError:
            raise ReleaseFormatError("release: its value is nested too deeply") from None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ReleaseFormatError(f"release: unknown kind of value {kind!r}")
    module, name = _KINDS[kind]
    return getattr(importlib.import_module(module), name).from_dict(value)


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_tuples(entry) for entry in value)
    if isinstance(value, dict):
        return {key: _tuples(entry) for key, entry in value.items()}
    return value
