"""NBoard's protocol: a board that speaks from a script. Nonsense comes from test_fuzz.py."""

import queue
import re
import subprocess
import sys

import pytest
from othello_games import Broken, LowestSquare, Waiting, loaded, speaking
from usi_driver import PATIENCE, ROOT

from pydlshogi.games.othello.protocols.loaded_engine import read_ahead
from pydlshogi.games.othello.protocols.nboard import NBoard, interrupts
from pydlshogi.games.othello.rules import Position
from pydlshogi.games.othello.transcript import Transcript, game_of, ggf, parse_transcript
from pydlshogi.player.clock import Limits

GAME = ggf(parse_transcript("f5d6"))


def answers(player: LowestSquare, *lines: str) -> list[str]:
    """What is said; moves took no time."""
    said: list[str] = []
    NBoard(loaded(player), said.append).run(read_ahead(lines, interrupts))
    return [re.sub(r"([/ ])\d+\.\d\d$", r"\g<1>0.00", line) for line in said]


def ask(*lines: str) -> list[str]:
    return [line for line in answers(LowestSquare(), *lines) if not line.startswith(("status", "nodestats"))]


def test_a_session_as_the_protocol_shows_it() -> None:
    engine, asked = LowestSquare(), ("nboard 2", "set depth 6", f"set game {GAME}", "ping 1", "go")
    begun = ["set myname lowest", "set myname lowest 6", "pong 1", "status Thinking"]
    found = ["search C3 18.00 0 3", "=== C3/18.00/0.00", "nodestats 7 0.00", "status"]
    assert answers(engine, *asked) == begun + found
    assert engine.asked == [(Limits(), 6)]  # the depth is the level
    expected = ["=== D3/19.00/0.00", "=== D3/19.00/0.00", "=== F4/29.00/0.00"]
    assert ask("go", "go", "move F5/1.5/3", "go")[1::2] == expected
    assert ask("hint 3") == ["search D3 19.00 0 3", "search C4 26.00 0 3", "search F5 37.00 0 3"]
    assert ask("hint") == ["search D3 19.00 0 3"]
    lines = ("", "analyze", "set contempt 3", "set", "fly me", "ping 3", "ping", "learn", "quit", "ping 4")
    assert ask(*lines) == ["pong 3", "pong", "learned"]


def test_passes() -> None:
    start = Position(mover=1 << 1, opponent=1 << 0, black_to_move=False)
    game = ggf(Transcript(start=start))
    assert ask(f"set game {game}", "go")[-1] == "=== PA/64.00/0.00"
    for passes in (["move PA"], ["move PA/0/1"], []):
        assert ask(f"set game {game}", *passes, "move C1", "go")[-1] == "=== PA"
    (move, *_) = ask(f"set game {ggf(game_of([], start))}", "hint 1")
    assert move == "search PA 64.00 0 3"
    assert ask(f"set game {game}", "move H8", "go")[-1] == "=== PA/64.00/0.00"  # what is refused does not pass


def test_what_is_wrong_is_a_status_and_changes_nothing() -> None:
    for line, reason in {
        "move A1": "Error! a1 cannot be played",
        "move Z9": "Error! z9 is no move",
        "set depth 0": "Error! a depth of 0; it is 1 to 60",
        "set depth x": "Error! invalid literal",
        "hint x": "Error! invalid literal",
    }.items():
        said = answers(LowestSquare(), line, "go")
        assert said[0].startswith(f"status {reason}")
        assert "=== D3/19.00/0.00" in said


@pytest.mark.parametrize(
    ("game", "reason"),
    [("hello", "that is no game in GGF"), (GAME.replace("D6", "A1"), "move 2, a1, cannot be played")],
)
def test_after_a_refused_game_it_plays_in_no_other(game: str, reason: str) -> None:
    there_is_none = "there is no game: the last one was refused"
    said = answers(LowestSquare(), f"set game {game}", "go", "hint 1", "move F5", f"set game {GAME}", "go")
    assert said[:2] == [f"status Error! {reason}", f"status Error! go: {there_is_none}"]
    assert said[2:4] == [f"status Error! {there_is_none}"] * 2
    assert "=== C3/18.00/0.00" in said


@pytest.mark.parametrize("line", ["go", "hint 1"])
def test_an_engine_that_fails_is_said(line: str, caplog: pytest.LogCaptureFixture) -> None:
    """Its defect is not taken for a wrong line."""
    assert answers(Broken(), line, "ping 1")[1:] == ["status Error! RuntimeError: no idea at all", "pong 1"]
    caplog.clear()
    assert answers(Broken(ValueError("no idea")), line)[-1] == "status Error! RuntimeError: ValueError('no idea')"
    assert [record.exc_info is not None for record in caplog.records] == [True]


@pytest.mark.parametrize("command", ["go", "hint 2"])
def test_whatever_is_said_ends_the_thinking(command: str) -> None:
    engine, said, heard = Waiting(), queue.SimpleQueue[str](), list[str]()
    with speaking(lambda lines: NBoard(loaded(engine), said.put).run(read_ahead(lines, interrupts))) as send:
        send(command)
        assert engine.thinking.wait(PATIENCE)
        send("ping 7")
        while "pong 7" not in heard:
            heard.append(said.get(timeout=PATIENCE))
    assert heard[-2:] == ["status", "pong 7"]
    assert any(line.startswith(("===", "search")) for line in heard)


def test_the_process_speaks_as_well() -> None:
    command = [sys.executable, "-m", "pydlshogi.games.othello.protocols.serve"]
    lines = f"nboard 2\nset depth 60\nset game {GAME}\nhint 1\n"  # the end of the lines ends the thinking
    done = subprocess.run(command, input=lines, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:2] == ["set myname pydlshogi alpha-beta", "set myname pydlshogi alpha-beta 60"]
    assert any(line.startswith("search ") for line in done.stdout.splitlines())
    assert done.stderr == ""
