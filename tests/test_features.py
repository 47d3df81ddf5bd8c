"""The network's view of shogi against a slow, obvious version of it over python-shogi."""

import random

import numpy as np
import pytest
import shogi
from book_oracle import naive_planes
from positions import FULL_HANDS, MOST_MOVES, SQUARES, turned, turned_move

from pydlshogi.encoding import planes_of, unpack
from pydlshogi.games.shogi.encodings import BOOK
from pydlshogi.games.shogi.names import NUM_PLANES
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.support.arrays import Float32Array
from pydlshogi.uct.batch import Batch


def in_batch(*positions: ShogiPosition) -> Batch:
    batch = Batch(len(positions), 600, BOOK)
    for position in positions:
        batch.add(position, position.legal_moves())
    return batch


def planes_seen(position: ShogiPosition) -> Float32Array:
    return planes_of(BOOK, in_batch(position).packed)[0]


def labels(position: ShogiPosition) -> dict[str, int]:
    moves = position.legal_moves().tolist()
    return dict(zip(map(position.usi, moves), in_batch(position).labels[: len(moves)].tolist(), strict=True))


def test_planes_of_the_start_and_of_hands() -> None:
    """Worked out by hand: row 6 holds the mover's pawns, row 7 bishop on the left and rook on the right.

    Plane 14 on: 18 of pawns, then four each of lances, knights, silvers and golds, two bishops, two rooks.
    """
    planes = planes_seen(ShogiPosition())
    assert planes.shape == (NUM_PLANES, 9, 9) == (104, 9, 9)
    assert (planes.dtype, planes.sum()) == (np.float32, 40)
    pawn, bishop, rook, king = 0, 5, 6, 7
    assert planes[pawn, 6].all()
    assert planes[bishop, 7, 1] == planes[rook, 7, 7] == planes[king, 8, 4] == 1
    assert planes[52 + pawn, 2].all()
    assert planes[52 + bishop, 1, 7] == planes[52 + rook, 1, 1] == planes[52 + king, 0, 4] == 1
    planes = planes_seen(ShogiPosition("4k4/9/9/9/9/9/9/9/4K4 w RG2P2bsl 1"))
    white_lance, white_silver, white_bishops = 14 + 18, 14 + 26, [14 + 34, 14 + 35]
    black_pawns, black_gold, black_rook = [52 + 14, 52 + 15], 52 + 14 + 30, 52 + 14 + 36
    full = [white_lance, white_silver, *white_bishops, *black_pawns, black_gold, black_rook]
    assert [index for index in range(104) if planes[index].all()] == full


@pytest.mark.parametrize(
    ("sfen", "usi", "label"),
    [
        (START_SFEN, "7g7f", 0 * 81 + SQUARES.index("7f")),
        (START_SFEN, "2g2f", 0 * 81 + 5 * 9 + 7),
        (START_SFEN, "6i7h", 1 * 81 + 7 * 9 + 2),
        (START_SFEN, "4i5h", 1 * 81 + 7 * 9 + 4),
        (START_SFEN, "5i4h", 2 * 81 + 7 * 9 + 5),
        (START_SFEN, "2h5h", 3 * 81 + 7 * 9 + 4),
        (START_SFEN, "2h1h", 4 * 81 + 7 * 9 + 8),
        ("8k/9/9/9/4R4/9/9/9/K8 b - 1", "5e5h", 5 * 81 + 7 * 9 + 4),
        ("4k4/9/9/9/4B4/9/9/9/4K4 b - 1", "5e7g", 6 * 81 + 6 * 9 + 2),
        ("4k4/9/9/9/4B4/9/9/9/4K4 b - 1", "5e3g", 7 * 81 + 6 * 9 + 6),
        ("4k4/9/9/9/4N4/9/9/9/4K4 b - 1", "5e6c", 8 * 81 + 2 * 9 + 3),
        ("4k4/9/9/9/4N4/9/9/9/4K4 b - 1", "5e4c+", 19 * 81 + 2 * 9 + 5),
        ("8k/9/9/9/4R4/9/9/9/K8 b - 1", "5e5b+", 10 * 81 + 1 * 9 + 4),
        ("4k4/9/9/9/4B4/9/9/9/4K4 b - 1", "5e3c+", 12 * 81 + 2 * 9 + 6),
        ("8k/4R4/9/9/9/9/9/9/K8 b - 1", "5b1b+", 14 * 81 + 1 * 9 + 8),
        ("4k4/9/B8/9/9/9/9/9/4K4 b - 1", "9c8d+", 17 * 81 + 3 * 9 + 1),
        (FULL_HANDS, "P*5e", 20 * 81 + 40),
        (FULL_HANDS, "G*5e", 24 * 81 + 40),
        (FULL_HANDS, "B*5e", 25 * 81 + 40),
        (FULL_HANDS, "R*1i", 26 * 81 + 80),
    ],
)
def test_labels_worked_out_by_hand(sfen: str, usi: str, label: int) -> None:
    """Label = 81 x plane + 9 x row + column, and the same for White on the turned board."""
    assert labels(ShogiPosition(sfen))[usi] == label
    assert labels(ShogiPosition(turned(sfen)))[turned_move(usi)] == label


def test_nothing_of_a_former_board_stays() -> None:
    """Batches of changing size, full boards after empty ones and the reverse, in the same planes."""
    rng = random.Random(3)
    sfens = [START_SFEN, FULL_HANDS, turned(FULL_HANDS), MOST_MOVES, "4k4/9/9/9/9/9/9/9/4K4 w - 1"]
    expected = {sfen: naive_planes(shogi.Board(sfen)) for sfen in sfens}
    planes = np.zeros((6, NUM_PLANES, 9, 9), np.float32)
    for size in [6, 1, 6, 2, 5, 1, 1, 6, 3, 4] + [rng.randint(1, 6) for _ in range(20)]:
        chosen = rng.choices(sfens, k=size)
        unpack(BOOK, in_batch(*map(ShogiPosition, chosen)).packed, planes[:size])
        np.testing.assert_array_equal(planes[:size], [expected[sfen] for sfen in chosen])
