"""How a network sees shogi: a board as 104 planes, a move as one of 2187 labels.

This is the encoding of the python-dlshogi book, so its networks mean the same here. Everything is seen by the side
to move: for White the board is turned by 180 degrees. Squares go along the ranks, as in python-shogi: 0 = 9a (Black's
far left), 8 = 1a, 80 = 1i. This is the only file that knows the encoding; it knows
nothing of networks or searches.

Planes 0 to 51 are of the side to move, planes 52 to 103 the same of its opponent:

    0 to 13    where its pieces stand, a plane for each of `common.PIECE_TYPES`
    14 to 51   what it holds in hand: 18 planes for pawns, 4 each for lances, knights, silvers and golds, 2 each for
               bishops and rooks; for n pieces of a kind, the first n of its planes are full of ones

Labels are described at `move_label`.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pydlshogi.common import (
    MAX_PIECES_IN_HAND,
    MOVE_DIRECTIONS,
    NUM_PLANES,
    PIECE_TYPES,
    PLANES_PER_SIDE,
    UNPROMOTED_DIRECTIONS,
    WHITE,
)
from pydlshogi.compiled import compiled

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
Int8Array = npt.NDArray[np.int8]

_KINDS: Final = len(PIECE_TYPES)
_BOARD_PLANES: Final = 2 * _KINDS
_MOST_SET: Final = 81 * (1 + 2 * sum(MAX_PIECES_IN_HAND))  # a board full of pieces, and full hands
_DROPS: Final = len(MAX_PIECES_IN_HAND)  # kinds of pieces that can be held and dropped

# cshogi orders pieces P L N S B R G K +P +L +N +S +B +R, hands P L N S G B R, pieces to drop P L N S B R G. Its squares
# go down the files from 1a; those of the network go along the ranks from 9a, and gold comes before bishop and rook.
_KIND_OF_CSHOGI: Final = np.array([0, 1, 2, 3, 5, 6, 4, 7, 8, 9, 10, 11, 12, 13])
_DROP_OF_CSHOGI: Final = np.array([0, 1, 2, 3, 5, 6, 4])
_SQUARE_OF_CSHOGI: Final = np.array([(square % 9) * 9 + 8 - square // 9 for square in range(81)])
_PLANE_OF_CSHOGI: Final = np.concatenate([_KIND_OF_CSHOGI, _KIND_OF_CSHOGI + PLANES_PER_SIDE])
_HAND_PLANE: Final = np.array(
    [side * PLANES_PER_SIDE + _KINDS + sum(MAX_PIECES_IN_HAND[:kind]) for side in range(2) for kind in range(_DROPS)]
)
# A position that was set up with extra pawns can lead to more in hand than there are planes for.
_MOST_IN_HAND: Final = np.array(2 * MAX_PIECES_IN_HAND)

UP, UP_LEFT, UP_RIGHT, LEFT, RIGHT, DOWN, DOWN_LEFT, DOWN_RIGHT, UP2_LEFT, UP2_RIGHT = map(
    MOVE_DIRECTIONS.index,
    ("UP", "UP_LEFT", "UP_RIGHT", "LEFT", "RIGHT", "DOWN", "DOWN_LEFT", "DOWN_RIGHT", "UP2_LEFT", "UP2_RIGHT"),
)


class PlaneBatch:
    """Boards noted down one by one, turned into planes all at once: the conversion is compiled, the notes are cheap."""

    def __init__(self, capacity: int) -> None:
        self._board_planes = np.zeros((capacity, _BOARD_PLANES, 9, 9), np.float32)
        self._hands = np.zeros((capacity, 2 * _DROPS), np.int8)
        self._planes = np.zeros((capacity, NUM_PLANES, 9, 9), np.float32)
        # Which elements of each row of planes are set: the next batch wipes those instead of all 8424.
        self._set = np.zeros((capacity, _MOST_SET), np.int32)
        self._set_count = np.zeros(capacity, np.int32)
        self._rows = list(self._board_planes)
        self._noted: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Forget all boards."""
        # cshogi writes the ones only, so the zeros must be there before it does.
        self._board_planes[: self._count] = 0.0
        self._noted.clear()
        self._count = 0

    def add(self, board: Any) -> None:
        """Note `board` (a `cshogi.Board`) as it is now; it may change afterwards."""
        black, white = board.pieces_in_hand
        if board.turn == WHITE:
            board.piece_planes_rotate(self._rows[self._count])
            self._noted += white
            self._noted += black
        else:
            board.piece_planes(self._rows[self._count])
            self._noted += black
            self._noted += white
        self._count += 1

    def planes(self) -> Float32Array:
        """Planes of the boards noted so far, float32 [count, 104, 9, 9]: a view that the next call overwrites."""
        count = self._count
        self._hands[:count] = np.array(self._noted, np.int8).reshape(count, 2 * _DROPS)
        planes = self._planes[:count]
        _arrange(
            self._board_planes.view(np.int32),
            self._hands[:count],
            planes.reshape(count, NUM_PLANES * 81),
            self._set,
            self._set_count,
        )
        return planes


@compiled
def _arrange(
    board_planes: Int32Array, hands: Int8Array, planes: Float32Array, were_set: Int32Array, set_count: Int32Array
) -> None:
    """Put cshogi's 28 board planes and the hand counts into the order of the 104 planes.

    `board_planes` holds the bits of floats that are 0.0 or 1.0, file by file: most files of most planes are empty,
    and or-ing nine integers finds that out faster than nine comparisons.
    """
    for row in range(len(planes)):
        for i in range(set_count[row]):
            planes[row, were_set[row, i]] = 0.0
        count = 0
        for kind in range(_BOARD_PLANES):
            for file in range(9):
                pieces = board_planes[row, kind, file]
                if (
                    pieces[0] | pieces[1] | pieces[2] | pieces[3] | pieces[4]
                    | pieces[5] | pieces[6] | pieces[7] | pieces[8]
                ):  # fmt: skip
                    for rank in range(9):
                        if pieces[rank]:
                            element = _PLANE_OF_CSHOGI[kind] * 81 + rank * 9 + 8 - file
                            planes[row, element] = 1.0
                            were_set[row, count] = element
                            count += 1
        for slot in range(2 * _DROPS):
            first = _HAND_PLANE[slot] * 81
            for element in range(first, first + 81 * min(hands[row, slot], _MOST_IN_HAND[slot])):
                planes[row, element] = 1.0
                were_set[row, count] = element
                count += 1
        set_count[row] = count


def board_planes(board: Any) -> Float32Array:
    """Planes of one `cshogi.Board`, float32 [104, 9, 9]."""
    batch = PlaneBatch(1)
    batch.add(board)
    planes: Float32Array = batch.planes()[0]
    return planes


@compiled
def move_label(move: int, turn: int) -> int:
    """Label 0..2186 of a cshogi move (16-bit or full) made by `turn` (0 Black, 1 White).

    Label = 81 x kind + destination, as the mover sees it. Kinds 0 to 9 are the directions UP to UP2_RIGHT, 10 to 19
    the same with promotion, 20 to 26 drops in the order P L N S G B R. A label names no distance: only the nearest
    piece in its direction can reach the destination.

    cshogi's 16 bits: 0 to 6 destination, 7 to 13 origin (from 81 on, the piece dropped), 14 promotion.
    """
    destination = move & 127
    origin = (move >> 7) & 127
    to = _SQUARE_OF_CSHOGI[80 - destination if turn == WHITE else destination]
    if origin >= 81:
        return int((2 * UNPROMOTED_DIRECTIONS + _DROP_OF_CSHOGI[origin - 81]) * 81 + to)
    start = _SQUARE_OF_CSHOGI[80 - origin if turn == WHITE else origin]
    dy = to // 9 - start // 9
    dx = to % 9 - start % 9
    if dy == -2 and dx == -1:
        direction = UP2_LEFT
    elif dy == -2 and dx == 1:
        direction = UP2_RIGHT
    elif dy < 0:
        direction = UP if dx == 0 else (UP_LEFT if dx < 0 else UP_RIGHT)
    elif dy == 0:
        direction = LEFT if dx < 0 else RIGHT
    else:
        direction = DOWN if dx == 0 else (DOWN_LEFT if dx < 0 else DOWN_RIGHT)
    if (move >> 14) & 1:
        direction += UNPROMOTED_DIRECTIONS
    return int(direction * 81 + to)
