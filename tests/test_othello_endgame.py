"""The solver of end games: against a slow obvious one, and against published solutions."""

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from othello_games import random_position
from test_othello_rules import squares

from pydlshogi.games.othello.engine import endgame
from pydlshogi.games.othello.engine.bounds import PROVEN, keep, known_bounds, packed, stable_discs
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.rules import PASS, Position, move_name, parse_move, position_of

FFO = {
    40: ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X-------- X", 38, "a2"),
    41: ("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X", 0, "h4"),
    42: ("--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO-- X", 6, "g2"),
    43: ("--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX- O", -12, "g3 c7"),
}
"""Positions 40 to 43 of the collection of the French federation, with 20, 22, 22 and 23 empty squares."""


def minimax(position: Position) -> int:
    moves = position.moves()
    return max(-minimax(position.play(move)) for move in moves) if moves else position.score


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver(megabytes=1)


@pytest.mark.parametrize("empties", range(1, 7))
def test_the_score_is_that_of_minimax_and_the_move_leads_to_it(solver: Solver, empties: int) -> None:
    for seed in range(0, 1500, 100):
        position = random_position(seed, empties)
        solution = solver.solve(position, guess=seed % 130 - 65)
        assert solution.score == minimax(position)
        assert -minimax(position.play(solution.move)) == solution.score


@pytest.mark.parametrize("empties", [8, 9, 11])
def test_every_move_of_a_solution_keeps_its_score(solver: Solver, empties: int) -> None:
    """Positions deep enough for the table, which here is far too small for them."""
    for seed in range(0, 600, 100):
        position, score = random_position(seed, empties), None
        while not position.over and (position.empties >= 8 or score is None):
            solution = solver.solve(position)
            assert score is None or solution.score == -score
            score = solution.score
            scores = [Solver(1).solve(child) for child in map(position.play, position.moves()) if not child.over]
            assert all(each is not None and -each.score <= score for each in scores)
            position = position.play(solution.move)
        assert position.over or minimax(position) == -(score or 0)


def test_a_pass_is_a_move_and_a_game_may_end_early(solver: Solver) -> None:
    passing = Position(mover=squares("b1"), opponent=squares("a1"))
    assert solver.solve(passing)[:2] == (-64, PASS)
    ending = passing.play(PASS)
    assert solver.solve(ending)[:2] == (64, parse_move("c1"))
    with pytest.raises(ValueError, match="the game is over"):
        solver.solve(ending.play(parse_move("c1")))


@pytest.mark.parametrize("seed", range(0, 400, 100))
def test_threads_find_what_one_does(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a table that is too small for them, so that they write over each other's entries, and looking there often."""
    monkeypatch.setattr(endgame, "_SLICE", 20)
    position = random_position(seed, 17)
    one, several = Solver(16).solve(position), Solver(1, threads=3).solve(position)
    assert several.score == one.score
    child = position.play(several.move)
    answer = Solver(16).solve(child)
    assert answer.score == -one.score


def test_an_entry_with_words_of_two_writers_says_nothing() -> None:
    table = np.zeros(2, PROVEN)
    first, second = (random_position(seed, 10) for seed in (1, 2))
    written = []
    for position, bounds in ((first, packed(-64, 4, 20, 10)), (second, packed(6, 64, 30, 10))):
        keep(table, np.uint64(position.mover), np.uint64(position.opponent), np.uint64(bounds))
        written.append(table[0].copy())
    for words in itertools.product(written, repeat=3):
        table[0] = tuple(entry[name] for entry, name in zip(words, PROVEN.names or (), strict=True))
        for position, entry in zip((first, second), written, strict=True):
            bounds = known_bounds(table, np.uint64(position.mover), np.uint64(position.opponent))
            whole = all(word is entry for word in words)
            assert bounds == (entry["bounds"] if whole else 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_it_can_be_stopped_and_asked_again(threads: int) -> None:
    position = position_of(FFO[41][0])
    solver = Solver(megabytes=4, threads=threads)
    looks = iter([False, False, True])
    assert solver.solve(position, stopped=lambda: next(looks)) is None
    assert next(looks, None) is None, "it asked once more after the answer to stop"
    easy = random_position(3, 8)
    assert solver.solve(easy) == Solver(megabytes=4).solve(easy)


def test_discs_in_corners_on_edges_and_what_leans_on_them_are_stable() -> None:
    own = squares("a1 b1 a2 b2 a3 d1 h8 e5") | squares("a8 b8 c8 d8 e8 f8 g8")
    assert int(stable_discs(np.uint64(own), np.uint64(2**64 - 1 - own))) == own & ~squares("d1 e5")


@pytest.mark.parametrize("seed", range(0, 200, 10))
def test_stable_discs_stay(seed: int) -> None:
    position = random_position(seed, 8 + seed % 20)
    empty = np.uint64(2**64 - 1 - (position.mover | position.opponent))
    black, white = (int(stable_discs(np.uint64(discs), empty)) for discs in (position.black, position.white))
    rng = random.Random(seed)
    for _ in range(20):
        later = position
        while moves := later.moves():
            later = later.play(rng.choice(moves))
            assert (later.black & black, later.white & white) == (black, white)


def test_published_solutions(shared_data: Path) -> None:
    for line in (shared_data / "othello" / "ffo-01-19.obf").read_text().splitlines():
        diagram, *known = line.partition("%")[0].split(";")
        if diagram.strip():
            scores = {
                parse_move(move.strip()): int(score)
                for move, score in (each.split(":") for each in known if ":" in each)
            }
            solution = Solver(megabytes=16).solve(position_of(diagram))
            assert solution.score == max(scores.values()) == scores[solution.move]


@pytest.mark.long
@pytest.mark.parametrize("number", FFO)
@pytest.mark.parametrize("threads", [1, 2])
def test_published_solutions_of_20_to_23_empty_squares(number: int, threads: int) -> None:
    diagram, score, best = FFO[number]
    solution = Solver(threads=threads).solve(position_of(diagram))
    assert solution.score == score
    assert move_name(solution.move) in best.split()
