"""Records on disk: JSON lines that are only ever appended to, and survive an interruption.

A file has lines of two kinds. An *environment* (commit, versions) is written once for every commit
and set of versions; records name it by its hash. All records of a config are written together, and
each says how many there are: a batch that was cut short is dropped when the file is next opened.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any

from experiments.framework.experiment import Config, Record
from oracle_dp import Guarantee

FOLDER = Path(__file__).parents[1] / "records"
LIBRARIES = ("oracle-dp", "numpy", "scipy", "scikit-learn", "highspy", "numba", "dp-accounting")


class RecordsError(ValueError):
    """A file of records is damaged; names the line."""


def path_of(name: str, quick: bool) -> Path:
    """Where an experiment's records are; those of quick runs are not kept by git."""
    return FOLDER / (f"{name}.quick.jsonl" if quick else f"{name}.jsonl")


def canonical(config: Config) -> str:
    """The same text for the same config.

    Raises:
        ValueError: It holds NaN or an infinity, which JSON does not.
    """
    return json.dumps(config, sort_keys=True, allow_nan=False, separators=(",", ":"))


def identity(name: str, config: Config) -> str:
    """Hash of experiment and config: the first part of a record's id."""
    return hashlib.sha256(f"{name} {canonical(config)}".encode()).hexdigest()[:10]


def root(record: Record) -> str:
    """The first part of a record's id: which config it is of."""
    found: str = record["id"].rpartition("-")[0]
    return found


def environment(commit: str | None) -> dict[str, Any]:
    """Commit and versions, with the hash that records name it by."""
    found: dict[str, Any] = {
        "commit": commit,
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in LIBRARIES},
    }
    return {"environment": hashlib.sha256(canonical(found).encode()).hexdigest()[:10]} | found


def promised(guarantee: Guarantee) -> Record:
    """What a record says of a release: relation, epsilon, delta, and the guarantee in short."""
    return {
        "neighbors": guarantee.neighbors.value,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "guarantee": {
            "theorem": guarantee.theorem,
            "certificate": guarantee.certificate.value,
            "contingencies": [one.kind.value for one in guarantee.contingencies],
        },
    }


def batch(
    name: str, config: Config, found: Sequence[Record], extra: Mapping[str, Any]
) -> list[Record]:
    """What ``run`` returned, with what makes it traceable.

    Raises:
        ValueError: Nothing was returned, or a name that belongs to the runner.
    """
    if not found:
        raise ValueError(f"{name}: no record for {canonical(config)}")
    first, records = identity(name, config), []
    for i, own in enumerate(found):
        added = {"id": f"{first}-{i}", "of": len(found), "config": dict(config), **extra}
        taken = added.keys() & own.keys()
        if taken:
            raise ValueError(f"{name}: names of the runner in a record: {sorted(taken)}")
        records.append({**added, **own})
    return records


def load(path: Path) -> list[Record]:
    """All whole batches of a file, with their environment's entries; empty if there is no file.

    Raises:
        RecordsError: It has a line that is no record, or names an environment that it lacks.
    """
    records, environments = [], {}
    for line in _lines(path):
        if "id" in line:
            records.append(line)
        else:
            environments[line["environment"]] = line
    lost = {record["environment"] for record in records} - environments.keys()
    if lost:
        raise RecordsError(f"{path}: no line of environment {', '.join(sorted(lost))}; restore it")
    return [{**environments[record["environment"]], **record} for record in whole(records)]


def whole(records: Iterable[Record]) -> list[Record]:
    """Records of the configs that have all of theirs; of two with the same id the later."""
    every = list({record["id"]: record for record in records}.values())
    present = Counter(root(record) for record in every)
    return [r for r in every if present[root(r)] == r["of"]]


def _lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file, without one that was cut short at the end.

    Raises:
        RecordsError: A line is not one of records.
    """
    if not path.exists():
        return []
    *lines, torn = path.read_text(encoding="utf-8").split("\n")
    del torn  # What follows the last line feed: nothing, or a line that was cut short.
    return [_read(path, number, line) for number, line in enumerate(lines, 1)]


def _read(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        read = json.loads(line)
    except json.JSONDecodeError:
        read = None
    wanted = ("of", "config", "environment") if "id" in (read or ()) else ("environment",)
    if not isinstance(read, dict) or any(name not in read for name in wanted):
        raise RecordsError(
            f"{path}, line {number}: not a record; restore the file, or delete this line, and what "
            "it belonged to is computed again"
        )
    return read


def _whole_bytes(path: Path) -> int:
    """Where the last line ends that belongs to a whole batch or to none after it.

    Only the end can have been cut short. A batch that lacks lines elsewhere is left alone: it
    counts as not there.
    """
    lines = path.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    kept, last = len(lines), json.loads(lines[-1]) if lines else {}
    if "id" in last:
        first, begun = root(last), 0
        while begun < kept and _root(lines[kept - 1 - begun]) == first:
            begun += 1
        kept -= begun if begun < last["of"] else 0
    return sum(map(len, lines[:kept]))


def _root(line: bytes) -> str | None:
    read = json.loads(line)
    return root(read) if "id" in read else None


class Store:
    """A file that one run at a time appends to.

    Args:
        path: Of the file; its folder is made.

    Raises:
        BlockingIOError: Another run has it open.
        RecordsError: It has a line that is no record. Nothing is changed.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = path.open("a", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise BlockingIOError(f"{path}: another run is writing to it") from None
        try:
            self._known = {line["environment"] for line in _lines(path) if "id" not in line}
        except RecordsError:
            self._file.close()
            raise
        self._file.truncate(_whole_bytes(path))
        self.done = {root(record) for record in load(path)}

    def append(self, where: Mapping[str, Any], records: Sequence[Record]) -> None:
        """Write a config's records, and their environment if it is new; on disk on return."""
        lines = [_text(record) for record in records]
        if where["environment"] not in self._known:
            lines.insert(0, _text(where))
            self._known.add(where["environment"])
        self._file.write("".join(lines))
        self._sync()
        self.done.add(root(records[0]))

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Store:
        """The store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file, and free it for the next run."""
        self._file.close()


def _text(line: Mapping[str, Any]) -> str:
    return json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n"
