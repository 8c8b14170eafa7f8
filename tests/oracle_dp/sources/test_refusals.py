"""What a source or a reader of rows must not let through, and what a message must not show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest

from oracle_dp import Ledger, ParameterError
from oracle_dp.audit.standing import run, standing_set
from oracle_dp.errors import DomainError
from oracle_dp.estimators.logistic_rows import RowReading
from oracle_dp.first_order.gd import gradient_descent
from oracle_dp.ledger import Budget
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.sources import ParquetSource
from oracles.convex import Rows
from tests.oracle_dp.sources.tables import classifier, files, table


def test_a_file_of_a_dataset_that_changes_ends_the_run(tmp_path, monkeypatch) -> None:
    files(tmp_path, table())
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3)})
    spend = ledger.charge

    def charge_and_change(charge: Any) -> None:
        spend(charge)
        turned = table().iloc[200:210]
        turned = turned.assign(label=np.where(turned["label"] == "yes", "no", "yes"))
        turned.to_parquet(tmp_path / "part-1.parquet", row_group_size=130, index=False)

    monkeypatch.setattr(ledger, "charge", charge_and_change)
    source = ParquetSource(ds.dataset(str(tmp_path), format="parquet"))
    with pytest.raises(DomainError, match=r"part-1.parquet, row group 0: the file has changed"):
        classifier(ledger=ledger, dataset="d").fit_blocks(source, "label")
    assert len(ledger.charges) == 1
    source = ParquetSource(ds.dataset(str(tmp_path), format="parquet"))
    (tmp_path / "part-0.parquet").unlink()
    with pytest.raises(DomainError, match=r"part-0.parquet, row group 0: .* no longer there"):
        classifier().fit_blocks(source, "label")


@pytest.mark.parametrize("n_jobs", [0, "2", 1.5, True])
def test_workers_that_are_no_number(tmp_path, n_jobs) -> None:
    files(tmp_path, table())
    with pytest.raises(ParameterError, match="n_jobs"):
        ParquetSource(tmp_path, n_jobs=n_jobs)
    with pytest.raises(ParameterError, match="n_jobs"):
        list(run(standing_set("law")[:1], seed=0, n_jobs=n_jobs))


def reading(columns: Sequence[str]) -> RowReading:
    return RowReading(
        columns=tuple(columns), target="label", classes=("no", "yes"), domain=None, bound=1.0,
        intercept=False,
    )  # fmt: skip


@pytest.mark.parametrize("label", [["no"], {"no": 1}])
def test_labels_that_are_no_single_entries(label) -> None:
    frame = pd.DataFrame({"height": [1.0, 2.0], "label": [label, label]})
    with pytest.raises(DomainError, match="'label': labels must be text") as caught:
        reading(["height"])(frame)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("other", [1.0, 1j])
def test_complex_numbers_do_not_lose_a_part(other) -> None:
    frame = pd.DataFrame({"height": [1 + 2j, 3.0], "age": [other, other], "label": ["no", "yes"]})
    with pytest.raises(DomainError, match="'height' holds no"):
        reading(["height", "age"])(frame)


class OnePart:
    def __len__(self) -> int:
        return 1

    def map(self, function: Any, each: Sequence[Any]) -> Iterator[Any]:
        yield function(iter([np.ones((5, 1))]), each[0])


def test_a_reader_cannot_let_a_record_count_more_than_once() -> None:
    """The bound on a record's gradient is for weight 1, and the number of records is of rows."""
    with pytest.raises(DomainError, match="weights"):
        LinearModelLoss.from_parts(OnePart(), lambda x: Rows(x, weights=[1, 1, 1, 1, 9]), 1)
    weights = np.ones(5)
    losses = LinearModelLoss.from_parts(OnePart(), lambda x: Rows(x, weights=weights), 1)
    weights[3] = 1000
    with pytest.raises(ValueError, match="weights"):
        losses.gradient(np.zeros(1))


@pytest.mark.parametrize("given", ["seeded", ["seeded"], [None]])
def test_contingencies_that_are_none_charge_nothing(given) -> None:
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3)})
    losses = LinearModelLoss.from_data(np.ones((5, 1)), np.ones(5))
    with pytest.raises(ParameterError, match="contingencies"):
        gradient_descent(
            losses, epsilon=1, delta=1e-5, ledger=ledger, dataset="d", contingencies=given
        )
    assert ledger.charges == ()


class Unreadable(Exception):
    """Of a reader of a caller's own."""


def test_no_error_of_a_partition_is_passed_on(tmp_path) -> None:
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: the extra [dask]")
    from oracle_dp.sources import DaskSource

    frame = dd.from_pandas(table(), npartitions=3)

    def read(part: pd.DataFrame) -> pd.DataFrame:
        if len(part) and part.index[0] == 300:
            raise Unreadable("an entry: 7331")
        return part

    source = DaskSource(frame.map_partitions(read, meta=frame._meta))
    with pytest.raises(DomainError, match=r"partition 1 cannot be read \(Unreadable\)") as caught:
        classifier().fit_blocks(source, "label")
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
