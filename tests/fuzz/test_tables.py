"""CSV files, domain files, domains and releases with damage: typed errors that tell no value."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle_dp import (
    Domain,
    DomainError,
    ParameterError,
    PrivacyError,
    Release,
    ReleaseFormatError,
    ZeroOneClassifier,
)
from oracle_dp.cli.tables import read_table, with_numbers
from oracle_dp.domain_file import DomainFile

from ..oracle_dp.cli.support import CARD, DOMAIN_FILE, GUARANTEE
from .edits import SECRET, WORD, edited, nothing_logged, only, told_by

ROWS = f"""\
age,purpose,note,repaid
{SECRET},car,{WORD},no
30,house,"{WORD}, quoted",yes
45.5,,{WORD},no
""".encode()
PIECES = (b"\n", b",", b'"', b"\r\n", b"nan", b"1e999", b"\xff", b"\x00", b";", b"\xef\xbb\xbf")

SETTINGS = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(content=edited(ROWS, PIECES))
@SETTINGS
def test_damaged_csv(
    content: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder, only(DomainError, ParameterError):
        path = Path(folder) / "rows.csv"
        path.write_bytes(content)
        frame = with_numbers(read_table(path), CARD_DOMAIN)
        codes = CARD_DOMAIN.encode(frame)
        assert codes.shape == (len(frame), len(CARD_DOMAIN))
        assert (codes >= 0).all()
        assert (codes < CARD_DOMAIN.levels).all()
    nothing_logged(caplog, capfd)


CARD_DOMAIN = Domain.from_dict(
    {
        "attributes": [
            {"name": "purpose", "categories": ["car", "house", ""]},
            {"name": "age", "edges": [25, 45.5]},
        ]
    }
)

TOML_PIECES = (b"\n", b"[[attributes]]", b"=", b'"', b"[", b"]", b"1e999", b"nan", b"true", b"#")


@given(content=edited(DOMAIN_FILE.replace("house", WORD).encode(), TOML_PIECES))
@SETTINGS
def test_damaged_domain_files(content: bytes) -> None:
    # Its names may be told once a person has confirmed that they are public; not before.
    confirmed = b"confirmed_public = true" in content
    try:
        file = DomainFile.from_toml(content)
    except PrivacyError as error:
        told = " ".join(told_by(error))
    else:
        told, confirmed = "", len(file.domain) >= 1
    assert confirmed or WORD not in told


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(["attributes", "name", "categories", "edges", "thresholds", "parts", "x"])


@given(
    description=st.dictionaries(
        KEYS, JUNK | st.lists(st.dictionaries(KEYS, JUNK, max_size=3), max_size=3), max_size=3
    )
)
@settings(max_examples=200)
def test_any_description_of_a_domain(description: dict[str, object]) -> None:
    try:
        domain = Domain.from_dict(description)
    except DomainError:
        return
    assert Domain.from_dict(domain.to_dict()) == domain


CELLS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["car", "house", "", WORD, SECRET])
    | st.text(max_size=4)
    | st.just(float(SECRET))
)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS), max_size=4),
    labels=st.lists(CELLS, max_size=4),
    dtype=st.sampled_from([object, "str", "category"]),
)
@SETTINGS
def test_any_frame(
    rows: list[tuple[object, object]],
    labels: list[object],
    dtype: object,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    frame = pd.DataFrame(rows, columns=["purpose", "age"], dtype=object).astype({"purpose": dtype})
    model = ZeroOneClassifier(domain=CARD_DOMAIN, classes=("no", "yes"), random_state=0)
    with only(PrivacyError):
        model.fit(frame, pd.Series(labels, dtype=object))
    nothing_logged(caplog, capfd)


RELEASE = Release(CARD, GUARANTEE).to_json().encode()


@given(content=edited(RELEASE, (b"{", b"}", b"[", b'"', b"null", b"NaN", b"1e999", b"\\u0000")))
@settings(max_examples=150)
def test_damaged_releases(content: bytes) -> None:
    with only(ReleaseFormatError):
        release = Release.from_json(content)
        assert json.loads(release.to_json())["schema"] == "oracle-dp/release"
