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
    """All whole batches of a file, with their environment's entries; empty if there is no file."""
    records, environments = [], {}
    for line in _lines(path):
        if "id" in line:
            records.append(line)
        else:
            environments[line["environment"]] = line
    return [{**environments[record["environment"]], **record} for record in whole(records)]


def whole(records: Iterable[Record]) -> list[Record]:
    """Records of the configs that have all of theirs."""
    every = list(records)
    present = Counter(root(record) for record in every)
    return [r for r in every if present[root(r)] == r["of"]]


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    *lines, torn = path.read_text(encoding="utf-8").split("\n")
    del torn  # What follows the last line feed: nothing, or a line that was cut short.
    return [json.loads(line) for line in lines]


def _whole_bytes(path: Path) -> int:
    """Where the last whole batch ends: what follows it was cut short."""
    end = position = 0
    batch_seen = 0
    for line in path.read_bytes().splitlines(keepends=True):
        position += len(line)
        if not line.endswith(b"\n"):
            break
        read = json.loads(line)
        batch_seen = batch_seen + 1 if "id" in read else 0
        if "id" in read and batch_seen == read["of"]:
            end, batch_seen = position, 0
    return end


class Store:
    """A file that one run at a time appends to.

    Args:
        path: Of the file; its folder is made.

    Raises:
        BlockingIOError: Another run has it open.
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
        self._file.truncate(_whole_bytes(path))
        self._known = {line["environment"] for line in _lines(path) if "id" not in line}
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
