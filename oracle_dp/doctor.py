"""Is this installation to be relied on? Versions, exact noise, ledger files, and every backend.

The checks of a backend are :mod:`oracles.selftest`'s; here is what a release needs besides.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from oracle_dp.errors import OverspendError, ParameterError
from oracles import Exhaustive, Highs, Oracle, OracleError, Pulp
from oracles.cp_sat import CpSat
from oracles.scip import Scip
from oracles.selftest import Check, Severity, examine

PACKAGES = (
    *("oracle-dp", "dp-accounting", "highspy", "numba", "numpy", "pandas", "pulp"),
    *("python-flint", "scikit-learn", "scipy"),
)

DRAWS = 4_000

STREAM = 0x459C2C8DB34E8766
"""The first word of ``SeededBits(0)``, on every platform."""


@dataclass(frozen=True)
class Section:
    """What is examined, and how.

    Attributes:
        title: For the report.
        checks: Run as they are iterated over.
    """

    title: str
    checks: Iterator[Check]


def sections(backends: Sequence[str] = ()) -> Iterator[Section]:
    """Everything, one section after the other.

    Args:
        backends: ``module:Class`` of oracles to examine instead of those that are installed.

    Raises:
        ParameterError: One of them is no oracle.
    """
    asked = [load_backend(name) for name in backends]
    yield Section("installation", _installation())
    yield Section("noise", _noise())
    yield Section("ledger", _ledger())
    for oracle in asked or _installed():
        if isinstance(oracle, Check):
            yield Section("a solver behind PuLP", iter([oracle]))
        else:
            yield Section(f"backend {_named(oracle)}", examine(oracle))


def load_backend(name: str) -> Oracle:
    """An oracle from ``module:Class``; the class is called without arguments.

    Raises:
        ParameterError: There is none, or it is no oracle.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ParameterError(f"backend: module:Class expected, not {name!r}")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # As 'python -m' does, and a console script does not.
    try:
        made: Any = getattr(importlib.import_module(module), attribute)()
        known = isinstance(made, Oracle) and isinstance(made.name, str)
    # Anything else too, an exit with code 0 above all: it would pass for a report without a fault.
    except (Exception, SystemExit) as error:
        raise ParameterError(f"backend: {name!r} cannot be made ({error})") from None
    if not known:
        raise ParameterError(f"backend: {name!r} is no oracle: it needs 'name' and 'minimize'")
    oracle: Oracle = made
    return oracle


def _named(oracle: Oracle) -> str:
    plain = oracle != Highs(presolve=False)
    return oracle.name if plain else f"{oracle.name} without presolve"


def _installed() -> Iterator[Oracle | Check]:
    """Every backend that can be made here, or why not."""
    try:
        import pulp
    except ImportError:
        names = []
    else:
        names = pulp.listSolvers(onlyAvailable=True)
    yield Exhaustive()
    yield Highs()
    yield Highs(presolve=False)
    for package, extra in (("ortools", CpSat()), ("pyscipopt", Scip())):
        if find_spec(package):
            yield extra
    for name in names:
        try:
            yield Pulp(name)
        except OracleError as error:
            yield Check(name, Severity.LIMITED, f"cannot be used: {error}")


def _installation() -> Iterator[Check]:
    yield Check(f"Python {platform.python_version()}, {platform.platform()}", Severity.FINE)
    for package in PACKAGES:
        try:
            yield Check(f"{package} {version(package)}", Severity.FINE)
        except PackageNotFoundError:
            remedy = "not installed: pip install oracle-dp installs what is needed"
            yield Check(package, Severity.UNSAFE, remedy)


def _noise() -> Iterator[Check]:
    from oracle_dp.noise import SeededBits, SystemBits, bernoulli_exp

    source = SystemBits()
    words = {source.bits(64) for _ in range(1_000)}
    fresh = len(words) == 1_000
    remedy = "words repeat: nothing released here is private; use another machine"
    yield _expect("the operating system's bits", fresh, remedy)
    if not fresh:
        return  # Samplers need not end on such bits.
    yield _expect(
        "the seeded stream",
        SeededBits(0).bits(64) == STREAM,
        "differs from other platforms': seeded runs cannot be repeated elsewhere",
    )
    hits = sum(bernoulli_exp(Fraction(1), source) for _ in range(DRAWS))
    # Six standard deviations: two in a billion.
    likely = abs(hits - DRAWS / 2.718281828) < 6 * (DRAWS * 0.2325) ** 0.5
    yield _expect(
        "exact noise", likely, "draws do not have their law: do not release anything from here"
    )
    if hasattr(os, "fork"):
        yield _expect(
            "bits after a fork",
            _child_differs(source),
            "a child repeats its parent's bits: use processes that are spawned",
        )


def _child_differs(source: Any) -> bool:
    """Whether a forked child draws other bits than its parent does next."""
    source.bits(1)  # So that there is a buffer to repeat.
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, source.bits(64).to_bytes(8, "big"))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        drawn = int.from_bytes(pipe.read(8), "big")
    os.waitpid(child, 0)
    return bool(drawn != source.bits(64))


def _ledger() -> Iterator[Check]:
    from oracle_dp.ledger import Budget, Charge, Ledger
    from oracle_dp.privacy import Neighbors

    charge = Charge(
        dataset="toy",
        mechanism="doctor",
        epsilon=Fraction(1),
        delta=Fraction(0),
        neighbors=Neighbors.REPLACE,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        Ledger.create(path, {"toy": Budget(epsilon=1)}).charge(charge)
        try:
            Ledger.open(path).charge(charge)
            refused = False
        except OverspendError:
            refused = True
        kept = len(Ledger.open(path).charges) == 1
    remedy = "an overspend was not refused: keep ledgers on a local disk"
    yield _expect("a ledger's file refuses an overspend", refused and kept, remedy)


def _expect(what: str, held: bool, remedy: str) -> Check:
    return Check(what, Severity.FINE) if held else Check(what, Severity.UNSAFE, remedy)
