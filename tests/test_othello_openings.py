"""The opening book of Othello: what a move is worth, however the board is turned; how it grows; who plays from it."""

import random
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from othello_games import lying, random_position, random_weights

from pydlshogi.entry import NO_NAMES
from pydlshogi.games.othello import openings as othello
from pydlshogi.games.othello.engine.patterns import save_weights
from pydlshogi.games.othello.game import GAME
from pydlshogi.games.othello.openings import NO_OPENINGS, SHIPPED_OPENINGS, OpeningBook, key_of, read_openings, standing
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.protocols.loaded_engine import LoadedEngine
from pydlshogi.games.othello.rules import START, move_name, parse_move
from pydlshogi.games.othello.transcript import parse_transcript
from pydlshogi.player.ask import Thought
from pydlshogi.player.options import apply_settings
from pydlshogi.support.arrays import ArraysError, write_arrays
from pydlshogi.support.files import shipped_model
from utils.lab import othello_book
from utils.lab.othello_book import GrowingBook

pytestmark = pytest.mark.lent_worker(othello_book)


def book_of(**discs: float) -> OpeningBook:
    """By the moves that lead to a position: what it is worth to the side to move."""
    worths = {key_of(parse_transcript(moves).end): round(100 * worth) for moves, worth in discs.items()}
    return OpeningBook(np.array(sorted(worths), np.uint64), np.array([worths[key] for key in sorted(worths)], np.int16))


def known(book: OpeningBook, moves: str) -> dict[str, float]:
    return {move_name(move): worth for move, worth in book.moves(parse_transcript(moves).end).items()}


BOOK = book_of(f5=-2, f5d6=3, f5f6=-2, f5f4=8)


@pytest.mark.parametrize("turn", range(8))
def test_a_position_is_the_same_however_it_lies(turn: int) -> None:
    position = random_position(0, 40)
    other = lying(position, turn)
    assert len(other.moves()) == len(position.moves())
    assert standing(position) == standing(other)
    assert key_of(position) == key_of(other) != key_of(position.play(position.moves()[0]))


class TestBook:
    def test_a_move_is_worth_what_it_leads_to(self) -> None:
        assert known(BOOK, "f5") == {"d6": -3.0, "f6": 2.0, "f4": -8.0}
        assert known(BOOK, "e6") == {"f4": -3.0, "f6": 2.0, "d6": -8.0}  # mirrored by the long diagonal
        assert known(BOOK, "") == {"d3": 2.0, "c4": 2.0, "f5": 2.0, "e6": 2.0}
        assert known(BOOK, "f5d6") == {}
        assert known(book_of(f5d6=3, f5f6=-2), "f5") == {}  # f4 may be better

    def test_moves_that_are_nearly_as_good_are_played_in_turns(self) -> None:
        book = book_of(f5d6=0.5, f5f6=2.4, f5f4=2.6)
        position = parse_transcript("f5").end
        rng = random.Random(1)
        assert {book.choose(position, rng) for _ in range(50)} == {(parse_move("d6"), -0.5), (parse_move("f6"), -2.4)}
        assert book.choose(position.play(parse_move("d6")), rng) is None
        assert NO_OPENINGS.choose(START, rng) is None
        line = "f5d6c3d3c4f4f6f3"
        later = {f"{line}{move_name(move)}": place for place, move in enumerate(parse_transcript(line).end.moves())}
        assert len(book_of(**later).good(parse_transcript(line).end)) == 1

    def test_a_file_whose_keys_do_not_rise_is_none(self, tmp_path: Path) -> None:
        write_arrays(tmp_path / "book.npz", OpeningBook(BOOK.keys[::-1], BOOK.worths))
        with pytest.raises(ArraysError, match=r"book\.npz holds no opening book of Othello, or is damaged"):
            read_openings(tmp_path / "book.npz")


def test_the_engine_plays_from_it_in_varied_games(tmp_path: Path) -> None:
    file, weights = tmp_path / "book.npz", tmp_path / "weights.npz"
    save_weights(weights, random_weights(1))
    replies = {f"f5d6{move_name(move)}": 5 for move in parse_transcript("f5d6").end.moves()}
    write_arrays(file, book_of(f5d6=0, f5f6=0, f5f4=3, **replies | {"f5d6c3": 0}))
    alphabeta = GAME.alphabeta()
    given = {"Weights": str(weights), "Plain": "true", "Openings_File": str(file), "USI_Hash": "1"}
    apply_settings(alphabeta.options, given)
    engine = LoadedEngine(alphabeta, level=1)

    def answer(moves: str) -> Thought:
        return engine.ask(OthelloPosition(parse_transcript(moves).end))

    assert {answer("f5").move for _ in range(30)} == {"d6", "f6"}
    assert answer("f5d6").move == "c3"
    assert answer("f5d6c3").lines[0].depth == 1


def test_the_book_that_comes_along() -> None:
    book, rng, games = read_openings(shipped_model() / SHIPPED_OPENINGS), random.Random(1), set[tuple[int, ...]]()
    for _ in range(150):
        position, game = START, list[int]()
        while len(game) < 10:
            assert book.worth(position) == round(100 * max(book.moves(position).values()))
            game.append(book.choose(position, rng)[0])
            position = position.play(game[-1])
        games.add(tuple(game))
    assert len(book.keys) >= 100_000
    assert len(games) >= 50


def test_lines_that_cost_least_grow_first() -> None:
    book = GrowingBook(book_of(f5=-9, f5d6=3, f5f6=-2, f5f4=16))
    f5, d6, f6 = (standing(parse_transcript(moves).end) for moves in ("f5", "f5d6", "f5f6"))
    assert (book.worths()[f5], book.worths()[standing(START)]) == (200, -200)  # by f6, whatever was said of f5 before
    assert [position for position, _ in book.line_ends(10, set())] == [f6, d6]  # what is decided never
    assert book.line_ends(10, {f6, d6}) == []


def test_a_book_grows_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "book.npz"
    assert othello_book.main([str(out), "--search=3", "--level=2", "--workers=1"]) == 0
    first = read_openings(out)
    capsys.readouterr()
    assert othello_book.main([str(out), "--search=3", "--level=1", "--workers=1"]) == 0
    book, reached = read_openings(out), {standing(START)}
    for position in (waiting := [START]):
        waiting += [child for move in book.moves(position) if standing(child := position.play(move)) not in reached]
        reached |= set(map(standing, waiting))
    assert capsys.readouterr().out == f"{out}: {len(reached)} positions\n"
    searched = [each for each in reached if book.moves(each)]
    assert len(searched) == 6
    assert all(book.worth(each) == round(100 * max(book.moves(each).values())) for each in searched)
    kept = [(book.worth(each), first.worth(each)) for each in reached.difference(searched) if first.worth(each)]
    assert {now == before for now, before in kept} == {True}  # level 1 did not search them again


@pytest.mark.parametrize(
    ("moves", "name"),
    [("f5f6", "Diagonal"), ("f5d6c3d3c4", "Tiger"),
     ("f5d6c5f4e3c6d3f6e6", "Rose"), ("f5f6e6f4c3", "Buffalo (Kenichi)")],
)  # fmt: skip
def test_othello_however_the_board_is_turned(moves: str, name: str) -> None:
    squares = [("abcdefgh".index(file), int(rank) - 1) for file, rank in re.findall("(.)(.)", moves)]
    for swap, turn in product((False, True), repeat=2):  # the first position has these symmetries alone
        position, opening = OthelloPosition(), NO_NAMES
        for square in squares:
            x, y = (7 - place if turn else place for place in (square[::-1] if swap else square))
            position.push(position.move_from_usi(f"{'abcdefgh'[x]}{y + 1}"))
            opening = othello.opening(position, opening)
        assert [each.english for each in opening.names] == [name]


def test_a_line_of_othello_keeps_its_name_which_is_its_own() -> None:
    position, opening = OthelloPosition(), NO_NAMES
    for move in re.findall("..", "f5d6c3d3c4f4f6f3e6e7"):
        position.push(position.move_from_usi(move))
        opening = othello.opening(position, opening)
    assert [name.japanese for name in opening.names] == ["コンポス"]
    assert len(othello.names()) == len(othello.LINES.strip().splitlines())
