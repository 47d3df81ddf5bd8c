"""Othello on the board's server: played, judged, its records opened and saved."""

import re
from pathlib import Path

import pytest
from othello_games import random_game
from web_board import Board, Message

from pydlshogi.analysis_server.pool import Answer, Task
from pydlshogi.catalogue import GAMES
from pydlshogi.entry import Opponent
from pydlshogi.games.othello.transcript import ggf, parse_transcript
from pydlshogi.games.othello.wthor import rows_of, write_wthor
from pydlshogi.web.table import setup

pytestmark = pytest.mark.usefixtures("short_reviews")

NARROW = "Dd1DDDDD/DDDDDDDD/DDDDDDDD/DDDddDdd/ddDdddDd/ddDddddD/ddDddddd/ddDddddd w - 1"  # pass and c1: 34-30
WRONG_WTHOR = bytes(4) + (1).to_bytes(4, "little") + bytes(16) + bytes([11]) + bytes(59)  # a first move to a1


@pytest.mark.parametrize("engine", GAMES["othello"].engines)
def test_an_engine_that_a_game_offers_appears_and_plays(board: Board, monkeypatch, engine: str) -> None:
    offered = GAMES["othello"]
    more = {**offered.opponents, "another": Opponent(engine, {"Level": "1"})}
    monkeypatch.setattr(offered, "opponents", more)
    assert "another" in setup()["games"]["othello"]["opponents"]
    board.new("othello", sides=("", "another"), moves="f5")
    assert board.news.until(lambda state: state["at"] == 2)["sides"] == ["", "another"]


def test_othello_is_played_and_analysed(board: Board) -> None:
    board.new("othello", NARROW, sides=("strong", ""), moves="pass")
    assert board.state()["score"] == "32-31"
    state = board.news.until(lambda state: state["ending"])
    assert (state["ending"], state["score"]) == ({"reason": "more discs", "winner": 0}, "34-30")
    assert [" ".join(each) for each in zip(*state["written"], strict=True)] == ["Pass c1", "パス c1"]
    assert board.state()["winRates"] == [None, None, 1]  # who has but one move need not think
    board.do("judge", on=True)
    state = board.news.until(lambda state: len(state["judged"]) == 2)
    assert [rate == 1 for rate in state["winRates"]] == [False, False, True]  # the engine takes four discs for less
    assert board.do("policy") == "it is not your turn"
    board.new("othello", sides=("", "beginner"), moves="f5")
    board.news.until(lambda state: state["at"] == 2)
    assert board.do("policy") == "the engine of this game has no policy"
    board.do("watch", on=True, lines=3)
    info = board.news.until(lambda info: len(info["moveInfos"]) == 3, "info")
    rates = [each["winrate"] for each in info["moveInfos"]]
    assert rates == sorted(rates, reverse=True)


def test_it_is_said_until_the_engine_that_plays_is_loaded(board: Board, asked: list[Task]) -> None:
    board.new("othello", sides=("", "easy"))  # which another engine is than the one that analyses
    for prepares, task in [(True, asked[0]), (False, asked[1])]:
        task.tell(Answer())
        said = next(board.server.news.hear())
        assert ([*said], said["engine"]["prepares"]) == (["state", "engine"], prepares)


def test_records_of_othello_are_opened(board: Board, tmp_path: Path) -> None:
    games = [parse_transcript("f5d6c3"), parse_transcript("F5 F6 E6 F4")]
    state = board.opened(b"# two games\nf5d6c3\nF5 F6 E6 F4\n")
    assert (state["game"], state["moves"], state["at"]) == ("othello", ["f5", "d6", "c3"], 0)
    assert state["file"] == {"number": 1, "games": 2}
    assert board.do("choose", number=2) == ""
    assert board.state()["moves"] == ["f5", "f6", "e6", "f4"]
    for number in (0, 3, "1", True):
        assert board.do("choose", number=number) == "the file that was opened has no such game"
    assert board.opened(ggf(games[0]).encode())["moves"] == ["f5", "d6", "c3"]
    for wrong in (b"f5f5", b"(;GM[Othello]BO[6 x];)", WRONG_WTHOR):
        assert board.ask("POST", "/record", wrong)[0] == 409
    rows = rows_of([random_game(seed) for seed in range(3)])
    rows["black"] = 7
    write_wthor(tmp_path / "games.wtb", rows, 2024, 0)
    state = board.opened((tmp_path / "games.wtb").read_bytes())
    assert (state["names"][0], state["file"]["games"]) == ("player 7", 3)
    assert len(state["moves"]) > 50
    board.do("goto", ply=len(state["moves"]))
    assert "discs" in board.state()["ending"]["reason"]


def test_who_saves_in_a_format_without_variations_is_said(board: Board) -> None:
    board.new("othello", moves="f5 d6")
    board.record()
    assert board.state()["error"] == ""
    board.play("d3", at=0)
    assert board.record() == b"d3\n"
    assert "no variations" in board.state()["error"]


@pytest.mark.parametrize(
    ("result", "ending"),
    [("-12", {"reason": "as recorded", "winner": 1}), ("+0", {"reason": "as recorded", "winner": None}), ("?", None),
     ("+6:r", {"reason": "resignation", "winner": 0}), ("-64:r", {"reason": "resignation", "winner": 1}),
     ("+2:t", {"reason": "time", "winner": 0})],
)  # fmt: skip
def test_a_record_of_othello_is_saved_with_what_it_says(board: Board, result: str, ending: Message | None) -> None:
    record = f"(;GM[Othello]PC[GGS]DT[2020]PB[a]PW[b]RE[{result}]TI[15:00]TY[8]BO[8 %s *]B[F5]W[D6];)"
    board.opened((record % f"{'-' * 27}O*{'-' * 6}*O{'-' * 27}").encode())
    board.do("goto", ply=2)
    assert board.state()["ending"] == ending
    saved = board.record().decode()
    assert f"PC[GGS]DT[2020]PB[a]PW[b]RE[{result}]TI[15:00]" in saved
    board.new()
    assert board.opened(saved.encode())["names"] == ["a", "b"]
    board.do("goto", ply=2)
    assert board.state()["ending"] == ending
    board.do("undo")
    board.play("f6")
    assert "RE[?]" in board.record().decode()


def test_a_game_of_othello_that_a_person_resigned_is_saved_so(board: Board) -> None:
    board.new("othello", sides=("", "beginner"), moves="f5")
    board.news.until(lambda state: state["at"] == 2)
    board.do("resign")
    record = board.record()
    assert b"PW[pydlshogi (beginner)]" in record
    assert re.search(rb"DT\[\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\]", record)
    board.opened(record)
    board.do("goto", ply=2)
    assert board.state()["ending"] == {"reason": "resignation", "winner": 1}


def test_a_game_goes_on_from_a_transcript_and_no_game_from_nonsense(board: Board) -> None:
    board.new("othello", "f5d6 C3d3c4")
    state = board.state()
    assert (state["moves"], state["at"], state["opening"]) == (["f5", "d6", "c3", "d3", "c4"], 5, [("Tiger", "虎")])
    assert board.begin("othello", "f5f5") == "the record: line 1: move 2, f5, cannot be played"
    assert board.begin("othello", "8/8/8/8/8/8/8/8 b - 1") == "the game is over in that position"
