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
from numba.extending import intrinsic, overload

BLOCK = 64  # units worked on at a time: their weights fit the second-level cache, their sums fit the registers
_WORD = ir.IntType(64)
_SINGLE = ir.FloatType()
_VECTOR = ir.VectorType(_SINGLE, BLOCK)


def _adder(scaled: bool) -> Callable[..., None]:
    """A function ``out[row, at:at + BLOCK] = bias[at:] + sum_k scale[row, k] * weights[block, index[row, k]]``."""

    def add(weights: Any, block: Any, index: Any, scale: Any, row: Any, count: Any, bias: Any, out: Any) -> None:
        chosen = weights[block, index[row, :count]]  # (count, BLOCK)
        if scaled:
            chosen = chosen * scale[row, :count, None]
        units = slice(block * BLOCK, (block + 1) * BLOCK)
        out[row, units] = bias[units] + chosen.sum(axis=0)

    @intrinsic
    def add_vectors(
        typing_context: Any,
        weights: Any,
        block: Any,
        index: Any,
        scale: Any,
        row: Any,
        count: Any,
        bias: Any,
        out: Any,
    ) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            weights, block, index, scale, row, count, bias, out = (
                context.make_array(kind)(context, builder, one) if isinstance(kind, types.Array) else one
                for kind, one in zip(signature.args, args)
            )

            def place(array: Any, kind: Any, *indices: Any) -> Any:
                """A pointer to an array's element, to be read as something of a kind."""
                offset = _WORD(0)
                for k, one in enumerate(indices):
                    offset = builder.add(offset, builder.mul(builder.extract_value(array.strides, k), one))
                start = builder.bitcast(array.data, ir.IntType(8).as_pointer())
                return builder.bitcast(builder.gep(start, [offset]), kind.as_pointer())

            at = builder.mul(block, _WORD(BLOCK))
            total = cgutils.alloca_once(builder, _VECTOR)
            builder.store(builder.load(place(bias, _VECTOR, at), align=4), total)
            first, numbers = place(weights, _SINGLE, block), place(index, ir.IntType(16), row)
            scales = place(scale, _SINGLE, row) if scaled else None
            with cgutils.for_range(builder, count) as loop:
                number = builder.zext(builder.load(builder.gep(numbers, [loop.index])), _WORD)
                start = builder.gep(first, [builder.mul(number, _WORD(BLOCK))])
                term = builder.load(builder.bitcast(start, _VECTOR.as_pointer()), align=4)
                if scaled:
                    one = builder.insert_element(_VECTOR(ir.Undefined), builder.load(builder.gep(scales, [loop.index])),
                                                 ir.IntType(32)(0))  # fmt: skip
                    zeros = ir.VectorType(ir.IntType(32), BLOCK)([0] * BLOCK)
                    every = builder.shuffle_vector(one, _VECTOR(ir.Undefined), zeros)
                    term = builder.fmul(every, term, flags=("contract",))
                builder.store(builder.fadd(builder.load(total), term, flags=("contract",)), total)
            builder.store(builder.load(total), place(out, _VECTOR, row, at), align=4)
            return context.get_dummy_value()

        whole = types.int64
        return types.void(weights, whole, index, scale, whole, whole, bias, out), code

    @overload(add, jit_options={"cache": True})
    def _add(weights: Any, block: Any, index: Any, scale: Any, row: Any, count: Any, bias: Any, out: Any) -> Any:
        def compiled(
            weights: Any, block: Any, index: Any, scale: Any, row: Any, count: Any, bias: Any, out: Any
        ) -> Any:
            add_vectors(weights, np.int64(block), index, scale, np.int64(row), np.int64(count), bias, out)

        return compiled

    return add


add_ones, add_scaled = _adder(False), _adder(True)
