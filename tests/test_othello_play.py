"""A game at a terminal, with what a person types taken from a list."""

import subprocess
import sys
from pathlib import Path

import pytest
from othello_engines import LowestSquare, loaded

from pydlshogi.games.othello.records import read_games
from pydlshogi.games.othello.rules import parse_move
from pydlshogi.games.othello.transcript import transcript
from pydlshogi.protocols.play import PersonLeft, TerminalGame, log_lines

ROOT = Path(__file__).resolve().parent.parent


class Table:
    """A game, what was typed and what was shown."""

    def __init__(self, *typed: str, black: bool = True, white: bool = False) -> None:
        self.shown: list[str] = []
        self._typed = iter(typed)
        person = frozenset([True] * black + [False] * white)
        self.game = TerminalGame(loaded(LowestSquare()), person, self.ask, self.shown.append)

    def ask(self, prompt: str) -> str:
        self.shown.append(prompt)
        try:
            return next(self._typed)
        except StopIteration:
            raise EOFError from None

    def play(self) -> str:
        """The moves up to the end, or until nothing more is typed."""
        try:
            self.game.play()
        except PersonLeft:
            self.shown.append("left")
        return transcript(self.game.moves)


@pytest.mark.parametrize("written", ["f5", "F5", " f5 ", "5,6", "5, 6"])
def test_ways_to_write_a_move(written: str, tmp_path: Path) -> None:
    table = Table(written)
    assert table.play() == "f5f4"
    assert "White (O) plays f4, +29.0 discs at depth 3: f4" in table.shown
    boards = [text for text in table.shown if text.startswith("  a b c")]
    assert (len(boards), "4 . . + O X . . ." in boards[0], "5 . . . X X X . ." in boards[1]) == (3, True, True)
    (tmp_path / "log.txt").write_text(log_lines(table.game, ("you", "engine")) * 2)
    assert [game.moves for game in read_games(tmp_path / "log.txt")] == [(parse_move("f5"), parse_move("f4"))] * 2


def test_what_a_person_may_ask() -> None:
    table = Table("a1", "9,9", "e4", "", "pass", "hello there", "d3")
    assert table.play() == "d3c3"
    assert sum(text.startswith("That is no legal move") for text in table.shown) == 5
    table = Table("hint", "hint 2", f"hint {'9' * 5000}", "help")
    table.play()
    assert table.shown.count("d3, +19.0 discs at depth 3: d3") == 3
    assert table.shown.count("c4, +26.0 discs at depth 3: c4") == 2
    assert any("take your last move back" in text for text in table.shown)


def test_undo_goes_back_to_ones_own_last_choice() -> None:
    table = Table("undo", "f5", "undo", "d3", "quit")
    assert table.play() == "d3c3"
    assert "There is nothing to take back." in table.shown
    two = Table("f5", "f6", "undo", white=True)
    assert two.play() == "f5"


def test_a_game_of_the_engine_with_itself_comes_to_an_end() -> None:
    table = Table(black=False)
    moves = table.play()
    assert table.game.position.over
    assert table.shown[-1].startswith(("Black (X) wins by", "White (O) wins by", "A draw"))
    assert moves.startswith("d3c3")
    assert sum("must pass" in text for text in table.shown) == table.game.moves.count(64)


def test_a_person_need_not_pass() -> None:
    """The whole game of the engine is typed in by two persons, without the passes."""
    auto = Table(black=False)
    auto.play()
    typed = [transcript([move]) for move in auto.game.moves if move != 64]
    assert len(typed) < len(auto.game.moves)
    table = Table(*typed, white=True)
    table.play()
    assert table.game.moves == auto.game.moves
    assert table.shown[-1] == auto.shown[-1]


def test_the_command(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    command = [sys.executable, "-m", "pydlshogi.protocols.play", "--white", "--level", "1", "--log", str(log)]
    done = subprocess.run(command, input="hint\nquit\n", cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("  a b c d e f g h\n")
    assert " discs as registered: " in done.stdout
    assert "The game is not over." in done.stdout
    (game,) = read_games(log)
    assert len(game.moves) == 1
    assert done.stdout.splitlines()[-1] == transcript(game.moves)
