"""Damaged copies of good files, and what an error may not tell of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import strategies as st

SECRET = "739154.25"
WORD = "c4n4ry"
"""Both are private where they stand in a file."""


@st.composite
def edited(draw: st.DrawFn, good: bytes, pieces: tuple[bytes, ...]) -> bytes:
    """A file with some bytes cut out, put in, doubled or cut off.

    Args:
        draw: Of hypothesis.
        good: The file.
        pieces: What is put in, besides any bytes: what the format gives a meaning.
    """
    content = good
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        stop = draw(st.integers(start, min(len(content), start + 12)))
        put = draw(st.sampled_from((b"", b"", *pieces)) | st.binary(max_size=6))
        content = content[:start] + put + content[stop:]
    if draw(st.integers(0, 5)) == 0:
        content = content[: draw(st.integers(0, len(content)))]
    return content


@contextmanager
def only(*errors: type[Exception]) -> Iterator[list[Exception]]:
    """Let these errors pass, if they and what is behind them show nothing private."""
    seen: list[Exception] = []
    try:
        yield seen
    except errors as error:
        seen.append(error)
        for told in told_by(error):
            assert SECRET not in told
            assert WORD not in told


def told_by(error: BaseException | None) -> Iterator[str]:
    """All that is printed of an error: itself, and what it was raised from, unless suppressed."""
    while error is not None:
        yield f"{error} {error.args!r}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def nothing_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    """No log and no output of the process holds anything private."""
    out, err = capfd.readouterr()
    for text in (caplog.text, out, err):
        assert SECRET not in text
        assert WORD not in text
