"""Compiled kernels, and 16 lanes of integers in one instruction. Importing this imports numba."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from oracles.zero_one._layout import LANES

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def kernel(function: FunctionT) -> FunctionT:
    """Compile at the first call, without the interpreter's lock; keep the machine code on disk."""
    return _compiled(function)


def inner(function: FunctionT) -> FunctionT:
    """As :func:`kernel`, for functions that only kernels call: half the time to compile."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compiled(function: FunctionT, **options: bool) -> FunctionT:
    decorate = functools.partial(numba.njit, nogil=True, error_model="numpy", **options)
    try:
        compiled: FunctionT = decorate(cache=True)(function)
    except RuntimeError:
        # numba found no folder that it may write to: every process compiles anew.
        compiled = decorate()(function)
    return compiled


def _lanes(combine: Callable[[Any, Any, Any, Any], Any]) -> Any:
    """Code for ``target[at_target:] = combine(target, x[at_x:], y[at_y:])`` on ``LANES`` lanes.

    The compiler does not vectorise such short loops by itself: it cannot know that the arrays
    do not overlap.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(64), LANES)
        pointers = []
        for i in (0, 2, 4):
            array = context.make_array(signature.args[i])(context, builder, args[i])
            address = builder.gep(array.data, [args[i + 1]])
            pointers.append(builder.bitcast(address, vector.as_pointer()))
        target, x, y = (builder.load(pointer, align=8) for pointer in pointers)
        builder.store(combine(builder, target, x, y), pointers[0], align=8)
        return context.get_dummy_value()

    return generate


def _minimum(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.icmp_signed("<", x, y), x, y)


_SET_SUM = _lanes(lambda builder, _, x, y: builder.add(x, y))
_SET_DIFFERENCE = _lanes(lambda builder, _, x, y: builder.sub(x, y))
_MIN_SUM = _lanes(lambda builder, target, x, y: _minimum(builder, target, builder.add(x, y)))


def _signature(target: Any, x: Any, y: Any) -> Any:
    return types.void(target, types.intp, x, types.intp, y, types.intp)


@intrinsic  # type: ignore[untyped-decorator]
def set_sum(  # type: ignore[no-untyped-def]
    typing_context, target, at_target, x, at_x, y, at_y
):
    """``target = x + y`` on the lanes that begin at the given places of flat int64 arrays."""
    return _signature(target, x, y), _SET_SUM


@intrinsic  # type: ignore[untyped-decorator]
def set_difference(  # type: ignore[no-untyped-def]
    typing_context, target, at_target, x, at_x, y, at_y
):
    """``target = x - y``, like :func:`set_sum`."""
    return _signature(target, x, y), _SET_DIFFERENCE


@intrinsic  # type: ignore[untyped-decorator]
def min_sum(  # type: ignore[no-untyped-def]
    typing_context, target, at_target, x, at_x, y, at_y
):
    """``target = min(target, x + y)``, like :func:`set_sum`."""
    return _signature(target, x, y), _MIN_SUM


@intrinsic  # type: ignore[untyped-decorator]
def total(typing_context, x, at_x):  # type: ignore[no-untyped-def]
    """Sum of the lanes that begin at a place of a flat int64 array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(64), LANES)
        array = context.make_array(signature.args[0])(context, builder, args[0])
        address = builder.gep(array.data, [args[1]])
        lanes = builder.load(builder.bitcast(address, vector.as_pointer()), align=8)
        kind = ir.FunctionType(ir.IntType(64), [vector])
        name = f"llvm.vector.reduce.add.v{LANES}i64"
        reduce = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(reduce, [lanes])

    return types.int64(x, types.intp), generate
