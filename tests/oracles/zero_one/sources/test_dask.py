"""Dask: counted by a cluster's workers, who log no row of what they refuse."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from oracle_dp import Binned, Categorical, Domain
from oracles import ProblemError
from oracles.zero_one import CellTable

from .routes import same

DOMAIN = Domain([Categorical("sex", ("f", "m")), Binned("age", (30, 60))])
TARGET = Categorical("label", ("no", "yes"))
SECRET = "Zanzibar"


def people(n: int = 5000) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "sex": generator.choice(["f", "m"], n),
            "age": generator.integers(0, 99, n),
            "label": generator.choice(["no", "yes"], n),
        }
    )


@pytest.fixture(scope="module")
def cluster() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as made,
        Client(made) as client,
    ):
        yield client


def test_the_cluster_counts(cluster: Client) -> None:
    frame = people()
    expected = CellTable.from_frame(frame, DOMAIN, TARGET)
    parts = dd.from_pandas(frame, npartitions=20)
    assert same(CellTable.from_dask(parts, DOMAIN, TARGET), expected)
    ran = cluster.run(lambda dask_worker: dask_worker.state.executed_count)
    assert all(count > 0 for count in ran.values())


def test_what_is_refused_is_in_no_log(
    cluster: Client, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = people()
    frame.loc[4000, "sex"] = SECRET
    parts = dd.from_pandas(frame, npartitions=10)
    with (
        caplog.at_level(logging.DEBUG),
        pytest.raises(
            ProblemError, match="partition 8: column 'sex' has values outside its 2 public levels"
        ),
    ):
        CellTable.from_dask(parts, DOMAIN, TARGET)
    assert SECRET not in caplog.text + "".join(capfd.readouterr())


def test_what_cannot_be_read_is_in_no_log(
    cluster: Client, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    class Unreadable:
        def __str__(self) -> str:
            raise RuntimeError(SECRET)

    def spoilt(part: pd.DataFrame) -> pd.DataFrame:
        entries = [Unreadable() if i == 17 else "f" for i in part.index]
        return part.assign(sex=pd.Series(entries, part.index, object))

    frame = pd.DataFrame({"sex": ["f"] * 20, "age": 1, "label": "no"})
    whole = dd.from_pandas(frame, npartitions=4)
    parts = whole.map_partitions(spoilt, meta=whole._meta.astype({"sex": object}))
    with (
        caplog.at_level(logging.DEBUG),
        pytest.raises(ProblemError, match=r"partition 3: cannot be read \(RuntimeError\)"),
    ):
        CellTable.from_dask(parts, DOMAIN, TARGET)
    assert SECRET not in caplog.text + "".join(capfd.readouterr())


def test_a_schema_that_changes_half_way() -> None:
    parts = dd.from_pandas(people(), npartitions=4)
    ages = parts.map_partitions(
        lambda part: part.assign(age=part["age"].astype(str if part.index[0] > 2000 else int)),
        meta=parts._meta,
    )
    with pytest.raises(ProblemError, match="partition 2: column 'age' has another type"):
        CellTable.from_dask(ages, DOMAIN, TARGET)
