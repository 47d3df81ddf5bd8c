"""The compiled rules and encodings of shogi against cshogi, python-shogi and the positions of `ShogiPosition`."""

import json
import lzma
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import both_boards
import cshogi
import numpy as np
import pytest
import shogi
from both_boards import perft_of
from cshogi.dlshogi import FEATURES1_NUM, FEATURES2_NUM, make_input_features, make_move_label
from positions import board_of, mates_within, naive_label, naive_planes, random_positions, rows_of
from test_shogi import CHECKS, HANDICAPS, QUIET, ROOK_CHECKS, SHUFFLE

from pydlshogi.encoding import Encoding, planes_of
from pydlshogi.game import DRAWN, UNDECIDED, Outcome
from pydlshogi.games.shogi.encodings import BOOK, DLSHOGI, HISTORY, MOVES
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.rules import RULES
from pydlshogi.games.shogi.sfen import START_SFEN, read_sfen, turned
from pydlshogi.support.arrays import Int32Array
from pydlshogi.uct.batch import Batch, Evaluations

MIDDLE_GAME = "l2g4l/2ks3+R1/ppppp2pp/2s2np2/5P3/2P1P1P2/PPSP1G2P/1KG6/LN5NL b RBGNPbs3P 1"
CHECKED_TWICE = "4k4/9/9/9/4r4/9/3n5/9/4K4 b RBGSNLP 1"
DECLARABLE = "2GK1+L3/2+P+S+R1G+N1/3+B1GG2/9/9/1+bs6/+p+p3+n3/2+n2k3/6+p2 b R2SN7P3l7p 375"
ONE_MORE_THAN_A_SET = "8k/9/9/9/4p4/4R4/9/9/K8 b 18P 1"
"""A mate problem, in which the rook takes a nineteenth pawn: the planes of eighteen are full, and no more."""
IN_CHECK = ("4k4/9/9/9/9/9/9/9/K3R4 w - 1", ["5a4a", "5i4i", "4a5a", "4i5i"])
MORE_IN_HAND = ("9/8k/9/4p4/4R4/9/9/9/K8 b Pp 1", "5e5d 1b2b 5d5e P*5d 9i8i 2b2a 8i9i 2a1b".split())
LESS_IN_HAND = ("9/8k/9/9/4R4/9/9/9/K8 w 2p 1", "P*5d 5e5d 1b2b 5d5e 2b2a 9i8i 2a1b 8i9i".split())
PERFT = Path(__file__).parent / "fixtures" / "perft.tsv"
CHOSEN = {sfen for sfen, *_ in rows_of(PERFT)}


def chosen_positions() -> list[ShogiPosition]:
    return [ShogiPosition(sfen) for chosen in sorted(CHOSEN) for sfen in (chosen, turned(chosen))]


def positions_along(sfen: str, moves: Iterable[str]) -> Iterator[ShogiPosition]:
    """Every position of a game, each as the game stands (it moves on afterwards)."""
    position = ShogiPosition(sfen)
    yield position
    for move in moves:
        position.push_usi(move)
        yield position


def positions_of_games(shared_data: Path, games: int) -> Iterator[ShogiPosition]:
    with lzma.open(shared_data / "games.jsonl.xz", "rt") as lines:
        for line in islice(lines, games):
            yield from positions_along(START_SFEN, json.loads(line)["moves"].split())


@pytest.mark.parametrize("rows", [39, pytest.param(350, marks=pytest.mark.long)])
def test_perft(rows: int, request: pytest.FixtureRequest) -> None:
    path = PERFT if rows == 39 else request.getfixturevalue("shared_data") / "tests" / "perft.tsv"
    known = [row for row in rows_of(path) if int(row[2]) <= 20_000_000]
    assert len(known) >= rows
    perft = perft_of(RULES)
    for sfen, depth, lines, *what in known:
        assert perft(read_sfen(sfen)[0][0], int(depth)) == int(lines), (sfen, what)


def verdict_of(board: cshogi.Board) -> Outcome | None:
    """cshogi's; it overlooks a few mates, and invents some where a king is missing."""
    repetition = board.is_draw()
    if repetition != cshogi.NOT_REPETITION:
        lost = repetition in (cshogi.REPETITION_LOSE, cshogi.REPETITION_INFERIOR)
        return Outcome(0.5 if repetition == cshogi.REPETITION_DRAW else float(not lost), by_path=True)
    mates = board.is_nyugyoku(cshogi.LAW_27) or (not board.is_check() and board.mate_move_in_1ply())
    return Outcome(1.0, plies=1) if mates else None


def test_moves_keys_and_verdicts_are_those_of_cshogi_and_python_shogi() -> None:
    few = random_positions(11, games=12, plies=60, start="4k4/9/9/9/9/9/9/9/4K4 b RB2GS2Prb9p 1")
    played = [positions_along(*line) for line in ((ROOK_CHECKS, CHECKS + QUIET), IN_CHECK, MORE_IN_HAND, LESS_IN_HAND)]
    seen = Counter[Outcome | None]()
    for number, position in enumerate(chain(chosen_positions(), random_positions(11, games=4), few, *played)):
        board = board_of(position)
        assert position.legal_moves().tolist() == list(map(cshogi.move16, board.legal_moves)), position.sfen()
        assert position.key() == board.zobrist_hash() & 2**63 - 1, position.sfen()
        assert (position.sfen(), position.check) == (board.sfen(), board.is_check())
        assert position.fourfold() is None
        outcome = position.outcome()
        if outcome != verdict_of(board):
            assert outcome in (None, Outcome(1.0, plies=1)), position.sfen()
            assert (outcome is not None) == mates_within(board, 1), position.sfen()
        seen[outcome] += 1
        if number % 15 == 0 or number < 2 * len(CHOSEN):  # python-shogi is slow
            ours = {position.usi(move) for move in position.legal_moves().tolist()}
            assert ours == {move.usi() for move in shogi.Board(position.sfen()).legal_moves}, position.sfen()
    assert len(seen) == 5


def test_a_position_read_is_as_one_played() -> None:
    """But for the last two moves."""
    for position in random_positions(0, games=3):
        read, _ = read_sfen(position.sfen())
        read["steps"] = position.state["steps"]
        assert read[0] == position.state


def squares_of_last_moves(board: cshogi.Board) -> list[int | None]:
    """By the side to move: where the last move went, where it came from, and the same of the move before."""
    squares: list[int | None] = []
    for usi in [cshogi.move_to_usi(move) for move in board.history[::-1]][:2]:
        for name in (usi[2:4], usi[:2]):
            square = None if "*" in name else 9 * (int(name[0]) - 1) + "abcdefghi".index(name[1])
            squares.append(80 - square if square is not None and board.turn == cshogi.WHITE else square)
    return squares


def check_encodings(
    positions: Iterable[ShogiPosition], encodings: Sequence[Encoding] = (BOOK, DLSHOGI, HISTORY)
) -> int:
    """Planes and labels, as python-shogi's and cshogi's boards give them; returns the number of positions."""
    checked = 0
    for position in positions:
        board, moves = board_of(position), position.legal_moves()
        if not len(moves):
            continue
        checked += 1
        for encoding in encodings:
            batch = Batch(1, RULES.most_moves, encoding)
            batch.add(position, moves)
            if encoding is BOOK:
                planes = naive_planes(shogi.Board(position.sfen()))
                labels = [naive_label(shogi.Move.from_usi(position.usi(move)), board.turn) for move in moves.tolist()]
            else:
                planes = np.zeros((encoding.planes, 9, 9), np.float32)
                ours = FEATURES1_NUM + FEATURES2_NUM
                make_input_features(board, planes[:FEATURES1_NUM], planes[FEATURES1_NUM:ours])
                if encoding is HISTORY:
                    for plane, square in enumerate(squares_of_last_moves(board), ours):
                        if square is not None:
                            planes[plane, square // 9, square % 9] = 1.0
                labels = [make_move_label(move, board.turn) for move in board.legal_moves]
            assert batch.labels[: len(moves)].tolist() == labels, position.sfen()
            assert np.array_equal(planes_of(encoding, batch.packed)[0], planes), (encoding.name, position.sfen())
    return checked


def test_planes_and_labels() -> None:
    check_encodings(chosen_positions())
    check_encodings(positions_along(ONE_MORE_THAN_A_SET, ["5f5e", "1a1b", "5e5d"]), [BOOK])
    assert check_encodings(random_positions(13, games=2)) > 200


@pytest.mark.parametrize("count", [4000, pytest.param(101_000, marks=pytest.mark.long)])
def test_planes_and_labels_in_real_games(count: int, shared_data: Path) -> None:
    """dlshogi's; and the book's, whose oracle is slow, in some."""
    assert check_encodings(islice(positions_of_games(shared_data, 2000), count), [DLSHOGI]) > 0.99 * count
    assert check_encodings(islice(positions_of_games(shared_data, 9), 0, None, 3), [BOOK]) > 300


def compared(position: ShogiPosition, playouts: int) -> Counter[tuple[int, bool]]:
    """The verdicts met in a search of `position`, in which stored and replayed boards agreed."""
    return both_boards.compared(RULES, position.settings, position, playouts, encoding=MOVES)


def random_roots(seed: int) -> Iterator[ShogiPosition]:
    """Without end: positions of random games with their past, under all kinds of rules."""
    rng = random.Random(seed)
    starts = [START_SFEN, MIDDLE_GAME, CHECKED_TWICE, DECLARABLE, ROOK_CHECKS]
    starts += [ROOK_CHECKS.replace("-", "G"), *HANDICAPS]
    while True:
        start = rng.choice(starts)
        position = ShogiPosition(
            turned(start) if rng.random() < 0.5 else start,
            declaration=rng.choice([24, 27]),
            odds_count=rng.random() < 0.2,
            mate_plies=rng.choice([1, 3, 3]),
        )
        for _ in range(rng.choice([0, 2, 6, 20, 60])):
            moves = position.legal_moves().tolist()
            if not moves:
                break
            position.push(rng.choice(moves))
        position.settings["draw_ply"] = rng.choice([0, 0, position.ply() + 4])
        if len(position.legal_moves()):
            yield position


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("roots", "playouts"), [(24, 100), pytest.param(300, 400, marks=pytest.mark.long)])
def test_verdicts_are_those_of_positions_replayed(roots: int, playouts: int) -> None:
    met = Counter[tuple[int, bool]]()
    for position in islice(random_roots(seed=2), roots):
        met += compared(position, playouts)
    assert met.keys() >= {(UNDECIDED, False), (DRAWN, False), (DRAWN, True), (2, False)}
    if roots == 300:
        assert sum(met.values()) > 100_000
        won, lost = 1, -1
        assert met.keys() >= {(won, True), (lost, True), (lost, False), (4, False)}


class Along:
    """An evaluator to whom the moves of a line are worth all."""

    encoding = MOVES

    def __init__(self, line: Int32Array) -> None:
        self._line = line

    def evaluate(self, batch: Batch) -> Evaluations:
        count = batch.firsts[len(batch)]
        priors = np.where(np.isin(batch.labels[:count] & 0xFFFF, self._line), 1e3, 1e-9)
        return Evaluations(priors.astype(np.float32), np.full(len(batch), 0.5, np.float32))


@pytest.mark.parametrize(
    ("game", "verdict"),
    [
        ((ROOK_CHECKS, CHECKS), -1),
        (IN_CHECK, 1),
        ((ROOK_CHECKS, QUIET), DRAWN),
        ((ROOK_CHECKS, ["4i3i", "5a4a", "3i4i", "4a5a"]), DRAWN),  # the last move alone is a check
        ((ROOK_CHECKS, [*QUIET, *CHECKS]), -1),
        (MORE_IN_HAND, 1),
        (LESS_IN_HAND, -1),
        ((START_SFEN, SHUFFLE), DRAWN),
    ],
)
@pytest.mark.parametrize("searched", [1, 2, 4])
def test_repetitions(game: tuple[str, list[str]], verdict: int, searched: int) -> None:
    """The last move, or the last few, are found by the search, those before lie in the game's past."""
    sfen, moves = game
    position = ShogiPosition(sfen, moves[:-searched])
    line = [ShogiPosition(sfen, moves[:played]).move_from_usi(moves[played]) for played in range(len(moves))]
    how = {"only": [position.move_from_usi(moves[-searched])], "batch_size": 1}
    evaluator = Along(np.array(line[-searched:]) & 0xFFFF)
    seen = both_boards.compared(RULES, position.settings, position, 60, encoding=MOVES, evaluator=evaluator, **how)
    assert seen[verdict, True] > 0
