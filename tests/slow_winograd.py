"""The network in integers as `integers` defines it, plainly: numpy, int64, one layer after the other."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pydlshogi.encoding import Encoding, lists_for
from pydlshogi.network.integers import FRACTION, LOGIT_FRACTION, TILE, TOP, A, B, Tables

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


def flat(blocks: npt.NDArray[np.int16], *shape: int) -> Integers:
    """int64 [..., outputs, inputs] of blocks [..., outputs / 16, frequencies, inputs / 2, 16, 2]."""
    *before, frequencies, outputs, inputs = shape
    blocks = blocks.reshape(*before, outputs // 16, frequencies, inputs // 2, 16, 2)
    return np.moveaxis(blocks, -5, -4).swapaxes(-3, -2).reshape(shape).astype(np.int64)


def clipped(sums: Integers) -> Integers:
    """A map's numbers of sums."""
    return (sums >> FRACTION).clip(0, TOP)


class SlowNetwork:
    """What one network says. `largest` is the largest of all products' sums since it was made."""

    def __init__(self, net: Tables, encoding: Encoding) -> None:
        self.net, self.encoding = net, encoding
        self.layers, self.channels = len(net.gain), net.policy.shape[1]
        self.largest = 0

    def predict(
        self, packed: npt.NDArray[np.uint32], firsts: npt.NDArray[np.int32], labels: npt.NDArray[np.int32], heat: float
    ) -> tuple[Floats, Floats]:
        """See `Backend.predict`."""
        maps = self.maps(packed)
        logits = self.logits(maps)
        sharpness = np.float32(1 / heat)
        priors = [softmax(logits[i, labels[begin:end]] * sharpness) for i, (begin, end) in enumerate(pairwise(firsts))]
        return np.concatenate([np.zeros(0, np.float32), *priors]), sigmoid(self.value_logits(maps))

    def maps(self, packed: npt.NDArray[np.uint32]) -> Integers:
        """[B, height, width, channels] behind the last layer."""
        x = np.stack([self.first_layer(*listed) for listed in self.lists(packed)])
        before = x
        for number in range(self.layers):
            if number % 2 == 0:
                before = x
            sums = self.linear(x, number) if self.net.edge == 0 else self.convolution(x, number)
            bias = self.net.bias.reshape(self.layers, -1)[number].astype(np.int64)
            x = clipped(sums + bias + int(self.net.gain[number]) * before)
        return x

    def lists(self, packed: npt.NDArray[np.uint32]) -> Iterator[tuple[list[int], list[int]]]:
        """What is set in each position, and which planes are full."""
        lists = lists_for(self.encoding, len(packed))
        self.encoding.list_active(packed, *lists)
        for active, full, (some, planes) in zip(*lists, strict=True):
            yield active[:some].tolist(), full[:planes].tolist()

    def first_layer(self, active: list[int], full: list[int]) -> Integers:
        """[height, width, channels]: sums that stay within 16 bits, in the order in which things are listed."""
        net, squares = self.net, self.net.height * self.net.width
        tap = net.tap.reshape(-1, self.channels)
        of_planes = net.full.reshape(self.encoding.planes, -1, self.channels)
        sums = net.start.reshape(-1, self.channels)[net.kind].astype(np.int64)  # [squares, channels]
        for plane in full:
            sums = (sums + of_planes[plane, net.kind]).clip(-(1 << 15), (1 << 15) - 1)
        there: list[list[int]] = [[] for _ in range(squares)]
        for element in active:
            there[element % squares].append(element // squares)
        for square in range(squares):
            for row in active if net.edge == 0 else self.seen_from(square, there):
                sums[square] = (sums[square] + tap[row]).clip(-(1 << 15), (1 << 15) - 1)
        return (sums >> net.first_shift).clip(0, TOP).reshape(net.height, net.width, self.channels)

    def seen_from(self, square: int, there: list[list[int]]) -> Iterator[int]:
        """Rows of the first layer's table: square by square of the neighbours, from the top left one on."""
        row, column = divmod(square, self.net.width)
        for tap in range(9):
            r, c = row + tap // 3 - 1, column + tap % 3 - 1
            if 0 <= r < self.net.height and 0 <= c < self.net.width:
                yield from (9 * plane + tap for plane in there[r * self.net.width + c])

    def convolution(self, x: Integers, number: int) -> Integers:
        """Sums [B, height, width, channels] with FRACTION digits, tile by tile."""
        size, height, width, _ = x.shape
        kernels = flat(self.net.kernels, self.layers, 25, self.channels, self.channels)[number]
        kernels = kernels.reshape(5, 5, self.channels, self.channels)
        shift = self.net.shift.reshape(self.layers, -1, 25, 16)[number].transpose(1, 0, 2).reshape(5, 5, -1)
        sums = np.zeros((size, height + TILE, width + TILE, self.channels), np.int64)
        seen = np.pad(x, ((0, 0), (1, 1 + TILE), (1, 1 + TILE), (0, 0)))
        for row in range(0, height, TILE):
            for column in range(0, width, TILE):
                tile = seen[:, row : row + 5, column : column + 5]
                spread = np.einsum("ia,nabc,jb->nijc", B, tile, B)
                assert np.abs(spread).max() < 1 << 15
                products = np.einsum("nijc,ijoc->nijo", spread, kernels, optimize=True)
                self.largest = max(self.largest, int(np.abs(products).max()))
                there = np.einsum("ia,nabo,jb->nijo", A, products >> shift, A)
                sums[:, row : row + TILE, column : column + TILE] = there
        return sums[:, :height, :width]

    def linear(self, x: Integers, number: int) -> Integers:
        kernels = flat(self.net.kernels, self.layers, 1, self.channels, self.channels)[number, 0]
        return self.product(x, kernels) >> self.net.shift.reshape(self.layers, -1)[number]

    def product(self, x: Integers, kernel: Integers) -> Integers:
        products = x @ kernel.T
        self.largest = max(self.largest, int(np.abs(products).max()))
        return products

    def logits(self, maps: Integers) -> Floats:
        """float32 [B, labels], of which each unit is exact."""
        net = self.net
        products = self.product(maps, net.policy.astype(np.int64)) >> net.policy_shift  # [B, height, width, planes]
        logits = np.moveaxis(products, 3, 1).reshape(len(maps), -1) + net.policy_bias
        return logits.astype(np.float32) * np.float32(2.0**-LOGIT_FRACTION)

    def value_logits(self, maps: Integers) -> Floats:
        net, size = self.net, len(maps)
        outputs, units = len(net.value_bias), len(net.last)
        value = self.product(maps, flat(net.value, 1, outputs, self.channels)[0]) >> net.value_shift
        seen = clipped(value + net.value_bias).reshape(size, -1)
        hidden = self.product(seen, flat(net.hidden, 1, units, seen.shape[1])[0]) >> net.hidden_shift
        total = self.product(clipped(hidden + net.hidden_bias), net.last[None].astype(np.int64))[:, 0] + net.last_bias
        return total.astype(np.float32) * net.last_unit


def exponential(x: Floats) -> Floats:
    """e^x, x at most 0, in float32 step by step: the series of what remains of x beside a multiple of ln 2."""
    one = np.float32
    x = np.maximum(x, one(-80))
    n = np.floor(one(0.5) - x * one(1.442695041))
    r = (x + n * one(0.693359375)) + n * one(-2.12194440e-4)
    series = np.full_like(r, 1 / 720)
    for factor in (1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1):
        series = series * r + one(factor)
    return series * one(2) ** -n


def softmax(logits: Floats) -> Floats:
    if not len(logits):
        return logits
    powers = exponential(logits - logits.max())
    return powers / np.add.accumulate(powers)[-1]


def sigmoid(logits: Floats) -> Floats:
    powers = exponential(-np.abs(logits))
    return np.where(logits < 0, powers, np.float32(1)) / (np.float32(1) + powers)
