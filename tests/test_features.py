"""The network's view of shogi against a slow, obvious version of it over python-shogi."""

import json
import lzma
import random
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import cshogi
import numpy as np
import pytest
import shogi
from positions import FULL_HANDS, HANDICAPS, MOST_MOVES, SQUARES, random_positions, turned, turned_move

from pydlshogi.common import NUM_LABELS, NUM_PLANES
from pydlshogi.features import PlaneBatch, board_planes, move_label
from pydlshogi.games.shogi import START_SFEN, ShogiPosition

MOST_IN_HAND = {
    shogi.PAWN: 18,
    shogi.LANCE: 4,
    shogi.KNIGHT: 4,
    shogi.SILVER: 4,
    shogi.GOLD: 4,
    shogi.BISHOP: 2,
    shogi.ROOK: 2,
}
DIRECTIONS = [
    "UP",
    "UP LEFT",
    "UP RIGHT",
    "LEFT",
    "RIGHT",
    "DOWN",
    "DOWN LEFT",
    "DOWN RIGHT",
    "UP2 LEFT",
    "UP2 RIGHT",
]


def seen(square: int, turn: int) -> tuple[int, int]:
    """Row and column of a square of python-shogi as the side to move sees it."""
    return divmod(square if turn == shogi.BLACK else 80 - square, 9)


def naive_planes(board: shogi.Board) -> np.ndarray:
    planes = []
    for side in (board.turn, 1 - board.turn):
        pieces = {piece_type: np.zeros((9, 9)) for piece_type in shogi.PIECE_TYPES}
        for square in shogi.SQUARES:
            piece = board.piece_at(square)
            if piece and piece.color == side:
                pieces[piece.piece_type][seen(square, board.turn)] = 1
        planes += [pieces[piece_type] for piece_type in sorted(pieces)]
        for piece_type, most in MOST_IN_HAND.items():
            held = board.pieces_in_hand[side][piece_type]
            planes += [np.full((9, 9), int(n < held)) for n in range(most)]
    return np.array(planes, np.float32)


def naive_label(move: shogi.Move, turn: int) -> int:
    row, column = seen(move.to_square, turn)
    if move.drop_piece_type:
        plane = 20 + list(MOST_IN_HAND).index(move.drop_piece_type)
    else:
        from_row, from_column = seen(move.from_square, turn)
        down, right = row - from_row, column - from_column
        knight = down == -2 and abs(right) == 1
        words = ["UP2" if knight else "UP" if down < 0 else "DOWN" if down > 0 else ""]
        words += ["LEFT" if right < 0 else "RIGHT" if right > 0 else ""]
        plane = DIRECTIONS.index(" ".join(filter(None, words))) + (10 if move.promotion else 0)
    return plane * 81 + row * 9 + column


def labels(position: ShogiPosition) -> dict[str, int]:
    turn = position.board.turn
    return {cshogi.move_to_usi(move): move_label(move, turn) for move in position.legal_moves().tolist()}


def check(positions: Iterable[ShogiPosition]) -> int:
    """Compare planes and labels of all `positions` with the naive ones; returns how many there were."""
    count = 0
    for position in positions:
        board = shogi.Board(position.board.sfen())
        np.testing.assert_array_equal(board_planes(position.board), naive_planes(board), position.board.sfen())
        found = labels(position)
        assert found == {usi: naive_label(shogi.Move.from_usi(usi), board.turn) for usi in found}
        assert len(set(found.values())) == len(found)
        assert all(0 <= label < NUM_LABELS for label in found.values())
        count += 1
    return count


def positions_of_games(path: Path) -> Iterator[ShogiPosition]:
    """Every third position of real games."""
    with lzma.open(path, "rt", encoding="utf-8") as games:
        for line in games:
            position = ShogiPosition()
            for ply, move in enumerate(json.loads(line)["moves"].split()):
                if ply % 3 == 0:
                    yield position
                position.push_usi(move)


def test_planes_and_labels_on_random_games() -> None:
    assert check(random_positions(1, games=10)) > 1000


@pytest.mark.parametrize(
    "sfen", [START_SFEN, FULL_HANDS, turned(FULL_HANDS), MOST_MOVES, turned(MOST_MOVES), *HANDICAPS]
)
def test_planes_and_labels_on_chosen_positions(sfen: str) -> None:
    assert check([ShogiPosition(sfen)])


def test_planes_and_labels_on_real_games(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count = check(islice(positions_of_games(shared_data / "games.jsonl.xz"), 2500))
    with capsys.disabled():
        print(f" {count} positions of real games", end="")
    assert count == 2500


def test_planes_of_the_start() -> None:
    """Worked out by hand: row 6 holds the mover's pawns, row 7 bishop on the left and rook on the right."""
    planes = board_planes(ShogiPosition().board)
    assert planes.shape == (NUM_PLANES, 9, 9) == (104, 9, 9)
    assert planes.dtype == np.float32
    assert planes.sum() == 40
    pawn, bishop, rook, king = 0, 5, 6, 7
    assert planes[pawn, 6].all()
    assert planes[bishop, 7, 1] == planes[rook, 7, 7] == planes[king, 8, 4] == 1
    assert planes[52 + pawn, 2].all()
    assert planes[52 + bishop, 1, 7] == planes[52 + rook, 1, 1] == planes[52 + king, 0, 4] == 1


def test_planes_of_hands() -> None:
    """Plane 14 on: 18 of pawns, then four each of lances, knights, silvers and golds, two bishops, two rooks."""
    planes = board_planes(ShogiPosition("4k4/9/9/9/9/9/9/9/4K4 w RG2P2bsl 1").board)
    full = [index for index in range(104) if planes[index].all()]
    white_lance, white_silver, white_bishops = 14 + 18, 14 + 26, [14 + 34, 14 + 35]
    black_pawns, black_gold, black_rook = [52 + 14, 52 + 15], 52 + 14 + 30, 52 + 14 + 36
    assert full == [white_lance, white_silver, *white_bishops, *black_pawns, black_gold, black_rook]


def test_more_in_hand_than_a_set_has_fills_no_other_planes() -> None:
    """A mate problem has a pawn too many, and it is taken: the eighteen planes of the pawns are full, and no more."""
    position = ShogiPosition("8k/9/9/9/4p4/4R4/9/9/K8 b 18P 1", ["5f5e", "1a1b"])
    assert position.board.pieces_in_hand[0][0] == 19
    assert check([position]) == 1
    position.push_usi("5e5d")  # now they are the opponent's
    assert check([position]) == 1


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


def test_the_turned_position_looks_the_same() -> None:
    for position in islice(random_positions(2, games=5), 0, None, 3):
        other = ShogiPosition(turned(position.board.sfen()))
        np.testing.assert_array_equal(board_planes(position.board), board_planes(other.board))
        assert {turned_move(usi): label for usi, label in labels(position).items()} == labels(other)


def test_a_label_needs_only_the_low_16_bits_of_a_move() -> None:
    position = ShogiPosition(MOST_MOVES)
    for move in position.legal_moves().tolist():
        assert move_label(move & 0xFFFF, 0) == move_label(move, 0)


def test_a_batch_takes_1_to_capacity_boards_and_forgets_those_before() -> None:
    """Batches of changing size, full boards after empty ones and the reverse: nothing of a former board stays."""
    rng = random.Random(3)
    sfens = [START_SFEN, FULL_HANDS, turned(FULL_HANDS), MOST_MOVES, "4k4/9/9/9/9/9/9/9/4K4 w - 1"]
    expected = {sfen: naive_planes(shogi.Board(sfen)) for sfen in sfens}
    batch = PlaneBatch(6)
    for size in [6, 1, 6, 2, 5, 1, 1, 6, 3, 4] + [rng.randint(1, 6) for _ in range(40)]:
        batch.clear()
        chosen = rng.choices(sfens, k=size)
        for sfen in chosen:
            batch.add(ShogiPosition(sfen).board)
        assert len(batch) == size
        if rng.random() < 0.7:  # some batches are dropped without being looked at
            np.testing.assert_array_equal(batch.planes(), [expected[sfen] for sfen in chosen])


def test_a_batch_notes_a_board_as_it_is_now() -> None:
    position = ShogiPosition()
    batch = PlaneBatch(2)
    batch.add(position.board)
    position.push_usi("7g7f")
    batch.add(position.board)
    expected = [naive_planes(shogi.Board(START_SFEN)), naive_planes(shogi.Board(position.board.sfen()))]
    np.testing.assert_array_equal(batch.planes(), expected)
    np.testing.assert_array_equal(batch.planes(), expected)
