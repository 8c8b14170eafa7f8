"""Bit sources: what the words are, and that no bit is handed out twice."""

import copy
import hashlib
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from oracle_dp.errors import ParameterError
from oracle_dp.noise import BitSource, SeededBits, SystemBits, bit_source, uniform_below
from oracle_dp.noise import bits as bits_module

# Draw once, so that the buffer is full; fork twice; print what three processes draw next.
FORKS = """
import os
from oracle_dp.noise import SeededBits, SystemBits
source = {source}
source.bits(64)
for _ in range(2):
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        with os.fdopen(reading) as pipe:
            heard = pipe.read()
        break
    os.dup2(writing, 1)
    os.close(writing)
else:
    heard = ""
print(heard + " ".join(str(source.bits(64)) for _ in range(8)))
"""


# One source, with words in its buffer, goes to the workers of a pool six times; it draws here, too.
WORKERS = """
import multiprocessing, operator
from oracle_dp.noise import SeededBits, SystemBits
source = {source}
source.bits(64)
draw = operator.methodcaller("bits", 64)
with multiprocessing.get_context({start!r}).Pool(3) as pool:
    theirs = pool.map(draw, [source] * 300, chunksize=50)
print(*theirs, *(source.bits(64) for _ in range(50)))
"""


class Recorder:
    """A source that serves given numbers and remembers the widths asked for."""

    is_private = False

    def __init__(self, *numbers):
        self.numbers = list(numbers)
        self.widths = []

    def bits(self, n, /):
        self.widths.append(n)
        return self.numbers.pop(0)


def words_after_forks(source):
    script = FORKS.format(source=source)
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return [line.split() for line in run.stdout.splitlines()]


def words_of_workers(source, start):
    run = subprocess.run(
        [sys.executable, "-c", WORKERS.format(source=source, start=start)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return run.stdout.split()


@pytest.fixture
def counted_urandom(monkeypatch):
    """The operating system hands out 00 01 02 ... in place of random bytes."""
    served = iter(bytes(range(256)) * 64)
    monkeypatch.setattr(bits_module.os, "urandom", lambda n: bytes(next(served) for _ in range(n)))


@pytest.mark.parametrize("source", [SystemBits(), SeededBits(3)])
def test_draws_have_the_width_asked_for(source):
    assert isinstance(source, BitSource)
    for width in (0, 1, 2, 63, 64, 65, 128, 200, 5000):
        draws = [source.bits(width) for _ in range(40)]
        assert 0 <= min(draws) <= max(draws) < 2**width
        assert max(draws).bit_length() > width - 30
    with pytest.raises(ParameterError, match="n must be 0 or more, not -1"):
        source.bits(-1)


@pytest.mark.usefixtures("counted_urandom")
def test_system_bits_are_those_of_the_operating_system_in_order():
    source = SystemBits()
    assert source.bits(64) == 0x0001020304050607
    assert source.bits(12) == 0x080
    assert source.bits(0) == 0
    assert source.bits(72) == 0x101112131415161718
    assert source.bits(64) == 0x2021222324252627


def test_seeded_bits_are_uniform():
    source = SeededBits(11)
    counts = np.bincount([source.bits(5) for _ in range(40_000)], minlength=32)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_seeded_stream_is_pinned():
    source = SeededBits(0)
    assert [source.bits(64) for _ in range(3)] == [
        0x459C2C8DB34E8766,
        0xEBE7B040B6CF2B71,
        0x8FE56BBF9E16D1E9,
    ]
    source = SeededBits(2024)
    assert [source.bits(n) for n in (1, 10, 100)] == [1, 570, 1160465267605729992492506769078]


@pytest.mark.parametrize("seed", [0, 7, pytest.param(10**5000, id="huge")])
def test_seeded_stream_is_shake_of_seed_and_block(seed):
    source = SeededBits(seed)
    label = b"oracle_dp.noise.SeededBits/1"
    stream = b"".join(
        hashlib.shake_256(label + f":{seed:x}:{block}".encode()).digest(512) for block in range(3)
    )
    drawn = b"".join(source.bits(64).to_bytes(8, "big") for _ in range(3 * 64))
    assert drawn == stream


def test_seeds_give_different_streams():
    assert len({SeededBits(seed).bits(64) for seed in range(100)}) == 100


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
def test_forked_children_do_not_reuse_buffered_bits():
    lines = words_after_forks("SystemBits()")
    assert [len(line) for line in lines] == [8, 8, 8]
    assert len(set().union(*lines)) == 24


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
def test_forked_children_continue_a_seeded_stream():
    # Documented for SeededBits, and the proof that the test above would see a reused buffer.
    lines = words_after_forks("SeededBits(1)")
    assert lines[0] == lines[1] == lines[2]


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source))]
)
def test_copies_of_system_bits_share_no_bits(duplicate):
    source = SystemBits()
    source.bits(64)
    twin = duplicate(source)
    words = [each.bits(64) for each in (source, twin) for _ in range(100)]
    assert len(set(words)) == 200


def test_threads_share_no_bits():
    source = SystemBits()
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: [source.bits(64) for _ in range(2_500)], range(8)))
    assert len(set().union(*runs)) == 20_000


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
def test_workers_of_a_pool_share_no_bits(start):
    words = words_of_workers("SystemBits()", start)
    assert len(words) == 350
    assert len(set(words)) == 350


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
def test_workers_with_one_seed_do_share_them():
    # Documented for SeededBits, and the proof that the test above would see a shared buffer.
    assert len(set(words_of_workers("SeededBits(1)", "fork"))) < 350


def test_only_system_bits_are_private():
    assert bit_source(None).is_private
    assert not bit_source(0).is_private
    with pytest.raises(AttributeError):
        bit_source(0).is_private = True


def test_bit_source_reads_random_state():
    assert repr(bit_source(None)) == "SystemBits()"
    assert repr(bit_source(5)) == "SeededBits(5)"
    assert bit_source(np.int64(5)).bits(64) == SeededBits(5).bits(64)
    scripted = Recorder()
    assert bit_source(scripted) is scripted


@pytest.mark.parametrize("state", [True, np.True_, 1.0, -1, np.int8(-3), "7", SystemBits, [1]])
def test_bit_source_refuses_other_types(state):
    with pytest.raises(ParameterError, match="random_state must be None, an integer >= 0 or a"):
        bit_source(state)


@pytest.mark.parametrize("state", [np.random.default_rng(0), np.random.RandomState(0)])
def test_bit_source_says_what_to_pass_for_a_numpy_generator(state):
    with pytest.raises(ParameterError, match=r"NumPy .*: pass None for private noise, or an int"):
        bit_source(state)


@pytest.mark.parametrize("seed", [False, 2.0, -1, None])
def test_seeded_bits_refuse_a_bad_seed(seed):
    with pytest.raises(ParameterError, match="seed must be an integer >= 0"):
        SeededBits(seed)


def test_uniform_below_rejects_and_asks_for_few_bits():
    source = Recorder(7, 6, 5)
    assert uniform_below(source, 6) == 5
    assert source.widths == [3, 3, 3]
    for n, width in ((2, 1), (3, 2), (4, 2), (5, 3), (2**70, 70), (2**70 + 1, 71)):
        source = Recorder(1)
        assert uniform_below(source, n) == 1
        assert source.widths == [width]


def test_uniform_below_one_draws_no_bits():
    source = Recorder(0)
    assert uniform_below(source, 1) == 0
    assert sum(source.widths) == 0
    with pytest.raises(ParameterError, match="n must be 1 or more, not 0"):
        uniform_below(source, 0)


@given(n=st.integers(1, 2**100), seed=st.integers(0, 2**64))
def test_uniform_below_stays_below(n, seed):
    assert 0 <= uniform_below(SeededBits(seed), n) < n


def test_words_drawn_together_are_those_drawn_one_by_one():
    together, single = SeededBits(3), SeededBits(3)
    drawn = bits_module.words(together, 1000)
    assert drawn.dtype == np.uint64
    assert drawn.tolist() == [single.bits(64) for _ in range(1000)]
    assert together.bits(200) == single.bits(200)
    assert bits_module.words(together, 0).shape == (0,)
