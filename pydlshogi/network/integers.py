"""A network in integers of 16 bits, by Winograd's F(3x3, 3x3): its tables, made of its weights with numpy alone.

Three times three outputs of a 3x3 convolution are A ((B x B^T) (G w G^T)) A^T, the product number by number: 25
multiplications in place of 81 [Lavin and Gray 2015]. A board of 9 x 9 has nine such tiles. B and A are of integers: all
that depends on rounding stands in the tables. So an evaluation is the same on every machine, bit for bit.

The numbers of a map are 0 to TOP. Each map has a unit of its own: its `largest` value, and some room, is TOP. Where
values may be negative, as swish's are, TOP is how far the largest is from the smallest, and a table turns sums into
numbers. Weights are scaled by powers of two, so that a shift makes a map's number of a sum. They have as many digits as
int16 holds, but no more than keep the sums of any inputs within int32.
"""

from collections.abc import Sequence
from math import floor
from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.network.architecture import KINDS, ModelError
from pydlshogi.network.weights import Array, Weights, architecture_of, folded_convolution
from pydlshogi.support.arrays import Float32Array, Int16Array, Int32Array
from pydlshogi.support.kernels.vectors import LANES

TOP: Final = 1820
"""The largest number of a map. The transform B makes up to 18 times as much of it, which int16 must hold."""
ROOM: Final = 1.1
"""A map can hold values this many times as large as the largest that was seen."""
FRACTION: Final = 10
"""Binary digits behind the point while sums become a map's numbers."""
FIRST_FRACTION: Final = 2
"""The same in the first layer, whose sums have 16 bits."""
LOGIT_FRACTION: Final = 12
"""The same of logits."""
LOWEST: Final = -0.2785
"""The smallest value of swish."""
_VANISHING: Final = -12.0
"""From here on down swish is closer to 0 than half a unit, unless all values of a map are small."""
_LARGEST_WEIGHT: Final = (1 << 15) - 1
_LARGEST_SUM: Final = (1 << 31) - 1
_TOO_LARGE: Final = "its weights are too large for integers, beside the largest values of its maps"
_LEAST: Final = 1e-6
"""The largest value of a map counts as no less: all that it holds may be 0."""
_OF_NEGATIVE: Final = 1 / 16
"""Below that share of the sums that become 0 no value counts as the largest: units too fine would overflow."""
_AT_ONCE: Final = 32
"""Positions whose maps are looked at together."""

SIX_G: Final = np.array([[3, 0, 0], [-3, -3, -3], [-1, 1, -1], [1, 2, 4], [0, 0, 6]])
B: Final = np.array([[2, -1, -2, 1, 0], [0, -2, -1, 1, 0], [0, 2, -3, 1, 0], [0, -1, 0, 1, 0], [0, 2, -1, -2, 1]])
A: Final = np.array([[1, 1, 1, 1, 0], [0, 1, -1, 2, 0], [0, 1, 1, 4, 1]])
FREQUENCIES: Final = 25
TILE: Final = 3
"""Squares of a tile's side."""


class Layer(NamedTuple):
    """Of floats: a convolution, or a linear layer, with the normalisation behind it."""

    kernel: Array
    """float64 [outputs, inputs, height, width]"""
    bias: Array
    """float64 [outputs]"""


class Tower(NamedTuple):
    """A policy-value network as a list of layers: what `Weights` of all kinds, and other programs' graphs, become."""

    whole: bool
    """The first layer sees the whole board, all others one square."""
    first: Layer
    layers: Sequence[Layer]
    residual: bool
    """The layers are pairs: what goes into a pair is added to what comes out of it."""
    policy: Layer
    policy_bias: Array
    """float64 [labels], beside that of the layer"""
    value: tuple[Layer, Layer, Layer]
    swish: bool = False
    """The activation is x / (1 + e^-x), else max(x, 0)."""

    @property
    def maps(self) -> int:
        """How many maps there are: behind the first layer, behind each of `layers`, and the value's two."""
        return 1 + len(self.layers) + 2


def tower_of(weights: Weights) -> Tower:
    """The layers of a network. Raises `ModelError` as `architecture_of`."""
    architecture = architecture_of(weights)
    heads, _, whole = KINDS[architecture.kind]

    def layer(name: str, normalisation: str | None = None) -> Layer:
        kernel, bias = folded_convolution(weights, name, normalisation)
        return Layer(kernel.reshape(*kernel.shape[:2], *(*kernel.shape[2:], 1, 1)[:2]), bias)

    layers = [layer(name) for name in architecture.convolutions]
    for name in architecture.blocks:
        layers += [layer(f"{name}/conv{half}", f"{name}/bn{half}") for half in (1, 2)]
    planes, hidden, value = heads.value
    return Tower(
        whole,
        layers[0],
        layers[1:],
        bool(architecture.blocks),
        layer(heads.policy),
        weights[f"{heads.policy_bias}/b"].ravel(),
        (layer(planes, heads.value_bn), layer(hidden), layer(value)),
    )


class Tables(NamedTuple):
    """What the kernel takes. Outputs are padded to whole vectors, inputs to the outputs of the layer before."""

    height: int
    width: int
    """Squares that a layer sees: 1 x 1 where the first one sees the whole board."""
    rows: int
    columns: int
    """Of a map as it lies in memory: whole tiles, and an edge of zeros."""
    edge: int
    tap: Int16Array
    """flat int16 [planes * taps, channels]: rows of the first layer, for every plane and place in the kernel."""
    full: Int16Array
    """flat int16 [planes, kinds, channels]: what a plane adds that is full of ones, for each kind of square."""
    start: Int16Array
    """flat int16 [kinds, channels]: the bias."""
    kind: Int32Array
    """int32 [squares]: squares of one kind have the same neighbours on the board."""
    first_shift: int
    kernels: Int16Array
    """flat int16 [layers, outputs / 16, FREQUENCIES or 1, inputs / 2, 16, 2]"""
    shift: Int32Array
    """flat int32 [layers, outputs / 16, FREQUENCIES or 1, 16]: digits that sums have beyond FRACTION."""
    bias: Int32Array
    """flat int32 [layers, outputs], with the half by which to round."""
    gain: Int32Array
    """int32 [layers]: the factor of what is added behind a residual pair; 0 where nothing is."""
    lower: Int32Array
    """int32 [maps]: sums below it become it before the activation, as sums above TOP become TOP."""
    activated: Int16Array
    """flat int16: what the activation gives for each number from `lower` to TOP, map by map; empty: the number."""
    activated_zero: Int32Array
    """int32 [maps]: where in `activated` the number for 0 stands."""
    policy: Int16Array
    """int16 [label planes, channels]"""
    policy_shift: Int32Array
    policy_bias: Int32Array
    """int32 [labels]"""
    value: Int16Array
    """flat int16 [outputs / 16, channels / 2, 16, 2]"""
    value_shift: Int32Array
    value_bias: Int32Array
    hidden: Int16Array
    """flat int16 [outputs / 16, squares * outputs of the value / 2, 16, 2]"""
    hidden_shift: Int32Array
    hidden_bias: Int32Array
    last: Int16Array
    """int16 [outputs of the hidden layer]"""
    last_bias: int
    last_unit: np.float32


def reach(bottom: int, top: int) -> Array:
    """float64 [FREQUENCIES]: the largest number that B makes of numbers from `bottom`, at most 0, to `top`."""
    more, less = np.maximum(B, 0).sum(1), np.maximum(-B, 0).sum(1)
    positive = np.outer(more, more) + np.outer(less, less)
    negative = np.outer(more, less) + np.outer(less, more)
    highest = np.maximum(positive * top - negative * bottom, negative * top - positive * bottom)
    return np.asarray(highest.ravel(), np.float64)


def transformed(kernel: Array) -> Array:
    """float64 [FREQUENCIES, outputs, inputs] of float32 kernels [outputs, inputs, 3, 3]: G w G^T."""
    # Products of float32 with such integers, and sums of nine, are exact in float64, in whatever order.
    both = np.einsum("ai,bj,ocij->aboc", SIX_G, SIX_G, kernel.astype(np.float64), optimize=True)
    return np.asarray(both.reshape(FREQUENCIES, *kernel.shape[:2]) / 36)


def rounded(weights: Array, largest: Array) -> tuple[Int16Array, Int32Array]:
    """int16 [frequencies, outputs, inputs], and for each frequency and output with how many binary digits.

    weights: float64, multiplied by the unit of what comes out and divided by that of what goes in. largest: float64
    [frequencies], of what is multiplied with them. Raises ModelError where there is no room for FRACTION digits.
    """
    by_size = _LARGEST_WEIGHT / np.maximum(np.abs(weights).max(2), 1e-9)
    room = _LARGEST_SUM / largest[:, None] - weights.shape[2] / 2  # rounding adds half of 1 for each input at most
    by_sum = room / np.maximum(np.abs(weights).sum(2), 1e-9)
    digits = (np.frexp(np.minimum(by_size, by_sum))[1] - 1).clip(max=FRACTION + 31)
    if (digits < FRACTION).any():
        raise ModelError(_TOO_LARGE)
    integers = np.round(np.ldexp(weights, digits[:, :, None]))
    assert (np.abs(integers).sum(2) * largest[:, None]).max() <= _LARGEST_SUM
    return integers.astype(np.int16), digits


def _whole_vectors(number: int) -> int:
    """The next multiple of LANES."""
    return -(-number // LANES) * LANES


def _padded(array: Array, *shape: int) -> Array:
    """With zeros behind the numbers on the first axes."""
    sizes = shape + array.shape[len(shape) :]
    return np.pad(array, [(0, size - there) for size, there in zip(sizes, array.shape, strict=True)])


def blocked(integers: Int16Array) -> Int16Array:
    """flat [outputs / 16, frequencies, inputs / 2, 16, 2] of [frequencies, outputs, inputs]."""
    frequencies, outputs, inputs = integers.shape
    split = integers.reshape(frequencies, outputs // LANES, LANES, inputs // 2, 2)
    return split.transpose(1, 0, 3, 2, 4).ravel()


def _shift(digits: Int32Array, outputs: int) -> Int32Array:
    """flat int32 [outputs / 16, frequencies, 16] of [frequencies, those that there are]."""
    shift = _padded(digits - FRACTION, len(digits), outputs).reshape(len(digits), -1, LANES)
    return shift.transpose(1, 0, 2).ravel().astype(np.int32)


def _bias(bias: Array, unit: float, size: int) -> Int32Array:
    """In units of FRACTION digits, with half of a map's unit: sums are cut off, not rounded."""
    # NumPy 1 makes float32 of a float32 array and a number of float64, NumPy 2 float64.
    sums = _padded(bias, size).astype(np.float64) * unit
    return np.clip(np.round((sums + 0.5) * (1 << FRACTION)), -(1 << 30), 1 << 30).astype(np.int32)


def tables_of(tower: Tower, largest: Float32Array, height: int, width: int) -> Tables:
    """The tables of a network for a board of this size. largest: float32 [tower.maps], above 0. ModelError."""
    unit = TOP / (ROOM * np.maximum(largest.astype(np.float64), _LEAST) - (LOWEST if tower.swish else 0))
    first = tower.first
    channels, value_planes = _whole_vectors(len(first.bias)), _whole_vectors(len(tower.value[0].bias))
    frequencies = 1 if tower.whole else FREQUENCIES
    kernels, shifts, biases = [np.zeros(0, np.int16)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    gains = list[int]()
    for number, layer in enumerate(tower.layers):
        gain = 0
        if tower.residual and number % 2:
            gain = max(1, round(unit[number + 1] / unit[number - 1] * (1 << FRACTION)))
            unit[number + 1] = unit[number - 1] * gain / (1 << FRACTION)
        ratio = unit[number + 1] / unit[number]
        highest = TOP * (np.abs(layer.kernel).sum((1, 2, 3)).max() * ratio + gain / (1 << FRACTION))
        if highest + np.abs(layer.bias * unit[number + 1]).max() > (1 << (30 - FRACTION)):
            raise ModelError(_TOO_LARGE)
        seen = layer.kernel[None, :, :, 0, 0].astype(np.float64) if tower.whole else transformed(layer.kernel)
        bottom = _bottom(tower, unit[number])
        inputs_reach = np.array([float(TOP)]) if tower.whole else reach(bottom, TOP + bottom)
        integers, digits = rounded(seen * ratio, inputs_reach)
        kernels.append(blocked(_padded(integers, frequencies, channels, channels)))
        shifts.append(_shift(digits, channels))
        biases.append(_bias(layer.bias, unit[number + 1], channels))
        gains.append(gain)
    edge = 0 if tower.whole else 1
    rows, columns = (1 if tower.whole else -(-size // TILE) * TILE + 2 for size in (height, width))
    return Tables(
        1 if tower.whole else height,
        1 if tower.whole else width,
        rows,
        columns,
        edge,
        **_first_tables(tower, unit[0], channels, height, width),
        kernels=aligned(np.concatenate(kernels)),
        shift=aligned(np.concatenate(shifts)),
        bias=aligned(np.concatenate(biases)),
        gain=np.array(gains, np.int32),
        **_activation_tables(tower, unit),
        **_policy_tables(tower, unit[-3], channels),
        **_value_tables(tower, unit[-3:], channels, value_planes),
    )


def _first_tables(tower: Tower, unit: float, channels: int, height: int, width: int) -> dict[str, Any]:
    kernel = tower.first.kernel.astype(np.float64) * unit
    planes = kernel.shape[1]
    if tower.whole:  # one square, whose taps are those of the board
        height = width = 1
    tall, wide = kernel.shape[2:]
    taps = _padded(kernel.transpose(1, 2, 3, 0).reshape(planes, tall * wide, -1), planes, tall * wide, channels)
    bias = _padded(tower.first.bias.astype(np.float64) * unit, channels)
    largest = max(np.abs(taps).max(), np.abs(bias).max())
    shift = next((shift for shift in range(FIRST_FRACTION, -1, -1) if largest * 2**shift < _LARGEST_WEIGHT), None)
    if shift is None:
        raise ModelError(_TOO_LARGE)
    taps = np.round(taps * 2**shift)
    seen = np.ones((height, width, tall, wide), bool)
    if not tower.whole:
        rows, columns = (np.add.outer(np.arange(size), np.arange(-1, 2)) for size in (height, width))
        on_board = (rows >= 0) & (rows < height), (columns >= 0) & (columns < width)
        seen = on_board[0][:, None, :, None] & on_board[1][None, :, None, :]
    kinds, kind = np.unique(seen.reshape(height * width, -1), axis=0, return_inverse=True)
    full = np.einsum("kt,ptc->pkc", kinds.astype(np.float64), taps)
    start = np.round((bias + 0.5) * 2**shift)
    return {
        "tap": aligned(taps.astype(np.int16).ravel()),
        "full": aligned(np.clip(full, -_LARGEST_WEIGHT, _LARGEST_WEIGHT).astype(np.int16).ravel()),
        "start": aligned(np.tile(np.clip(start, -_LARGEST_WEIGHT, _LARGEST_WEIGHT), len(kinds)).astype(np.int16)),
        "kind": kind.ravel().astype(np.int32),
        "first_shift": shift,
    }


def _bottom(tower: Tower, unit: float) -> int:
    """The smallest number of a map."""
    return floor(LOWEST * unit) if tower.swish else 0


def activation(values: Array, *, swish: bool) -> Array:
    return values / (1 + np.exp(-np.maximum(values, -80))) if swish else np.maximum(values, 0)


def _activation_tables(tower: Tower, units: Array) -> dict[str, Any]:
    lower = np.zeros(len(units), np.int32)
    activated, zeros = [np.zeros(0, np.int16)], np.zeros(len(units), np.int32)
    for number, unit in enumerate(units if tower.swish else ()):
        lower[number] = max(round(_VANISHING * unit), -_LARGEST_WEIGHT)
        zeros[number] = sum(map(len, activated)) - lower[number]
        given = np.round(activation(np.arange(lower[number], TOP + 1) / unit, swish=True) * unit)
        activated.append(np.minimum(given, TOP + _bottom(tower, unit)).astype(np.int16))
    return {"lower": lower, "activated": np.concatenate(activated), "activated_zero": zeros}


def _policy_tables(tower: Tower, unit: float, channels: int) -> dict[str, Any]:
    kernel, bias = tower.policy
    integers, digits = rounded(kernel.reshape(1, *kernel.shape[:2]).astype(np.float64) / unit, np.array([float(TOP)]))
    squares = len(tower.policy_bias) // len(bias)
    biases = np.round((np.repeat(bias, squares) + tower.policy_bias) * (1 << LOGIT_FRACTION))
    if (digits < LOGIT_FRACTION).any() or np.abs(biases).max() > 1 << 30:
        raise ModelError(_TOO_LARGE)
    return {
        "policy": aligned(_padded(integers[0], len(bias), channels)),
        "policy_shift": digits[0] - LOGIT_FRACTION,
        "policy_bias": biases.astype(np.int32),
    }


def _value_tables(tower: Tower, units: Array, channels: int, value_planes: int) -> dict[str, Any]:
    planes, hidden, last = tower.value
    of_body, of_value, of_hidden = units
    top = np.array([float(TOP)])
    number, squares = len(planes.bias), hidden.kernel.shape[1] // len(planes.bias)
    units_hidden = _whole_vectors(len(hidden.bias))
    value, value_digits = rounded(planes.kernel.reshape(1, number, -1).astype(np.float64) * (of_value / of_body), top)
    rows = hidden.kernel.reshape(-1, number, squares).astype(np.float64).transpose(0, 2, 1) * (of_hidden / of_value)
    rows = _padded(rows, len(hidden.bias), squares, value_planes).reshape(1, len(hidden.bias), -1)
    middle, middle_digits = rounded(rows, top)
    final, ((last_digits,),) = rounded(last.kernel.reshape(1, 1, -1).astype(np.float64) / of_hidden, top)
    return {
        "value": aligned(blocked(_padded(value, 1, value_planes, channels))),
        "value_shift": aligned(_shift(value_digits, value_planes)),
        "value_bias": aligned(_bias(planes.bias, of_value, value_planes)),
        "hidden": aligned(blocked(_padded(middle, 1, units_hidden))),
        "hidden_shift": aligned(_shift(middle_digits, units_hidden)),
        "hidden_bias": aligned(_bias(hidden.bias, of_hidden, units_hidden)),
        "last": aligned(_padded(final[0, 0], units_hidden)),
        "last_bias": round(float(last.bias[0]) * 2.0**last_digits),
        "last_unit": np.float32(2.0**-last_digits),
    }


def largest_values(tower: Tower, planes: Float32Array) -> Float32Array:
    """The largest value of each map, float32 [tower.maps] above 0, on planes [B, planes, height, width]; in floats.

    They are rounded up to 8 binary digits. The digits behind differ from machine to machine, and so would evaluations.
    """
    largest = np.full(tower.maps, _LEAST, np.float32)

    def shown(number: int, values: Array) -> Array:
        active = activation(values, swish=tower.swish)
        largest[number] = max(largest[number], active.max(), -values.min() * _OF_NEGATIVE)
        return active

    for i in range(0, len(planes), _AT_ONCE):
        seen = planes[i : i + _AT_ONCE].transpose(0, 2, 3, 1)
        maps = [shown(0, _layer(seen, tower.first, edge=0 if tower.whole else 1))]
        for number, layer in enumerate(tower.layers):
            y = _layer(maps[-1], layer, edge=layer.kernel.shape[2] // 2)
            if tower.residual and number % 2:
                y += maps[-2]
            maps.append(shown(number + 1, y))
        planes_of_value, hidden, _ = tower.value
        value = shown(len(maps), _layer(maps[-1], planes_of_value, edge=0)).transpose(0, 3, 1, 2).reshape(len(seen), -1)
        shown(len(maps) + 1, value @ hidden.kernel.reshape(len(hidden.bias), -1).T + hidden.bias)
    digits, exponents = np.frexp(largest)
    return np.asarray(np.ldexp(np.ceil(digits * 256) / 256, exponents), np.float32)


def _layer(x: Array, layer: Layer, edge: int) -> Array:
    """A convolution, float32 [B, height, width, channels] in and out."""
    seen = np.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    tall, wide = layer.kernel.shape[2:]
    height, width = seen.shape[1] - tall + 1, seen.shape[2] - wide + 1
    y = np.tile(layer.bias.astype(np.float32), (len(x) * height * width, 1))
    for i in range(tall):
        for j in range(wide):
            rows = seen[:, i : i + height, j : j + width].reshape(len(y), -1)
            y += rows @ np.ascontiguousarray(layer.kernel[:, :, i, j].T, np.float32)
    return y.reshape(len(x), height, width, -1)


def aligned(array: Array) -> Array:
    """A copy that begins at a multiple of 64 bytes, as vectors of LANES numbers are loaded."""
    place = np.zeros(array.nbytes + 64, np.uint8)
    start = -place.ctypes.data % 64
    copy = place[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
