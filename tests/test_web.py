"""The board's server, asked over HTTP as a browser asks it, and as a browser never would."""

import errno
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import cshogi
import numpy as np
import pytest
from usi_driver import PATIENCE
from web_board import FIXTURES, MATE_IN_ONE, ROOT, SETTINGS, Board, Message, News, served, serving, unbegun

from pydlshogi.analysis_server.pool import Answer, Pool, Task
from pydlshogi.catalogue import GAMES
from pydlshogi.games.shogi.engine.book_files import YBB_HEADER, YBB_MAGIC, YBB_POSITION
from pydlshogi.games.shogi.files import ENDINGS
from pydlshogi.games.shogi.read_kifu import read
from pydlshogi.player.base_player import HIGHEST_CP, Info
from pydlshogi.player.clock import Limits
from pydlshogi.web import __main__ as web
from pydlshogi.web import review
from pydlshogi.web.records import open_record
from pydlshogi.web.server import LARGEST_COMMAND, LARGEST_RECORD, BoardServer
from pydlshogi.web.table import Refused, Table, setup

pytestmark = pytest.mark.usefixtures("short_reviews")

PAGE = ROOT / "pydlshogi" / "web" / "page"
REVIEWED = ("game", "winRates", "judged", "practice", "summary")
EVEN = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
DECLARABLE = "2GK1+L3/2+P+S+R1G+N1/3+B1GG2/9/9/1+bs6/+p+p3+n3/2+n2k3/6+p2 b R2SN7P3l7p 375"


def test_a_book_that_breaks_off_is_said(tmp_path: Path) -> None:
    path, start = tmp_path / "broken.ybb", np.zeros(32, np.uint8)
    cshogi.Board().to_psfen(start)
    path.write_bytes(YBB_HEADER.pack(YBB_MAGIC, 1, 0) + YBB_POSITION.pack(start.tobytes(), 0, 1, 1))
    with closing(Pool(1, SETTINGS | {"Book_File": str(path)})) as pool, served(pool) as board:
        assert (board.state()["error"], board.state()["book"]) == (f"{path}: it breaks off", [])
        board.play("7g7f")
        assert board.state()["error"] == ""


def test_two_people_play(board: Board) -> None:
    board.play("7g7f 3c3d 8h2b+ 3a2b B*5e")
    before = board.state()
    assert (before["moves"], before["turn"], before["at"]) == (["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e"], 1, 5)
    assert before["position"].startswith("lnsgkg1nl/1r5s1/pppppp1pp/6p2/4B4/")
    for move in ("7g7e", "P*5f", "", "7g7f+"):
        assert board.do("move", move=move).endswith("is not a legal move now")
    assert board.do("move", move="8c8d", generation=before["generation"] - 1) == "the game has gone on meanwhile"
    assert board.state() == before
    assert board.do("undo") == ""
    assert (board.state()["moves"][-1], board.state()["variations"]) == ("3a2b", [])


@pytest.mark.parametrize("opponent", ["beginner", "full strength", "policy only", "one move ahead"])
def test_an_engine_answers(board: Board, opponent: str) -> None:
    board.new(sides=("", opponent), moves="7g7f")
    assert board.news.until(lambda state: state["at"] == 2)["sides"] == ["", opponent]
    assert board.do("undo") == ""  # both moves
    assert board.state()["moves"] == []


def test_what_an_opponent_thought_is_saved_as_an_evaluation_and_as_no_analysis(board: Board, asked: list[Task]) -> None:
    board.new(sides=("", "beginner"), moves="7g7f")
    asked[-1].tell(Answer(1, (Info(nodes=0, win_rate=1.0, score_mate=7, pv=("1c1d",)),), "1c1d"))
    board.news.until(lambda state: state["at"] == 2)
    board.do("hint")
    asked[-1].tell(Answer(0, (Info(nodes=1, win_rate=0.5, pv=("2g2f",)),), "2g2f"))
    text = (record := board.record()).decode("cp932")
    assert ("評価値" in text, "▲２六歩" in text, "△１四歩" in text) == (True, True, False)
    assert [board.opened(record)[name] for name in ("practice", "summary")] == [[], []]


def test_two_engines_wait_and_make_a_move_at_a_time(board: Board, asked: list[Task]) -> None:
    assert board.do("pause", on=True) == "only two engines can be made to wait"
    assert board.do("step") == "no engine waits"
    board.do("pace", seconds=0)
    board.new("dobutsu", sides=("easy", "easy"))
    assert board.do("pause", on=True) == ""
    assert asked[-1].cancelled.is_set()
    assert (board.state()["pace"], board.state()["thinks"]) == ({"seconds": 0, "paused": True}, False)
    questions = len(asked)
    assert board.do("step") == ""
    asked[-1].tell(Answer(move="2c2b"))
    board.news.until(lambda state: state["at"] == 1)
    assert len(asked) == questions + 1  # it waits again
    assert board.do("pause", on=False) == ""
    asked[-1].tell(Answer(move="1a2b"))
    board.news.until(lambda state: state["at"] == 2)
    assert len(asked) == questions + 3
    assert board.do("pause", on=True) == ""
    board.new("dobutsu", sides=("easy", "easy"))
    assert not board.state()["pace"]["paused"]


def test_nothing_may_be_played_while_the_engine_thinks(board: Board, asked: list[Task]) -> None:
    board.new("dobutsu", sides=("", "full strength"), moves="1d1c")
    assert board.state()["legal"] == []
    assert board.do("resign") == "it is not your turn"
    assert board.do("undo") == ""  # that may be done: the engine stops
    assert board.state()["moves"] == []


@pytest.mark.parametrize(
    ("game", "start", "moves", "reason", "winner"),
    [("shogi", MATE_IN_ONE, "G*5b", "mate", 0), ("shogi", "even", "5i5h 5a5b 5h5i 5b5a " * 3, "repetition", None),
     ("dobutsu", "r1k/3/1K1/BR1 b - 1", "2c2b 3a3b 2b1a", "lion caught", 0),
     ("dobutsu", "3/K2/2k/B2 b - 1", "3b3a", "try", 0),
     ("othello", "Dd6/8/8/8/8/8/8/5ddd b - 1", "c1", "equal discs, both pass", None),
     ("othello", f"Dd6/{'/'.join(['DDDDDDDD'] * 7)} b - 1", "c1", "more discs, both pass", 0),
     ("othello", f"Dd1ddddd/{'/'.join(['DDDDDDDD'] * 7)} b - 1", "c1", "more discs", 0),
     ("othello", f"Dd1ddddd/{'/'.join(['DDDDDDDD', 'dddddddd'] * 3)}/DDDDDddd b - 1", "c1", "equal discs", None),
     ("shogi", "8k/9/9/9/9/9/9/7R1/4K4 b - 1", "2h1h 1a2a 1h2h 2a1a " * 3, "perpetual check", 1),
     ("dobutsu", "k2/3/3/2K b - 1", "1d2d 3a2a 2d1d 2a3a " * 2, "repetition", None)],
)  # fmt: skip
def test_games_end(board: Board, game: str, start: str, moves: str, reason: str, winner: int | None) -> None:
    board.new(game, start, moves=moves)
    state = board.state()
    assert (state["ending"], state["legal"]) == ({"reason": reason, "winner": winner}, [])


def test_people_resign_and_declare(board: Board) -> None:
    board.play("7g7f")
    assert board.do("declare") == "there is no win to declare"
    board.do("goto", ply=0)
    assert board.do("resign") == "it is not your turn"
    board.do("goto", ply=1)
    assert board.do("resign") == ""
    assert board.state()["ending"] == {"reason": "resignation", "winner": 0}
    board.do("undo")  # the resignation alone
    assert (board.state()["ending"], board.state()["at"]) == (None, 1)
    board.new(start=DECLARABLE)
    assert board.state()["mayDeclare"]
    assert board.do("declare") == ""
    assert board.state()["ending"] == {"reason": "declaration", "winner": 0}
    board.new(start="7nk/9/7G1/4r4/9/9/5P3/4G4/4K4 b P 1")
    reasons = {"P*4c": "two pawns on one file", "5h4h": "the king would be taken", "P*9a": "", "4g4e": "", "4g4f": ""}
    for move, reason in (reasons | {"P*1b": "a pawn that is dropped may not mate"}).items():
        assert board.do("why", move=move) == reason


def test_handicaps_and_positions(board: Board) -> None:
    board.new(start="two pieces", sides=("", "beginner"))
    board.news.until(lambda state: state["at"] == 1)  # White begins
    before = board.state()
    assert before["opening"] == []  # the names are of even games
    assert "sfen" in board.begin(start="nine pieces")
    assert board.begin("go") == "there is no game go"
    for sides in (["", "Meijin"], [""], "xy", [1, 2]):
        assert board.begin(sides=sides).startswith("the two sides are")
    assert board.state() == before


IN_JAPANESE = "▲７六歩(77) △３四歩(33) ▲２二角成(88) △同銀(31) ▲５五角打"


@pytest.mark.parametrize(
    ("game", "start", "moves", "english", "japanese"),
    [("shogi", "even", "7g7f 3c3d 8h2b+ 3a2b B*5e", "P7g-7f P3c-3d B8hx2b+ S3ax2b B*5e", IN_JAPANESE),
     ("shogi", "rook handicap", "3c3d 7g7f", "P3c-3d P7g-7f", "△３四歩(33) ▲７六歩(77)"),
     ("dobutsu", "even", "2c2b 1a2b P*3b", "C2cx2b E1ax2b C*3b", "▲２二ひよこ(23) △同ぞう(11) ▲３二ひよこ打")],
)  # fmt: skip
def test_moves_are_written_as_people_write_them(
    board: Board, game: str, start: str, moves: str, english: str, japanese: str
) -> None:
    board.new(game, start, moves=moves)
    state = board.state()
    assert [" ".join(each) for each in zip(*state["written"], strict=True)] == [english, japanese]
    assert state["odds"] == ("handicap" in start)


@pytest.mark.parametrize(
    ("game", "moves"), [("shogi", "7g7f 3c3d 8h2b+ 3a2b B*5e"), ("dobutsu", "2c2b 1a2b"), ("othello", "f5 f6 e6 f4")]
)
def test_a_line_of_the_engine_can_be_followed(board: Board, asked: list[Task], game: str, moves: str) -> None:
    """Its moves as people write them, and the positions: the page knows no rules."""
    board.new(game)
    board.do("watch", on=True)
    thought = Info(score_cp=0, win_rate=0.5, nodes=1, pv=tuple(moves.split()), multipv=1)
    asked[-1].tell(Answer(lines=(thought,), final=False))
    names, positions = zip(*board.news.next("info")["moveInfos"][0]["line"], strict=True)
    for ply, move in enumerate(moves.split()):
        board.play(move)
        state = board.state()
        assert (state["position"], state["written"][ply]) == (positions[ply], names[ply])


def test_an_engine_of_a_level_or_that_gives_pieces_plays_on() -> None:
    pool = Pool(1, {**SETTINGS, "Resign_Threshold": "1000"})  # all is lost from the first move on
    with served(pool) as board:
        board.new(sides=("full strength", ""), clock=[30, 0])
        assert board.news.until(lambda state: state["ending"])["ending"] == {"reason": "resignation", "winner": 1}
        for start, sides in (("even", ("easy", "")), ("six pieces", ("", "full strength"))):
            board.new(start=start, sides=sides, clock=[30, 0])
            state = board.news.until(lambda state: state["at"] or state["ending"])
            assert (state["at"], state["ending"]) == (1, None)
    pool.close(cancel=True)


def test_the_search_is_seen(board: Board) -> None:
    assert board.do("watch", on=True) == ""
    info = board.news.until(lambda info: info["rootInfo"]["visits"] > 20, "info")
    assert len(info["moveInfos"]) == 5
    assert info["generation"] == board.state()["generation"]
    assert info["winRate"] == info["rootInfo"]["winrate"]  # Black is to move
    board.play("7g7f")
    info = board.news.until(lambda info: info["ply"] == 1, "info")
    assert info["winRate"] == pytest.approx(1 - info["rootInfo"]["winrate"])
    assert board.state()["winRates"][0] is not None
    assert board.do("watch", on=True, lines=2) == ""
    # What is known already is shown until then.
    info = board.news.until(lambda info: len(info["moveInfos"]) != 5, "info")
    assert len(info["moveInfos"]) == 2
    assert board.do("watch", on=True, lines=0) == "1 to 20 candidates can be shown"


def test_a_hint_and_the_policy(board: Board) -> None:
    assert board.do("policy") == ""
    priors = board.news.next("policy")["priors"]
    assert set(priors) == set(board.state()["legal"])
    assert sum(priors.values()) == pytest.approx(1, abs=1e-3)
    assert board.do("hint") == ""
    assert board.news.until(lambda info: info["final"], "info")["bestMove"] in board.state()["legal"]
    board.new(start=DECLARABLE)
    for do in ("hint", "policy", "watch"):  # all say that a win can be declared
        assert board.do(do, on=True) == ""
        info = board.news.until(lambda info: info["final"], "info")
        assert (info["bestMove"], info["moveInfos"], info["winRate"]) == ("win", [], 1)
    assert board.state()["winRates"] == [1]


class Hands:
    """Of the clock that hangs by the board: they move when a test does it."""

    seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    made = Hands()
    monkeypatch.setattr("pydlshogi.web.clock.time", made)
    return made


def test_what_a_move_took_is_off_the_clock_and_in_the_record(board: Board, hands: Hands) -> None:
    board.new(clock=[600, 30])
    clock = board.state()["clock"]
    assert (clock["left"], clock["byoyomi"], clock["running"]) == ([600, 600], 30, 0)
    for move, seconds in (("7g7f", 7), ("3c3d", 65), ("2g2f", 4)):
        hands.seconds += seconds
        board.play(move)
    assert (board.state()["clock"]["left"], board.state()["clock"]["running"]) == ([589, 535], 1)
    record = board.record().decode("cp932")
    assert all(took in record for took in ("( 0:07/00:00:07)", "( 1:05/00:01:05)", "( 0:04/00:00:11)"))
    board.do("goto", ply=1)
    hands.seconds += 3
    board.play("8c8d")  # from here on it is another game, and White's clock begins anew
    assert board.state()["clock"]["left"] == [593, 600]
    board.do("undo")
    assert board.state()["clock"]["left"] == [593, 600]
    board.do("resign")
    assert board.state()["clock"]["running"] is None
    for wrong in ([1], "x", [1, -1], [True, False], [1, "x"], [1e9, 0], [float("nan"), 0]):
        assert board.begin(clock=wrong) == "a clock is two numbers of seconds"


def test_a_look_at_other_moves_gives_no_time_back(board: Board, hands: Hands) -> None:
    board.new(clock=[600, 30], moves="7g7f")
    hands.seconds += 9
    board.play("2g2f", at=0)
    hands.seconds += 5
    board.do("back")
    assert board.state()["clock"]["spent"] == 9
    board.new("dobutsu")
    hands.seconds += 5
    board.do("earlier")
    assert board.state()["clock"]["spent"] == 9
    hands.seconds += 2
    with closing(News(board)) as page:  # that is loaded anew
        assert page.next()["clock"]["spent"] == 11


def test_the_clock_of_an_engine_runs_while_it_thinks(board: Board, hands: Hands, asked: list[Task]) -> None:
    def think(seconds: float) -> None:
        asked[-1].tell(Answer(final=False))
        hands.seconds += seconds

    start = "startpos moves 7g7f 3c3d 2g2f 8c8d"
    board.new(start=start, sides=["full strength", ""], clock=[1000, 500])
    hands.seconds += 5000
    clock = board.state()["clock"]
    assert (clock["running"], clock["stands"], clock["spent"]) == (0, True, 0)
    think(400)
    clock = board.state()["clock"]
    assert (clock["running"], clock["stands"], clock["spent"]) == (0, False, 400)
    board.do("watch", on=True)
    assert asked[-1].question.clock == Limits(btime=600_000, wtime=1_000_000, byoyomi=500_000)
    think(800)
    board.do("goto", ply=0)
    hands.seconds += 5000
    assert (board.state()["clock"]["spent"], board.state()["clock"]["stands"]) == (1200, True)
    board.do("goto", ply=4)
    assert asked[-1].question.clock == Limits(btime=0, wtime=1_000_000, byoyomi=300_000)
    think(100)
    asked[-1].tell(Answer(move="2f2e"))
    state = board.state()
    assert (state["moves"][4:], state["ending"]) == (["2f2e"], None)
    assert state["clock"]["left"] == [0, 1000]
    assert (state["clock"]["running"], state["clock"]["stands"]) == (1, False)


def test_an_engine_that_fails_thinks_no_more_and_loses_no_time(board: Board, hands: Hands, asked: list[Task]) -> None:
    board.new(sides=("", "easy"), clock=[600, 30])
    board.do("watch", on=True)
    board.play("7g7f")
    assert board.state()["thinks"]
    asked[-1].tell(Answer(final=False))
    hands.seconds += 7
    asked[-1].tell(Answer(error="it failed"))
    hands.seconds += 5000
    state = board.state()
    assert [state[name] for name in ("error", "thinks", "watching")] == ["it failed", False, False]
    assert (state["clock"]["spent"], state["clock"]["stands"]) == (7, True)
    board.do("watch", on=True)  # it tries again
    assert board.state()["thinks"]
    asked[-1].tell(Answer(move="3c3d"))
    assert (board.state()["moves"], board.state()["thinks"]) == (["7g7f", "3c3d"], False)


def test_a_game_is_lost_on_time_and_the_record_says_so(board: Board) -> None:
    board.new(clock=[0.2, 0.1])
    assert board.news.until(lambda state: state["ending"])["ending"] == {"reason": "time", "winner": 1}
    assert board.do("move", move="7g7f") == "7g7f is not a legal move now"
    assert "切れ負け" in board.record().decode("cp932")


@pytest.mark.parametrize(("game", "opponent"), [("shogi", "full strength"), ("dobutsu", "hard"), ("othello", "hard")])
def test_an_engine_answers_within_its_time(board: Board, game: str, opponent: str) -> None:
    board.new(game, sides=("", opponent), clock=[60, 1])
    board.do("move", move=board.state()["legal"][0])
    state = board.news.until(lambda state: state["at"] == 2)
    assert state["ending"] is None
    assert 0 < state["clock"]["left"][1] < 60


@pytest.mark.parametrize("name", ["branches.kif", "relative.ki2", "floodgate.csa"])
def test_records_are_opened_and_stepped_through(board: Board, name: str) -> None:
    state = board.opened((FIXTURES / name).read_bytes())
    assert (state["at"], state["sides"], len(state["moves"]) > 2) == (0, ["", ""], True)
    assert board.do("goto", ply=2) == ""
    assert board.state()["at"] == 2
    assert board.do("goto", ply=len(state["moves"]) + 1) == "there is no such move"
    other = next(move for move in board.state()["legal"] if move != state["moves"][2])
    board.play(other)  # from here on it is another game
    assert board.state()["moves"] == [*state["moves"][:2], other]


@pytest.mark.parametrize(
    ("text", "game", "moves"),
    [
        ("7g7f 3c3d", "shogi", ["7g7f", "3c3d"]),
        ("position startpos moves 7g7f 3c3d", "shogi", ["7g7f", "3c3d"]),
        ("sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "shogi", []),
        ("sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G", "shogi", []),
        ("8/8/8/3dD3/3Dd3/8/8/8 b - moves f5", "othello", ["f5"]),
        ("r1k/3/1K1/BR1 b - 1 moves 2c2b 3a3b", "dobutsu", ["2c2b", "3a3b"]),
        ("8/8/8/3dD3/3Dd3/8/8/8 b - 1 moves f5", "othello", ["f5"]),
        ("手合割：平手\n*ひどい(;_;)\n1 ７六歩(77)\n", "shogi", ["7g7f"]),  # no game of Othello
    ],
)
def test_it_is_known_of_what_game_a_text_is(board: Board, text: str, game: str, moves: list[str]) -> None:
    board.new("dobutsu")  # which a text without a position may be of, and one that is wrong is not
    assert b"in check" in board.ask("POST", "/record", b"sfen 4k4/9/9/9/4R4/9/9/9/K8 b - 1")[1]
    state = board.opened(text.encode())
    assert (state["game"], state["moves"], state["at"]) == (game, moves, 0)


@pytest.mark.parametrize(
    ("game", "line", "answers"),
    [("shogi", "startpos moves 7g7f 3c3d 2g2f 8c8d", "w"),
     ("shogi", "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1 moves 3c3d 7g7f 8c8d 2g2f", "b"),
     ("dobutsu", "startpos moves 1d1c 3a3b 2c2b 1a2b", "w"), ("othello", "startpos moves f5 d6 c3 d3", "w")],
)  # fmt: skip
def test_from_the_position_shown_an_engine_plays_on(board: Board, game: str, line: str, answers: str) -> None:
    board.new(game)
    record = board.opened(line.encode())
    board.do("goto", ply=3)
    board.new(game, "position shown", ("", "beginner") if answers == "w" else ("beginner", ""))
    state = board.news.until(lambda state: state["at"] == 4)
    assert (state["start"], state["moves"][:3]) == (record["start"], record["moves"][:3])
    assert board.do("earlier") == ""
    again = board.state()
    assert (again["moves"], again["at"]) == (record["moves"], 3)
    other = next(name for name in GAMES if name != game)
    assert board.begin(other, "position shown") != ""


@pytest.mark.parametrize(
    ("game", "start", "plies"),
    [
        ("dobutsu", "even", 3),
        ("othello", "even", 0),
        ("othello", "even", 3),
        ("othello", "8/8/8/3dD3/3Dd3/8/8/4D3 b - 1", 3),
        ("othello", "d3c3e6d2d1e1b2c1", 1),  # with a pass at the end
        ("shogi", "4k4/9/4P4/9/9/9/9/9/9 b G 1", 1),  # a problem
        ("shogi", "4k4/9/4P4/9/9/9/9/9/4K4 b 10P8p 1", 3),
    ],
)
def test_what_is_saved_can_be_opened(board: Board, game: str, start: str, plies: int) -> None:
    board.new(game, start)
    for _ in range(plies):
        board.play(board.state()["legal"][0])
    board.do("resign")
    before, record = board.state(), board.record()
    board.new()
    board.opened(record)
    board.do("goto", ply=len(before["moves"]))
    state, names = board.state(), ("game", "moves", "start", "ending")
    assert [state[name] for name in names] == [before[name] for name in names]


@pytest.mark.parametrize(
    ("moves", "ending"),
    [("1d1c 3a3b 2c2b rep_draw", ("repetition", None)), ("1d1c 3a3b 2c2b draw", ("as recorded", None)),
     ("f5 d6 c3 draw", ("as recorded", None)), ("f5 d6 c3 resign", ("resignation", 0)), ("f5 d6 c3 break", None)],
)  # fmt: skip
def test_the_word_behind_the_moves_of_any_game_says_how_it_ended(board: Board, moves: str, ending: Any) -> None:
    record = f"position startpos moves {moves}".encode()
    for _ in range(2):
        board.opened(record)
        board.do("goto", ply=3)
        assert board.state()["ending"] == (ending and {"reason": ending[0], "winner": ending[1]})
        record = board.record()


@pytest.mark.parametrize("word", "切れ負け 反則負け 反則勝ち 入玉勝ち 千日手 持将棋 不戦勝 中断 不詰".split())
def test_a_record_that_was_opened_is_saved_with_what_it_says(board: Board, tmp_path: Path, word: str) -> None:
    others = "終了日時：2020/01/03\n持ち時間：2時間\n消費時間：▲10△20\n戦型：相掛かり\n記録係：丙\n"
    heads = f"開始日時：2020/01/02\n棋戦：名人戦\n場所：東京\n{others}手合割：平手\n先手：甲\n後手：乙\n"
    first = "*序盤\n   1 ７六歩(77)   ( 0:01/00:00:01)\n*角道を開ける\n*普通の手\n"
    record = f"{heads}{first}   2 ３四歩(33)   ( 0:02/00:00:02)\n   3 {word}\n*お疲れ様\n"
    (tmp_path / "before.kif").write_text(record, encoding="utf-8")
    assert board.opened(record.encode())["comment"] == "序盤"
    board.do("goto", ply=1)
    assert board.state()["comment"] == "角道を開ける\n普通の手"
    board.do("undo")
    board.play("2g2f")
    assert board.state()["comment"] == ""
    board.do("back")
    (tmp_path / "after.kif").write_bytes(board.record())
    (saved,) = read(tmp_path / "after.kif")
    assert read(tmp_path / "before.kif") == [replace(saved, variations=())]
    assert [(each.after, each.usi) for each in saved.variations] == [(0, ("2g2f",))]
    assert f"場所：東京\n{others}" in (tmp_path / "after.kif").read_text(encoding="utf-8")
    board.opened(record.encode("cp932"))
    assert f"場所：東京\n{others}" in board.record().decode("cp932")


def test_the_variations_of_a_record_are_shown_and_saved(board: Board, tmp_path: Path) -> None:
    moves = "   1 ７六歩(77)\n   2 ３四歩(33)\n*よい\n   3 ２六歩(27)\n"
    forks = "変化：3手\n   3 ６六歩(67)\n   4 ８四歩(83)\n*ここも\n変化：4手\n   4 ３三角(22)\n   5 投了\n"
    forks += "変化：1手\n   1 ２六歩(27)\n"
    (tmp_path / "before.kif").write_text(f"手合割：平手\n{moves}{forks}", encoding="utf-8")
    state = board.opened((tmp_path / "before.kif").read_bytes())
    assert (state["moves"], state["at"]) == (["7g7f", "3c3d", "2g2f"], 0)
    assert branches(state) == [(2, "6g6f 8c8d"), (3, "2b3c"), (0, "2g2f")]
    assert not any(each.own for each in state["variations"])
    assert [*state["variations"][1].written[0]] == ["B2b-3c", "△３三角(22)"]
    (tmp_path / "after.kif").write_bytes(board.record())
    assert read(tmp_path / "before.kif") == read(tmp_path / "after.kif")
    vary(board, "6g6f")
    assert branches(board.state()) == [(3, "2b3c"), (2, "2g2f"), (0, "2g2f")]
    vary(board, "2b3c")
    assert board.state()["comment"] == ""


def test_what_a_record_thought_of_its_moves_is_in_the_graph(board: Board) -> None:
    moves = "   1 ７六歩(77)\n*#評価値=0\n   2 ３四歩(33)\n*#評価値=600\n   3 ２六歩(27)\n*#評価値=-999999\n"
    state = board.opened(f"手合割：平手\n{moves}".encode())
    first, *rates = state["winRates"]
    assert (first, rates) == (None, pytest.approx([0.5, 0.731, 0], abs=0.001))
    judged = [(each["number"], each["side"], each["mark"], each["best"]) for each in state["judged"]]
    assert judged == [(2, "w", "??", None), (3, "b", "??", None)]
    assert state["summary"] == []


def saved_and_opened(board: Board, ply: int) -> Message:
    """A game that was reviewed, once it was saved and opened: what is said of it is the same, so are the candidates of
    the position after `ply` moves, which come with the state."""

    def candidates() -> list[Message]:
        assert board.do("goto", ply=ply) == ""
        rows = board.news.until(lambda info: info["ply"] == ply, "info")["moveInfos"]
        return [{name: each.get(name) for name in ("move", "winrate", "scoreCp", "visits", "line")} for each in rows]

    reviewed, record = board.state() | {"candidates": candidates()}, board.record()
    again = board.opened(record)
    names = ("winRates", "summary", "practice")
    assert {name: again[name] for name in names} == {name: reviewed[name] for name in names}
    assert [each | {"sure": True} for each in reviewed["judged"]] == again["judged"]
    again["candidates"] = candidates()
    assert again["candidates"] == reviewed["candidates"]
    assert board.record() == record
    return again


def test_a_review_that_was_saved_is_opened_with_the_same_numbers(board: Board) -> None:
    board.opened((FIXTURES / "floodgate.csa").read_bytes())
    board.review()
    board.play("2g2f", at=4)
    tried = board.news.until(lambda state: len(state["judged"]) == 5 and not state["judging"])["judged"][-1]
    board.do("back")
    board.do("goto", ply=0)
    again = saved_and_opened(board, 4)
    assert again["practice"]
    assert len(again["candidates"]) == 5
    vary(board, "2g2f")
    assert board.state()["judged"][-1] == tried | {"sure": True}


@pytest.mark.parametrize(
    ("game", "moves", "candidates"),
    [("dobutsu", "startpos moves 1d1c 3a3b 2c2b 3b2b 3d2c P*3b 2c3b 2b1b 1c1d 1a2b", 5),
     ("othello", "e6d6c3f4d7c5g4g3c4g5b5c7f5a5", 1)],
)  # fmt: skip
def test_a_review_of_any_game_is_opened_as_it_was_saved(board: Board, game: str, moves: str, candidates: int) -> None:
    board.new(game, moves, sides=("", "beginner"))
    reviewed = board.review()
    assert all(ply % 2 == 0 for ply in reviewed["practice"])
    board.do("goto", ply=0)
    again = saved_and_opened(board, reviewed["practice"][0])
    assert len(again["candidates"]) == candidates


def test_a_wrong_comment_costs_no_more_than_itself(board: Board) -> None:
    comments = "# after 1: 30 5 3c3d 9z9z 8c8d; junk; 7 - zz\n# after 9: 1 2\n# after 0: 5 - win\n# Black: a\n"
    board.opened(f"position startpos moves 7g7f\n{comments}".encode())
    assert board.do("goto", ply=1) == ""
    (known,) = board.news.until(lambda info: info["ply"] == 1, "info")["moveInfos"]
    assert (known["pv"], known["scoreCp"], board.state()["names"]) == (["3c3d"], -30, ["a", ""])


def branches(state: Message) -> list[tuple[int, str]]:
    """The variations: after how many moves each begins, and its moves; behind it those that leave it."""
    return [(each.after, " ".join(each.moves)) for each in state["variations"]]


def vary(board: Board, move: str, do: str = "variation") -> str:
    """Do something with the variation that begins so."""
    (number,) = (each.number for each in board.state()["variations"] if each.moves[0] == move)
    return board.do(do, number=number)


def test_what_is_tried_beside_a_game_are_its_variations(board: Board, asked: list[Task]) -> None:
    board.new(sides=("", "easy"), moves="7g7f")
    for move in ("2g2f", "9g9f"):
        board.play(move, at=0)
    state = board.state()
    assert (state["moves"], state["leftAt"], branches(state)) == (["9g9f"], 0, [(0, "7g7f"), (0, "2g2f")])
    assert board.do("back") == ""
    state = board.state()
    assert (state["moves"], state["at"], branches(state)) == (["7g7f"], 1, [(0, "2g2f"), (0, "9g9f")])  # to go on
    assert vary(board, "2g2f") == ""
    assert (board.state()["moves"], board.state()["at"], board.state()["leftAt"]) == (["2g2f"], 1, 1)
    assert vary(board, "7g7f") == ""  # that is the game again
    assert (board.state()["moves"], board.state()["leftAt"]) == (["7g7f"], None)
    before = board.state()
    for number in (4, -1, "1", None):
        assert board.do("variation", number=number) == "there is no such variation"
    assert board.state() == before
    board.new(start=MATE_IN_ONE, sides=("", "easy"), moves="5i5h")
    board.play("G*5b", at=0)  # where the other line has no end, this is the game
    assert (board.state()["leftAt"], branches(board.state())) == (None, [(0, "5i5h")])


def test_what_was_tried_can_be_deleted_and_the_game_cannot(board: Board) -> None:
    board.opened(b"position startpos moves 7g7f 3c3d 2g2f")
    board.play("8c8d 2g2f 8d8e", at=1)
    board.play("6i7h", at=2)
    assert vary(board, "3c3d", "delete") == "it belongs to the game"
    assert board.do("delete", number=0) == "it belongs to the game"
    board.do("back")
    assert branches(board.state()) == [(1, "8c8d 2g2f 8d8e"), (2, "6i7h")]
    assert [(each.depth, each.own) for each in board.state()["variations"]] == [(0, True), (1, True)]
    assert vary(board, "6i7h", "delete") == ""
    assert branches(board.state()) == [(1, "8c8d 2g2f 8d8e")]
    assert vary(board, "8c8d", "delete") == ""
    assert (board.state()["moves"], board.state()["variations"]) == (["7g7f", "3c3d", "2g2f"], [])
    board.new(moves="7g7f")
    board.play("2g2f", at=0)
    assert vary(board, "7g7f", "delete") == "it belongs to the game"


def test_a_game_that_another_one_replaced_can_be_taken_up_again(board: Board) -> None:
    earlier = board.state()["earlier"]  # the board's own beginning was empty
    assert (earlier, board.do("earlier")) == (0, "there is no earlier game")
    board.new("dobutsu", moves="1d1c 3a3b")
    board.do("goto", ply=1)
    state = board.opened((FIXTURES / "floodgate.csa").read_bytes())
    judged = board.review()["judged"]
    seen = board.state()["generation"]
    assert board.do("earlier", generation=seen) == ""
    assert board.do("earlier", generation=seen) == "the game has gone on meanwhile"  # from another tab
    again = board.state()
    assert (again["game"], again["moves"], again["at"], again["judged"]) == ("dobutsu", ["1d1c", "3a3b"], 1, [])
    board.new()  # by mistake
    assert board.do("earlier") == ""
    assert board.state()["game"] == "dobutsu"
    assert board.do("earlier") == ""
    again = board.state()
    assert (again["moves"], again["judged"], again["earlier"]) == (state["moves"], judged, 1)
    board.new(start=MATE_IN_ONE)
    board.new(start="six pieces")
    board.new()
    board.do("earlier")
    assert board.state()["start"] == MATE_IN_ONE  # as it was typed


def test_who_looks_through_records_loses_no_game(board: Board) -> None:
    board.play("7g7f 3c3d")
    for _ in range(20):
        board.opened(b"position startpos moves 2g2f\nposition startpos moves 9g9f 9c9d\n")
        board.do("choose", number=2)
    board.do("goto", ply=1)
    board.play("1c1d")  # that is in no file
    board.do("choose", number=1)
    board.do("choose", number=2)
    assert (board.state()["moves"], branches(board.state())) == (["9g9f", "9c9d"], [(1, "1c1d")])
    board.do("choose", number=1)
    board.opened(b"position startpos moves 5g5f")  # in place of the file
    assert board.state()["earlier"] == 2
    board.do("earlier")
    assert (board.state()["moves"], board.state()["file"]) == (["2g2f"], {"number": 1, "games": 2})
    board.do("choose", number=2)
    assert branches(board.state()) == [(1, "1c1d")]
    board.do("earlier")
    assert (board.state()["moves"], board.state()["file"]) == (["7g7f", "3c3d"], None)
    for _ in range(20):
        board.new(moves="2g2f")
    assert board.state()["earlier"] == 10


def test_an_engine_thinks_in_the_game_that_is_shown(board: Board, hands: Hands, asked: list[Task]) -> None:
    board.new(sides=("", "easy"), clock=[600, 30])
    hands.seconds += 7
    board.play("7g7f")
    late = asked[-1]
    board.new("dobutsu")
    late.tell(Answer(move="3c3d"))
    hands.seconds += 5000
    assert (board.state()["game"], board.state()["moves"]) == ("dobutsu", [])
    assert board.do("earlier") == ""
    late.tell(Answer(move="3c3d"))
    state = board.state()
    assert (state["moves"], state["ending"], state["clock"]["left"]) == (["7g7f"], None, [593, 600])
    asked[-1].tell(Answer(move="8c8d"))
    assert board.state()["moves"] == ["7g7f", "8c8d"]


def test_what_is_no_record_changes_nothing(board: Board) -> None:
    board.play("7g7f")
    before = board.state()
    bad = [b"", b"\xff\xfe", b"hello", b"+7776FU\n-7776FU\n+2726FU\n"]
    for data in bad:
        status, answer = board.ask("POST", "/record", data)
        assert status == 409
        assert json.loads(answer)["error"].startswith("the record: ")
    for endless in (b"https://x.org/" + b"ab/" * 100_000, b"position startpos moves " + b"a" * 900_000):
        assert board.ask("POST", "/record", endless)[0] == 409
    assert board.state() == before


def test_a_whole_game_is_analysed(board: Board) -> None:
    board.opened((FIXTURES / "floodgate.csa").read_bytes())
    state = board.review()
    assert [judged["move"] for judged in state["judged"]] == state["moves"]
    for judged in state["judged"]:
        assert judged["winRate"] == pytest.approx(state["winRates"][judged["number"]])
        assert 0 <= judged["loss"] <= 1
    black, white = state["summary"]
    assert (black["side"], black["moves"], white["side"], white["moves"]) == ("b", 6, "w", 6)
    board.do("goto", ply=3)
    assert len(board.news.until(lambda info: info["ply"] == 3, "info")["moveInfos"]) == 5  # it is remembered
    board.do("judge", on=True)
    assert board.do("judge", on=False) == ""
    assert board.state()["judging"] is None
    board.do("judge", on=True)
    assert board.do("watch", on=True) == ""
    assert (board.state()["judging"], board.state()["watching"]) == (None, True)


def test_a_review_looks_longer_where_much_was_lost(board: Board, asked: list[Task], monkeypatch) -> None:
    def looked(*won: float) -> Message:
        """Answer what is asked with the win rates of the side to move; return the state."""
        tasks = [task for task in asked[first:] if not task.cancelled.is_set()]
        del asked[first:]
        for task, win_rate in zip(tasks, won, strict=True):
            turn = len(task.question.moves) % 2
            best = ("1g1f", "1c1d")[turn]
            task.tell(Answer(turn, (Info(score_cp=0, win_rate=win_rate, nodes=1, pv=(best,), multipv=1),), best))
        return board.state()

    def wanted() -> list[tuple[int, int | None]]:
        return [(len(task.question.moves), task.question.visits) for task in asked[first:]]

    def marked(state: Message) -> list[tuple[int, str, bool]]:
        return [(each["number"], each["mark"], each["sure"]) for each in state["judged"] if each["mark"]]

    board.play("7g7f 3c3d 2g2f 8c8d 2f2e 8d8e")
    first = len(asked)
    visits = GAMES["shogi"].judged_visits
    assert board.do("judge", on=True, depth=2) == "there is no such depth"
    assert board.do("judge", on=True, depth=3) == ""
    assert wanted() == [(ply, 3 * visits) for ply in range(7)]
    state = looked(0.5, 0.5, 0.5, 0.8, 0.2, 0.8, 0.2)  # the third move loses 30 %, and the judged ones after it nothing
    assert marked(state) == [(3, "??", False)]
    assert [state["judging"][name] for name in ("look", "left", "of", "own")] == [2, 4, 4, False]
    assert wanted() == [(ply, 30 * visits) for ply in (1, 2, 3, 4)]
    assert looked(0.5, 0.5, 0.65, 0.22)["judging"]["look"] == 3
    assert wanted() == [(ply, 120 * visits) for ply in (2, 3)]
    state = looked(0.5, 0.56)
    assert marked(state) == [(3, "?!", True)]
    assert (state["judging"], wanted()) == (None, [])
    black, white = state["summary"]
    assert [side["accuracy"] for side in (black, white)] == pytest.approx([89.2, 100], abs=0.1)  # of 0, 6 and 2 %
    monkeypatch.setattr(review, "MOST_DEEP", 2)  # two moves lose much, and the last look is for the worse alone
    board.do("judge", on=True)
    for turn in (0, 1):
        assert board.state()["judging"]["seconds"] is None
        asked.pop(first).tell(Answer(turn, (Info(score_cp=0, win_rate=0.5, nodes=1, pv=("1g1f",)),), "1g1f"))
    assert board.state()["judging"]["seconds"] > 0
    looked(0.5, 0.8, 0.2, 0.8, 0.6)
    looked(0.5, 0.5, 0.8, 0.2, 0.8, 0.6)
    assert wanted() == [(ply, 40 * visits) for ply in (5, 6)]
    assert marked(looked(0.8, 0.6)) == [(3, "??", True), (6, "??", True)]
    board.new(moves="7g7f")
    first = len(asked)
    board.do("judge", on=True)
    assert looked(1, 1)["summary"][0]["accuracy"] == 0  # all was lost by one move


def test_mistakes_of_the_reader_are_looked_at_before_those_of_the_engine(
    board: Board, asked: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    hands, rates = [0.0], [0.5, 0.5, 0.8, 0.2, 0.8, 0.5, 0.5]  # White's first move loses 30 %, so does Black's third
    monkeypatch.setattr(review, "monotonic", lambda: hands[0])
    board.new(start=f"{EVEN} moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e", sides=("", "easy"))
    assert board.do("resign") == ""
    first, looks = len(asked), list[tuple[int, bool, list[int], float | None]]()
    board.do("judge", on=True)
    while judging := board.state()["judging"]:
        tasks = [task for task in asked[first:] if not task.cancelled.is_set()]
        del asked[first:]
        looks.append((judging["look"], judging["own"], [task.question.turn for task in tasks], judging["seconds"]))
        for task in tasks:
            hands[0] += {200: 1, 2000: 4, 8000: 10}[(task.question.visits or 0) * 10]
            answer(task, rates[task.question.turn])
    assert looks == [
        (1, False, [0, 1, 2, 3, 4, 5, 6], None),
        (2, True, [3, 4, 5, 6], (4 + 3) * 3 + 4 * 9),  # a longer look takes three times as long, as far as is known
        (3, True, [4, 5], 3 * 4 + 4 * 12),
        (2, False, [0, 1, 2], 3 * 4 + 2 * 12),
        (3, False, [1, 2], 2 * 12),
    ]


def answer(task: Task, win_rate: float, score_mate: int | None = None) -> None:
    turn = task.question.turn % 2
    best = ("9g9f", "9c9d")[turn]
    info = Info(score_cp=0, score_mate=score_mate, win_rate=win_rate, nodes=1, pv=(best,), multipv=1)
    task.tell(Answer(turn, (info,), best))


def test_what_a_person_did_badly_is_practised(board: Board, asked: list[Task]) -> None:
    def reviewed(*tasks: Task) -> Message:
        """The third move loses 30 %; the fifth misses a mate, and hardly loses; White's fourth loses 30 % too."""
        rates = [0.5, 0.5, 0.5, 0.8, 0.5, 0.5, 0.02]
        for task in tasks:
            ply = task.question.turn
            answer(task, rates[ply], 7 if ply == 4 else None)
        return board.state()

    board.new(start=f"{EVEN} moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e", sides=("", "easy"))
    assert board.do("resign") == ""
    first = len(asked)
    board.do("judge", on=True)
    while (state := board.state())["judging"]:
        tasks = [task for task in asked[first:] if not task.cancelled.is_set()]
        del asked[first:]
        state = reviewed(*tasks)
    assert (state["practice"], state["asked"]) == ([2, 4], None)  # what the engine did badly is its own affair
    assert board.do("retry", ply=6) == "there is no move to be bettered"
    assert board.do("retry", ply=2) == ""
    unanswered = {"ply": 2, "mate": 0, "goesOn": False, "found": None}
    assert (board.state()["at"], board.state()["asked"]) == (2, unanswered)
    board.play("1g1f")
    assert board.state()["asked"] == unanswered
    (task,) = asked[first:]  # to judge the move: no engine plays on
    assert (task.question.opponent, task.question.moves) == ("", ("7g7f", "3c3d", "1g1f"))
    answer(task, 0.7)
    assert board.state()["asked"]["found"] is False
    board.do("retry", ply=2)
    board.play("2g2f")
    assert board.state()["asked"]["found"] is False  # as in the game
    board.do("retry", ply=2)
    board.play("9g9f")
    answer(asked[-1], 0.5)
    assert board.state()["asked"]["found"] is True
    assert board.state()["practice"] == [2, 4]  # of the game, whatever is tried
    board.do("back")
    # The first two moves win too, but later.
    for move, said, found in [("1g1f", (0.05,), False), ("8g8f", (0.0, -8), False), ("9g9f", (0.0, -6), True)]:
        assert (board.do("retry", ply=4), board.state()["asked"]["mate"]) == ("", 7)
        board.play(move)
        answer(asked[-1], *said)
        assert board.state()["asked"]["found"] is found
    saved = open_record(board.record(), "shogi")[0]()
    assert (saved.line.moves[4], saved.variations) == ("2f2e", []), "what was tried is no part of the record"
    board.play("9c9d")
    assert open_record(board.record(), "shogi")[0]().line.moves[4] == "2f2e"
    board.do("goto", ply=2)
    assert board.state()["asked"] is None


def test_the_mistakes_of_earlier_games_are_practised_one_after_another(board: Board, asked: list[Task]) -> None:
    for moves in ("7g7f 3c3d 2g2f", "2g2f 8c8d 7g7f"):
        board.new(moves=moves)
        first = len(asked)
        board.do("judge", on=True)
        while board.state()["judging"]:
            tasks, asked[first:] = [task for task in asked[first:] if not task.cancelled.is_set()], []
            for task in tasks:
                answer(task, (0.5, 0.5, 0.5, 0.8)[len(task.question.moves)])
    for move in ("2g2f", "7g7f", "2g2f"):
        assert board.do("practise") == ""
        state = board.state()
        assert (state["moves"][0], state["asked"]["ply"], state["at"]) == (move, 2, 2)
    board.play("9g9f")
    assert board.do("practise") == ""  # whatever was tried
    assert (board.state()["moves"][0], board.state()["asked"]["ply"]) == ("7g7f", 2)


def test_where_no_game_has_a_mistake_the_game_that_was_shown_stays(board: Board, asked: list[Task]) -> None:
    board.new(moves="7g7f")
    board.new(moves="2g2f")
    board.do("watch", on=True)
    assert board.do("practise") == "there is nothing to practise"
    assert board.state()["moves"] == ["2g2f"]
    assert ("2g2f",) in {task.question.moves for task in asked if not task.cancelled.is_set()}


def test_a_mate_is_a_problem_that_the_solver_defends(board: Board) -> None:
    board.new(start="l8/3p1k1gn/7R1/P8/9/3B3p1/5s1N1/9/4K4 b G3SNPrgn2l7p 1", moves="G*4c 4b3a S*4b 3a2a 6f2b+")
    assert board.review()["practice"] == [0]  # and not once more two plies on
    record = board.record()
    board.new(start=MATE_IN_ONE)
    assert board.do("practise") == ""  # of an earlier game
    assert board.state()["asked"] == {"ply": 0, "mate": 5, "goesOn": False, "found": None}
    board.play("P*4c")
    wrong = board.news.until(lambda state: state["asked"] and state["asked"]["found"] is not None)
    assert (wrong["asked"]["found"], wrong["moves"]) == (False, ["P*4c"])
    board.do("retry", ply=0)
    board.play("S*4c")  # which the game has not, but it mates too
    state = board.state()
    assert (state["moves"], state["at"]) == (["S*4c", "4b3a"], 2)
    assert state["asked"] == {"ply": 2, "mate": 3, "goesOn": True, "found": None}
    board.play("S*4b")
    assert board.state()["asked"]["mate"] == 1
    board.play("6f2b+")
    state = board.news.until(lambda state: state["asked"] and state["asked"]["found"] is not None)
    assert (state["asked"]["found"], state["ending"]) == (True, {"reason": "mate", "winner": 0})
    assert board.do("practise") == ""  # there is but this one
    assert (board.state()["asked"]["ply"], len(board.state()["moves"])) == (0, 5)
    board.do("goto", ply=0)
    assert board.record() == record  # tries are no part of it


@pytest.mark.parametrize(
    ("game", "start", "moves", "win_rate"),
    [("shogi", "8k/9/9/9/9/9/9/7R1/4K4 b - 1", "5i5h 1a1b 5h5i 1b1a " * 3, 0.5),
     ("shogi", "8k/9/9/9/9/9/9/7R1/4K4 b - 1", "2h1h 1a2a 1h2h 2a1a " * 3, 0),  # perpetual check
     ("dobutsu", "k2/3/3/2K b - 1", "1d2d 3a2a 2d1d 2a3a " * 2, 0.5)],
)  # fmt: skip
def test_a_game_that_a_repetition_ended_is_worth_what_the_rules_say(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str, start: str, moves: str, win_rate: float
) -> None:
    monkeypatch.setattr(review, "LOOKS", (1, 1, 1))
    board.new(game, start, moves=moves)
    board.do("judge", on=True)
    state = board.news.until(lambda state: len(state["judged"]) == len(moves.split()) and not state["judging"])
    assert state["winRates"][-1] == state["judged"][-1]["winRate"] == win_rate
    if game == "shogi":
        (tmp_path / "game.kif").write_bytes(board.record())
        (read_again,) = read(tmp_path / "game.kif")
        assert read_again.evals[-1] == (0 if win_rate else -HIGHEST_CP)


def test_a_game_is_saved_with_what_the_engine_thinks(board: Board, tmp_path: Path) -> None:
    board.new(start=MATE_IN_ONE, moves="G*1h 5a4a")
    board.do("judge", on=True)
    board.news.until(lambda state: len(state["judged"]) == 2 and not state["judging"])
    board.do("resign")
    record = board.record()
    (tmp_path / "game.kif").write_bytes(record)
    (game,) = read(tmp_path / "game.kif")
    assert (game.usi, game.win, game.ending) == (("G*1h", "5a4a"), "w", "resign")
    assert None not in game.evals
    text = record.decode("cp932")
    assert all(words in text for words in ("大悪手", "**解析 候補1 ", "**解析 候補5 "))
    assert board.ask("GET", "/record", X_Token="")[0] == 403


def test_every_page_sees_the_same(board: Board) -> None:
    pages = [News(board) for _ in range(50)]
    board.play("7g7f")
    states = [page.until(lambda state: state["at"] == 1) for page in pages]
    assert states == [board.state()] * 50
    for page in pages:
        page.close()
    again = News(board)  # after a reload
    said = again.next("setup")
    assert said["networks"] == {name: game.network for name, game in GAMES.items()}
    assert said["games"]["shogi"]["opponents"][0] == "beginner"
    assert again.next() == board.state()
    again.close()
    board.new("shogi", MATE_IN_ONE)
    assert board.do("watch", on=True) == ""
    said = board.news.until(lambda info: info["final"], "info")  # nothing more is found
    assert News(board).next("info") == said


def test_where_no_page_looks_any_more_nothing_is_watched(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    table, found = board.server.table, threading.Event()
    nobody_looks = table.nobody_looks

    def find_nobody() -> None:
        nobody_looks()
        found.set()

    board.play("7g7f")
    assert board.do("watch", on=True) == ""
    board.news.until(lambda info: info["rootInfo"]["visits"] > 20, "info")
    monkeypatch.setattr(table, "nobody_looks", find_nobody)
    monkeypatch.setattr("pydlshogi.web.server.NOBODY_LOOKS", 0.01)
    board.news.close()
    assert found.wait(PATIENCE)
    state = board.state()
    assert (state["watching"], state["moves"]) == (False, ["7g7f"])


def test_the_game_is_there_again_after_the_server_was_killed(pool: Pool, tmp_path: Path) -> None:
    kept = tmp_path / "board.json"
    with served(pool, kept) as board:
        board.new("dobutsu", moves="1d1c 3a3b")
        board.review()
        board.do("goto", ply=1)
        other = next(move for move in board.state()["legal"] if move != "3a3b")
        board.play(other)  # which is judged too, and may have its neighbours judged again
        board.news.until(lambda state: state["moves"] == ["1d1c", other] and not state["judging"])
        board.do("back")
        judged = board.state()["judged"]
        board.play(other, at=1)
        board.new(moves="7g7f 3c3d")
        board.news.until(lambda state: state["moves"] == ["7g7f", "3c3d"])
        reviewed = board.review()
        killed = kept.read_bytes()  # what is on the disk at any moment is whole
    kept.write_bytes(killed)
    with BoardServer(lambda tell: Table(pool, tell, kept)) as server:
        again = server.table.state()
        assert [again[name] for name in REVIEWED] == [reviewed[name] for name in REVIEWED]
        server.table.do({"do": "earlier", "generation": server.table.generation})
        state = server.table.state()
        assert (state["game"], state["moves"], state["at"]) == ("dobutsu", ["1d1c", other], 2)
        server.table.do({"do": "back"})
        assert [server.table.state()[name] for name in ("moves", "judged")] == [["1d1c", "3a3b"], judged]


@pytest.fixture(scope="module")
def two_games(pool: Pool, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a board, on which all was done that is kept."""
    kept = tmp_path_factory.mktemp("board") / "board.json"
    with BoardServer(lambda tell: Table(pool, tell, kept)) as server:
        table = server.table

        def do(do: str, **command: Any) -> None:
            table.do({"do": do, "generation": table.generation, **command})

        do("new", game="dobutsu", start="startpos moves 1d1c 3a3b", sides=["", ""], clock=[60, 1])
        table.open_record("手合割：平手\n先手：甲\n*序盤\n   1 ７六歩(77)   ( 0:01/00:00:01)\n   2 中断\n".encode())
        do("move", move="2g2f")
        do("goto", ply=1)
        do("move", move="3c3d")
        do("resign")
        return kept.read_bytes()


def test_a_board_starts_whatever_its_file_holds(
    pool: Pool, asked: list[Task], two_games: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where that is damaged, one line says so and the file is put aside."""
    caplog.set_level("WARNING")  # whatever another test has left
    kept = tmp_path / "board.json"

    def warnings(content: bytes) -> int:
        """Start a board with that file; how often it said something."""
        for path in kept.parent.iterdir():
            path.unlink()
        kept.write_bytes(content)
        caplog.clear()
        table = Table(pool, lambda kind, message: None, kept)
        aside = [path for path in kept.parent.iterdir() if path != kept]
        assert [path.read_bytes() for path in aside] == [content] * len(caplog.messages)
        json.dumps(table.state())
        table.record()
        for _ in range(table.state()["earlier"]):
            with suppress(Refused):
                table.do({"do": "earlier", "generation": table.generation})
            table.record()
        return len(caplog.messages)

    assert warnings(two_games) == warnings(two_games + b"\nsigned\n") == 0  # as versions before did
    foreign = [b"7", b"\xff\xfe", b"\0" * 100, b"[" * 100_000, b'{"shown":' * 100_000, b"9" * 10_000, b'{"shown": {}}']
    foreign += [b'{"earlier": [], "shown": {"game": %b}}' % deep for deep in (b"[" * 900 + b"]" * 900, b"7", b'"go"')]
    changed = [two_games.replace(b"2g2f", b"2g2e"), two_games.replace(b'"at": 2', b'"at": "2"')]
    cut_short = [two_games[:length] for length in range(0, len(two_games), 7)]
    for content in changed + foreign + cut_short:
        assert warnings(content) == 1


def test_earlier_games_outlast_one_that_cannot_be_gone_on_with(pool: Pool, two_games: bytes, tmp_path: Path) -> None:
    kept = tmp_path / "board.json"
    unsound = json.dumps(json.loads(two_games) | {"shown": {"game": "go"}}).encode()
    kept.write_bytes(unsound)
    for _ in range(2):
        with unbegun(pool, kept) as board:
            assert board.state()["earlier"] == 1
            assert unsound in [path.read_bytes() for path in tmp_path.iterdir()]
    with unbegun(pool, kept) as board:
        board.do("earlier")
        assert board.state()["moves"] == ["1d1c", "3a3b"]


STRANGE = [{"Host": name, "Origin": f"http://{name}"} for name in ("evil.example", "127.0.0.1:9", "")]
"""A name may have been made to mean this machine."""
STRANGE += [{"Origin": "http://evil.example"}, {"Origin": "null"}]
STRANGE += [{"X_Token": token} for token in ("", "wrong", "é")]


@pytest.mark.parametrize("headers", STRANGE)
def test_strangers_get_nothing(board: Board, headers: dict[str, str]) -> None:
    before = board.state()
    command = {"generation": before["generation"], "do": "move", "move": "7g7f"}
    encoded = {name: value.encode().decode("latin-1") for name, value in headers.items()}
    assert board.ask("POST", "/do", json.dumps(command).encode(), **encoded)[0] == 403
    assert board.state() == before
    if "X_Token" not in headers:
        assert board.ask("GET", "/", **headers)[0] == 403
        assert board.ask("GET", f"/news?token={board.token}", **headers)[0] == 403


@pytest.mark.parametrize(
    "begun", ["GET / HTTP/1.1\r\n", "POST /record HTTP/1.1\r\nContent-Length: 99999\r\n{head}\r\n"]
)
def test_a_request_that_drips_is_ended(board: Board, monkeypatch: pytest.MonkeyPatch, begun: str) -> None:
    monkeypatch.setattr("pydlshogi.web.server.REQUEST_TIME", 0.3)
    with socket.create_connection(("127.0.0.1", board.port), timeout=PATIENCE) as connection:
        connection.sendall(begun.format(head=f"Host: {board.host}\r\nX-Token: {board.token}\r\n").encode())
        connection.settimeout(0.05)
        with suppress(ConnectionError):
            while True:
                connection.sendall(b"x")
                with suppress(TimeoutError):
                    assert connection.recv(1) == b""
                    break


def test_only_the_page_is_served_and_news_want_the_token(board: Board) -> None:
    for path in ("/../table.py", "/%2e%2e/table.py", "/table.py", "//etc/passwd", "/page", "/news/", "http://["):
        assert board.ask("GET", path)[0] == 404
    for query in ("", "?token=", "?token=wrong", "?token=%C3%A9"):
        assert board.ask("GET", f"/news{query}")[0] == 403


def test_the_page_is_all_there_and_strict(board: Board) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", board.port, timeout=PATIENCE)
    for name in ("", *(path.name for path in PAGE.iterdir())):
        connection.request("GET", f"/{name}", headers={"Host": board.host})
        answer = connection.getresponse()
        assert answer.status == 200
        assert answer.read() == (PAGE / (name or "index.html")).read_bytes()
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    connection.close()


NO_COMMANDS = ["", "[]", "7", "null", "{", "[" * 9000, "\x00", '"é"', '{"do": []}', '{"do": "__init__"}']


@pytest.mark.parametrize("body", [*NO_COMMANDS, '{"do": "move"}', '{"do": "sides", "sides": ["", ""]}'])
def test_malformed_commands_change_nothing(board: Board, body: str) -> None:
    before = board.state()
    body = body.replace('{"do"', f'{{"generation": {before["generation"]}, "do"')
    assert board.ask("POST", "/do", body.encode())[0] == 409
    assert board.state() == before


@pytest.mark.parametrize(
    ("path", "length", "status"),
    [
        ("/do", str(LARGEST_COMMAND + 1), 413),
        ("/record", str(LARGEST_RECORD + 1), 413),
        ("/do", "9" * 5000, 413),
        ("/do", "-1", 411),
        ("/do", "", 411),
        ("/nowhere", "0", 404),
        ("/record", "99", 400),  # more than comes
    ],
)
def test_giant_and_short_requests_do_nothing(board: Board, path: str, length: str, status: int) -> None:
    head = [f"POST {path} HTTP/1.1", f"Host: {board.host}", f"X-Token: {board.token}", f"Content-Length: {length}"]
    with socket.create_connection(("127.0.0.1", board.port), timeout=PATIENCE) as connection:
        connection.sendall("\r\n".join([*head, "\r\nstartpos moves 7g7f"]).encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100).startswith(f"HTTP/1.1 {status} ".encode())
    assert board.state()["moves"] == []


def test_what_nobody_foresaw_is_said_and_logged(board: Board, monkeypatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise OverflowError("too large")

    board.new(sides=("", "beginner"))
    monkeypatch.setattr("pydlshogi.web.table.saved", fail)
    status, answer = board.ask("GET", "/record")
    assert (status, json.loads(answer)) == (500, {"error": "something failed: OverflowError('too large')"})
    assert ("too large" in caplog.text, board.state()["names"]) == (True, ["", ""])


def test_many_ask_at_once(board: Board) -> None:
    generation = board.state()["generation"]
    with ThreadPoolExecutor(8) as people:
        done = [people.submit(board.do, "move", move="7g7f", generation=generation) for _ in range(16)]
    assert sorted(each.result() for each in done).count("") == 1
    assert board.state()["moves"] == ["7g7f"]


def test_as_a_program(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pydlshogi.web", "--no-browser", "--option", "Backend=uniform"]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "PATH": ""}
    how: dict[str, Any] = {"cwd": ROOT, "env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    program = subprocess.Popen(command, **how, text=True)
    try:
        address = program.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#([\w-]{20,})\n", address)
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=PATIENCE)
        connection.request("GET", "/")
        assert b"<title>pydlshogi board</title>" in connection.getresponse().read()
        second = subprocess.run(command, **how, text=True, timeout=PATIENCE, check=False)
        assert (second.returncode, second.stdout) == (0, address)
        assert second.stderr.startswith("board: it runs already")
        assert os.name != "posix" or (tmp_path / "pydlshogi" / "board.address").stat().st_mode & 0o77 == 0
    finally:
        program.kill()
        program.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is there on Linux alone")
@pytest.mark.parametrize(("network", "answered"), [("127.0.0.2", True), ("", False)])
def test_other_machines_are_answered_only_where_that_is_wanted(pool: Pool, network: str, answered: bool) -> None:
    with BoardServer(lambda tell: Table(pool, tell), network=network) as server, serving(server) as board:
        host = f"127.0.0.2:{board.port}"
        connection = http.client.HTTPConnection("127.0.0.2", board.port, timeout=PATIENCE)
        if not answered:
            with pytest.raises(ConnectionRefusedError):
                connection.request("GET", "/")
            return
        said = board.news.next("phone")
        assert said["address"] == server.network_address == f"http://{host}/#{board.token}"
        statuses = [board.ask("GET", "/", Host=name, Origin=f"http://{name}")[0] for name in (host, board.host)]
        assert statuses == [200, 200]
        assert board.ask("GET", "/", Host=f"127.0.0.3:{board.port}")[0] == 403
        assert board.ask("GET", "/record", Host=host, Origin=f"http://{host}", X_Token="wrong")[0] == 403


def test_what_a_board_cannot_have_is_one_line_each(tmp_path: Path, monkeypatch, capsys, caplog) -> None:
    caplog.set_level("WARNING")
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "state"))
    with socket.create_server(("127.0.0.1", 0)) as other:  # with a port that is taken it gets far, and ends by itself
        start = ["--no-browser", "--port", str(other.getsockname()[1])]
        assert web.main(start) == 1
        assert re.fullmatch(f".* {re.escape(os.strerror(errno.EADDRINUSE))}\n", capsys.readouterr().err)
        assert caplog.messages == []
        monkeypatch.setenv("XDG_STATE_HOME", __file__)
        monkeypatch.setenv("LOCALAPPDATA", __file__)
        assert web.main(start) == 1
        assert [message[:22] for message in caplog.messages] == ["no game will be kept: "]
        assert os.strerror(errno.EADDRINUSE) in capsys.readouterr().err  # so far it has come


def test_every_word_is_there_in_both_languages() -> None:
    english, japanese = (
        json.loads((PAGE / f"words.{name}.json").read_text(encoding="utf-8"))["words"].keys() for name in ("en", "ja")
    )
    pages = "".join(path.read_text(encoding="utf-8") for path in [PAGE / "index.html", *PAGE.glob("*.js")])
    used = {*re.findall(r'data-(?:word|label)="(\w+)"', pages), *re.findall(r"word\('(\w+)'\)", pages)}
    assert used <= english
    assert english <= japanese
    endings = {*ENDINGS.values(), "try", "lion caught", "more discs", "equal discs"}
    endings |= {f"{discs}, both pass" for discs in ("more discs", "equal discs")}
    assert endings <= english
    assert endings <= japanese
    table = (ROOT / "docs" / "strength.md").read_text(encoding="utf-8")
    for game, offered in setup()["games"].items():
        assert all(f": {name} | +{elo} ±" in table for name, elo in GAMES[game].elo.items())
        assert [*offered["near"]] == [*offered["opponents"]][: len(offered["near"])]
        assert {game, *offered["opponents"], *offered["starts"]} <= japanese
