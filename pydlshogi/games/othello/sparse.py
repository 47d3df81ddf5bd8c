"""How a sparse network sees Othello: what stands on short lines, where both sides could play, and the number of discs.

The lines are four squares long and cover the board: along the ranks and files those that begin on every second square,
along both diagonals those of every second square. A move's label is its own number.
"""

from typing import Final

import numpy as np

from pydlshogi.encoding import no_planes
from pydlshogi.games.othello.bits import count, lowest
from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.games.othello.rules import ONE, PASS, ZERO, mobility
from pydlshogi.support.arrays import Int8Array, Record, Uint32Array
from pydlshogi.support.compiled import rule, wide, word

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
_OWN_MOVES: Final = len(LINES) * _CONTENTS
_OTHER_MOVES: Final = _OWN_MOVES + 64
_DISCS: Final = _OTHER_MOVES + 64
_MOST_MOVES: Final = 33
"""Of a position of a game; of one that is set up, more are not seen."""


@rule
def pack(state: Record, words: Uint32Array) -> None:
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
    pack=pack,
    unpack=no_planes,
    symmetries=(),
    features=_DISCS + 65,
    label_parts=(PASS + 1, 1, 1),
)

ENCODINGS: Final = (OTHELLO, OTHELLO_SPARSE)
