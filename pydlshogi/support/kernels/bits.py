"""Integers of 128 bits: a set of up to 128 squares as one number, compiled as in Python.

numba's widest integers have 64 bits. Here it learns a wider type, `BITS`, with the operators & | ^ - ~ << >>, the truth
of a number and the functions of this module; processors keep one in two registers. In Python the functions take and
give plain integers, so what is written with them means the same either way, but for `~`: the complement of an int is
negative, and needs a mask. Bits are made by `nothing`, `bit`, `bits_from`, `bits_of`, `fixed` and `entry`, never by a
literal.
"""

import operator
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from pydlshogi.support.arrays import Uint64Array
from pydlshogi.support.kernels.compiled import inlined

_WORD: Final = (1 << 64) - 1
_WIDE: Final = ir.IntType(128)
_NARROW: Final = ir.IntType(64)


class _BitsType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Bits")


BITS: Final = _BitsType()
"""What numba calls them."""


@register_model(_BitsType)
class _BitsModel(models.PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, _WIDE)


def _constant(number: int) -> Any:
    return ir.Constant(_WIDE, number)


def bits_of(low: int, high: int) -> int:
    """The number of which `low` are the lower 64 bits and `high` the upper ones."""
    return int(low) | int(high) << 64


def nothing() -> int:
    """No bit."""
    return 0


def low_word(bits: int) -> int:
    """The lower 64 bits."""
    return bits & _WORD


def high_word(bits: int) -> int:
    """The upper 64 bits."""
    return bits >> 64 & _WORD


def bit(index: int) -> int:
    """One bit."""
    return 1 << int(index)


def bits_from(index: int) -> int:
    """All bits from `index` upwards."""
    return -1 << int(index)


def lowest(bits: int) -> int:
    """The index of the lowest bit set. Nothing sensible for 0."""
    return (bits & -bits).bit_length() - 1


def highest(bits: int) -> int:
    """The index of the highest bit set. Nothing sensible for 0."""
    return bits.bit_length() - 1


def without_lowest(bits: int) -> int:
    """All but the lowest bit set."""
    return bits & (bits - 1)


def up_to_lowest(bits: int) -> int:
    """All bits up to the lowest one set, and that one too. All bits for 0."""
    return bits ^ (bits - 1)


def mirrored(bits: int) -> int:
    """The bits in opposite order: bit 0 becomes bit 127."""
    return int(f"{bits:0128b}"[::-1], 2)


def count(bits: int) -> int:
    """How many bits are set."""
    return bits.bit_count()


def _learn(function: Callable[..., Any], result: Any, arguments: tuple[Any, ...], write: Callable[..., Any]) -> None:
    """Let numba compile `function`: `write` puts its instructions into an LLVM builder."""

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return write(builder, *values)

    template = type("_Template", (ConcreteTemplate,), {"key": function, "cases": [signature(result, *arguments)]})
    infer_global(function)(template)
    lower_builtin(function, *arguments)(lower)


_ONE_OF_TWO: Final = (BITS, (BITS, BITS))
_FALSE: Final = ir.Constant(ir.IntType(1), 0)

for _function, (_result, _arguments), _write in (
    (operator.and_, _ONE_OF_TWO, lambda b, x, y: b.and_(x, y)),
    (operator.iand, _ONE_OF_TWO, lambda b, x, y: b.and_(x, y)),
    (operator.or_, _ONE_OF_TWO, lambda b, x, y: b.or_(x, y)),
    (operator.ior, _ONE_OF_TWO, lambda b, x, y: b.or_(x, y)),
    (operator.xor, _ONE_OF_TWO, lambda b, x, y: b.xor(x, y)),
    (operator.ixor, _ONE_OF_TWO, lambda b, x, y: b.xor(x, y)),
    (operator.sub, _ONE_OF_TWO, lambda b, x, y: b.sub(x, y)),
    (operator.invert, (BITS, (BITS,)), lambda b, x: b.not_(x)),
    (operator.lshift, (BITS, (BITS, types.int64)), lambda b, x, n: b.shl(x, b.zext(n, _WIDE))),
    (operator.rshift, (BITS, (BITS, types.int64)), lambda b, x, n: b.lshr(x, b.zext(n, _WIDE))),
    (bool, (types.boolean, (BITS,)), lambda b, x: b.icmp_unsigned("!=", x, _constant(0))),
    (operator.not_, (types.boolean, (BITS,)), lambda b, x: b.icmp_unsigned("==", x, _constant(0))),
    (
        bits_of,
        (BITS, (types.uint64, types.uint64)),
        lambda b, x, y: b.or_(b.zext(x, _WIDE), b.shl(b.zext(y, _WIDE), _constant(64))),
    ),
    (nothing, (BITS, ()), lambda b: _constant(0)),
    (low_word, (types.uint64, (BITS,)), lambda b, x: b.trunc(x, _NARROW)),
    (high_word, (types.uint64, (BITS,)), lambda b, x: b.trunc(b.lshr(x, _constant(64)), _NARROW)),
    (bit, (BITS, (types.int64,)), lambda b, n: b.shl(_constant(1), b.zext(n, _WIDE))),
    (bits_from, (BITS, (types.int64,)), lambda b, n: b.shl(_constant(-1), b.zext(n, _WIDE))),
    (lowest, (types.int64, (BITS,)), lambda b, x: b.trunc(b.cttz(x, _FALSE), _NARROW)),
    (
        highest,
        (types.int64, (BITS,)),
        lambda b, x: b.sub(ir.Constant(_NARROW, 127), b.trunc(b.ctlz(x, _FALSE), _NARROW)),
    ),
    (without_lowest, (BITS, (BITS,)), lambda b, x: b.and_(x, b.sub(x, _constant(1)))),
    (up_to_lowest, (BITS, (BITS,)), lambda b, x: b.xor(x, b.sub(x, _constant(1)))),
    (mirrored, (BITS, (BITS,)), lambda b, x: b.bitreverse(x)),
    (count, (types.int64, (BITS,)), lambda b, x: b.trunc(b.ctpop(x), _NARROW)),
):
    _learn(_function, _result, _arguments, _write)


def words_of(number: int) -> tuple[Any, Any]:
    """A number as a constant for `fixed`."""
    return np.uint64(number & _WORD), np.uint64(number >> 64)


def table_of(numbers: Iterable[int]) -> Uint64Array:
    """Numbers as uint64 [numbers, 2], for `entry`."""
    return np.array([(number & _WORD, number >> 64) for number in numbers], np.uint64)


@inlined
def fixed(words: tuple[Any, Any]) -> int:
    """A number of which the two words are a constant: see `words_of`."""
    return bits_of(words[0], words[1])


@inlined
def entry(table: Uint64Array, index: int) -> int:
    """One number of a table."""
    return bits_of(table[index, 0], table[index, 1])
