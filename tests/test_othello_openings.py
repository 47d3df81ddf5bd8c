"""Openings of Othello: what a move is worth, however the board is turned; files; and games that begin with them."""

import random
from pathlib import Path

import numpy as np
import pytest
from othello_games import random_position, random_weights

from pydlshogi.engines.othello.openings import (
    OpeningBook,
    RegisteredLine,
    lines,
    read_openings,
    write_openings,
)
from pydlshogi.engines.othello.patterns import save_weights
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import START, Position, move_name, parse_move
from pydlshogi.games.othello.squares import standing, turned
from pydlshogi.games.othello.transcript import RecordError, after, parse_transcript
from pydlshogi.protocols.loaded_engine import Answer, LoadedEngine, engine_with

ROOT = Path(__file__).resolve().parent.parent


def opening(moves: str, lead: float) -> RegisteredLine:
    return RegisteredLine(parse_transcript(moves).moves, lead)


LINES = [opening("f5d6c3", 1.0), opening("f5d6c4", 3.0), opening("f5f6e6", -2.0), opening("f5f4", 8.0)]


def known(book: OpeningBook, moves: str) -> dict[str, float]:
    return {move_name(move): worth for move, worth in book.moves(parse_transcript(moves).end).items()}


@pytest.mark.parametrize("turn", range(8))
def test_a_position_is_the_same_however_it_lies(turn: int) -> None:
    position = random_position(0, 40)
    mover, opponent = (int(turned(np.uint64(discs), turn)) for discs in (position.mover, position.opponent))
    other = Position(mover, opponent, position.black_to_move)
    assert len(other.moves()) == len(position.moves())
    assert standing(position) == standing(other)


def test_lines_lead_to_every_position_once() -> None:
    """A board is turned or mirrored by a move of the four squares in the middle; there are 1, 3 and 14 positions."""
    for plies, count in enumerate((1, 1, 3, 14)):
        found = lines(plies, Position.moves)
        assert len({standing(position) for _, position in found}) == len(found) == count
        assert all(after(START, moves) == position and len(moves) == plies for moves, position in found)


class TestBook:
    def test_a_move_is_worth_what_the_best_replies_lead_to(self) -> None:
        book = OpeningBook(LINES)
        assert known(book, "f5d6") == {"c3": 1.0, "c4": 3.0}
        assert known(book, "f5f6") == {"e6": -2.0}
        assert known(book, "f5") == {"d6": -3.0, "f6": 2.0, "f4": -8.0}
        assert known(book, "") == {"d3": -2.0, "c4": -2.0, "f5": -2.0, "e6": -2.0}
        assert known(book, "f5d6c3") == {}
        assert known(book, "f5d6c7") == {}
        assert known(book, "e6f4") == {"c3": 1.0, "d3": 3.0}  # f5 d6, mirrored by the long diagonal
        continued = OpeningBook([opening("f5d6", 9.0), *LINES[:2]])
        assert known(continued, "f5") == {"d6": -3.0}  # a line is worth what those lead to that continue it

    def test_moves_that_are_nearly_as_good_are_played_in_turns(self) -> None:
        book = OpeningBook([opening("f5d6", 0.5), opening("f5f6", 2.4), opening("f5f4", 2.6)])
        position = parse_transcript("f5").end
        rng = random.Random(1)
        assert {book.choose(position, rng) for _ in range(50)} == {(parse_move("d6"), -0.5), (parse_move("f6"), -2.4)}
        assert book.choose(START.play(parse_move("f5")).play(parse_move("d6")), rng) is None
        assert OpeningBook([]).choose(START, rng) is None


class TestFiles:
    def test_written_and_read_again(self, tmp_path: Path) -> None:
        write_openings(tmp_path / "openings.txt", LINES)
        assert read_openings(tmp_path / "openings.txt") == sorted(LINES)
        assert "f5d6c3 +1.00\n" in (tmp_path / "openings.txt").read_text()

    @pytest.mark.parametrize(
        ("line", "reason"),
        [("f5a1 +1", "move 2, a1, cannot be played"), ("f5d6", "could not convert"), ("f5d6 x", "could not convert")],
    )
    def test_refusals(self, tmp_path: Path, line: str, reason: str) -> None:
        (tmp_path / "openings.txt").write_text(f"# comment\n\n{line}\n")
        with pytest.raises(RecordError, match=rf"openings\.txt, line 3: .*{reason}"):
            read_openings(tmp_path / "openings.txt")


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "weights.npz"
    save_weights(path, random_weights(1))
    return path


def test_the_engine_plays_from_them_in_varied_games(tmp_path: Path, weights: Path) -> None:
    file = tmp_path / "openings.txt"
    write_openings(file, [opening("f5d6c3", 0.0), opening("f5f6e6", 0.0)])
    given = [f"Weights={weights}", "Plain=true", f"Openings_File={file}", "USI_Hash=1"]
    engine = LoadedEngine(engine_with("alphabeta", given), level=1)

    def answer(moves: str) -> Answer:
        return engine.ask(OthelloPosition(parse_transcript(moves).end))

    assert {answer("f5").move for _ in range(30)} == {"d6", "f6"}
    assert answer("f5d6").move == "c3"
    assert answer("f5d6c3").lines[0].depth == 1
