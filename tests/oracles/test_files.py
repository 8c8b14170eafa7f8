from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest

from oracles import Certificate, Highs, IntegerProgram, Limits, ModelFileError, Status

INF = math.inf

MPS = """\
NAME          small
ROWS
 N  cost
 L  first
 G  second
COLUMNS
    MARKER    'MARKER'  'INTORG'
    x         cost      1.0   first  1.0
    x         second    1.0
    MARKER    'MARKER'  'INTEND'
    y         cost      2.0   first  1.0
RHS
    RHS       cost      -5.0  first  4.0
    RHS       second    1.0
BOUNDS
 UP BND       y         3.0
ENDATA
"""

LP = """\
\\ a comment: binary
Minimize
 cost: x + 2 y + 5
Subject To
 first: x + y <= 4
 second: x >= 1
Bounds
 y <= 3
General
 x
End
"""


def read(folder: Path, text: str | bytes, name: str) -> IntegerProgram:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    reader = IntegerProgram.from_mps if ".mps" in name else IntegerProgram.from_lp
    return reader(path)


def facts(program: IntegerProgram) -> dict[str, object]:
    return {
        "names": program.names,
        "objective": program.objective.tolist(),
        "constant": program.constant,
        "negated": program.negated,
        "lower": program.lower.tolist(),
        "upper": program.upper.tolist(),
        "integer": program.integer.tolist(),
        "rows": program.matrix.toarray().tolist(),
        "sides": [program.row_lower.tolist(), program.row_upper.tolist()],
    }


# An integer variable without bounds is binary in MPS (last upper bound of x), not in LP.
EXPECTED = {
    "names": ("x", "y"),
    "objective": [1.0, 2.0],
    "constant": 5.0,
    "negated": False,
    "lower": [0.0, 0.0],
    "integer": [True, False],
    "rows": [[1.0, 1.0], [1.0, 0.0]],
    "sides": [[-INF, 1.0], [4.0, INF]],
}


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(("text", "suffix", "upper"), [(MPS, ".mps", 1.0), (LP, ".lp", INF)])
def test_reads_what_the_file_says(tmp_path, text, suffix, upper, compress):
    if compress:
        program = read(tmp_path, gzip.compress(text.encode()), f"model{suffix}.gz")
    else:
        program = read(tmp_path, text, f"model{suffix}")
    assert facts(program) == EXPECTED | {"upper": [upper, 3.0]}
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (MPS.replace("ROWS", "OBJSENSE\n    MAX\nROWS", 1), "m.mps"),
        (MPS.replace("ROWS", "OBJSENSE MAXIMIZE\nROWS", 1), "m.mps"),
        (MPS.replace("ROWS", "OBJSENSE\n  max\nROWS", 1), "m.mps"),
        ("*SENSE:Maximize\n" + MPS, "m.mps"),
        (LP.replace("Minimize", "Maximize"), "m.lp"),
    ],
)
def test_a_maximisation_is_negated(tmp_path, text, name):
    program = read(tmp_path, text, name)
    assert program.negated
    assert program.objective.tolist() == [-1.0, -2.0]
    assert program.constant == -5.0


@pytest.mark.parametrize(
    ("change", "lower", "upper", "integer"),
    [
        ((" UP BND       y         3.0", " UP BND x 2.5"), [0, 0], [2.5, INF], [True, False]),
        ((" UP BND       y         3.0", " LI BND y 1"), [0, 1], [1, INF], [True, True]),
        ((" UP BND       y         3.0", " BV BND y"), [0, 0], [1, 1], [True, True]),
        ((" UP BND       y         3.0", " MI BND y"), [0, -INF], [1, INF], [True, False]),
        ((" UP BND       y         3.0", " FX y 2"), [0, 2], [1, 2], [True, False]),
        ((" UP BND       y         3.0", " UP BND y 1e30"), [0, 0], [1, INF], [True, False]),
    ],
)
def test_bounds_of_an_mps_file(tmp_path, change, lower, upper, integer):
    program = read(tmp_path, MPS.replace(*change), "m.mps")
    assert program.lower.tolist() == lower
    assert program.upper.tolist() == upper
    assert program.integer.tolist() == integer


def test_ranges_and_further_free_rows_of_an_mps_file(tmp_path):
    text = MPS.replace(" L  first", " N  other\n L  first").replace(
        "BOUNDS", "RANGES\n    RNG first 2.0 second 3.0\nBOUNDS"
    )
    program = read(tmp_path, text, "m.mps")
    assert program.row_lower.tolist() == [2.0, 1.0]
    assert program.row_upper.tolist() == [4.0, 4.0]


def test_binary_variables_of_an_lp_file(tmp_path):
    program = read(
        tmp_path, LP.replace(" y <= 3\n", "").replace("General", "Binary\n y\nGeneral"), "m.lp"
    )
    assert program.upper.tolist() == [INF, 1.0]
    assert program.integer.all()


UPPER = " UP BND       y         3.0"
ENTRY = "    y         cost      2.0   first  1.0"


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "m.mps", "empty"),
        (" \n", "m.lp", "empty"),
        ("NAME\nENDATA\n", "m.mps", "no variables"),
        ("hello world\n", "m.mps", "line 1"),
        ("hello world\n", "m.lp", "line 1"),
        (LP, "m.mps", "line"),
        (MPS, "m.lp", "line"),
        (b"\xff\xfe\x00", "m.mps", "UTF-8"),
        # Truncated.
        (MPS.replace("ENDATA\n", ""), "m.mps", "truncated"),
        (MPS[: MPS.index("RHS\n")], "m.mps", "truncated"),
        (MPS[: MPS.index("second    1.0\nBOUNDS") + 6], "m.mps", "line 14"),
        (LP.replace("End\n", ""), "m.lp", "truncated"),
        (LP[: LP.index("y <= 4")], "m.lp", "truncated"),
        # HiGHS 1.16 reads the first five of these for ever; a fuzzer found four.
        ("ENDATA  cost\n" + MPS, "m.mps", "ENDATA stands alone"),
        (MPS.replace("ROWS\n", "\n    x  small\nROWS\n", 1), "m.mps", "stands in no section"),
        (
            MPS.replace(
                "    MARKER    'MARKER'  'INTORG'", "    M R K  'MARKER'  'INTORG'"
            ).replace("BOUNDS", "BOUNDS\n"),
            *("m.mps", "line 16 is empty"),
        ),
        (
            "NAME\nROWS\n N  cost\n LX first\nCOLUMNS\n x  cost 1 first 1\nRANGES\n\nENDATA\n",
            *("m.mps", "line 4 states no kind of row"),
        ),
        (MPS.replace(ENTRY, "    yENDATA\n    y cost 2.0"), "m.mps", "line 11 has too few"),
        (MPS.replace(ENTRY, "    y  cost"), "m.mps", "line 11 has too few"),
        # What an IntegerProgram cannot express.
        (MPS.replace(UPPER, " SC BND y 3.0"), "m.mps", "semi-continuous"),
        (MPS.replace("ENDATA", "QUADOBJ\n    y y 2.0\nENDATA"), "m.mps", "quadratic"),
        (MPS.replace("ENDATA", "QCMATRIX first\n y y 2.0\nENDATA"), "m.mps", "section in line 17"),
        (MPS.replace("ENDATA", "SOS\n S1 SOS s\nENDATA"), "m.mps", "section in line 17"),
        (MPS.replace("ENDATA", "INDICATORS\n IF first x 1\nENDATA"), "m.mps", "section"),
        (MPS.replace("COLUMNS", "LAZYCONS\n L  third\nCOLUMNS"), "m.mps", "section in line 6"),
        (LP.replace("General", "Semi-Continuous\n y\nGeneral"), "m.lp", "semi-continuous"),
        (LP.replace("2 y", "2 y + [ y^2 ] / 2"), "m.lp", "quadratic"),
        (LP.replace("x + y <=", "x + y + [ y^2 ] <="), "m.lp", "quadratic"),
        (LP.replace("second: x >= 1", "second: x = 1 -> y >= 1"), "m.lp", "indicator"),
        (LP.replace("End", "SOS\n s: S1:: x:1 y:2\nEnd"), "m.lp", "special ordered"),
        # What a reader would drop, repair or invent.
        (MPS.replace(ENTRY, f"{ENTRY}\n    y first 7.0"), "m.mps", "twice"),
        (MPS.replace(ENTRY, f"{ENTRY}\n    z cost 1.0\n    y second 1.0"), "m.mps", "same name"),
        (MPS.replace(" G  second", " G  second\n G  second"), "m.mps", "same name"),
        (MPS.replace(ENTRY, f"{ENTRY}\n    y third 7.0"), "m.mps", "rename or repair|not declared"),
        (MPS.replace("second    1.0\nBOUNDS", "third 1.0\nBOUNDS"), "m.mps", "not declared"),
        (MPS.replace("ROWS", "OBJSENSE MOST\nROWS", 1), "m.mps", "sense"),
        ("*SENSE:Maximize\n" + MPS.replace("ROWS", "OBJSENSE\n  MIN\nROWS", 1), "m.mps", "sense"),
        (MPS.replace("ROWS", "MAX\nROWS", 1), "m.mps", "section in line 2"),
        (MPS.replace(UPPER, " UP BND typo 3.0"), "m.mps", "line 16"),
        (MPS.replace("2.0   first", "2abc   first"), "m.mps", "number is expected in line 11"),
        (MPS.replace("2.0   first", "2.0D+1   first"), "m.mps", "number"),
        (MPS.replace("2.0   first", "2_0   first"), "m.mps", "number"),
        (MPS.replace("2.0   first", "nan   first"), "m.mps", "number"),
        (MPS.replace("2.0   first", "inf   first"), "m.mps", "finite"),
        (MPS.replace("first  1.0\nRHS", "first  1e-14\nRHS"), "m.mps", "rescale"),
        (MPS.replace("first  1.0\nRHS", "first  1e16\nRHS"), "m.mps", "rescale"),
        (MPS.replace(UPPER, " UP BND y -3.0"), "m.mps", "'y'"),
        (MPS.replace("    y ", "    my var "), "m.mps", "number is expected"),
        (LP.replace("x + y <=", "x + y + y <="), "m.lp", "add the coefficients up"),
        (LP.replace("x + y <=", "x + y + 2 <="), "m.lp", "to the right"),
        (LP.replace("y <= 3", "y <= 3\n typo <= 4"), "m.lp", "'typo'"),
        (LP.replace("General\n x", "General\n x typo"), "m.lp", "'typo'"),
        (LP.replace("General", "Binary\n y\nGeneral"), "m.lp", "'y' is binary"),
        (LP.replace("y <= 3", "y <= 3\n y >= 4"), "m.lp", "'y'"),
        (LP + "more\n", "m.lp", "line"),
    ],
)
def test_a_file_that_is_not_quite_a_program_is_refused(tmp_path, text, name, message):
    with pytest.raises(ModelFileError, match=message) as caught:
        read(tmp_path, text, name)
    assert str(caught.value).startswith(f"{name}: ")


def test_messages_quote_no_coefficient(tmp_path):
    for text, name in (
        (MPS.replace(ENTRY, f"{ENTRY}\n    y first 98765.0"), "m.mps"),
        (MPS.replace("2.0   first", "98765x   first"), "m.mps"),
        (LP.replace("x + y <= 4", "x + y + 98765 <= 4"), "m.lp"),
        (LP.replace("x + y <= 4", "x + y 98765 <= 4"), "m.lp"),
    ):
        with pytest.raises(ModelFileError) as caught:
            read(tmp_path, text, name)
        assert "98765" not in str(caught.value)


def test_paths_that_are_no_model_files(tmp_path):
    with pytest.raises(ModelFileError, match="no such file"):
        IntegerProgram.from_mps(tmp_path / "none.mps")
    (tmp_path / "folder.lp").mkdir()
    with pytest.raises(ModelFileError, match="directory"):
        IntegerProgram.from_lp(tmp_path / "folder.lp")
    for name in ("model.txt", "model.lp", "model.mps.zip"):
        with pytest.raises(ModelFileError, match=r"ending in \.mps or \.mps\.gz"):
            IntegerProgram.from_mps(tmp_path / name)


@pytest.mark.parametrize(
    "damage", [lambda b: b[:60], lambda b: b"no gzip", lambda b: b[:30] + b"?" * 30]
)
def test_a_damaged_archive_is_refused(tmp_path, damage):
    with pytest.raises(ModelFileError, match="damaged"):
        read(tmp_path, damage(gzip.compress(MPS.encode())), "m.mps.gz")


def test_reading_prints_nothing(tmp_path, capfd):
    read(tmp_path, MPS, "m.mps")
    with pytest.raises(ModelFileError):
        read(tmp_path, LP.replace("End", ""), "m.lp")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "certificate"),
    [
        ("MANN_a9.clq.lp", Certificate.SOLVER),
        ("bell5.mps", Certificate.NONE),  # sums of more than 1e7 in a row
        ("egout.mps", Certificate.BOUNDED),
        ("enigma.mps", Certificate.SOLVER),
        ("flugpl.mps", Certificate.BOUNDED),
        ("gt2.mps", Certificate.SOLVER),
        ("p0033.mps", Certificate.SOLVER),
        ("p01.mps", Certificate.SOLVER),
        ("rgn.mps", Certificate.BOUNDED),
        ("sp150x300d.mps", Certificate.SOLVER),
    ],
)
def test_public_instances_have_their_known_optimum(test_data, name, certificate):
    folder = test_data / "mip" / "miplib"
    lines = (folder / "known_optima.solu").read_text().splitlines()
    known = {instance: float(value) for _, instance, value in (line.split() for line in lines)}
    reader = IntegerProgram.from_mps if name.endswith(".mps") else IntegerProgram.from_lp
    program = reader(folder / name)
    solution = Highs().minimize(program, limits=Limits(seconds=60))
    assert solution.status is Status.OPTIMAL
    assert solution.certificate is certificate
    optimum = -solution.objective if program.negated else solution.objective
    assert optimum == pytest.approx(known[name.rsplit(".", 1)[0]], rel=1e-6)
