"""Dobutsu shogi: its rules against a slow version of them, and the engine over USI."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from both_boards import compared, perft_of
from scripted_engines import games, heard, scripted
from slow_dobutsu import SlowDobutsu
from usi_driver import InProcess

from pydlshogi.catalogue import engine_named
from pydlshogi.encoding import planes_of
from pydlshogi.game import DRAWN, UNDECIDED, Outcome
from pydlshogi.games.dobutsu.encodings import DOBUTSU
from pydlshogi.games.dobutsu.position import START_SFEN, DobutsuPosition
from pydlshogi.games.dobutsu.rules import LABELS, RULES
from pydlshogi.support.arrays import Float32Array
from pydlshogi.uct.batch import Batch
from pydlshogi.web.records import open_record
from utils import match as match_program
from utils.arena.games import Opening, read_openings
from utils.match import main

SHUFFLE = ["1d1c", "3a3b", "1c1d", "3b3a"]
"""Both giraffes go up and back."""


def usis(position: DobutsuPosition | SlowDobutsu) -> list[str]:
    return [position.usi(move) for move in position.legal_moves().tolist()]


def random_games(seed: int, games: int, plies: int = 60) -> Iterator[tuple[DobutsuPosition, SlowDobutsu]]:
    """Every position of some random games, twice, each as the game stands (it moves on afterwards)."""
    rng = random.Random(seed)
    for _ in range(games):
        position, twin = DobutsuPosition(), SlowDobutsu()
        for _ in range(plies):
            yield position, twin
            if not len(position.legal_moves()):
                break
            move = rng.choice(position.legal_moves().tolist())
            position.push(move)
            twin.push(move)


def test_perft() -> None:
    """By the official rules. Without promotion or try it would be 8095 at depth 5."""
    perft = perft_of(RULES)
    lines = [perft(DobutsuPosition().state, depth) for depth in range(1, 9)]
    assert lines == [4, 17, 123, 976, 8122, 71677, 645705, 5895267]


def test_moves_and_ends_are_those_of_the_slow_version() -> None:
    ends = Counter[bool]()
    for position, twin in random_games(1, games=200):
        assert usis(position) == usis(twin), position.sfen()
        assert (position.ply(), position.outcome()) == (twin.ply(), twin.outcome())
        ends[twin.lost] += 1
    assert ends[True] > 20
    assert ends[False] > 500


@pytest.mark.parametrize(
    ("sfen", "move", "ends"),
    [
        ("2k/K2/3/3 b - 1", "3b3a", True),  # nobody reaches it
        ("RB1/1K1/3/k2 b - 1", "2b1a", True),  # the only way
        ("1k1/K2/3/3 b - 1", "3b3a", False),  # the lion does
        ("r2/1K1/3/2k b - 1", "2b2a", False),  # a giraffe does
        ("rk1/K2/3/3 b - 1", "3b2a", True),  # the lion itself is taken
        ("3/K1k/3/3 w - 1", "1b1c", False),  # not yet there
        ("1Kb/3/k2/1pR b BPr 1", "2a1a", True),  # it was there, and comes to where nobody reaches it
        ("3/K2/2k/3 w - 1", "1c1d", True),  # White's last rank
    ],
)
def test_a_try_wins_unless_the_lion_can_be_taken(sfen: str, move: str, ends: bool) -> None:
    position = DobutsuPosition(sfen)
    assert not ends or position.outcome() == Outcome(1.0, plies=1)
    position.push_usi(move)
    assert (len(position.legal_moves()) == 0) == ends


def test_verdicts_are_those_of_positions_replayed() -> None:
    met = Counter[tuple[int, bool]]()
    rng = random.Random(2)
    for _ in range(12):
        position, slow = DobutsuPosition(), SlowDobutsu()
        for _ in range(rng.randrange(20)):
            moves = position.legal_moves().tolist()
            move = rng.choice(moves)
            position.push(move)
            if not len(position.legal_moves()):
                position.pop()
                break
            slow.push(move)
        twin = lambda _, slow=slow: slow  # noqa: E731
        met += compared(RULES, position.settings, position, 120, twin=twin, columns=("by_path",))
        met += compared(RULES, position.settings, position, 120)
    assert met.keys() == {(UNDECIDED, False), (DRAWN, True), (2, False), (-1, False)}


def test_repetitions_and_the_last_move() -> None:
    position = DobutsuPosition()
    for ply, move in enumerate(2 * SHUFFLE, 1):
        assert position.threefold() is None
        position.push_usi(move)
        assert position.outcome() == (Outcome(0.5, by_path=True) if ply >= 4 else None)
    assert position.threefold() == Outcome(0.5, by_path=True)
    # White's lion loses a move: Black is where White was.
    position = DobutsuPosition("1k1/3/3/1K1 b - 1", ["2d2c", "2a3a", "2c2d", "3a2b", "2d1d", "2b2a", "1d2d"])
    assert position.sfen() == "1k1/3/3/1K1 w - 8"
    assert len(position.occasions()) == 1
    assert position.outcome() is None
    assert DobutsuPosition(moves=SHUFFLE[:2], draw_ply=2).outcome() == Outcome(0.5)
    assert DobutsuPosition(moves=SHUFFLE[:2], draw_ply=3).outcome() is None


def test_both_dialects_are_read_and_one_is_written() -> None:
    for sfen in ("gle/1c1/1C1/ELG b - 1", "gle/1c1/1C1/ELG b -"):
        assert DobutsuPosition(sfen).sfen() == START_SFEN
    position = DobutsuPosition("1l1/1h1/1+C1/1L1 w 2G2e 7")
    assert position.sfen() == "1k1/1+p1/1+P1/1K1 w 2R2b 7"
    assert position.move_from_usi("E*3a") == position.move_from_usi("B*3a")


@pytest.mark.parametrize(
    ("sfen", "reason"),
    [("", "an sfen has"), ("rkb/1p1/1P1/BKR x - 1", "b or w"), ("rkb/1p1/1P1/BKR b - one", "move number"),
     ("rkb/1p1/BKR b - 1", "3 ranks"), ("rkb/1p1/1P/BKR b - 1", "2 squares"),
     ("rkb/1p1/1X1/BKR b - 1", "X is no piece"), ("rkb/1p1/1P1/B1R b - 1", "one lion"),
     ("rkb/1p1/1P1/BKR b P 1", "3 chicks"), ("rkb/1p1/3/BKR b P2 1", "no pieces in hand")],
)  # fmt: skip
def test_a_broken_sfen_is_refused_with_a_reason(sfen: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        DobutsuPosition(sfen)


def slow_planes(twin: SlowDobutsu) -> Float32Array:
    planes = np.zeros((22, 12), np.float32)
    for square in range(12):
        piece, side = twin.board.get(twin.seen_at(square), ("", -1))
        if piece:
            planes[["P", "B", "R", "K", "+P"].index(piece) + 5 * (side != twin.side), square] = 1
    for whose, hand in enumerate((twin.hands[twin.side], twin.hands[1 - twin.side])):
        for place, piece in enumerate("PBR"):
            first = 10 + 6 * whose + 2 * place
            planes[first : first + hand.count(piece)] = 1
    return planes.reshape(22, 4, 3)


def seen(position: DobutsuPosition) -> tuple[Float32Array, list[int]]:
    """Planes and labels as a network gets them."""
    batch = Batch(1, RULES.most_moves, DOBUTSU)
    batch.add(position, position.legal_moves())
    return planes_of(DOBUTSU, batch.packed)[0], batch.labels[: batch.firsts[1]].tolist()


def test_planes_and_labels() -> None:
    two_held = 0
    for position, twin in random_games(5, games=30):
        planes, labels = seen(position)
        if not twin.lost:
            assert np.array_equal(planes, slow_planes(twin)), position.sfen()
            two_held += any(hand.count(piece) == 2 for hand in twin.hands for piece in hand)
        assert labels == position.legal_moves().tolist()
        assert len(set(labels)) == len(labels)
        assert all(0 <= label < LABELS for label in labels)
    assert two_held > 5


def test_in_the_mirror_it_plays_the_same() -> None:
    (mirror,) = DOBUTSU.symmetries
    for position, twin in random_games(6, games=5):
        if twin.lost:
            continue
        board, rest = position.sfen().split(maxsplit=1)
        letters = board.replace("+P", "H").replace("+p", "h")
        there = DobutsuPosition("/".join(row[::-1] for row in letters.split("/")) + " " + rest)
        planes, labels = seen(position)
        mirrored, mirrored_labels = seen(there)
        squares = planes.reshape(22, 12)[mirror.planes][:, mirror.squares].reshape(22, 4, 3)
        assert np.array_equal(mirrored, squares)
        assert sorted(mirrored_labels) == sorted(mirror.labels[labels].tolist())


@pytest.fixture(scope="module")
def gui() -> Iterator[InProcess]:
    with closing(InProcess(engine_named("dobutsu"))) as conversation:
        yield conversation.start()


def test_it_comes_with_a_network() -> None:
    conversation = InProcess(engine_named("dobutsu"))
    conversation.ask("usi", "usiok")
    assert conversation.said[0].startswith("id name pydlshogi dobutsu ")
    conversation.ask("isready", "readyok")
    (chosen,) = (line for line in conversation.said if line.startswith("info string"))
    assert re.fullmatch(r"info string dobutsu\.npz: .+, \d+ positions at once", chosen)
    conversation.send("bench 0.1")
    assert any("dobutsu.npz" in line for line in conversation.settle())
    conversation.close()


@pytest.mark.parametrize(
    ("position", "answer"),
    [
        ("sfen 2k/K2/3/3 b - 1", "bestmove 3b3a"),  # a try
        ("sfen 1k1/1R1/3/1K1 b - 1", "bestmove 2b2a"),  # the lion is to be had
        ("sfen l2/2L/3/3 b - 1", "bestmove 1b1a"),
        ("sfen 2k/3/r2/K2 w - 1", "bestmove 3c3d"),
        ("sfen 2k/3/1r1/K2 w - 1", r"info .* score mate 3 .* pv \S+ \S+ \S+$"),
        ("sfen 2k/3/r2/K2 w - 1 moves 3c3d", "bestmove resign"),
        ("startpos moves 2c2b 2a2b", "bestmove "),
    ],
)
def test_it_answers(gui: InProcess, position: str, answer: str) -> None:
    gui.send("usinewgame", f"position {position}")
    assert any(re.match(answer, line) for line in gui.go("go nodes 200")[-2:])


def test_the_board_is_drawn(gui: InProcess) -> None:
    gui.send("position sfen 1k1/1+p1/3/1K1 w 2Re 3")
    board = ["  3  2  1", "  .  k  .  a", "  . +p  .  b", "  .  .  .  c", "  .  K  .  d"]
    assert gui.ask("d", "sfen") == [*board, "in hand: 2Rb", "sfen 1k1/1+p1/3/1K1 w 2Rb 3"]


pytestmark = pytest.mark.lent_worker(match_program)

SHORT = "2c2b 2a2b P*2c C*3b".split()
"""A drop in each dialect; after the second White's lion can be taken."""
KEPT = "2c2b 2a2b C*2c C*3b"


engine = partial(scripted, "fake_usi_engine")


def match(out: Path, a: str, b: str, *words: str, games: int = 2) -> int:
    return main([a, b, "--game", "dobutsu", *words, "--time=60000", "--games", str(games), "--out", str(out)])


def test_a_game_is_played_to_its_end_with_both_colours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "b.log"
    words = ("--max-moves", str(len(SHORT)))  # what the last move wins is no draw
    assert match(tmp_path / "m", engine("a", *SHORT), engine("b", *SHORT, log=log), *words) == 0
    first, second = games(tmp_path / "m")
    played = [(game["winner"], game["ending"], game["moves"]) for game in (first, second)]
    assert played == [("A", "mate", KEPT), ("B", "mate", KEPT)]
    begun = ["position startpos moves 2c2b", "position startpos moves 2c2b 2a2b C*2c"]
    assert heard(log, "position") == [*begun, "position startpos", "position startpos moves 2c2b 2a2b"]
    assert "(as Black +1 =0 -0; as White +0 =0 -1)" in capsys.readouterr().out


def test_records_can_be_read_back(tmp_path: Path) -> None:
    assert match(tmp_path / "m", engine("a", *SHORT), engine("b", *SHORT)) == 0
    record = tmp_path / "m" / "records" / "m-00002.txt"
    assert record.read_text() == f"# m 2: b (Black) against a (White), Black wins: mate\nstartpos moves {KEPT}\n"
    (game,) = open_record(record.read_bytes(), "dobutsu")
    assert game().line.moves == KEPT.split()
    assert read_openings(record, 3, "dobutsu") == [Opening(None, tuple(KEPT.split()[:3]), "dobutsu")]


def test_openings_are_said_in_the_letters_that_all_engines_know(tmp_path: Path) -> None:
    openings, log = tmp_path / "openings.txt", tmp_path / "b.log"
    openings.write_text("startpos moves 2c2b 2a2b P*2c\nsfen 1k1/3/1+P1/1K1 w 2rB 7 moves R*1a\n")
    assert match(tmp_path / "m", engine("a"), engine("b", log=log), "--openings", str(openings), games=4) == 0
    assert sorted(heard(log, "position")) == [
        "position sfen 1l1/3/1+C1/1L1 w E2g 7 moves G*1a",
        "position startpos moves 2c2b 2a2b C*2c",
    ]
    assert sorted(game["opening_plies"] for game in games(tmp_path / "m")) == [1, 1, 3, 3]
