"""Sources of uniform random bits: the operating system's, or a seeded stream.

Every sampler of :mod:`oracle_dp.noise` draws from a :class:`BitSource` and from nothing else.
A guarantee needs :class:`SystemBits`; :class:`SeededBits` repeats a run and is never private.

A request takes whole 64-bit words from a buffer and drops what it does not need, so no bit can
serve twice. The proof notes are in ``docs/theory/exact_noise.md``.
"""

from __future__ import annotations

import hashlib
import numbers
import os
import struct
from abc import ABC, abstractmethod
from typing import Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from oracle_dp.errors import ParameterError

_WORD_BITS = 64
_BLOCK = struct.Struct(">64Q")  # words fetched at once: few system calls, little to discard
_SEED_LABEL = b"oracle_dp.noise.SeededBits/1"

_forks = 0
"""How many forks lie between the first process and this one."""


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    # A counter and not the process id: ids are reused, and repeat across pid namespaces.
    os.register_at_fork(after_in_child=_count_fork)


@runtime_checkable
class BitSource(Protocol):
    """A stream of independent uniform bits."""

    @property
    def is_private(self) -> bool:
        """Whether nobody can predict or repeat the bits; noise from other bits hides nothing."""
        ...

    def bits(self, n: int, /) -> int:
        """Draw ``n`` fresh bits.

        Args:
            n: How many, 0 or more.

        Returns:
            An integer uniform on 0, 1, ..., 2**n - 1, independent of all earlier draws.
        """
        ...


class _BufferedBits(ABC):
    """Serves requests from a list of 64-bit words."""

    def __init__(self) -> None:
        self._words: list[int] = []

    @abstractmethod
    def _fetch(self) -> bytes:
        """The next block of the stream, ``_BLOCK.size`` bytes."""

    def bits(self, n: int, /) -> int:
        """Draw ``n`` fresh bits as an integer; see :meth:`BitSource.bits`."""
        if 0 < n <= _WORD_BITS:
            return self._draw(1)[0] >> (_WORD_BITS - n)
        if n < 0:
            raise ParameterError(f"bits: n must be 0 or more, not {n}")
        words = -(-n // _WORD_BITS)
        drawn = struct.pack(f">{words}Q", *self._draw(words))
        return int.from_bytes(drawn) >> (words * _WORD_BITS - n)

    def _draw(self, count: int) -> list[int]:
        # list.pop is atomic, so two threads are never handed the same word, without a lock that
        # a fork could leave held for ever.
        drawn: list[int] = []
        take, keep = self._words.pop, drawn.append
        while True:
            try:
                for _ in range(count - len(drawn)):
                    keep(take())
                return drawn
            except IndexError:
                self._words.extend(reversed(_BLOCK.unpack(self._fetch())))


@final
class SystemBits(_BufferedBits):
    """Bits of the operating system's cryptographic generator. The only private source.

    No two draws share a bit: not across threads, which may use one object together; not across
    forks, because a child discards what its parent had buffered; and not across pickles and
    copies, which start with an empty buffer.
    """

    def __init__(self) -> None:
        super().__init__()
        self._fetched_after = _forks

    @property
    def is_private(self) -> bool:
        """True: the bits cannot be predicted."""
        return True

    def bits(self, n: int, /) -> int:
        """Draw ``n`` fresh bits as an integer; see :meth:`BitSource.bits`."""
        if self._fetched_after != _forks:
            self._words.clear()
            self._fetched_after = _forks
        return super().bits(n)

    def _fetch(self) -> bytes:
        return os.urandom(_BLOCK.size)

    def __reduce__(self) -> tuple[type[SystemBits], tuple[()]]:
        """Pickle and copy without the buffer, or two objects would hand out the same bits."""
        return SystemBits, ()

    def __repr__(self) -> str:
        return "SystemBits()"


@final
class SeededBits(_BufferedBits):
    """A reproducible stream: SHAKE-256 of the seed and a block counter. Never private.

    The stream depends on the seed alone, not on the platform or on the versions of Python and
    NumPy. Copies, pickles and forked children continue the same stream; give parallel workers
    seeds of their own.

    Args:
        seed: An integer, 0 or more, of any size.

    Raises:
        ParameterError: The seed is not such an integer.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = _nonnegative_integer("seed", seed, expected="an integer >= 0")
        self._blocks = 0

    @property
    def is_private(self) -> bool:
        """False: whoever knows or guesses the seed knows the noise."""
        return False

    def _fetch(self) -> bytes:
        # Hexadecimal, because Python limits the length of decimal conversions.
        message = _SEED_LABEL + f":{self._seed:x}:{self._blocks:x}".encode()
        self._blocks += 1
        return hashlib.shake_256(message).digest(_BLOCK.size)

    def __repr__(self) -> str:
        return f"SeededBits({self._seed})"


def bit_source(random_state: int | BitSource | None) -> BitSource:
    """The bit source that a ``random_state`` parameter asks for.

    Args:
        random_state: None for the operating system's bits (private), an integer >= 0 for a
            seeded stream (reproducible, not private), or a source to be used as it is.

    Returns:
        The source. :attr:`BitSource.is_private` says whether a guarantee may rest on it.

    Raises:
        ParameterError: Anything else, NumPy's generators included: their bits are predictable
            from their output, and their streams change between versions of NumPy.
    """
    if random_state is None:
        return SystemBits()
    if isinstance(random_state, BitSource) and not isinstance(random_state, type):
        return random_state
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        raise ParameterError(
            f"random_state is a NumPy {type(random_state).__name__}, whose bits are not "
            "cryptographic: pass None for private noise, or an integer to reproduce a run"
        )
    expected = "None, an integer >= 0 or a BitSource"
    return SeededBits(_nonnegative_integer("random_state", random_state, expected=expected))


def words(source: BitSource, count: int) -> NDArray[np.uint64]:
    """Draw ``count`` words of 64 fresh bits each, in the order of ``count`` single draws.

    Args:
        source: Where the bits come from.
        count: How many, 0 or more.
    """
    drawn = source.bits(_WORD_BITS * count).to_bytes(_WORD_BITS // 8 * count)
    return np.frombuffer(drawn, dtype=">u8").astype(np.uint64)


def uniform_below(source: BitSource, n: int) -> int:
    """Draw an integer uniform on 0, 1, ..., n - 1, exactly.

    Args:
        source: Where the bits come from.
        n: Number of values, at least 1. With n = 1 no bit is drawn.

    Returns:
        The draw. It takes fewer than two rounds of ceil(log2(n)) bits on average.

    Raises:
        ParameterError: ``n`` is less than 1.
    """
    if n < 1:
        raise ParameterError(f"uniform_below: n must be 1 or more, not {n}")
    width = (n - 1).bit_length()
    # Rejection keeps the law exact; a remainder modulo n would favour the small values.
    while (drawn := source.bits(width)) >= n:
        pass
    return drawn


def _nonnegative_integer(name: str, value: object, *, expected: str) -> int:
    # bool is an int to Python, but random_state=True is a mistake. int() unwraps NumPy's.
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise ParameterError(f"{name} must be {expected}, not {value!r}")
    return int(value)
