"""A local Dask cluster of two processes, one of which is killed in mid-run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import pytest

from oracle_dp import Ledger, LogisticRegression, UncertifiedError, opsamp, top_r
from oracle_dp.audit.standing import Method, run, standing_set
from oracle_dp.errors import DomainError
from oracle_dp.ledger import Budget
from oracle_dp.mechanisms.opsamp import _solve
from oracle_dp.sources import DaskSource, Source
from oracles.arrays import FloatArray
from oracles.convex import Rows
from oracles.convex.perturbed import BallProblem
from oracles.errors import WorkerError
from oracles.finite import FiniteTable
from tests.oracle_dp.deaths import DeadlyFunction, DeadlyProblem, mark_in
from tests.oracle_dp.sources.tables import classifier, table

dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: the extra [dask]")
distributed = pytest.importorskip("distributed", reason="Dask is not installed: the extra [dask]")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):  # fmt: skip
        yield connected


def ledger() -> Ledger:
    return Ledger({"d": Budget(epsilon=1, delta=1e-3)})


def problem(**changes: Any) -> BallProblem:
    draws = np.random.default_rng(0)
    x = draws.normal(size=(200, 2))
    x /= np.linalg.norm(x, axis=1)[:, None]
    kind = DeadlyProblem if changes else BallProblem
    return kind(rows=Rows(x, np.where(x[:, 0] > 0, 1.0, -1.0)), radius=1.0, **changes)


def sampled(given: BallProblem, n_jobs: int, spender: Ledger) -> FloatArray:
    release = opsamp(
        given, epsilon=1.0, delta=1e-5, oscillation=2.0, size=200, calls=12, random_state=5,
        n_jobs=n_jobs, ledger=spender, dataset="d",
    )  # fmt: skip
    return release.value.point


@pytest.fixture
def fifth(monkeypatch: pytest.MonkeyPatch) -> float:
    """The first coordinate of the fifth tilt under the seed."""
    seen: list[FloatArray] = []

    def keep(given: Any, tilts: FloatArray) -> FloatArray:
        seen.append(tilts)
        return _solve(given, tilts)

    with monkeypatch.context() as patch:
        patch.setattr("oracle_dp.mechanisms.opsamp._solve", keep)
        sampled(problem(), 1, ledger())
    return float(np.concatenate(seen)[4, 0])


@pytest.mark.parametrize("cluster", [True, False], ids=["dask", "loky"])
def test_a_workers_death_changes_neither_result_nor_ledger(
    cluster, client, fifth, tmp_path
) -> None:
    spender = ledger()
    alone = sampled(problem(), 1, ledger())
    deadly = problem(mark=str(mark_in(tmp_path)), tilt=fifth)
    if cluster:
        before = set(client.run(os.getpid).values())
        with joblib.parallel_config("dask"):
            found = sampled(deadly, -1, spender)
    else:
        found = sampled(deadly, 2, spender)
    assert mark_in(tmp_path).exists()
    assert (found == alone).all()
    assert len(spender.charges) == 1
    if cluster:
        client.wait_for_workers(2, timeout=30)
        assert set(client.run(os.getpid).values()) != before


def test_workers_that_always_die_end_the_run_and_the_charge_stays(monkeypatch) -> None:
    def dying(*_: Any, **__: Any) -> Iterator[Any]:
        raise WorkerError("workers died 3 times")
        yield

    monkeypatch.setattr("oracle_dp.mechanisms.opsamp.in_order", dying)
    monkeypatch.setattr("oracles.ranking.in_order", dying)
    spender = ledger()
    with pytest.raises(UncertifiedError, match="workers died"):
        sampled(problem(), 2, spender)
    assert len(spender.charges) == 1
    with pytest.raises(UncertifiedError, match="workers died"):
        top_r(FiniteTable([1, 2]), n_best=1, epsilon=1, sensitivity=1)


def test_top_r_is_the_same_on_the_cluster(client) -> None:
    draws = np.random.default_rng(3)
    losses = FiniteTable(draws.integers(0, 6, 40).tolist())  # Many ties.
    for seed in range(4):
        asked: dict[str, Any] = {
            "n_best": 7, "epsilon": 3.0, "sensitivity": 1, "random_state": seed,
        }  # fmt: skip
        alone = top_r(losses, **asked)
        with joblib.parallel_config("dask"):
            assert top_r(losses, n_jobs=-1, **asked).value == alone.value


def test_audits_are_the_same_on_the_cluster(client) -> None:
    chosen = [audit for audit in standing_set() if audit.method is Method.EXACT][:4]
    alone = [finding.measured for finding in run(chosen, seed=1)]
    with joblib.parallel_config("dask"):
        assert [finding.measured for finding in run(chosen, seed=1, n_jobs=-1)] == alone


# -- sums over a data frame ------------------------------------------------------------------


class DeadlySource(DaskSource):
    """A worker dies in the third pass."""

    mark: str
    passes: list[int]

    def select(self, columns: Any) -> DaskSource:
        return self

    def map(self, function: Any, each: Any) -> Iterator[Any]:
        self.passes.append(1)
        third = len(self.passes) == 3
        return super().map(DeadlyFunction(function, self.mark) if third else function, each)


def fitted(source: Source, spender: Ledger, **changes: Any) -> LogisticRegression:
    settings = {"method": "newton", "options": {"steps": 4}, **changes}
    return classifier(ledger=spender, dataset="d", **settings).fit_blocks(source, "label")


def test_sums_survive_the_death_of_a_worker(client, tmp_path) -> None:
    rows = dd.from_pandas(table(), npartitions=5)
    alone = fitted(DaskSource(rows), ledger()).coef_
    frame = table()
    memory = classifier(method="newton", options={"steps": 4}).fit(frame, frame["label"])
    assert np.allclose(alone, memory.coef_, rtol=1e-10)
    source, spender = DeadlySource(rows), ledger()
    source.mark, source.passes = str(mark_in(tmp_path)), []
    assert (fitted(source, spender).coef_ == alone).all()
    assert mark_in(tmp_path).exists()
    assert len(source.passes) == 5
    assert len(spender.charges) == 1


def test_a_cluster_and_threads_add_up_alike(client) -> None:
    rows = dd.from_pandas(table(), npartitions=5)
    there = fitted(DaskSource(rows), ledger()).coef_
    import dask

    with dask.config.set(scheduler="threads"):
        assert (fitted(DaskSource(rows), ledger()).coef_ == there).all()


@pytest.mark.parametrize("bad", ["mauve", None])
def test_what_is_wrong_is_named_by_its_partition(client, bad) -> None:
    frame = table()
    frame.loc[400, "colour"] = bad
    spender = ledger()
    with pytest.raises(DomainError, match=r"partition 2: column 'colour'") as caught:
        fitted(DaskSource(dd.from_pandas(frame, npartitions=5)), spender)
    assert "mauve" not in str(caught.value)
    assert spender.charges == ()


def test_partitions_of_other_types_and_unreadable_files(client, tmp_path) -> None:
    frame = table().drop(columns="colour")
    for k in range(3):
        frame.iloc[300 * k : 300 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    source = DaskSource(dd.read_parquet(str(tmp_path / "*.parquet"), split_row_groups=True))
    (tmp_path / "1.parquet").unlink()
    spender = ledger()
    with pytest.raises(DomainError, match="partition 1 cannot be read"):
        fitted(source, spender, domain=None)
    numbers = dd.from_map(
        lambda k: frame.iloc[:9].astype({"size": "float64" if k else "int64"}), [0, 1],
        meta=frame.iloc[:0],
    )  # fmt: skip
    with pytest.raises(DomainError, match="partition 1: column 'size' has another type"):
        fitted(DaskSource(numbers), spender, domain=None)
    assert spender.charges == ()
