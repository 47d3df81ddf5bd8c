"""Examples: positions, packed, and what a network is to say of them; and batches of them, in which order.

Where they come from, nobody here knows.

The policy to learn is sparse: some labels of each position, with weights. A played move is a distribution of one."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any, Final, NamedTuple, Self

import numpy as np

from pydlshogi.encoding import Encoding, planes_of
from pydlshogi.support.arrays import Float32Array, Int32Array, Int64Array, Uint32Array, entries_of
from pydlshogi.support.kernels.compiled import allocating

_AHEAD: Final = 6
"""Batches that are prepared before a step asks for them."""


@dataclass(frozen=True)
class Examples:
    """A number of examples, side by side."""

    packed: Uint32Array
    """uint32 [n, words]."""
    firsts: Int64Array
    """int64 [n + 1]: where the labels of each position begin, and the last end."""
    labels: Int32Array
    """int32 [all]: those that have weights; for a sparse encoding those of all legal moves."""
    weights: Float32Array
    """float32 [all]: how much of the policy each label is to have. Those of a position sum to 1; to less where it is to
    count for less, and without labels it teaches no policy."""
    values: Float32Array
    """float32 [n]: expected score of the side to move, 0 to 1."""
    value_weights: Float32Array
    """float32 [n]: how much the expected score is to count, 1 as a rule; 0 where it is unknown."""

    def __len__(self) -> int:
        return len(self.values)

    def examples(self, rows: Int64Array) -> Self:
        """Those with these numbers, in this order."""
        firsts, entries = entries_of(self.firsts, rows)
        return type(self)(
            self.packed[rows],
            firsts,
            self.labels[entries],
            self.weights[entries],
            self.values[rows],
            self.value_weights[rows],
        )


def joined(parts: Sequence[Examples]) -> Examples:
    """Several sets of examples, at least one, as a single set."""
    ends = np.cumsum([0, *(len(part.labels) for part in parts)])
    return Examples(
        np.concatenate([part.packed for part in parts]),
        np.concatenate([[0], *(part.firsts[1:] + end for part, end in zip(parts, ends, strict=False))]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.value_weights for part in parts]),
    )


class TrainingBatch(NamedTuple):
    """What one step learns from; the arrays belong to the receiver."""

    inputs: Float32Array | Uint32Array
    """float32 [B, planes, height, width]; for a sparse encoding uint32 [B, words], the packed positions."""
    firsts: Int64Array
    labels: Int64Array
    weights: Float32Array
    values: Float32Array
    value_weights: Float32Array
    """As in Examples; labels int64."""

    def part(self, low: int, high: int) -> "TrainingBatch":
        """The positions from `low` to `high` - 1."""
        first, end = self.firsts[low], self.firsts[high]
        return TrainingBatch(
            self.inputs[low:high],
            self.firsts[low : high + 1] - first,
            self.labels[first:end],
            self.weights[first:end],
            self.values[low:high],
            self.value_weights[low:high],
        )


def batch_of(examples: Examples, encoding: Encoding, turns: Int64Array) -> TrainingBatch:
    """The examples as a network is shown them. turns: int64 [B], 0 as they are, i by the encoding's symmetry i - 1."""
    inputs = inputs_of(encoding, examples.packed)
    labels = examples.labels.astype(np.int64)
    turn_of_label = np.repeat(turns, np.diff(examples.firsts))
    for turn, symmetry in enumerate(encoding.symmetries, 1):
        _turn(inputs.reshape(*inputs.shape[:2], -1), np.flatnonzero(turns == turn), symmetry.planes, symmetry.squares)
        here = turn_of_label == turn
        labels[here] = symmetry.labels[labels[here]]
    return TrainingBatch(inputs, examples.firsts, labels, examples.weights, examples.values, examples.value_weights)


def inputs_of(encoding: Encoding, packed: Uint32Array) -> Any:
    """Positions as a network takes them: see `TrainingBatch.inputs`."""
    return planes_of(encoding, packed) if encoding.planes else packed


@allocating
def _turn(planes: Float32Array, rows: Int64Array, plane_seen: Int32Array, square_seen: Int32Array) -> None:
    """Show, in place, `rows` of `planes` [B, planes, squares] as a symmetry does: see `encoding.Symmetry`."""
    for row in rows:
        before = planes[row].copy()
        for plane in range(planes.shape[1]):
            for square in range(planes.shape[2]):
                planes[row, plane, square] = before[plane_seen[plane], square_seen[square]]


class Shuffle:
    """The order of training, a function of the seed alone: the number of a batch is enough to go on from there."""

    def __init__(self, rows: Int64Array, batch_size: int, seed: int, *, symmetries: int = 0) -> None:
        """`rows`: the examples of one epoch, at least `batch_size`; what does not fill a last batch is skipped.

        Each is turned by one of `symmetries` symmetries, or by none, all with the same probability.
        """
        self._batch_size = batch_size
        self._seed = seed
        self._symmetries = symmetries
        self._batches_per_epoch = len(rows) // batch_size
        # Threads ask for batches on both sides of an epoch's end.
        self._order = lru_cache(2)(lambda epoch: np.random.default_rng((seed, epoch)).permutation(rows))

    def batch(self, number: int) -> tuple[Int64Array, Int64Array]:
        """Rows [B] of batch `number`, and how each is turned: see `batch_of`."""
        epoch, place = divmod(number, self._batches_per_epoch)
        chosen = self._order(epoch)[place * self._batch_size : (place + 1) * self._batch_size]
        sampled = np.random.default_rng((self._seed, epoch, place)).random(len(chosen))
        return chosen, self._symmetries - (sampled * (self._symmetries + 1)).astype(np.int64)


def batches(
    prepare: Callable[[int], TrainingBatch], first: int, threads: int = 2
) -> Generator[TrainingBatch, None, None]:
    """`prepare(first)`, `prepare(first + 1)` and so on without end, a few of them being prepared by `threads`."""
    with ThreadPoolExecutor(threads, thread_name_prefix="batches") as pool:
        waiting = deque(pool.submit(prepare, number) for number in range(first, first + _AHEAD))
        for number in count(first + _AHEAD):
            yield waiting.popleft().result()
            waiting.append(pool.submit(prepare, number))
