"""Sums of rows of weights with the running total in the processor's vector registers, as compiled functions.

A loop written in Python keeps its sums in memory when compiled; these are given to the compiler as vectors. Each has a
plain form, for play without compiling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from ohhell_env.kernel.jit import instruction

BLOCK = 64  # units worked on at a time: their weights fit the second-level cache, their sums fit the registers
WIDE_BLOCK = 128  # units of 16 bits, likewise
MIDDLE = 32  # units of a quantised network's second layer
HIDDEN_LIMIT, MIDDLE_LIMIT = 511, 255  # greatest values of its units
HIDDEN_UNIT = 128  # by which the second layer's sums are divided
_WORD, _LANE, _SINGLE = ir.IntType(64), ir.IntType(32), ir.FloatType()


def _opened(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
    """The arguments of an instruction, arrays as structures."""
    return [
        context.make_array(kind)(context, builder, one) if isinstance(kind, types.Array) else one
        for kind, one in zip(signature.args, args)
    ]


def _place(builder: Any, array: Any, kind: Any, *indices: Any) -> Any:
    """A pointer to an array's element, to be read as something of a kind."""
    offset = _WORD(0)
    for k, one in enumerate(indices):
        offset = builder.add(offset, builder.mul(builder.extract_value(array.strides, k), one))
    start = builder.bitcast(array.data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(start, [offset]), kind.as_pointer())


def _spread(builder: Any, value: Any, vector: Any) -> Any:
    """A vector of a number in every place."""
    one = builder.insert_element(vector(ir.Undefined), value, _LANE(0))
    return builder.shuffle_vector(one, vector(ir.Undefined), ir.VectorType(_LANE, vector.count)([0] * vector.count))


def _row_sum(builder: Any, vector: Any, start: Any, rows: Any, numbers: Any, count: Any, scales: Any = None) -> Any:
    """The vector at ``start`` plus the rows (of its width, from ``rows`` on) of some numbers, scaled if need be."""
    total = cgutils.alloca_once(builder, vector)
    builder.store(builder.load(start, align=2), total)
    width = _WORD(vector.count)
    with cgutils.for_range(builder, count) as loop:
        number = builder.zext(builder.load(builder.gep(numbers, [loop.index])), _WORD)
        row = builder.bitcast(builder.gep(rows, [builder.mul(number, width)]), vector.as_pointer())
        term = builder.load(row, align=2)
        if scales is not None:
            scale = _spread(builder, builder.load(builder.gep(scales, [loop.index])), vector)
            term = builder.fmul(scale, term, flags=("contract",))
        if isinstance(vector.element, ir.FloatType):
            builder.store(builder.fadd(builder.load(total), term, flags=("contract",)), total)
        else:
            builder.store(builder.add(builder.load(total), term), total)
    return builder.load(total)


def _clipped(builder: Any, vector: Any, value: Any, limit: int) -> Any:
    """A vector with each number brought into 0..limit."""
    low, high = vector([vector.element(0)] * vector.count), vector([vector.element(limit)] * vector.count)
    if isinstance(vector.element, ir.FloatType):
        value = builder.select(builder.fcmp_ordered(">", value, low), value, low)
        return builder.select(builder.fcmp_ordered("<", value, high), value, high)
    value = builder.select(builder.icmp_signed(">", value, low), value, low)
    return builder.select(builder.icmp_signed("<", value, high), value, high)


def _adder(scaled: bool) -> Callable[..., None]:
    """A function ``out[row, at:at + BLOCK] = bias[at:] + sum_k scale[row, k] * weights[block, index[row, k]]``."""
    vector = ir.VectorType(_SINGLE, BLOCK)

    def add(weights: Any, block: Any, index: Any, scale: Any, row: Any, count: Any, bias: Any, out: Any) -> None:
        chosen = weights[block, index[row, :count]]  # (count, BLOCK)
        if scaled:
            chosen = chosen * scale[row, :count, None]
        units = slice(block * BLOCK, (block + 1) * BLOCK)
        out[row, units] = bias[units] + chosen.sum(axis=0)

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        weights, block, index, scale, row, count, bias, out = _opened(context, builder, signature, args)
        at = builder.mul(block, _WORD(BLOCK))
        total = _row_sum(
            builder,
            vector,
            _place(builder, bias, vector, at),
            _place(builder, weights, _SINGLE, block),
            _place(builder, index, ir.IntType(16), row),
            count,
            _place(builder, scale, _SINGLE, row) if scaled else None,
        )
        builder.store(total, _place(builder, out, vector, row, at), align=4)
        return context.get_dummy_value()

    instruction(add, types.none, write)
    return add


add_ones, add_scaled = _adder(False), _adder(True)


# --- Whole numbers ---------------------------------------------------------------------------------------------------


def add_clipped(weights: Any, block: Any, index: Any, row: Any, count: Any, bias: Any, out: Any) -> None:
    """``out[row, at:at + WIDE_BLOCK]`` = the sum of rows of weights and bias, both int16, clipped to HIDDEN_LIMIT.

    ``out`` is float32. Sums may go beyond 16 bits on their way if they come back: they are taken modulo 2**16.
    """
    units = slice(block * WIDE_BLOCK, (block + 1) * WIDE_BLOCK)
    total = bias[units] + weights[block, index[row, :count]].sum(axis=0, dtype=np.int16)
    out[row, units] = np.clip(total, 0, HIDDEN_LIMIT)


def _write_add_clipped(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    short = ir.IntType(16)
    vector, singles = ir.VectorType(short, WIDE_BLOCK), ir.VectorType(_SINGLE, WIDE_BLOCK)
    weights, block, index, row, count, bias, out = _opened(context, builder, signature, args)
    at = builder.mul(block, _WORD(WIDE_BLOCK))
    total = _row_sum(
        builder,
        vector,
        _place(builder, bias, vector, at),
        _place(builder, weights, short, block),
        _place(builder, index, short, row),
        count,
    )
    clipped = builder.sitofp(_clipped(builder, vector, total, HIDDEN_LIMIT), singles)
    builder.store(clipped, _place(builder, out, singles, row, at), align=4)
    return context.get_dummy_value()


instruction(add_clipped, types.none, _write_add_clipped)


def mix(hidden: Any, row: Any, weights: Any, bias: Any, out: Any) -> None:
    """``out[row]`` = the second layer of whole numbers: (W,) -> (MIDDLE,), divided, rounded down and clipped.

    Whole numbers in float32, exact below 2**24, so that one instruction multiplies and adds. ``weights`` (W, MIDDLE).
    """
    total = bias + hidden[row] @ weights
    out[row] = np.clip(np.floor(total / HIDDEN_UNIT), 0, MIDDLE_LIMIT)


def _write_mix(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    vector = ir.VectorType(_SINGLE, MIDDLE)
    hidden, row, weights, bias, out = _opened(context, builder, signature, args)
    width = builder.extract_value(hidden.shape, 1)
    units = _place(builder, hidden, _SINGLE, row)
    rows = _place(builder, weights, _SINGLE, _WORD(0))
    totals = [cgutils.alloca_once(builder, vector) for _ in range(2)]  # two chains of sums hide the latency
    builder.store(builder.load(_place(builder, bias, vector, _WORD(0)), align=4), totals[0])
    builder.store(vector([_SINGLE(0)] * MIDDLE), totals[1])
    with cgutils.for_range(builder, builder.udiv(width, _WORD(2))) as loop:
        for k, total in enumerate(totals):
            unit = builder.add(builder.mul(loop.index, _WORD(2)), _WORD(k))
            scale = _spread(builder, builder.load(builder.gep(units, [unit])), vector)
            place = builder.gep(rows, [builder.mul(unit, _WORD(MIDDLE))])
            term = builder.fmul(
                scale, builder.load(builder.bitcast(place, vector.as_pointer()), align=4), flags=("contract",)
            )
            builder.store(builder.fadd(builder.load(total), term, flags=("contract",)), total)
    value = builder.fadd(builder.load(totals[0]), builder.load(totals[1]))
    value = builder.fmul(value, vector([_SINGLE(1 / HIDDEN_UNIT)] * MIDDLE))
    value = _clipped(builder, vector, value, MIDDLE_LIMIT)
    value = builder.sitofp(builder.fptosi(value, ir.VectorType(_LANE, MIDDLE)), vector)
    builder.store(value, _place(builder, out, vector, row), align=4)
    return context.get_dummy_value()


instruction(mix, types.none, _write_mix)


def dot(units: Any, row: Any, weights: Any, output: Any) -> Any:
    """The sum of ``units[row]`` (MIDDLE,) times ``weights[output]``: whole numbers in float32, exact below 2**24."""
    return units[row] @ weights[output]


def _write_dot(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    units, row, weights, output = _opened(context, builder, signature, args)
    vector = ir.VectorType(_SINGLE, MIDDLE)
    value = builder.fmul(
        builder.load(_place(builder, units, vector, row), align=4),
        builder.load(_place(builder, weights, vector, output), align=4),
    )
    width = MIDDLE
    while width > 1:  # halves are added until one number is left
        width //= 2
        low, high = ([_LANE(k + start) for k in range(width)] for start in (0, width))
        kind = ir.VectorType(_LANE, width)
        value = builder.fadd(
            builder.shuffle_vector(value, value, kind(low)), builder.shuffle_vector(value, value, kind(high))
        )
    return builder.extract_element(value, _LANE(0))


instruction(dot, types.float32, _write_dot)
