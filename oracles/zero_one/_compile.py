"""Compiled kernels, and 16 lanes of integers in one instruction. Importing this imports numba."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

from oracles.zero_one._layout import LANES

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_Base: Any = FunctionCache
_VECTOR = ir.VectorType(ir.IntType(64), LANES)


def kernel(function: FunctionT) -> FunctionT:
    """Compile at the first call, without the interpreter's lock; keep the machine code on disk."""
    return _compiled(function, no_cfunc_wrapper=True)


def inner(function: FunctionT) -> FunctionT:
    """As :func:`kernel`, for functions that only kernels call: half the time to compile."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def merged(function: FunctionT) -> FunctionT:
    """As :func:`inner`, for functions with one caller: compiled as part of it, not once more."""
    return _compiled(function, inline="always")


def _compiled(function: FunctionT, **options: bool | str) -> FunctionT:
    compile_: Any = numba.njit
    compiled = compile_(nogil=True, error_model="numpy", **options)(function)
    # Where numba finds no folder that it may write to, every process compiles anew.
    with contextlib.suppress(RuntimeError):
        compiled._cache = _Cache(function)
    return cast(FunctionT, compiled)


class _Cache(_Base):  # type: ignore[misc]  # numba is untyped
    """numba's cache, except that all of a kernel's sources count.

    numba compares the file of the function itself only. A kernel also contains the code of the
    kernels that it calls: after a change there, code on disk must not be used.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._folder = Path(function.__code__.co_filename).parent

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), _digest(self._folder))

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk is no reason to fail
            super().save_overload(sig, data)


@functools.cache
def _digest(folder: Path) -> str:
    """A digest of the sources that a folder's kernels are made from."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _address(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    """Where the lanes begin that start at a place of a flat int64 array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _lanes(combine: Callable[[Any, Any, Any, Any], Any]) -> Any:
    """The operation ``target[at:] = combine(target[at:], x[at_x:], y[at_y:])`` on ``LANES`` lanes.

    The compiler does not vectorise such short loops by itself: it cannot know that the arrays
    do not overlap.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        addresses = [
            _address(context, builder, signature.args[i], args[i], args[i + 1]) for i in (0, 2, 4)
        ]
        target, x, y = (builder.load(address, align=8) for address in addresses)
        builder.store(combine(builder, target, x, y), addresses[0], align=8)
        return context.get_dummy_value()

    def operation(context, target, at, x, at_x, y, at_y):  # type: ignore[no-untyped-def]  # numba's
        return types.void(target, types.intp, x, types.intp, y, types.intp), generate

    return intrinsic(operation)


def _minimum(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.icmp_signed("<", x, y), x, y)


set_sum = _lanes(lambda builder, _, x, y: builder.add(x, y))
"""``target = x + y``: arguments are three flat int64 arrays, each followed by a place in it."""

set_difference = _lanes(lambda builder, _, x, y: builder.sub(x, y))
"""``target = x - y``."""

min_sum = _lanes(lambda builder, target, x, y: _minimum(builder, target, builder.add(x, y)))
"""``target = min(target, x + y)``."""


def _run(subtract: bool) -> Any:
    """The operation that adds ``x[at_x:]`` to each of ``count`` blocks of lanes from ``at`` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target, at, x, at_x, count = args
        lanes = builder.load(_address(context, builder, signature.args[2], x, at_x), align=8)
        first = _address(context, builder, signature.args[0], target, at)
        utilities: Any = cgutils
        with utilities.for_range(builder, count) as loop:
            place = builder.gep(first, [loop.index])
            old = builder.load(place, align=8)
            new = builder.sub(old, lanes) if subtract else builder.add(old, lanes)
            builder.store(new, place, align=8)
        return context.get_dummy_value()

    def operation(context, target, at, x, at_x, count):  # type: ignore[no-untyped-def]  # numba's
        return types.void(target, types.intp, x, types.intp, types.intp), generate

    return intrinsic(operation)


add_run = _run(subtract=False)
"""``target += x`` on consecutive blocks: target and place, x and place, number of blocks."""

subtract_run = _run(subtract=True)
"""``target -= x`` on consecutive blocks."""


def _total(context, x, at_x):  # type: ignore[no-untyped-def]  # numba's
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [_VECTOR])
        name = f"llvm.vector.reduce.add.v{LANES}i64"
        utilities: Any = cgutils
        reduce = utilities.get_or_insert_function(builder.module, kind, name)
        address = _address(context, builder, signature.args[0], *args)
        return builder.call(reduce, [builder.load(address, align=8)])

    return types.int64(x, types.intp), generate


total: Any = intrinsic(_total)
"""The sum of the lanes that begin at a place of a flat int64 array."""
