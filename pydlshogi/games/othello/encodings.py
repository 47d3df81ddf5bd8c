"""How networks see Othello: 3 planes of 8 ranks by 8 files, or the rows of a sparse network; and 65 labels, the
moves' own numbers.

Plane 0: the discs of the side to move; 1: those of its opponent; 2: the squares where the side to move may play. The
rows are what stands on short lines, where both sides could play, and the number of discs.
"""

from typing import Any, Final

import numpy as np

from pydlshogi.encoding import Encoding, Symmetry, listed_by, no_planes, own_numbers
from pydlshogi.games.othello.bits import count, lowest
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import ONE, PASS, ZERO, mobility
from pydlshogi.games.othello.squares import TURNED
from pydlshogi.support.arrays import Int8Array, Int32Array, Record, Uint32Array
from pydlshogi.support.compiled import inlined, rule, wide, word

_PLANES: Final = 3
_SIDE: Final = 8
WORDS: Final = 4
"""Of a packed position: the discs of the side to move and of its opponent, the lower 32 bits first."""
_32_BITS: Final[Any] = np.uint64(32)


@rule
def pack(state: Record, words: Uint32Array) -> None:
    """Both sets of discs, in halves."""
    words[0], words[1] = state.mover, state.mover >> _32_BITS
    words[2], words[3] = state.opponent, state.opponent >> _32_BITS


@inlined
def unpacked(packed: Uint32Array) -> tuple[np.uint64, np.uint64]:
    """The discs of the side to move, and of its opponent."""
    return word(packed[0]) | word(packed[1]) << _32_BITS, word(packed[2]) | word(packed[3]) << _32_BITS


@rule
def _list_active(packed: Uint32Array, active: Int32Array, full: Int32Array) -> tuple[int, int]:
    mover, opponent = unpacked(packed)
    a = first = 0
    for squares in (mover, opponent, mobility(mover, opponent)):
        left = squares
        while left != ZERO:
            active[a] = first + wide(lowest(left))
            a += 1
            left &= left - ONE
        first += _SIDE * _SIDE
    return a, 0


def _symmetry(turn: int) -> Symmetry:
    """The board as TURNED has it."""
    labels = np.append(TURNED[turn], PASS).astype(np.int32)
    squares = np.argsort(TURNED[turn]).astype(np.int32)
    return Symmetry(squares=squares, planes=np.arange(_PLANES, dtype=np.int32), labels=labels)


OTHELLO: Final = Encoding(
    name="othello",
    planes=_PLANES,
    height=_SIDE,
    width=_SIDE,
    labels=PASS + 1,
    words=WORDS,
    label_moves=own_numbers("othello"),
    pack=pack,
    list_active=listed_by("othello", _list_active),
    start=OthelloPosition,
    symmetries=tuple(_symmetry(turn) for turn in range(1, 8)),
)

_LENGTH: Final = 4
_CONTENTS: Final = 3**_LENGTH


def _lines() -> Int8Array:
    """int8 [lines, _LENGTH]: the squares of each line."""
    beyond = _LENGTH - 1
    lines = []
    for x in range(8):
        for y in range(8):
            for right, down, begins in (
                (1, 0, x % 2 == 0),
                (0, 1, y % 2 == 0),
                (1, 1, (x + y) % 2 == 0),
                (-1, 1, (x + y) % 2 == 1),
            ):
                if begins and 0 <= x + beyond * right < 8 and y + beyond * down < 8:
                    lines.append([8 * (y + step * down) + x + step * right for step in range(_LENGTH)])
    return np.array(lines, np.int8)


LINES: Final = _lines()
"""They cover the board: along the ranks and files those that begin on every second square, along both diagonals those
of every second square."""
_OWN_MOVES: Final = len(LINES) * _CONTENTS
_OTHER_MOVES: Final = _OWN_MOVES + 64
_DISCS: Final = _OTHER_MOVES + 64
_MOST_MOVES: Final = 33
"""Of a position of a game; of one that is set up, more are not seen."""


@rule
def _pack_rows(state: Record, words: Uint32Array) -> None:
    """Fill uint32 [1 + most rows].

    A line's row is 81 x its number + what it holds, a digit of base 3 for each square, the first square's the lowest:
    0 nothing, 1 the mover's disc, 2 the opponent's. Then come the squares where the mover may play, those where the
    opponent could if it were to move, and the number of discs.
    """
    mover, opponent = state.mover, state.opponent
    for line in range(len(LINES)):
        content = 0
        for place in range(_LENGTH - 1, -1, -1):
            square = word(LINES[line, place])
            content = 3 * content + wide(mover >> square & ONE) + 2 * wide(opponent >> square & ONE)
        words[1 + line] = _CONTENTS * line + content
    rows = len(LINES)
    for side in range(2):
        squares = mobility(mover, opponent) if side == 0 else mobility(opponent, mover)
        number = 0
        while squares != ZERO and number < _MOST_MOVES:
            number += 1
            words[rows + number] = wide(lowest(squares)) + (_OWN_MOVES if side == 0 else _OTHER_MOVES)
            squares &= squares - ONE
        rows += number
    words[rows + 1] = _DISCS + wide(count(mover | opponent))
    words[0] = rows + 1


OTHELLO_SPARSE: Final = OTHELLO._replace(
    name="othello_sparse",
    planes=0,
    words=1 + len(LINES) + 2 * _MOST_MOVES + 1,
    pack=_pack_rows,
    list_active=no_planes,
    symmetries=(),
    features=_DISCS + 65,
    label_parts=(PASS + 1, 1, 1),
)

ENCODINGS: Final = (OTHELLO, OTHELLO_SPARSE)
