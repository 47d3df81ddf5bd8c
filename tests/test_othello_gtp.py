"""GTP: a controller that speaks from a script. Nonsense comes from test_fuzz.py."""

import os
import queue
import subprocess
import sys

import pytest
from othello_games import Broken, LowestSquare, Waiting, loaded, speaking
from usi_driver import PATIENCE, ROOT

from pydlshogi.game import PlayedPosition
from pydlshogi.games.othello.protocols.gtp import Gtp, interrupts
from pydlshogi.games.othello.protocols.loaded_engine import LoadedEngine, read_ahead
from pydlshogi.player.base_player import BestMove, Checkmate, Report
from pydlshogi.player.clock import Clock, Limits


def answers(engine: LoadedEngine, *lines: str) -> list[str]:
    """What is said to these lines, each answer without its empty line."""
    said: list[str] = []
    Gtp(engine).run(read_ahead(lines, interrupts), said.append)
    assert all(answer.endswith("\n\n") for answer in said)
    return [answer[:-2] for answer in said]


def ask(*lines: str) -> list[str]:
    return answers(loaded(LowestSquare()), *lines)


def test_a_game_with_every_command() -> None:
    first = ask("protocol_version", "name", "known_command undo", "known_command fly", "list_games")
    assert first == ["= 2", "= lowest", "= true", "= false", "= Othello"]
    (listed,) = ask("list_commands")
    assert {"play", "genmove", "undo", "hint", "level", "final_score"} <= {*listed[2:].split("\n")}
    assert ask("boardsize 8", "set_game Othello", "komi 0", "clear_board", "quit", "name") == ["="] * 5
    asked = ("play black F5", "genmove w", "reg_genmove b", "undo", "undo", "undo", "genmove b")
    assert ask(*asked) == ["=", "= F4", "= C3", "=", "=", "? cannot undo", "= D3"]
    numbered = ["=12 lowest", "?7 unknown command", "?3 unknown command", "?0 illegal move"]
    assert ask("12 name", "7", "3 fly", "0 play b a1") == numbered
    lines = ("", "   ", "# comment", "name # again", "\tplay\tb  f5\r", "na\x01me\x7f")
    assert ask(*lines) == ["= lowest", "=", "= lowest"]


def test_boards_are_shown_set_up_and_hinted_at() -> None:
    (_, board) = ask("play b f5", "showboard")
    rows = ["1 . . . . . . . .", "2 . . . . . . . .", "3 . . . . . . . .", "4 . . . O X + . .", "5 . . . X X X . ."]
    rows += ["6 . . . + . + . .", "7 . . . . . . . .", "8 . . . . . . . ."]
    assert board.splitlines() == ["=", "  a b c d e f g h", *rows, "White to move; Black (X) 4, White (O) 1"]
    rows = ["--------"] * 3 + ["---OX---", "---XO---"] + ["--------"] * 3
    engine = LowestSquare()
    assert answers(loaded(engine), f"setup_board {' '.join(rows)} X", "genmove b") == ["=", "= D3"]
    assert engine.games == 1
    two = "D3 +19.00 depth 3\nC4 +26.00 depth 3"
    assert ask("hint 2", "hint") == [f"= {two}", f"= {two}\nF5 +37.00 depth 3\nE6 +44.00 depth 3"]
    assert ask(f"setup_board {'X' * 64} X", "hint") == ["=", "? the game is over"]


ERRORS = {
    "illegal move": "play b a1, play w f4, play b pass, genmove w",
    "syntax error": "play b i9, play x f5, play b, genmove, boardsize eight, komi x, level 0, hint 0, known_command",
    "unacceptable size": "boardsize 10",
    "unsupported game": "set_game Go",
    "cannot score": "final_score",
}
ERRORS["syntax error"] += ", hint x, setup_board XO, time_settings 1 2, time_settings nan 1 1, time_left b -1 0"
ERRORS["syntax error"] += f", time_left b 10 1{400 * '0'}"


@pytest.mark.parametrize(("line", "error"), [(line, error) for error in ERRORS for line in ERRORS[error].split(", ")])
def test_errors(line: str, error: str) -> None:
    assert ask(line, "name") == [f"? {error}", "= lowest"]


PASSING = "XO" + "-" * 30 + "-" * 32
"""White to move must pass, Black can play c1."""


def test_a_pass_may_be_said_or_not() -> None:
    rest = ("genmove b", "final_score", "genmove w", "play w pass", "undo", "undo")
    for line, answer in (("play w pass", "="), ("genmove w", "= PASS")):
        said = ask(f"setup_board {PASSING} O", line, *rest)
        assert said == ["=", answer, "= C1", "= B+64", "= PASS", "=", "=", "="]
    assert ask(f"setup_board {PASSING} O", "play b c1", "undo", "undo") == ["=", "=", "=", "? cannot undo"]


class TestTime:
    def limits(self, *lines: str) -> list[tuple[Limits, int]]:
        """What a move may cost, and the level."""
        player = LowestSquare()
        assert not [answer for answer in answers(loaded(player), *lines) if answer.startswith("?")]
        return player.asked

    def clock(self, main: int, byoyomi: int = 0) -> tuple[Limits, int]:
        return Limits(btime=main, wtime=main, byoyomi=byoyomi), 0

    def test_without_a_clock_there_is_a_level(self) -> None:
        assert self.limits("genmove b", "level 7", "genmove w") == [(Limits(), 5), (Limits(), 7)]
        assert self.limits("time_settings 0 1 0", "genmove b") == [(Limits(), 5)]

    def test_byoyomi_is_shared_by_its_moves(self) -> None:
        assert self.limits("time_settings 0 2 1", "genmove b", "genmove w") == [self.clock(0, 2000)] * 2
        assert self.limits("time_settings 60 30 3", "genmove b") == [self.clock(60_000, 10_000)]

    def test_what_is_left_is_heard(self) -> None:
        left = self.clock(11_610)
        assert self.limits("time_settings 300 0 0", "time_left b 11.61 0", "genmove b") == [left]
        assert self.limits("time_left b 11.61 0", "genmove b") == [left]
        assert self.limits("time_settings 300 10 5", "time_left b 3 2", "genmove b") == [self.clock(0, 1500)]

    def test_a_clock_that_has_run_out_is_one(self) -> None:
        assert self.limits("time_left b 0 0", "genmove b") == [self.clock(1)]

    def test_what_is_left_where_nothing_else_is_known_is_of_one_side_and_one_game(self) -> None:
        lines = ("time_left b 10 1", "genmove b", "genmove w", "genmove b", "clear_board", "genmove b")
        period, level = self.clock(0, 10_000), (Limits(), 5)
        assert self.limits(*lines) == [period, level, period, level]

    @pytest.mark.parametrize("after", [("genmove w",), ("clear_board", "genmove b")])
    def test_each_side_has_its_clock_and_each_game_all_of_it(self, after: tuple[str, ...]) -> None:
        asked = self.limits("time_settings 220 0 0", "time_left b 22 0", "genmove b", *after)
        assert asked == [self.clock(22_000), self.clock(220_000)]

    def test_a_move_takes_its_time_off_the_clock(self) -> None:
        class Slow(LowestSquare):
            def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
                clock.wait(20)
                return super().think(position, clock, report)

        player = Slow()
        answers(loaded(player), "time_settings 10 0 0", "genmove b", "genmove w", "genmove b")
        first, other, second = (limits.btime for limits, _ in player.asked)
        assert first == other == 10_000
        assert second <= 9980


def test_thinking_can_be_interrupted() -> None:
    """GoGui says `# interrupt` and waits for the answer."""
    engine, said = Waiting(), queue.SimpleQueue[str]()
    with speaking(lambda lines: Gtp(loaded(engine)).run(read_ahead(lines, interrupts), said.put)) as send:
        for _ in range(2):
            engine.thinking.clear()
            send("reg_genmove b")
            assert engine.thinking.wait(PATIENCE)
            send("# interrupt")
            assert said.get(timeout=PATIENCE) == "= D3\n\n"


@pytest.mark.parametrize("line", ["genmove b", "reg_genmove b", "hint"])
def test_an_engine_that_fails_is_said_in_one_line(line: str, caplog: pytest.LogCaptureFixture) -> None:
    """Its defect is no syntax error."""
    assert answers(loaded(Broken()), line, "name") == ["? RuntimeError: no idea", "= broken"]
    caplog.clear()
    assert answers(loaded(Broken(KeyError("no idea"))), line) == ["? RuntimeError: KeyError('no idea')"]
    assert [record.exc_info is not None for record in caplog.records] == [True]


@pytest.mark.skipif(sys.platform == "win32", reason="only elsewhere can a process ask who reads a pipe")
def test_a_controller_that_dies_takes_the_thinking_along() -> None:
    command = [sys.executable, "-m", "pydlshogi.games.othello.protocols.serve", "--option", "Openings=false"]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        engine.stdin.write("level 60\nname\ngenmove b\n")
        engine.stdin.flush()
        while not engine.stdout.readline().startswith("= pydlshogi"):
            pass
        engine.stdin.close()
        engine.stdout.close()
        try:
            assert engine.wait(PATIENCE) == 1
        finally:
            engine.kill()


def test_the_process_speaks_as_well() -> None:
    command = [sys.executable, "-m", "pydlshogi.games.othello.protocols.serve", "--option", "Level=2"]
    asked = "name\n2 genmove b\nhint 2\nquit\n"
    done = subprocess.run(command, input=asked, cwd=ROOT, capture_output=True, text=True, check=True)
    name, move, hint, end, rest = done.stdout.split("\n\n")
    assert (name, hint.count("depth 2")) == ("= pydlshogi alpha-beta", 2)
    assert move in ("=2 D3", "=2 C4", "=2 F5", "=2 E6")
    assert (end, rest, done.stderr) == ("=", "", "")


@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict"])
def test_input_that_is_no_text(encoding: str) -> None:
    """A GUI of another encoding must not end an engine."""
    command = [sys.executable, "-m", "pydlshogi.games.othello.protocols.serve", "--option", "Openings=false"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    lines = b"1 name\n\xff\n2 play b \xff\n3 protocol_version\nquit\n"
    done = subprocess.run(command, cwd=ROOT, env=environment, input=lines, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = done.stdout.replace(b"\r\n", b"\n").split(b"\n\n")[:-1]
    assert [answer.split()[0] for answer in answers] == [b"=1", b"?", b"?2", b"=3", b"="]
