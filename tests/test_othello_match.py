"""utils.match plays Othello: scripted GTP engines, so that every game is known beforehand."""

from functools import partial
from pathlib import Path

import pytest
from scripted_engines import games, heard, scripted

from pydlshogi.games.othello.transcript import parse_ggf
from utils import match as match_program
from utils.match import main

pytestmark = pytest.mark.lent_worker(match_program)

WIPEOUT = "e6 f4 e3 f6 g5 d6 e7 f5 c5".split()
"""Black has all discs after nine moves."""


engine = partial(scripted, "fake_gtp_engine")


def match(out: Path, a: str, b: str, *words: str, limit: str = "--time=60000", games: int = 2) -> int:
    return main([a, b, "--game", "othello", *words, limit, "--games", str(games), "--out", str(out)])


def test_a_game_is_played_to_its_end_with_both_colours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = engine("a", *WIPEOUT), engine("b", *WIPEOUT)
    assert match(tmp_path / "m", a, b) == 0
    first, second = games(tmp_path / "m")
    assert (first["winner"], second["winner"], first["ending"]) == ("A", "B", "more discs, both pass")
    assert first["moves"].split() == WIPEOUT
    (record,) = parse_ggf((tmp_path / "m" / "records" / "m-00001.ggf").read_text())
    assert (record.result, record.black, record.white, record.event) == (64, "a", "b", "m 1")
    assert "A against B in 2 games: +1 =0 -1 = 50.0 %" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["pass", "pa"])
def test_an_engine_that_takes_passes_for_granted_plays_on(tmp_path: Path, name: str) -> None:
    moves = "f5 f6 d3 g5 h5 h4 g7 h6 pass c5".split()
    a, b = engine("a", *(name if move == "pass" else move for move in moves)), engine("b", *moves, refuse=name)
    assert match(tmp_path / "m", a, b) == 0
    assert [(game["moves"].split(), game["ending"]) for game in games(tmp_path / "m")] == [(moves, "resign")] * 2
    b = engine("b", *moves, refuse="d3")
    assert match(tmp_path / "n", a, b) == 0
    assert games(tmp_path / "n")[0]["answer"] == "? out of ideas"


def test_openings_are_beginnings_of_games(tmp_path: Path) -> None:
    openings, log = tmp_path / "xot.txt", tmp_path / "b.log"
    openings.write_text("e6f4e3f6g5d6\n")
    a, b = engine("a", *WIPEOUT), engine("b", *WIPEOUT, log=log)
    assert match(tmp_path / "m", a, b, "--openings", str(openings)) == 0
    assert [game["opening_plies"] for game in games(tmp_path / "m")] == [6, 6]
    assert heard(log, "play")[:7] == [f"play {'bw'[ply % 2]} {move}" for ply, move in enumerate(WIPEOUT[:7])]
    assert heard(log, "genmove")[0] == "genmove w"
    assert match(tmp_path / "n", a, b, "--openings", str(openings), "--opening-plies", "2") == 0
    assert [game["opening_plies"] for game in games(tmp_path / "n")] == [2, 2]


@pytest.mark.parametrize(
    ("answer", "ending", "said"),
    [("a1", "illegal_move", "a1"), ("resign", "resign", "resign"), ("error", "illegal_move", "? out of ideas"),
     ("die", "crash", None), ("late=0.4=f5", "time_up", "f5")],
)  # fmt: skip
def test_ways_to_lose(tmp_path: Path, answer: str, ending: str, said: str | None) -> None:
    a, b = engine("a", answer, answer), engine("b", *WIPEOUT)
    words = ("--tolerance", "100", "--b-time", "60000")
    limit = f"--a-time={200 if ending == 'time_up' else 60000}"
    assert match(tmp_path / "m", a, b, *words, limit=limit) == 0
    first, second = games(tmp_path / "m")
    assert (first["winner"], first["ending"], first["answer"]) == ("B", ending, said)
    assert second["winner"] == "B"


def test_clocks_are_said(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    a, b = engine("a", *WIPEOUT, log=log), engine("b", *WIPEOUT)
    assert match(tmp_path / "m", a, b, limit="--time=60000/1500", games=4) == 0
    assert heard(log, "time_settings") == ["time_settings 60 1.5 1"] * 4
    sent = [line.split() for line in heard(log, "time_left")]
    assert len(sent) == 4 + 3 + 4 + 3
    assert all(0 < float(seconds) <= 60 and stones == "0" for _, _, seconds, stones in sent)
    assert [line[1] for line in sent[:8]] == ["b"] * 4 + ["w"] * 3 + ["b"]
    log.unlink()
    a = engine("a", *WIPEOUT, log=log, commands="name list_commands clear_board play genmove quit")
    assert match(tmp_path / "without", a, b) == 0
    assert heard(log, "time_settings") == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("{e}", "{e}", "--nodes=9"), "engines of othello know neither nodes nor increments: give --time"),
        (("{e}", "{e}", "--a-time=9", "--b-fischer=1000+10"), "give --time"),
        (("{e}", "{e}", "A.Level=3", "--time=9"), "has no options, not Level nor any other"),
        (("{e}", "true", "--time=9"), "engine B `true` has stopped while starting"),
        (("{e}", "{mute}", "--time=9"), "unknown command while starting"),
    ],
)
def test_a_match_that_cannot_be_played_says_why_in_one_line(tmp_path: Path, capsys, words, reason: str) -> None:
    arguments = [word.format(e=engine("e"), mute=engine("m", commands="quit")) for word in words]
    assert main(["--out", str(tmp_path / "m"), "--game", "othello", "--games=2", *arguments]) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("match: ")]
    assert reason in line
