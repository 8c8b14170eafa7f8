"""Training on streamed rows is training: the same numbers, noise and charge by every method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from oracle_dp import Ledger, LogisticRegression, ParameterError
from oracle_dp.errors import DomainError, OverspendError
from oracle_dp.estimators.logistic_methods import IN_MEMORY, METHODS
from oracle_dp.estimators.logistic_rows import RowReading
from oracle_dp.first_order.batches import poisson_batch
from oracle_dp.ledger import Budget
from oracle_dp.noise import SeededBits
from oracle_dp.noise.floating import gaussian
from oracle_dp.record_losses import LinearModelLoss
from oracle_dp.sources import ParquetSource
from oracles.convex import Rows
from tests.oracle_dp.sources.tables import CLASSES, DOMAIN, NUMBERS, classifier, files, table

FAST: dict[str, dict[str, Any]] = {
    "sgd": {"steps": 4}, "minibatch": {"steps": 2}, "gd": {"steps": 5}, "newton": {"steps": 4},
    "damped": {"steps": 4}, "preconditioned": {"steps": 4}, "cubic": {"most_inner_steps": 20},
}  # fmt: skip
STREAMING = [name for name in METHODS if name not in IN_MEMORY]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> ParquetSource:
    folder = tmp_path_factory.mktemp("rows")
    files(folder, table())
    return ParquetSource(folder)


def both(
    source: ParquetSource, *, columns: list[str], **changes: Any
) -> tuple[LogisticRegression, LogisticRegression]:
    frame = table()
    return (
        classifier(**changes).fit(frame[columns], frame["label"]),
        classifier(**changes).fit_blocks(source.select([*columns, "label"]), "label"),
    )


@pytest.mark.parametrize("method", STREAMING)
def test_numbers_are_those_in_memory(source, method) -> None:
    # Distinct rows, many of them above the bound.
    one, other = both(
        source, columns=NUMBERS, method=method, options=FAST.get(method), domain=None,
        feature_bound=40.0, keep_diagnostics=True, delta=0 if method == "objective" else 1e-6,
    )  # fmt: skip
    assert np.allclose(one.coef_, other.coef_, rtol=1e-10, atol=0)
    assert np.allclose(one.intercept_, other.intercept_, rtol=1e-10, atol=0)
    assert one.diagnostics_["clipped_rows"] == other.diagnostics_["clipped_rows"] > 200
    assert one.diagnostics_["mean_loss"] == pytest.approx(other.diagnostics_["mean_loss"])
    assert one.release_.guarantee == other.release_.guarantee
    assert list(one.feature_names_in_) == list(other.feature_names_in_)
    frame = table()
    assert np.allclose(
        one.predict_proba(frame[NUMBERS]), other.predict_proba(frame[NUMBERS]), rtol=1e-9
    )


@pytest.mark.parametrize("method", [name for name in STREAMING if name not in ("sgd", "minibatch")])
def test_tables_with_a_domain_and_equal_rows(source, method) -> None:
    one, other = both(
        source, columns=list(DOMAIN.columns), method=method, options=FAST.get(method),
        delta=0 if method == "objective" else 1e-6,
    )  # fmt: skip
    assert np.allclose(one.coef_, other.coef_, rtol=1e-10, atol=1e-13)
    assert str(one.release_) == str(other.release_) or np.allclose(one.coef_, other.coef_)


@pytest.mark.parametrize("intercept", [True, False])
def test_threads_and_pieces_change_no_bit(source, intercept, monkeypatch) -> None:
    found = []
    for n_jobs in (1, 2, 3):
        source.n_jobs = n_jobs
        fitted = classifier(method="newton", options={"steps": 3}, fit_intercept=intercept)
        found.append(fitted.fit_blocks(source, "label").coef_)
    source.n_jobs = 1
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    # Smaller pieces add in another order, by rounding only.
    monkeypatch.setattr("oracle_dp.sources.parquet.rows_per_piece", lambda _: 17)
    again = classifier(method="newton", options={"steps": 3}, fit_intercept=intercept)
    assert np.allclose(again.fit_blocks(source, "label").coef_, found[0], rtol=1e-10)


def test_every_row_is_within_the_bound_in_every_pass(source) -> None:
    seen: list[float] = []

    frame = table()
    huge = frame.assign(height=1e6 * frame["height"])

    class Frames:
        columns = tuple(huge.columns)

        def select(self, columns: Sequence[str]) -> Frames:
            return self

        def __len__(self) -> int:
            return 1

        def map(self, function: Any, each: Sequence[Any]) -> Iterator[Any]:
            yield function(iter([huge.iloc[:500], huge.iloc[500:]]), each[0])

    def norms(parts: Any) -> float:
        return max(rows.largest_norm for rows in parts)

    reading = RowReading(
        columns=tuple(NUMBERS), target="label", classes=CLASSES, domain=None, bound=2.0,
        intercept=True,
    )  # fmt: skip
    losses = LinearModelLoss.from_parts(Frames(), reading, 5, norm_bound=reading.norm_bound)
    seen += losses.problem.rows.map(norms)
    raw = LinearModelLoss.from_parts(
        Frames(), lambda piece: Rows(piece[["height"]].to_numpy()), 1, norm_bound=3.0
    )
    seen += raw.problem.rows.map(norms)
    assert 0.99 < min(seen) <= max(seen) <= 1
    # One record moves the gradient by no more than the constant that noise is for.
    gradient = raw.gradient(np.array([-1e3]))
    assert np.linalg.norm(gradient) <= raw.lipschitz


def test_poisson_batches_have_the_law_of_those_in_memory() -> None:
    """The same positions from the same stream: every record by itself, wherever it lies."""
    x = np.arange(1.0, 13.0)[:, None] / 12

    class Lists:
        def __len__(self) -> int:
            return 3

        def map(self, function: Any, each: Sequence[Any]) -> Iterator[Any]:
            for k, given in enumerate(each):
                yield function(iter([x[4 * k : 4 * k + 1], x[4 * k + 1 : 4 * k + 4]]), given)

    streamed = LinearModelLoss.from_parts(Lists(), Rows, 1)
    memory = LinearModelLoss.from_data(x, np.ones(12))
    one, other = SeededBits(4), SeededBits(4)
    w = np.array([0.7])
    for _ in range(40):
        first = poisson_batch(memory, 0.3, 3.6, one)
        second = poisson_batch(streamed, 0.3, 3.6, other)
        assert first.rows.total_weight == second.rows.total_weight
        assert np.allclose(first.gradient(w), second.gradient(w), rtol=1e-13)
    assert (gaussian(one, 1.0, 3) == gaussian(other, 1.0, 3)).all()


def test_what_cannot_stream_says_so_before_anything_is_read(source) -> None:
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3)})
    for changes, match in (
        ({"method": "opsamp"}, "opsamp.*objective_gaussian"),
        ({"classes": None}, "classes"),
        ({"neighbors": "add_remove"}, "size"),
        ({"epsilon": -1}, "epsilon"),
    ):
        with pytest.raises(ParameterError, match=match):
            classifier(ledger=ledger, dataset="d", **changes).fit_blocks(source, "label")
    with pytest.raises(ParameterError, match="source"):
        classifier().fit_blocks(table(), "label")
    with pytest.raises(DomainError, match="'salary' is missing"):
        classifier().fit_blocks(source, "salary")
    assert ledger.charges == ()


def test_a_private_number_of_rows_needs_a_size(source) -> None:
    ledger = Ledger({"d": Budget(epsilon=1, delta=1e-3, neighbors="add_remove")})
    fitted = classifier(neighbors="add_remove", size=1000, ledger=ledger, dataset="d")
    fitted.fit_blocks(source, "label")
    assert len(ledger.charges) == 1
    with pytest.raises(OverspendError):
        classifier(neighbors="add_remove", size=1000, ledger=ledger, dataset="d").fit_blocks(
            source, "label"
        )


def test_labels_may_be_numbers_and_booleans(tmp_path) -> None:
    frame = table()
    for k, (labels, classes) in enumerate(
        [(frame["label"] == "yes", (False, True)), ((frame["label"] == "yes").astype(int), (0, 1))]
    ):
        path = tmp_path / f"{k}.parquet"
        frame.assign(label=labels).to_parquet(path, index=False)
        fitted = classifier(classes=classes).fit_blocks(ParquetSource(path), "label")
        expected = classifier().fit(frame, frame["label"])
        assert np.allclose(fitted.coef_, expected.coef_, rtol=1e-10)
        assert pd.Series(fitted.predict(frame)).isin(classes).all()
