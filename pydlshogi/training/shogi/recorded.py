"""Recorded positions as examples, in any encoding of shogi: the move that was played, and how the game stood."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.state import note_steps
from pydlshogi.support.arrays import Int64Array
from pydlshogi.training.examples import Examples, one_move_each
from pydlshogi.training.shogi.evaluations import ValueTarget
from pydlshogi.training.shogi.records import Positions


class Recorded:
    """A `Source` of examples."""

    def __init__(self, positions: Positions, encoding: Encoding, target: ValueTarget) -> None:
        self.positions = positions
        self._encoding = encoding
        self._target = target

    def __len__(self) -> int:
        return len(self.positions)

    def examples(self, rows: Int64Array) -> Examples:
        """The positions with these numbers, in this order."""
        return examples_of(shown(self.positions, rows), self._encoding, self._target)


def shown(positions: Positions, rows: Int64Array) -> Positions:
    """Those with these numbers as they are learned from: every tenth is not told which moves led to it, and the next
    one knows only the last.

    For a position that somebody sets up has no past.
    """
    chosen = np.array(positions[rows])
    chosen["before"][rows % 10 == 0] = 0
    chosen["before"][rows % 10 == 1, 1] = 0
    return chosen


def examples_of(positions: Positions, encoding: Encoding, target: ValueTarget) -> Examples:
    """All of `positions`, in their order."""
    packed = np.zeros((len(positions), encoding.words), np.uint32)
    labels = np.empty(len(positions), np.int32)
    moves = np.ascontiguousarray(positions["move"])
    for i, state in enumerate(states(positions, encoding)):
        encoding.pack(state, packed[i])
        encoding.label_moves(state, moves[i : i + 1], 1, labels[i : i + 1])
    return one_move_each(packed, labels, *target(positions))


def states(positions: Positions, encoding: Encoding) -> Iterator[Any]:
    """Their states, one after the other, as the encoding asks for them."""
    position = ShogiPosition()
    for code, before in zip(np.ascontiguousarray(positions["hcp"]), positions["before"].tolist(), strict=True):
        position.board.set_hcp(code)
        state = encoding.state(position)
        note_steps(state, before)
        yield state
