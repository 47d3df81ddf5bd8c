"""Networks on a CPU in compiled kernels, without a framework: see `integers` for what they compute.

A few positions go through the network together, so that their maps stay in the second-level cache. The first layer adds
up rows of its table for what is set in a position; planes are never made. The policy is computed for legal moves alone.
"""

from collections.abc import Sequence
from pathlib import Path
from queue import LifoQueue
from typing import Any, Final, NamedTuple

import llvmlite.binding
import numpy as np

from pydlshogi.encoding import Encoding, Lists, lists_for, planes_of, sample
from pydlshogi.network.architecture import FormError, ModelError
from pydlshogi.network.backend import CPU_BATCH, BackendError, Resources, borrowed, product, sigmoid, softmax
from pydlshogi.network.integers import (
    FRACTION,
    FREQUENCIES,
    LOGIT_FRACTION,
    TILE,
    TOP,
    Tables,
    Tower,
    aligned,
    largest_values,
    tables_of,
    tower_of,
)
from pydlshogi.network.weights import read_largest, read_network
from pydlshogi.support.arrays import Float32Array, Int16Array, Int32Array, Uint32Array
from pydlshogi.support.kernels.compiled import compiled, inlined, word
from pydlshogi.support.kernels.vectors import BLOCKS, LANES, ROWS, gather, multiplier, requantise, row_adder, spread

_AT_ONCE: Final = 4
"""Positions that go through convolutions together. Larger batches gain nothing (docs/measure.md), and a search is worse
by them: the playouts of one batch do not learn from each other."""
_AT_ONCE_WHOLE: Final = 48
"""The same of linear layers, whose maps are small beside their weights."""
_ADDED: Final = 6
"""Vectors of the first layer that are added up together."""
_SAMPLED: Final = 128
"""Positions by which the largest values of maps are found where the file does not hold them."""
_SAMPLED_LEAST, _MULTIPLICATIONS = 16, 40_000_000_000
"""A large network gets fewer of them: as many as take a second or two."""
_SPARE_ROOM, _SPARE_ROOM_OF_VALUE = 2.0, 4.0
"""How many times as large values may be in other positions: in all maps, and in the two of the value."""
_FEW: Final = 3
_SPARE: Final = ROWS - _FEW - 1
"""Rows more than there are that `_multiply` computes."""

_multiply_rows, _multiply_few = multiplier(ROWS), multiplier(_FEW)
_add6, _add1 = row_adder(_ADDED), row_adder(1)

_LEAST: Final = np.int32(-(1 << 15))
_MOST: Final = np.int32((1 << 15) - 1)
_NONE: Final = np.int32(0)
_TOP: Final = np.int32(TOP)
_FRACTION: Final = np.int32(FRACTION)
_LOGIT_UNIT: Final = np.float32(2.0**-LOGIT_FRACTION)


class Work(NamedTuple):
    """What one call at a time works in, for `most` positions."""

    lists: Lists
    start: Int16Array
    """flat int16 [kinds, channels]: the first layer's bias with what full planes add."""
    on_square: Int32Array
    """int32 [squares, planes]: rows of the first layer's table, for what is set on each square."""
    on_square_count: Int32Array
    near: Int32Array
    """int32 [9 * planes]: the same of a square and its neighbours."""
    x: Int16Array
    """flat int16 [positions, rows, columns, channels]: a map, with the edge around it."""
    y: Int16Array
    v: Int16Array
    """flat int16 [FREQUENCIES, tiles, channels]: transformed inputs, the V of the paper."""
    m: Int32Array
    """flat int32 [BLOCKS, FREQUENCIES, tiles, 16]: products, its M."""
    value: Int16Array
    """flat int16 [positions, squares, planes of the value]"""
    hidden: Int16Array
    """flat int16 [positions, units]"""


def _work(net: Tables, encoding: Encoding, size: int) -> Work:
    channels, planes, board = net.policy.shape[1], encoding.planes, encoding.height * encoding.width
    squares, tiles = net.height * net.width, size * (net.rows // TILE) * (net.columns // TILE)
    map_size = (size + _SPARE) * net.rows * net.columns * channels
    outputs, units = len(net.value_bias), len(net.last)

    def zeros(dtype: type[np.integer[Any]], *shape: int) -> Any:
        return aligned(np.zeros(shape, dtype))

    return Work(
        lists=lists_for(encoding, size),
        start=zeros(np.int16, len(net.start)),
        on_square=zeros(np.int32, board, planes),
        on_square_count=zeros(np.int32, board),
        near=zeros(np.int32, 9 * planes),
        x=zeros(np.int16, map_size),
        y=zeros(np.int16, map_size),
        v=zeros(np.int16, (FREQUENCIES * tiles + _SPARE) * channels),
        m=zeros(np.int32, BLOCKS * (max(FREQUENCIES * tiles, size, net.width) + _SPARE) * LANES),
        value=zeros(np.int16, (size + _SPARE) * squares * outputs),
        hidden=zeros(np.int16, size * units),
    )


def winograd_backend(path: Path, encodings: Sequence[Encoding], resources: Resources) -> "WinogradBackend":
    """A network in integers; see `load_backend`."""
    if resources.device not in ("auto", "cpu"):
        raise BackendError(f"Device {resources.device}: Backend winograd runs on the CPU")
    if resources.precision == "half":
        raise BackendError("Precision half: Backend winograd computes in integers")
    largest, foreign = None, False
    if path.suffix == ".onnx":
        tower, name, encoding, foreign = _tower_in(path, encodings)
    else:
        weights, architecture, encoding = read_network(path, encodings)
        tower, name = tower_of(weights), str(architecture)
        largest = read_largest(path, tower.maps)
    if largest is None:
        largest = _SPARE_ROOM * largest_values(tower, planes_of(encoding, sample(encoding, _sampled(tower, encoding))))
        largest[-2:] *= _SPARE_ROOM_OF_VALUE / _SPARE_ROOM
    try:
        net = tables_of(tower, largest, encoding.height, encoding.width)
    except ModelError as error:
        raise FormError(f"{path}: {error}; Backend onnx runs it") from error
    description = f"Winograd on {resources.cpu}: {name} int16{_advice()}"
    return WinogradBackend(net, encoding, description, resources.streams, foreign)


def _advice() -> str:
    """Where a framework may be faster: on a processor whose instructions for matrices these kernels do not use."""
    has_amx = llvmlite.binding.get_host_cpu_features().get("amx-tile")
    return " (with this processor's AMX Backend openvino may be faster: bat/environment.sh openvino)" if has_amx else ""


def _tower_in(path: Path, encodings: Sequence[Encoding]) -> tuple[Tower, str, Encoding, bool]:
    """The network in an `.onnx` file, and what it is called; the rest as in `onnx_file.tower_in`. ModelError."""
    from pydlshogi.network.onnx_file import tower_in

    tower, encoding, foreign = tower_in(path, encodings)
    if tower is None:
        raise FormError(f"{path}: no tower of 3x3 convolutions with a policy and a value; Backend onnx runs it")
    name = f"an .onnx file of {1 + len(tower.layers)} layers of {len(tower.first.bias)}"
    return tower, f"{name}, {'swish' if tower.swish else 'ReLU'},", encoding, foreign


def _sampled(tower: Tower, encoding: Encoding) -> int:
    """How many positions the largest values are found on."""
    each = encoding.height * encoding.width * sum(layer.kernel.size for layer in tower.layers)
    return min(_SAMPLED, _SAMPLED_LEAST + _MULTIPLICATIONS // each)


class WinogradBackend:
    """See `Backend` for the contract."""

    on_gpu = False

    def __init__(self, net: Tables, encoding: Encoding, description: str, streams: int, foreign: bool = False) -> None:
        self.description = description
        self.foreign = foreign
        self.encoding = encoding
        self.streams = streams
        self._net = net
        self._at_once = _AT_ONCE if net.edge else _AT_ONCE_WHOLE
        self.batch_size = min(self._at_once, CPU_BATCH)
        self._free: LifoQueue[Work] = LifoQueue()
        for _ in range(streams):
            self._free.put(_work(net, encoding, self._at_once))
        one_move = np.arange(2, dtype=np.int32), np.zeros(1, np.int32)
        self.predict(np.zeros((1, encoding.words), np.uint32), *one_move, 1.0)

    def predict(
        self, packed: Uint32Array, firsts: Int32Array, labels: Int32Array, temperature: float
    ) -> tuple[Float32Array, Float32Array]:
        priors, values = np.empty(firsts[-1], np.float32), np.empty(len(packed), np.float32)
        sharpness = np.float32(1 / temperature)
        size = -(-len(packed) // -(-len(packed) // self._at_once))
        with borrowed(self._free) as work:
            for first in range(0, len(packed), size):
                some = packed[first : first + size]
                self.encoding.list_active(some, *work.lists)
                _run(self._net, first, len(some), work, firsts, labels, sharpness, priors, values)
        return priors, values


@inlined
def _multiply(
    v: Int16Array, stride: int, rows: int, u: Int16Array, apart: int, m: Int32Array, between: int, pairs: int
) -> None:
    """See `vectors.multiplier`, for any number of rows; up to _SPARE more are computed."""
    row = 0
    while rows - row > _FEW:
        _multiply_rows(v[stride * row :], stride, u, apart, m[LANES * row :], between, pairs)
        row += ROWS
    if row < rows:
        _multiply_few(v[stride * row :], stride, u, apart, m[LANES * row :], between, pairs)


@inlined
def _apart(block: int, blocks: int, numbers: int) -> int:
    """How far the weights of `block` and of the next block are apart: `numbers`, the size of a block. If there is no
    next block, this one is multiplied twice, and the second product is not used."""
    return numbers if block + BLOCKS <= blocks else 0


@inlined
def _at(net: Tables, position: int, row: int, column: int, channels: int) -> int:
    """Where the numbers of a square stand in a map."""
    return ((position * net.rows + row + net.edge) * net.columns + column + net.edge) * channels


# The first layer


@inlined
def _first_layer(net: Tables, i: int, channels: int, work: Work, y: Int16Array) -> None:
    """Of position i, listed in `work`."""
    size = len(net.start)
    for c in range(size):
        work.start[c] = net.start[c]
    for j in range(work.lists.counts[i, 1]):
        at = work.lists.full[i, j] * size
        for c in range(size):
            total = np.int32(np.int32(work.start[c]) + np.int32(net.full[at + c]))
            work.start[c] = min(max(total, _LEAST), _MOST)
    if not net.edge:
        rows = work.lists.active[i][: work.lists.counts[i, 0]]
        _add_up(net, rows, work.start, y[_at(net, i, 0, 0, channels) :], channels)
        return
    squares = net.height * net.width
    for square in range(squares):
        work.on_square_count[square] = 0
    for j in range(work.lists.counts[i, 0]):
        plane, square = divmod(work.lists.active[i, j], squares)
        work.on_square[square, work.on_square_count[square]] = 9 * plane
        work.on_square_count[square] += 1
    for row in range(net.height):
        for column in range(net.width):
            n = 0
            for r in range(max(0, row - 1), min(net.height, row + 2)):
                for s in range(max(0, column - 1), min(net.width, column + 2)):
                    square, tap = r * net.width + s, 3 * (r - row + 1) + s - column + 1
                    for j in range(work.on_square_count[square]):
                        work.near[n] = work.on_square[square, j] + tap
                        n += 1
            start = work.start[net.kind[row * net.width + column] * channels :]
            _add_up(net, work.near[:n], start, y[_at(net, i, row, column, channels) :], channels)


@inlined
def _add_up(net: Tables, rows: Int32Array, start: Int16Array, y: Int16Array, channels: int) -> None:
    """The sum of these rows of the table, for one square."""
    shift, bottom, top = np.int16(net.first_shift), np.int16(net.lower[0]), np.int16(TOP)
    c = 0
    while c + _ADDED * LANES <= channels:
        _add6(net.tap[c:], rows, len(rows), channels, start[c:], shift, bottom, top, y[c:])
        c += _ADDED * LANES
    while c < channels:
        _add1(net.tap[c:], rows, len(rows), channels, start[c:], shift, bottom, top, y[c:])
        c += LANES


# What follows it


@inlined
def _activate(net: Tables, number: int, y: Int16Array, at: int, count: int) -> None:
    """Replace `count` numbers of the map `number`, from `at` on, by their activation; max(x, 0) was taken before."""
    if len(net.activated):
        zero = net.activated_zero[number]
        for i in range(at, at + count):
            y[i] = net.activated[word(zero + y[i])]


@inlined
def _activate_map(net: Tables, number: int, y: Int16Array, i: int, channels: int) -> None:
    """The same for all of position i."""
    for row in range(net.height):
        _activate(net, number, y, _at(net, i, row, 0, channels), net.width * channels)


@inlined
def _convolution(net: Tables, layer: int, x: Int16Array, y: Int16Array, size: int, channels: int, work: Work) -> None:
    """A 3x3 layer of `size` positions, from x to y, where what is added to it stands."""
    v, m = work.v, work.m
    tiles_in_row = net.columns // TILE
    tiles_in_map = (net.rows // TILE) * tiles_in_row
    row_size, tiles = net.columns * channels, size * tiles_in_map
    for tile in range(tiles):
        i, t = divmod(tile, tiles_in_map)
        at = _at(net, i, TILE * (t // tiles_in_row) - 1, TILE * (t % tiles_in_row) - 1, channels)
        for c in range(0, channels, LANES):
            spread(x[at + c :], row_size, channels, v[tile * channels + c :], tiles * channels)
    blocks, weights = channels // LANES, channels * LANES
    of_frequency, of_block = tiles * LANES, (FREQUENCIES * tiles + _SPARE) * LANES
    for block in range(blocks):
        first = (layer * blocks + block) * FREQUENCIES
        if block % BLOCKS == 0:
            apart = _apart(block, blocks, FREQUENCIES * weights)
            for f in range(FREQUENCIES):
                u = net.kernels[(first + f) * weights :]
                _multiply(
                    v[f * tiles * channels :], channels, tiles, u, apart, m[f * of_frequency :], of_block, channels // 2
                )
        shift, bias = net.shift[first * LANES :], net.bias[layer * channels + LANES * block :]
        products = m[block % BLOCKS * of_block :]
        for tile in range(tiles):
            i, t = divmod(tile, tiles_in_map)
            to = y[_at(net, i, TILE * (t // tiles_in_row), TILE * (t % tiles_in_row), channels) + LANES * block :]
            gather(
                products[LANES * tile :], of_frequency, shift, bias, net.gain[layer], _FRACTION, net.lower[layer + 1],
                _TOP, to, row_size, channels,
            )  # fmt: skip
    # Squares of tiles that lie beyond the board are zeros, as all around it.
    for i in range(size):
        _activate_map(net, layer + 1, y, i, channels)
        for r in range(net.rows - 2):
            beyond = 0 if r >= net.height else net.width
            for c in range(_at(net, i, r, beyond, channels), _at(net, i, r, net.columns - 2, channels)):
                y[c] = 0


@inlined
def _linear(
    net: Tables, number: int, x: Int16Array, inputs: int, rows: int, u: Int16Array, shift: Int32Array, bias: Int32Array,
    gain: np.int32, y: Int16Array, outputs: int, m: Int32Array,
) -> None:  # fmt: skip
    """A linear layer of some rows of x, to rows of y, where what is added to it stands: the map `number`."""
    blocks, of_block = outputs // LANES, (rows + _SPARE) * LANES
    for block in range(blocks):
        c = LANES * block
        if block % BLOCKS == 0:
            apart = _apart(block, blocks, inputs * LANES)
            _multiply(x, inputs, rows, u[c * inputs :], apart, m, of_block, inputs // 2)
        for i in range(rows):
            products = m[block % BLOCKS * of_block + i * LANES :]
            requantise(products, shift[c:], bias[c:], gain, _FRACTION, net.lower[number], _TOP, y[i * outputs + c :])
    _activate(net, number, y, 0, rows * outputs)


@compiled
def _run(
    net: Tables,
    first: int,
    size: int,
    work: Work,
    firsts: Int32Array,
    labels: Int32Array,
    sharpness: np.float32,
    priors: Float32Array,
    values: Float32Array,
) -> None:
    """Positions first to first + size - 1 of a call, listed in `work`: see `Backend.predict`."""
    channels, outputs, units = net.policy.shape[1], len(net.value_bias), len(net.last)
    squares = net.height * net.width
    x, y = work.x, work.y
    for i in range(size):
        _first_layer(net, i, channels, work, x)
        _activate_map(net, 0, x, i, channels)
    for layer in range(len(net.gain)):
        if net.edge:
            _convolution(net, layer, x, y, size, channels, work)
        else:
            at = layer * channels
            u, shift, bias = net.kernels[at * channels :], net.shift[at:], net.bias[at:]
            _linear(net, layer + 1, x, channels, size, u, shift, bias, net.gain[layer], y, channels, work.m)
        x, y = y, x
    for i in range(size):
        for row in range(net.height):
            seen = x[_at(net, i, row, 0, channels) :]
            to = work.value[(i * net.height + row) * net.width * outputs :]
            _linear(
                net, len(net.gain) + 1, seen, channels, net.width, net.value, net.value_shift, net.value_bias, _NONE,
                to, outputs, work.m,
            )  # fmt: skip
    _linear(
        net, len(net.gain) + 2, work.value, squares * outputs, size, net.hidden, net.hidden_shift, net.hidden_bias,
        _NONE, work.hidden, units, work.m,
    )  # fmt: skip
    for i in range(size):
        judged = product(work.hidden[i * units : (i + 1) * units], net.last)
        values[first + i] = sigmoid(np.float32(judged + net.last_bias) * net.last_unit)
        begin, end = firsts[first + i], firsts[first + i + 1]
        for j in range(begin, end):
            plane, square = divmod(labels[j], squares)
            at = _at(net, i, square // net.width, square % net.width, channels)
            total = product(x[at : at + channels], net.policy[plane])
            logit = (total >> net.policy_shift[plane]) + net.policy_bias[labels[j]]
            priors[j] = np.float32(logit) * _LOGIT_UNIT * sharpness
        softmax(priors[begin:end])
