"""A batch: positions with their legal moves, filled by any number of searches and answered by an `Evaluator`."""

from typing import NamedTuple, Protocol

import numpy as np

from pydlshogi.encoding import Encoding, labels_of, packed_of
from pydlshogi.game import Position
from pydlshogi.support.arrays import BoolArray, Float32Array, Int32Array, Uint32Array, Uint64Array


class Evaluations(NamedTuple):
    """What an evaluator thinks of the positions of a batch, in their order."""

    priors: Float32Array
    """float32 [all labels], in the order of `Batch.labels`; they sum to 1 for each position that has any."""
    values: Float32Array
    """float32 [positions]: win rate of the side to move, 0 to 1."""
    without_rollouts: Float32Array | None = None
    """float32 [positions]: the values before results of rollouts are mixed in. None: the same as `values`."""


class Batch:
    """Positions side by side, as an evaluator takes them."""

    def __init__(self, capacity: int, most_moves: int, encoding: Encoding | None = None) -> None:
        """Room for `capacity` positions. Without an `encoding` the labels are the moves, and no position is packed."""
        self.encoding = encoding
        self.capacity = capacity
        self.keys: Uint64Array = np.zeros(capacity, np.uint64)
        """uint64 [capacity]: the key of each position."""
        self.firsts: Int32Array = np.zeros(capacity + 1, np.int32)
        """int32 [capacity + 1]: where the labels of each position begin, and those of the last end."""
        self.labels: Int32Array = np.zeros(capacity * most_moves, np.int32)
        """int32 [all legal moves]: their labels, position after position; a position that does not expand has none."""
        self.packed: Uint32Array = np.zeros((capacity, encoding.words if encoding else 0), np.uint32)
        """uint32 [capacity, words]: the positions, packed as the encoding does it."""
        self.known_values: Float32Array = np.full(capacity, np.nan, np.float32)
        """float32 [capacity]: the value `without_rollouts` of a position that was evaluated before; else nan."""
        self.expands: BoolArray = np.ones(capacity, np.bool_)
        """bool [capacity]: whether the priors of a position will be used."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Forget all positions."""
        self._count = 0

    def take(self, count: int) -> int:
        """Make room for `count` positions more, which the caller fills in; returns the number of the first.

        ValueError if the batch has no room for them.
        """
        first = self._count
        if first + count > self.capacity:
            raise ValueError(f"a batch of {self.capacity} has no room for {first + count} positions")
        self._count += count
        return first

    def add(self, position: Position, moves: Int32Array) -> None:
        """Add a position with its legal `moves`."""
        row = self.take(1)
        first = self.firsts[row]
        self.firsts[row + 1] = first + len(moves)
        labels = self.labels[first : first + len(moves)]
        self.keys[row], self.known_values[row], self.expands[row] = position.key(), np.nan, True
        if self.encoding is None:
            labels[:] = moves
            return
        state = position.states[-1]
        self.packed[row] = packed_of(self.encoding, position.states[-1:])[0]
        labels[:] = labels_of(self.encoding, state, moves)


class Evaluator(Protocol):
    """Evaluates positions in batches. Several threads may ask at once, each with a batch of its own."""

    @property
    def encoding(self) -> Encoding | None:
        """How a batch has to be filled; None: positions and labels do not matter."""

    def evaluate(self, batch: Batch) -> Evaluations:
        """Priors and values for all positions of the batch, in their order."""
