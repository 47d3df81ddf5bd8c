"""The rules of Othello, on two sets of squares: what the side to move has, and what its opponent has.

A move is a square or PASS. Who cannot play anywhere passes, which is a move; where neither side can play, the game is
over. The kernels take and return np.uint64; `RULES` are the same rules for searches, with a state beside every node;
everything else here takes and returns plain integers.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pydlshogi.game import DRAWN, UNDECIDED, Rules
from pydlshogi.games.othello.squares import ONE, ZERO, count, lowest, zeros_above
from pydlshogi.support.arrays import Record, Records, Uint16Array
from pydlshogi.support.kernels.compiled import compiled, inlined, rule
from pydlshogi.support.kernels.hashes import splitmix

PASS: Final = 64
MOST_MOVES: Final = 64
"""Room for the moves of any board that can be set up; in a game there are fewer than 35."""

STATE: Final = np.dtype([("mover", np.uint64), ("opponent", np.uint64)])
"""A position in an array of positions."""

States = npt.NDArray[Any]
"""Positions, of STATE."""

SETTINGS: Final = np.dtype([("nothing", np.uint8)])
SCRATCH: Final = SETTINGS

_H8: Final = np.uint64(1 << 63)
_INNER_FILES: Final = np.uint64(0x7E7E7E7E7E7E7E7E)
"""Squares from which a line along a rank or a diagonal goes on to both sides."""

_DISCS: Final = str.maketrans("*0BW1.", "XXXOO-")
_SQUARES: Final = [file + rank for rank in "12345678" for file in "abcdefgh"]


def _rays() -> npt.NDArray[np.uint64]:
    """uint64 [64, 8]: the squares beyond each one, in four directions of rising squares and the four opposite ones."""
    rays = np.zeros((64, 8), np.uint64)
    steps = [(1, 0), (-1, 1), (0, 1), (1, 1)]
    for square in range(64):
        for direction, (dx, dy) in enumerate(steps + [(-dx, -dy) for dx, dy in steps]):
            x, y = square % 8 + dx, square // 8 + dy
            while 0 <= x < 8 and 0 <= y < 8:
                rays[square, direction] |= ONE << np.uint64(8 * y + x)
                x, y = x + dx, y + dy
    return rays


_RAYS: Final = _rays()


@inlined
def _bounded(mover: np.uint64, between: np.uint64, step: np.uint64) -> np.uint64:
    """The squares behind one or more of `between` in a row, as seen from `mover` in either direction of `step`.

    Rows of up to six are found by doubling: one square, two, and twice two more.
    """
    twice = step + step
    up = between & (mover << step)
    down = between & (mover >> step)
    up |= between & (up << step)
    down |= between & (down >> step)
    pairs_up = between & (between << step)
    pairs_down = pairs_up >> step
    up |= pairs_up & (up << twice)
    down |= pairs_down & (down >> twice)
    up |= pairs_up & (up << twice)
    down |= pairs_down & (down >> twice)
    return (up << step) | (down >> step)


@compiled
def mobility(mover: np.uint64, opponent: np.uint64) -> np.uint64:
    """The squares where the side to move may play."""
    inner = opponent & _INNER_FILES
    return (
        _bounded(mover, inner, np.uint64(1))
        | _bounded(mover, inner, np.uint64(7))
        | _bounded(mover, opponent, np.uint64(8))
        | _bounded(mover, inner, np.uint64(9))
    ) & ~(mover | opponent)


@compiled
def flips(mover: np.uint64, opponent: np.uint64, square: np.uint64) -> np.uint64:
    """The opponent's discs that turn when the side to move plays `square`, which is empty. None: it is no move.

    Along each ray the first square that is not the opponent's is found: upwards by a carry, downwards by counting.
    """
    turned = ZERO
    for direction in range(4):
        ray = _RAYS[square, direction]
        end = ((opponent | ~ray) + ONE) & mover & ray
        turned |= (end - np.uint64(end != ZERO)) & ray
    for direction in range(4, 8):
        ray = _RAYS[square, direction]
        end = (_H8 >> zeros_above((ray & ~opponent) | ONE)) & mover & ray
        turned |= (ZERO - (end << ONE)) & ray
    return turned


@inlined
def to_move(mover: np.uint64, opponent: np.uint64) -> tuple[np.uint64, np.uint64, np.uint64, bool]:
    """The discs of the side that moves and of the other, after a pass where the first cannot play; where it may play,
    nowhere if the game is over; and whether it was passed.
    """
    squares = mobility(mover, opponent)
    if squares != ZERO:
        return mover, opponent, squares, False
    return opponent, mover, mobility(opponent, mover), True


@inlined
def moved(mover: np.uint64, opponent: np.uint64, square: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The discs of the side to move and of the other after a move to `square`."""
    turned = flips(mover, opponent, square)
    return opponent ^ turned, mover | turned | (ONE << square)


@inlined
def final_score(mover: np.uint64, opponent: np.uint64) -> int:
    """By how many discs the side to move has won a game that is over. Empty squares belong to the winner."""
    own, other = count(mover), count(opponent)
    if own > other:
        return 64 - 2 * other
    return 2 * own - 64 if own < other else 0


class IllegalMove(ValueError):
    """A move that the rules do not allow; the text says which."""


class Position(NamedTuple):
    """A position that does not change: playing a move gives another one."""

    mover: int
    """What the side to move has."""
    opponent: int
    black_to_move: bool = True

    @property
    def black(self) -> int:
        return self.mover if self.black_to_move else self.opponent

    @property
    def white(self) -> int:
        return self.opponent if self.black_to_move else self.mover

    @property
    def empties(self) -> int:
        """How many squares are empty."""
        return 64 - (self.mover | self.opponent).bit_count()

    @property
    def over(self) -> bool:
        """Whether neither side can play anywhere."""
        return not self.moves()

    @property
    def score(self) -> int:
        """Discs of the side to move less those of its opponent, the winner having the empty squares too."""
        difference = self.mover.bit_count() - self.opponent.bit_count()
        return difference + self.empties * ((difference > 0) - (difference < 0))

    @property
    def lead(self) -> int:
        """The same for Black, at either side's turn."""
        return self.score if self.black_to_move else -self.score

    def moves(self) -> list[int]:
        """The legal moves: squares in rising order, or PASS alone; none where the game is over."""
        squares = _mobility(self.mover, self.opponent)
        if not squares:
            return [PASS] if _mobility(self.opponent, self.mover) else []
        moves = []
        while squares:
            moves.append((squares & -squares).bit_length() - 1)
            squares &= squares - 1
        return moves

    def play(self, move: int) -> "Position":
        """The position after `move`. Raises IllegalMove."""
        if move not in self.moves():
            raise IllegalMove(f"{move_name(move)} cannot be played")
        if move == PASS:
            return Position(self.opponent, self.mover, not self.black_to_move)
        turned = int(flips(np.uint64(self.mover), np.uint64(self.opponent), np.uint64(move)))
        return Position(self.opponent ^ turned, self.mover | turned | 1 << move, not self.black_to_move)

    def diagram(self) -> str:
        """64 characters and the side to move, as collections of end games have it: `---OX--- ... X`."""
        discs = zip(f"{self.black:064b}"[::-1], f"{self.white:064b}"[::-1], strict=True)
        board = "".join("X" if black == "1" else "O" if white == "1" else "-" for black, white in discs)
        return f"{board} {'X' if self.black_to_move else 'O'}"


START: Final = Position(0x0000000810000000, 0x0000001008000000)
START_MOVER: Final = np.uint64(START.mover)
START_OPPONENT: Final = np.uint64(START.opponent)


def position_of(diagram: str) -> Position:
    """The position that `Position.diagram` wrote. Raises ValueError.

    Black may also be `*`, `B` or `0`, White `W` or `1`, and an empty square `.`.
    """
    discs = "".join(diagram.split()).upper().translate(_DISCS)
    if len(discs) != 65 or set(discs[:64]) - set("XO-") or discs[64] not in "XO":
        raise ValueError("a position is 64 squares, of X, O and -, and the side to move")
    black, white = (sum(1 << square for square in range(64) if discs[square] == disc) for disc in "XO")
    return Position(black, white) if discs[64] == "X" else Position(white, black, False)


def move_name(move: int) -> str:
    """`f5`, or `pass`."""
    return "pass" if move == PASS else _SQUARES[move]


def parse_move(name: str) -> int:
    """The move of this name, in small or capital letters; a pass is `pass`, `pa`, `ps` or `--`. Raises ValueError."""
    name = name.lower()
    if name in ("pass", "pa", "ps", "--"):
        return PASS
    if name not in _SQUARES:
        raise ValueError(f"{name} is no move")
    return _SQUARES.index(name)


def _mobility(mover: int, opponent: int) -> int:
    return int(mobility(np.uint64(mover), np.uint64(opponent)))


# The rules for searches


@rule
def _play(state: Record, move: int, after: Record) -> None:
    """Fill `after` with the state after a legal move."""
    mover, opponent = state.mover, state.opponent
    if move == PASS:
        after.mover, after.opponent = opponent, mover
        return
    after.mover, after.opponent = moved(mover, opponent, np.uint64(move))


@rule
def _legal_moves(state: Record, moves: Uint16Array) -> int:
    """Fill `moves` with squares in rising order, or PASS alone; returns how many: none where the game is over."""
    squares, number = mobility(state.mover, state.opponent), 0
    if squares == ZERO and mobility(state.opponent, state.mover) != ZERO:
        moves[0] = PASS
        return 1
    while squares != ZERO:
        moves[number] = lowest(squares)
        squares &= squares - ONE
        number += 1
    return number


@rule
def _verdict(state: Record, ply: int, moves: Uint16Array, number: int, settings: Record, scratch: Record) -> int:
    """Where neither side can play, who has more discs has won."""
    if number > 0:
        return UNDECIDED
    score = final_score(state.mover, state.opponent)
    if score == 0:
        return DRAWN
    return 1 if score > 0 else -1


@rule
def _key(state: Record) -> int:
    """63 bits of a hash."""
    return splitmix(state.mover ^ splitmix(state.opponent)) >> ONE  # type: ignore[no-any-return]


@rule
def _repetition(trail: Records, distance: int) -> int:
    """There is none: every second move at least is a disc more."""
    return UNDECIDED


RULES: Final = Rules(
    name="othello",
    state=STATE,
    settings=SETTINGS,
    scratch=SCRATCH,
    most_moves=MOST_MOVES,
    average_moves=10,
    repeats=False,
    play=_play,
    key=_key,
    board_key=_key,
    legal_moves=_legal_moves,
    verdict=_verdict,
    repetition=_repetition,
)
