"""Vectors of 16 integers in compiled kernels, where plain loops do not become the instructions that there are for them.

All is written in LLVM's vectors, in which no processor is named: 16 numbers of 32 bits are one register of AVX-512, two
of AVX2, four of SSE2 and of NEON. `_multiply_add` is written so that LLVM recognises vpmaddwd, or vpdpwssd, in it.

Arrays are flat: a kernel hands on what begins at the place it means, `array[place:]`. Weights, biases and products
begin at multiples of 64 bytes, maps at multiples of 32.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic as numba_intrinsic

intrinsic: Callable[..., Any] = numba_intrinsic
"""Called by kernels without the first argument of what it decorates."""
LANES: Final = 16
"""Numbers in a vector: channels that are computed together, a block."""
ROWS, BLOCKS = (9, 2) if "+avx512bw" in cpu_target.target_context.codegen().magic_tuple()[2] else (6, 1)
"""Rows of inputs and blocks of weights that are multiplied together. Their sums stay in registers: AVX-512 has 32
registers, each for a whole vector. What is loaded once serves all its sums."""

_I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_V16, _V32 = ir.VectorType(_I16, LANES), ir.VectorType(_I32, LANES)
_PAIRS = ir.VectorType(_I16, 2 * LANES)
_int, _int32, _int16 = types.int64, types.int32, types.int16


def _all(vector: Any, value: int) -> Any:
    return ir.Constant(vector, [value] * vector.count)


class _Code:
    """What an intrinsic writes: instructions, with its arguments at hand."""

    def __init__(self, context: Any, builder: Any, kinds: Sequence[Any], arguments: Sequence[Any]) -> None:
        self._context, self._kinds = context, kinds
        self.builder = builder
        self.arguments = arguments

    def scaled(self, factor: int, number: Any) -> Any:
        return self.builder.mul(number, ir.Constant(_I64, factor))

    def sum(self, *numbers: Any) -> Any:
        total, *rest = numbers
        for number in rest:
            total = self.builder.add(total, number)
        return total

    def splat(self, scalar: Any, vector: Any) -> Any:
        undefined = ir.Constant(vector, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, ir.Constant(_I32, 0))
        return self.builder.shuffle_vector(first, undefined, _all(ir.VectorType(_I32, vector.count), 0))

    def place(self, argument: int, index: Any, kind: Any) -> Any:
        """Where the number `index` of an array is, as a pointer to `kind`."""
        array = self._context.make_array(self._kinds[argument])
        data = array(self._context, self.builder, self.arguments[argument]).data
        return self.builder.bitcast(self.builder.gep(data, [index]), kind.as_pointer())

    def load(self, argument: int, index: Any, kind: Any) -> Any:
        return self.builder.load(self.place(argument, index, kind), align=64 if kind is _V32 else 32)

    def store(self, value: Any, argument: int, index: Any) -> None:
        self.builder.store(value, self.place(argument, index, value.type), align=64 if value.type is _V32 else 32)

    def clipped(self, value: Any, bottom: Any, top: Any) -> Any:
        value = self.builder.select(self.builder.icmp_signed("<", value, bottom), bottom, value)
        return self.builder.select(self.builder.icmp_signed(">", value, top), top, value)

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """One of LLVM's own."""
        return cgutils.get_or_insert_function(self.builder.module, ir.FunctionType(result, arguments), f"llvm.{name}")


def _void(kinds: Sequence[Any], write: Callable[[_Code], None]) -> Any:
    """What an intrinsic returns that takes arguments of these kinds and gives nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write(_Code(context, builder, signature.args, arguments))
        return context.get_dummy_value()

    return types.void(*kinds), generate


def _multiply_add(builder: Any, a: Any, b: Any, total: Any) -> Any:
    """To each number of `total` add the products of two neighbours of `a` and `b`."""
    wide = ir.VectorType(_I32, 2 * LANES)
    products = builder.mul(builder.sext(a, wide), builder.sext(b, wide))
    undefined = ir.Constant(wide, ir.Undefined)
    even, odd = (
        builder.shuffle_vector(products, undefined, ir.Constant(_V32, list(range(first, 2 * LANES, 2))))
        for first in range(2)
    )
    return builder.add(total, builder.add(even, odd))


def multiplier(rows: int) -> Any:
    """The intrinsic that multiplies `rows` rows of inputs with BLOCKS blocks of weights."""

    def write(code: _Code) -> None:
        builder, (_, stride, _, apart, _, between, pairs) = code.builder, code.arguments
        entry, loop, done = builder.block, *map(builder.append_basic_block, ("pairs", "done"))
        inputs = [code.place(0, code.scaled(row, stride), _I32) for row in range(rows)]
        weights = [code.place(2, code.scaled(block, apart), _PAIRS) for block in range(BLOCKS)]
        prefetch = code.function("prefetch.p0", ir.VoidType(), _I8.as_pointer(), *3 * [_I32])
        builder.branch(loop)
        builder.position_at_end(loop)
        p = builder.phi(_I64)
        p.add_incoming(ir.Constant(_I64, 0), entry)
        sums = [[builder.phi(_V32) for _ in weights] for _ in inputs]
        for block in weights:
            ahead = builder.bitcast(builder.gep(block, [builder.add(p, pairs)]), _I8.as_pointer())
            builder.call(prefetch, [ahead, *(ir.Constant(_I32, number) for number in (0, 3, 1))])
        loaded = [builder.load(builder.gep(block, [p]), align=64) for block in weights]
        for row, of_row in zip(inputs, sums, strict=True):
            pair = builder.load(builder.gep(row, [p]), align=4)
            everywhere = builder.bitcast(code.splat(pair, _V32), _PAIRS)
            for w, total in zip(loaded, of_row, strict=True):
                total.add_incoming(_all(_V32, 0), entry)
                total.add_incoming(_multiply_add(builder, everywhere, w, total), loop)
        following = builder.add(p, ir.Constant(_I64, 1))
        p.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, pairs), loop, done)
        builder.position_at_end(done)
        for row, of_row in enumerate(sums):
            for block, total in enumerate(of_row):
                place = code.sum(code.scaled(block, between), ir.Constant(_I64, LANES * row))
                code.store(total.incomings[1][0], 4, place)

    @intrinsic
    def multiply(typingctx: Any, v: Any, stride: Any, u: Any, apart: Any, m: Any, between: Any, pairs: Any) -> Any:
        """m[between b + 16 r + o] = sum over p < pairs of v[stride r + 2 p (+ 1)] * u[apart b + 32 p + 2 o (+ 1)], for
        each block b; m int32, v and u int16.

        The weights `pairs` further on are asked for, as they are the next to be multiplied.
        """
        return _void((v, _int, u, _int, m, _int, _int), write)

    return multiply


def row_adder(vectors: int) -> Any:
    """The intrinsic that adds up rows of a table, `vectors` times 16 numbers of each, which stay in registers."""

    def write(code: _Code) -> None:
        builder, (_, _, count, width, _, finer, bottom, top, _) = code.builder, code.arguments
        add = code.function(f"sadd.sat.v{LANES}i16", _V16, _V16, _V16)
        offsets = [ir.Constant(_I64, LANES * i) for i in range(vectors)]
        first = [code.load(4, offset, _V16) for offset in offsets]
        entry, loop, body, done = builder.block, *map(builder.append_basic_block, ("rows", "add", "done"))
        builder.branch(loop)
        builder.position_at_end(loop)
        i = builder.phi(_I64)
        i.add_incoming(ir.Constant(_I64, 0), entry)
        sums = [builder.phi(_V16) for _ in range(vectors)]
        builder.cbranch(builder.icmp_signed("<", i, count), body, done)
        builder.position_at_end(body)
        row = builder.sext(builder.load(code.place(1, i, _I32), align=4), _I64)
        for total, begun, offset in zip(sums, first, offsets, strict=True):
            total.add_incoming(begun, entry)
            added = code.load(0, builder.add(builder.mul(row, width), offset), _V16)
            total.add_incoming(builder.call(add, [total, added]), body)
        i.add_incoming(builder.add(i, ir.Constant(_I64, 1)), body)
        builder.branch(loop)
        builder.position_at_end(done)
        least, most, shift = (code.splat(each, _V16) for each in (bottom, top, finer))
        for total, offset in zip(sums, offsets, strict=True):
            code.store(code.clipped(builder.ashr(total, shift), least, most), 8, offset)

    @intrinsic
    def add_rows(
        typingctx: Any, table: Any, rows: Any, count: Any, width: Any, start: Any, finer: Any, bottom: Any, top: Any,
        y: Any,
    ) -> Any:  # fmt: skip
        """y[c] = clip(start[c] + sum over i < count of table[width * rows[i] + c] >> finer, bottom, top), int16.

        A sum that leaves 16 bits stays at their end. rows: int32.
        """
        return _void((table, rows, _int, _int, start, *3 * [_int16], y), write)

    return add_rows


def _spread(code: _Code) -> None:
    _, row, square, _, frequency = code.arguments
    add, sub = code.builder.add, code.builder.sub

    def transformed(d: Sequence[Any]) -> tuple[Any, ...]:
        def double(n: Any) -> Any:
            return add(n, n)

        d31, d32 = sub(d[3], d[1]), sub(d[3], d[2])
        return (
            add(double(sub(d[0], d[2])), d31),
            sub(d32, double(d[1])),
            add(d32, double(sub(d[1], d[2]))),
            d31,
            sub(sub(d[4], d[2]), double(d31)),
        )

    columns = [
        transformed([code.load(0, add(code.scaled(i, row), code.scaled(j, square)), _V16) for i in range(5)])
        for j in range(5)
    ]
    for i in range(5):
        for j, value in enumerate(transformed([column[i] for column in columns])):
            code.store(value, 3, code.scaled(5 * i + j, frequency))


@intrinsic
def spread(typingctx: Any, x: Any, row: Any, square: Any, v: Any, frequency: Any) -> Any:
    """The input transform of a tile, 16 channels: v[frequency * (5 i + j)] = (B x B^T)[i, j], all int16.

    x[row * i + square * j]: the tile's 5 x 5 squares.
    """
    return _void((x, _int, _int, v, _int), _spread)


def _requantised(code: _Code, total: Any, bias: Any, scalars: Sequence[Any], y: int, place: Any) -> None:
    """y = clip((total + bias + gain * y) >> fraction, bottom, top); scalars: gain, fraction, bottom, top, int32."""
    builder, (gain, fraction, bottom, top) = code.builder, (code.splat(each, _V32) for each in scalars)
    before = builder.sext(code.load(y, place, _V16), _V32)
    total = code.sum(total, bias, builder.mul(gain, before))
    code.store(builder.trunc(code.clipped(builder.ashr(total, fraction), bottom, top), _V16), y, place)


def _gather(code: _Code) -> None:
    builder, (_, frequency, _, _, *scalars, _, row, square) = code.builder, code.arguments

    def transformed(m: Sequence[Any]) -> tuple[Any, ...]:
        total, difference, twice = code.sum(m[1], m[2]), builder.sub(m[1], m[2]), code.sum(m[3], m[3])
        return code.sum(m[0], m[3], total), code.sum(difference, twice), code.sum(twice, twice, total, m[4])

    def product(f: int) -> Any:
        shift = code.load(2, ir.Constant(_I64, LANES * f), _V32)
        return builder.ashr(code.load(0, code.scaled(f, frequency), _V32), shift)

    bias = code.load(3, ir.Constant(_I64, 0), _V32)
    columns = [transformed([product(5 * i + j) for i in range(5)]) for j in range(5)]
    for i in range(3):
        for j, total in enumerate(transformed([column[i] for column in columns])):
            place = code.sum(code.scaled(i, row), code.scaled(j, square))
            _requantised(code, total, bias, scalars, 8, place)


@intrinsic
def gather(
    typingctx: Any, m: Any, frequency: Any, shift: Any, bias: Any, gain: Any, fraction: Any, bottom: Any, top: Any,
    y: Any, row: Any, square: Any,
) -> Any:  # fmt: skip
    """The output transform of a tile, 16 channels: `requantise` of A (m >> shift) A^T, at the 3 x 3 squares of y."""
    return _void((m, _int, shift, bias, *4 * [_int32], y, _int, _int), _gather)


def _requantise(code: _Code) -> None:
    zero, (_, _, _, *scalars, _) = ir.Constant(_I64, 0), code.arguments
    total = code.builder.ashr(code.load(0, zero, _V32), code.load(1, zero, _V32))
    _requantised(code, total, code.load(2, zero, _V32), scalars, 7, zero)


@intrinsic
def requantise(
    typingctx: Any, m: Any, shift: Any, bias: Any, gain: Any, fraction: Any, bottom: Any, top: Any, y: Any
) -> Any:  # fmt: skip
    """From 16 sums to a map's numbers: y = clip(((m >> shift) + bias + gain * y) >> fraction, bottom, top).

    m, shift and bias int32, y int16; in y stands what is added, gain 0: nothing.
    """
    return _void((m, shift, bias, *4 * [_int32], y), _requantise)
