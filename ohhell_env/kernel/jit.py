"""Compilation: the `jit` decorators, bit helpers and the random stream's arithmetic.

Every function of the kernel also runs as plain Python (``NUMBA_DISABLE_JIT=1``) with identical results. Two habits
keep that so: hands stay in int64 (a mixture of int64 and uint64 silently becomes float64), and a one is shifted as
``ONE << n``, never as a Python ``1`` that would take the width of a small NumPy integer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import populate_array

from ohhell_env.kernel.cache import DiskCache, note_body
from ohhell_env.kernel.callees import Callees, numba_choice

Function = TypeVar("Function", bound=Callable[..., Any])

Int = Any  # in compiled functions: a Python int or an integer of NumPy's

ONE = np.int64(1)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U1, _U27, _U30, _U31, _U32 = (np.uint64(n) for n in (1, 27, 30, 31, 32))


_WIDE_FIELD = "held_twice"  # of game records: only those of the wide form have it
_OPTIONS = {"nogil": True, "error_model": "numpy"}


def _plain(function: Function) -> Function:
    # The random stream wraps around at 64 bits by design; NumPy would warn where compiled code does not.
    return np.errstate(over="ignore")(function)


def _compiled(function: Function, **options: Any) -> Function:
    if numba.config.DISABLE_JIT:
        return _plain(function)
    dispatcher = numba.njit(function, **_OPTIONS, **options)
    dispatcher._cache = DiskCache(dispatcher)  # in place of Numba's, which would load stale code
    callees = Callees(dispatcher)
    dispatcher.get_call_template, dispatcher.get_overload = callees.get_call_template, callees.get_overload
    return dispatcher  # type: ignore[no-any-return]


def jit(function: Function) -> Function:
    """Compile for any arguments, cached on disk, without the interpreter lock, and copy into every caller."""
    return _compiled(function, forceinline=True)


def jit_apart(function: Function) -> Function:
    """As `jit`, but compiled once and called, not copied into its callers: for large functions, to compile in time."""
    return _compiled(function)


def by_form(standard: Callable[..., Any], wide: Callable[..., Any]) -> Callable[..., Any]:
    """One of two functions, by the form of the game record that is the first argument.

    The choice is made when compiling, so that the standard form pays nothing for what only the wide form has.
    """

    def choose(game: Any, *arguments: Any) -> Any:
        return (wide if _WIDE_FIELD in game.dtype.names else standard)(game, *arguments)

    def pick(game: Any, *arguments: Any) -> Any:
        return wide if _WIDE_FIELD in game.fields else standard

    return _choice(choose, pick)


def by_entries(entries: Callable[..., Any], words: Callable[..., Any], place: int = 0) -> Callable[..., Any]:
    """One of two functions, by what the array of observations at ``place`` of the arguments holds.

    An array of int8 holds an entry in each; one of int64 holds words of 64 entries, as bits. The choice is made when
    compiling.
    """

    def choose(*arguments: Any) -> Any:
        return (words if arguments[place].dtype == np.int64 else entries)(*arguments)

    def pick(*arguments: Any) -> Any:
        return words if arguments[place].dtype == types.int64 else entries

    return _choice(choose, pick)


def _choice(choose: Callable[..., Any], pick: Callable[..., Any]) -> Callable[..., Any]:
    if not numba.config.DISABLE_JIT:
        numba_choice(choose, pick)
        note_body(choose, pick)
    return choose


def entry_point(function: Callable[..., Any], *examples: Any) -> Callable[..., Any]:
    """The machine code behind a jitted function for arguments of the examples' types.

    It skips the dispatcher, which looks at every argument's type anew and costs more than a step of the game. The
    caller answers for the types.
    """
    if numba.config.DISABLE_JIT:
        return function
    signature = tuple(numba.typeof(example) for example in examples)
    function.compile(signature)  # type: ignore[attr-defined]
    return function.overloads[signature].entry_point  # type: ignore[attr-defined, no-any-return]


def popcount(mask: Int) -> Int:
    """How many bits of a non-negative mask are set."""
    return int(mask).bit_count()


def lowest(mask: Int) -> Int:
    """Index of the lowest set bit of a non-zero mask."""
    bits = int(mask)
    return (bits & -bits).bit_length() - 1


def instruction(function: Callable[..., Any], result: Any, write: Callable[..., Any]) -> None:
    """In compiled code, a call of ``function`` with whole numbers (after an array, maybe) is what ``write`` writes."""

    def typer(*arguments: Any) -> Any:
        return result

    typer.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # Numba passes arguments by it

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = [
            value if isinstance(kind, types.Array) else context.cast(builder, value, kind, types.int64)
            for value, kind in zip(args, signature.args, strict=True)
        ]
        return write(context, builder, signature, wide)

    type_callable(function)(lambda context: typer)
    lower_builtin(function, types.VarArg(types.Any))(code)
    note_body(function, write)


def _write_popcount(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.ctpop(args[0])


def _write_lowest(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.cttz(args[0], context.get_constant(types.boolean, True))


instruction(popcount, types.int64, _write_popcount)
instruction(lowest, types.int64, _write_lowest)


def words_on_stack(count: int) -> Callable[[], Any]:
    """A function that gives room for ``count`` words: (1, count) int64, of any value, until its caller returns."""

    def room() -> Any:
        return np.zeros((1, count), np.int64)

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.return_type)(context, builder)
        sizes = [context.get_constant(types.intp, size) for size in (1, count, 8 * count, 8)]
        data = cgutils.alloca_once(builder, ir.IntType(64), size=count)
        populate_array(array, data=data, shape=sizes[:2], strides=sizes[2:], itemsize=sizes[3], meminfo=None)
        return array._getvalue()

    instruction(room, types.Array(types.int64, 2, "C"), write)
    return room


def _bit_store(width: int) -> Callable[[Any, Int, Int, Int], None]:
    """A function that writes the lowest ``width`` bits of a mask as zeros and ones: ``out[row, at + k] = bit k``.

    Compiled, it is one vector instruction sequence without a branch; a loop over set bits costs a mispredicted exit
    at every call, and a loop over all bits is not vectorised.
    """

    def store(out: Any, row: Int, at: Int, mask: Int) -> None:
        for k in range(width):
            out[row, at + k] = (mask >> k) & 1

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        bits = args[3] if width == 64 else builder.trunc(args[3], ir.IntType(width))
        entries = builder.zext(
            builder.bitcast(bits, ir.VectorType(ir.IntType(1), width)), ir.VectorType(ir.IntType(8), width)
        )
        offset = builder.add(builder.mul(args[1], builder.extract_value(array.strides, 0)), args[2])
        target = builder.bitcast(builder.gep(array.data, [offset]), entries.type.as_pointer())
        builder.store(entries, target, align=1)
        return context.get_dummy_value()

    instruction(store, types.void, write)
    return store


store_4, store_32, store_64 = (_bit_store(width) for width in (4, 32, 64))


@jit
def left_of(seat: Int, players: Int) -> Int:
    """The next seat clockwise."""
    return seat + 1 if seat + 1 < players else 0


@jit
def clamp(value: Int, low: Int, high: Int) -> Int:
    """The value, or the nearer end of low..high."""
    if value < low:  # not min() and max(): those are compiled anew for each combination of types
        return low
    return high if value > high else value


@jit
def nth_bit(mask: Int, n: Int) -> Int:
    """Index of the n-th set bit (0 = lowest) of a mask with more than n bits set.

    Halves the mask six times without a branch: a loop over the bits costs a mispredicted exit at every call.
    """
    index = np.int64(0)
    for width in (32, 16, 8, 4, 2, 1):
        count = popcount(mask & ((ONE << width) - 1))
        step = width * np.int64(n >= count)
        n -= count * np.int64(n >= count)
        mask >>= step
        index += step
    return index


@jit
def mix(value: np.uint64) -> np.uint64:
    """SplitMix64's output function (Steele, Lea, Flood 2014): 64 well-mixed bits from a counter."""
    value = (value ^ (value >> _U30)) * _MIX_1
    value = (value ^ (value >> _U27)) * _MIX_2
    return value ^ (value >> _U31)


@jit
def next_state(stream: np.uint64) -> np.uint64:
    """The stream's next state; ``mix`` of it is the random number."""
    return stream + _STEP


@jit
def below(stream: np.uint64, bound: Int) -> Int:
    """A whole number 0..bound-1 from a stream's state; off uniform by less than bound / 2**32."""
    return np.int64(((mix(stream) >> _U32) * np.uint64(bound)) >> _U32)


@jit
def seed_of(stream: np.uint64) -> Int:
    """A seed (0 .. 2**63 - 1) from a stream's state."""
    return np.int64(mix(stream) >> _U1)


@jit
def stream_of(seed: Int, number: Int) -> np.uint64:
    """The state from which stream ``number`` of a seed starts."""
    return mix(mix(np.uint64(seed) + _STEP) + np.uint64(number) * _MIX_1)
