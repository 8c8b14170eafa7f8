"""What a release costs, in every notion in which it is known, and how costs add up.

Theorem (docs/accounting.md, Theorems 1 to 3 and 6). Adaptive releases compose by adding epsilons
and deltas, by adding the rhos of zero-concentrated privacy, or by adding the squares of the mus of
Gaussian privacy; a group may be composed one way and the results added another. Each is valid, so
the least is.

Where its hypotheses are enforced: a spend holds only notions that are proven for it; figures are
exact rationals; every conversion is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from oracle_dp.accounting._numbers import above, figure
from oracle_dp.accounting.gaussian import composed_mu, gaussian_epsilon
from oracle_dp.accounting.zcdp import converted_epsilon
from oracle_dp.errors import ParameterError
from oracle_dp.privacy import Guarantee

_SPLITS = 64
"""How many ways to divide the releases between two methods are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """The cost of a release: every notion that is given holds for it.

    Args:
        epsilon: With ``delta``, of approximate differential privacy.
        delta: 0 for pure differential privacy.
        rho: Of zero-concentrated differential privacy.
        mu: Of Gaussian differential privacy; implies rho = mu^2 / 2.

    Raises:
        ParameterError: A figure is out of its range, or there is none.
    """

    epsilon: Fraction | float | None = None
    delta: Fraction | float = 0
    rho: Fraction | float | None = None
    mu: Fraction | float | None = None

    def __post_init__(self) -> None:
        if self.epsilon is None and self.rho is None and self.mu is None:
            raise ParameterError("epsilon: needed where neither rho nor mu is given")
        for name, high in (("epsilon", math.inf), ("delta", 1.0), ("rho", 1e6), ("mu", 1e3)):
            value = getattr(self, name)
            if value is not None:
                exact = figure(name, value, high=high, closed=True)
                object.__setattr__(self, name, exact)
        if self.epsilon is None and self.delta:
            raise ParameterError("delta: has no meaning without epsilon")
        if self.mu is not None:
            implied = Fraction(self.mu) ** 2 / 2
            known = implied if self.rho is None else min(implied, Fraction(self.rho))
            object.__setattr__(self, "rho", known)

    @classmethod
    def pure(cls, epsilon: float | Fraction, *, bounded_range: bool = False) -> Spend:
        """Of a pure mechanism, which is (epsilon^2 / 2)-zCDP too.

        Args:
            epsilon: In [0, 1e3].
            bounded_range: Whether its privacy loss lies in an interval of length epsilon, as the
                exponential mechanism's does: then it is (epsilon^2 / 8)-zCDP.
        """
        exact = figure("epsilon", epsilon, high=1e3, closed=True)
        return cls(epsilon=exact, rho=exact * exact / (8 if bounded_range else 2))

    @classmethod
    def approximate(cls, epsilon: float | Fraction, *, delta: float | Fraction) -> Spend:
        """Of a mechanism that is (epsilon, delta)-differentially private."""
        return cls(epsilon=epsilon, delta=delta)

    @classmethod
    def zcdp(cls, rho: float | Fraction) -> Spend:
        """Of a rho-zCDP mechanism."""
        return cls(rho=rho)

    @classmethod
    def gaussian(cls, mu: float | Fraction) -> Spend:
        """Of a mu-GDP mechanism, such as Gaussian noise with mu = sensitivity / sigma."""
        return cls(mu=mu)

    @classmethod
    def of(cls, guarantee: Guarantee) -> Spend:
        """Of a release, by its guarantee."""
        rho = guarantee.rho
        if rho is None and guarantee.delta == 0 and guarantee.epsilon < 1e3:
            return cls.pure(guarantee.epsilon)
        return cls(epsilon=guarantee.epsilon, delta=guarantee.delta, rho=rho)


def compose(spends: Iterable[Spend], *, delta: float | Fraction = 0) -> tuple[float, float]:
    """The least epsilon, of the methods here, for all of these releases together.

    Args:
        spends: Of adaptive releases on the same data, under the same neighbour relation.
        delta: The most that the whole may have, in [0, 1).

    Returns:
        Epsilon and delta, rounded up; delta is 0 or what was used where less was needed.

    Raises:
        ParameterError: No method meets this delta: it is less than what the releases add up to, or
            0 where a release is not known to have a pure epsilon.
    """
    allowed = figure("delta", delta, high=1, closed=True)
    entries = _checked(spends)
    candidates = list(_splits(entries, allowed))
    if allowed > 0 and len(entries) > 1 and all(e.epsilon and e.delta == 0 for e in entries):
        from oracle_dp.accounting.pure import compose_pure

        tight = compose_pure([Fraction(e.epsilon or 0) for e in entries], delta=allowed)
        candidates.append((tight, allowed))
    if not candidates:
        raise ParameterError(
            f"delta: {float(allowed):g} is too little for these releases; allow more"
        )
    epsilon, used = min(candidates)
    return epsilon, above(used)


def parallel(spends: Iterable[Spend]) -> Spend:
    """The cost of releases on disjoint parts of the data, of which one record touches only one.

    Which part a record is in must be public or, under ``"add_remove"`` and ``"zero_out"``, decided
    by that record alone. Under ``"replace"`` a record that moves from one part to another touches
    two, and this figure does not hold.

    Raises:
        ParameterError: No notion is known for all of them.
    """
    entries = _checked(spends)
    if not entries:
        return Spend(epsilon=0, rho=0, mu=0)
    epsilon, rho, mu = (
        _largest([getattr(e, n) for e in entries]) for n in ("epsilon", "rho", "mu")
    )
    if epsilon is None and rho is None and mu is None:
        raise ParameterError(
            "spends: some have only epsilon and delta and others only rho or mu; state the latter "
            "as epsilon and delta too (compose([spend], delta=...))"
        )
    delta = Fraction(0) if epsilon is None else max(Fraction(e.delta) for e in entries)
    return Spend(epsilon=epsilon, delta=delta, rho=rho, mu=mu)


def _checked(spends: Iterable[Spend]) -> list[Spend]:
    entries = list(spends)
    for entry in entries:
        if not isinstance(entry, Spend):
            raise ParameterError(f"spends: Spend objects expected, not {entry!r}")
    return entries


def _largest(figures: Sequence[Fraction | None]) -> Fraction | None:
    known = [value for value in figures if value is not None]
    return max(known) if len(known) == len(figures) else None


def _splits(entries: list[Spend], delta: Fraction) -> Iterable[tuple[float, Fraction]]:
    """Epsilon and delta of some ways to compose a part as zCDP or GDP and to add the rest."""
    plain = [e for e in entries if e.rho is None]
    forced = [e for e in entries if e.epsilon is None]
    either = [e for e in entries if e.rho is not None and e.epsilon is not None]
    # Those come first that gain most by concentration.
    either.sort(key=lambda e: (Fraction(e.rho or 0) / Fraction(e.epsilon or 1), e.epsilon))
    for n in _ends(either):
        together, added = forced + either[:n], plain + either[n:]
        used = sum((Fraction(e.delta) for e in added), Fraction(0))
        epsilon = sum((Fraction(e.epsilon or 0) for e in added), Fraction(0))
        if used > delta or used >= 1:
            continue
        if not any(e.rho for e in together):
            yield above(epsilon), used
        elif delta > used:
            yield above(epsilon + Fraction(_concentrated(together, delta - used))), delta


def _ends(entries: list[Spend]) -> list[int]:
    """Where runs of equal spends end: composing a part of equals grows like a root, never best."""
    ends = [n for n in range(1, len(entries)) if entries[n - 1] != entries[n]]
    stride = max(1, len(ends) // _SPLITS)
    return [0, *ends[::stride], len(entries)]


def _concentrated(entries: list[Spend], delta: Fraction) -> float:
    if all(e.mu is not None for e in entries):
        mu = composed_mu([Fraction(e.mu or 0) for e in entries])
        return gaussian_epsilon(delta, mu=mu)
    return converted_epsilon(sum((Fraction(e.rho or 0) for e in entries), Fraction(0)), delta)
