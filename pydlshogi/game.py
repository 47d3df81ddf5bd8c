"""What the search asks of a game: six methods, always seen by the side to move.

A game knows nothing of searches or networks. Any class with these methods can be searched; no base class is needed.
"""

from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Int32Array = npt.NDArray[np.int32]


class Outcome(NamedTuple):
    """How the game ends, or has ended, for the side to move."""

    value: float
    """1 win, 0.5 draw, 0 loss."""
    plies: int = 0
    """Moves still to be played until the end: 0 when mated, 1 when the side to move mates in one."""
    by_path: bool = False
    """True when the verdict follows from the moves that led here (repetition), not from the position alone."""


MATED: Final = Outcome(0.0)


class Position(Protocol):
    """A position that moves forward and back in place."""

    def push(self, move: int, /) -> object:
        """Play `move`. A pass, where the game has one, is a move."""

    def pop(self) -> object:
        """Take the last move back."""

    def legal_moves(self) -> Int32Array:
        """All legal moves, in an order that depends on the position alone. Empty: the side to move has lost."""

    def outcome(self) -> Outcome | None:
        """The verdict on this position if the rules give one, else None. Need not notice an empty `legal_moves`."""

    def key(self) -> int:
        """A 63-bit hash, equal exactly for positions in which the same moves lead to the same positions."""

    def ply(self) -> int:
        """Number of the move to be played: one more with each move, wherever it begins. With `key` it names a node."""
