"""The readers of files under a fuzzer that looks for new branches; needs ``pip install atheris``.

    python -m tests.fuzz.coverage_guided {csv,domain,mps,lp,ledger,release} [-max_total_time=60 ...]

The target's name is followed by libFuzzer's own options. An error that is not of the package's own
tree, a private value in a message, or a run of more than 10 seconds ends it, and writes the input.
Model files that HiGHS's parser does not bear are refused like others; they are kept, and named.
The tests of this folder do the same with hypothesis, in every run of the suite.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["oracle_dp", "oracles"]):
    import oracles.files
    from oracle_dp import Ledger, LedgerError, PrivacyError, Release, ReleaseFormatError
    from oracle_dp.cli.tables import read_table, with_numbers
    from oracle_dp.domain_file import DomainFile
    from oracles import IntegerProgram, ModelFileError

from tests.fuzz.edits import only
from tests.fuzz.test_ledger_files import GOOD, charge
from tests.fuzz.test_model_files import LP, MPS
from tests.fuzz.test_tables import CARD_DOMAIN, DOMAIN_FILE, RELEASE, ROWS

FOLDER = Path(tempfile.mkdtemp())
oracles.files.READ_SECONDS = 1.0


def written(content: bytes, name: str) -> Path:
    path = FOLDER / name
    path.write_bytes(content)
    return path


def csv(content: bytes) -> None:
    with only(PrivacyError):
        CARD_DOMAIN.encode(with_numbers(read_table(written(content, "rows.csv")), CARD_DOMAIN))


def domain(content: bytes) -> None:
    with only(PrivacyError):
        DomainFile.from_toml(content)


def release(content: bytes) -> None:
    with only(ReleaseFormatError):
        Release.from_json(content)


def model(content: bytes, suffix: str, reader: Callable[[Path], object]) -> None:
    with only(ModelFileError) as seen:
        reader(written(content, f"model{suffix}"))
    if any("READ_SECONDS" in str(error) for error in seen):
        digest = hashlib.sha256(content).hexdigest()[:16]
        print(seen[0], "\nkept:", written(content, f"{digest}{suffix}"), flush=True)


def mps(content: bytes) -> None:
    model(content, ".mps", IntegerProgram.from_mps)


def lp(content: bytes) -> None:
    model(content, ".lp", IntegerProgram.from_lp)


def ledger(content: bytes) -> None:
    with only(LedgerError):
        Ledger.open(written(content, "ledger")).charge(charge())


TARGETS: dict[str, tuple[Callable[[bytes], None], bytes]] = {
    "csv": (csv, ROWS),
    "domain": (domain, DOMAIN_FILE.encode()),
    "mps": (mps, MPS),
    "lp": (lp, LP),
    "ledger": (ledger, GOOD),
    "release": (release, RELEASE),
}


def main() -> None:
    """Fuzz one target, from a good file."""
    target, good = TARGETS[sys.argv[1]]
    seeds = Path(tempfile.mkdtemp())
    (seeds / "good").write_bytes(good)
    atheris.Setup([sys.argv[0], str(seeds), "-timeout=10", "-max_len=8192", *sys.argv[2:]], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
