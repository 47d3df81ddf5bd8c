"""What a search asks of a game: a `Position` that moves forward and back, or the same rules compiled, as `Rules`.

Both see everything by the side to move. A game knows nothing of searches or networks; no base class is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self

if TYPE_CHECKING:  # a protocol names positions before it says `usiok`, and numpy takes as long as all the rest
    from collections.abc import Callable

    import numpy as np

    from pydlshogi.support.arrays import Int32Array, Record, Records, Uint16Array


class Outcome(NamedTuple):
    """How the game ends, or has ended, for the side to move."""

    value: float
    """1 win, 0.5 draw, 0 loss."""
    plies: int = 0
    """Moves still to be played until the end: 0 when mated, 1 when the side to move mates in one."""
    by_path: bool = False
    """True when the verdict follows from the moves that led here (repetition), not from the position alone."""


MATED: Final = Outcome(0.0)

UNDECIDED: Final = 0
DRAWN: Final = 1 << 14
"""An outcome as one number, a verdict: 0 none, DRAWN, n + 1 a win within n plies, -(n + 1) a loss within n plies."""


def outcome_of(verdict: int, *, by_path: bool = False) -> Outcome | None:
    """The verdict as an outcome."""
    if verdict == UNDECIDED:
        return None
    if verdict == DRAWN:
        return Outcome(0.5, by_path=by_path)
    return Outcome(float(verdict > 0), abs(verdict) - 1, by_path)


class Position(Protocol):
    """A position that moves forward and back in place.

    A move is a number whose lowest 16 bits name it among the legal moves; what lies above them is the game's own.

    >>> from pydlshogi.catalogue import GAMES
    >>> position = next(iter(GAMES.values())).position()
    >>> moves = position.legal_moves()
    >>> moves.shape, position.ply(), position.outcome()
    ((30,), 1, None)
    >>> position.push(int(moves[0]))
    >>> position.turn, position.ply()
    (1, 2)
    """

    def copy(self) -> Self:
        """The same position with the same past; what is played on one does not change the other."""

    def push(self, move: int, /) -> object:
        """Play `move`; its lowest 16 bits suffice. A pass, where the game has one, is a move."""

    def pop(self) -> object:
        """Take the last move back."""

    @property
    def states(self) -> Records:
        """The states of the game so far, as `Rules` has them, the oldest first, the present one last."""

    def legal_moves(self) -> Int32Array:
        """All legal moves, in an order that depends on the position alone. Empty: the side to move has lost."""

    def outcome(self) -> Outcome | None:
        """The verdict on this position if the rules give one, else None. Need not notice an empty `legal_moves`."""

    def key(self) -> int:
        """A 63-bit hash, equal exactly for positions in which the same moves lead to the same positions."""

    def board_key(self) -> int:
        """A hash of what repetition compares first, 64 bits; the same as `key` where nothing lies beside the board."""

    def past_board_keys(self) -> list[int]:
        """`board_key` of every position the game has been through before this one, the oldest first."""

    def ply(self) -> int:
        """Number of the move to be played: one more with each move, wherever it begins. With `key` it names a node."""


class GameEnd(NamedTuple):
    """How a game ended, for people."""

    reason: str
    winner: int | None
    """0 the side that moved first in the game, Black; 1 White; None nobody."""


class PlayedPosition(Position, Protocol):
    """A position that people, GUIs and records name moves on."""

    @property
    def turn(self) -> int:
        """0: Black is to move; 1: White."""

    @property
    def settings(self) -> Records:
        """What was chosen of the rules, as one record of `Rules.settings`."""

    def sfen(self) -> str:
        """The position as text, from which it can be set up again."""

    def usi(self, move: int) -> str:
        """How a move is written; its lowest 16 bits suffice."""

    def move_from_usi(self, usi: str) -> int:
        """The legal move that is written so. ValueError if there is none."""

    def describe(self) -> list[str]:
        """The board drawn, for people."""

    def ending(self) -> GameEnd | None:
        """How the game has ended with the last move; None: it goes on. Unlike `outcome` this foresees nothing."""

    def outcome_to_learn(self) -> Outcome | None:
        """As `outcome`; but a game may go on after a repetition at which a search ends."""

    def declares(self) -> bool:
        """The side to move may win without a move."""


class Rules(NamedTuple):
    """The rules of a game, compiled: functions over states, which are records of fixed size.

    The functions are compiled by numba without the GIL and become part of the kernels that call them, so none may call
    itself. A state is the position alone, without its past; an array `states[i]` hands on one record by reference.
    Moves are uint16. `Position` above says what keys, verdicts and legal moves are.
    """

    name: str
    """No two games have the same: it stands in the names of compiled kernels."""
    state: np.dtype[Any]
    settings: np.dtype[Any]
    """What the user may choose of the rules, as one record; see `verdict`."""
    scratch: np.dtype[Any]
    """Room to work in for one call of `verdict`, as one record."""
    most_moves: int
    """Most legal moves of any position."""
    average_moves: int
    """Legal moves of an average position, by which the memory for moves is measured."""
    repeats: bool
    """Whether a position can occur twice in a game."""
    play: Callable[[Record, int, Record], None]
    """(state, move, after): fill `after`, which is another record, with `state` after `move`."""
    key: Callable[[Record], int]
    """(state) -> uint64 of 63 bits."""
    board_key: Callable[[Record], int]
    """(state) -> uint64."""
    legal_moves: Callable[[Record, Uint16Array], int]
    """(state, moves) -> how many; fills `moves`, of length `most_moves`."""
    verdict: Callable[[Record, int, Uint16Array, int, Record, Record], int]
    """(state, ply, moves, count, settings, scratch) -> verdict by the position alone, its `count` legal moves known."""
    repetition: Callable[[Records, int], int]
    """(trail, distance) -> verdict on the last of the consecutive states trail[0] to trail[distance], whose first and
    last have the same board. UNDECIDED: this is no repetition, but one with an earlier state may be."""
