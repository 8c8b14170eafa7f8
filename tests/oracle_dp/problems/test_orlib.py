"""OR-Library files: read by their own readers, and solved to the published optima."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oracle_dp.problems import PMedian
from oracle_dp.problems.orlib import (
    read_cover,
    read_knapsacks,
    read_p_median,
    read_warehouses,
)
from oracles import Certificate, Highs, IntegerProgram, Limits, ModelFileError, Solution

WAREHOUSES = {
    "cap41": 1040444.375,
    "cap44": 1235500.45,
    "cap71": 932615.75,
    "cap81": 838499.2875,
    "cap111": 826124.7125,
}
WITHIN = Limits(seconds=60)


def solve(program: IntegerProgram) -> Solution[np.ndarray]:
    return Highs().minimize(program, limits=WITHIN)


@pytest.mark.parametrize("name", WAREHOUSES)
def test_warehouses(test_data: Path, name: str) -> None:
    found = solve(read_warehouses(test_data / "mip" / "orlib_cap" / f"{name}.cap").program())
    assert found.certificate is Certificate.BOUNDED
    assert found.objective == pytest.approx(WAREHOUSES[name], rel=1e-9)


def test_knapsacks_with_their_own_optima(test_data: Path) -> None:
    read = read_knapsacks(test_data / "mip" / "orlib_mknap" / "mknap1.txt")
    assert len(read) == 7
    for instance in read:
        found = solve(instance.program())
        assert -float(found.objective or 0) == pytest.approx(instance.optimum, rel=1e-9)
        assert found.certificate in (Certificate.SOLVER, Certificate.BOUNDED)


def test_large_knapsacks_are_read(test_data: Path) -> None:
    # Solved by experiments.or_library: half a minute each.
    read = read_knapsacks(test_data / "mip" / "orlib_mknap" / "mknapcb1.txt")
    assert len(read) == 30
    assert {instance.weights.shape for instance in read} == {(5, 100)}
    assert read[0].optimum == 24381


@pytest.mark.parametrize(("name", "p", "optimum"), [("pmed1", 5, 5819), ("pmed5", 33, 1355)])
def test_p_medians(test_data: Path, name: str, p: int, optimum: int) -> None:
    read = read_p_median(test_data / "mip" / "orlib_pmed" / f"{name}.txt")
    assert read.p == p
    assert (read.distances == read.distances.T).all()
    problem = PMedian(read.distances, np.ones(100, np.int64), p)
    # Proven by experiments.or_library; here a local search finds the published optimum.
    assert problem.value(problem.answer(problem.counts, WITHIN)) == optimum


def test_set_cover_in_both_formats(test_data: Path, tmp_path: Path) -> None:
    whole = IntegerProgram.from_lp(test_data / "mip" / "orlib_scp" / "scp41.lp")
    found = solve(whole)
    assert (found.objective, found.certificate) == (429, Certificate.SOLVER)
    # The library's own format, written from the other.
    rows = [
        whole.matrix.indices[a:b] + 1
        for a, b in zip(whole.matrix.indptr, whole.matrix.indptr[1:], strict=False)
    ]
    lines = [f"{whole.n_rows} {whole.n_variables}", " ".join(f"{c:g}" for c in whole.objective)]
    for row in rows:
        lines += [f"{len(row)}", " ".join(map(str, row))]
    path = tmp_path / "scp41.txt"
    path.write_text("\n".join(lines))
    read = read_cover(path)
    assert read.covers.shape == (whole.n_rows, whole.n_variables)
    assert (read.costs == whole.objective).all()
    assert (read.program().matrix != whole.matrix).nnz == 0


@pytest.mark.parametrize(
    ("reader", "text", "match"),
    [
        (read_p_median, "3 1 1\n1 2", "truncated"),
        (read_p_median, "2 1 1\n1 3 5", "node that does not exist"),
        (read_p_median, "3 1 1\n1 2 5", "not connected"),
        (read_p_median, "2 1 1\n1 2 5\n7", "after its last"),
        (read_p_median, "2 1.5 1\n1 2 5", "fraction"),
        (read_warehouses, "1 1\n5 x", "not a number"),
        (read_warehouses, "1 1\n5 nan\n1 1", "NaN"),
        (read_knapsacks, "1\n1 1 0\n3", "truncated"),
        (read_cover, "1 1\n2\n1 2", "set that does not exist"),
        (read_cover, "", "truncated"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, reader: object, text: str, match: str) -> None:
    path = tmp_path / "broken.txt"
    path.write_text(text)
    with pytest.raises(ModelFileError, match=match):
        reader(path)  # one of the readers


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"nothing\.txt: the file cannot be read"):
        read_cover(tmp_path / "nothing.txt")
