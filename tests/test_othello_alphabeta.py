"""The alpha-beta search, against plain minimax."""

import math

import numpy as np
import pytest
from othello_games import random_position, random_weights

from pydlshogi.games.othello.engine import alphabeta_search
from pydlshogi.games.othello.engine.alphabeta_search import CUT, INFINITE, AlphaBeta, Probing
from pydlshogi.games.othello.engine.patterns import DISC, STAGES, WORDS, evaluate, write_numbers
from pydlshogi.games.othello.rules import PASS, START, Position

WEIGHTS = random_weights(1)


def evaluation(position: Position) -> int:
    if not position.mover:
        return -64 * DISC
    words = np.zeros((1, WORDS), np.uint64)
    write_numbers(np.uint64(position.mover), np.uint64(position.opponent), words)
    return int(evaluate(WEIGHTS, 64 - position.empties, words.view(np.uint16), 0))


def minimax(position: Position, depth: int) -> int:
    """A pass is a ply, but one more is searched where it would be the last."""
    if depth == 0:
        return evaluation(position)
    moves = position.moves()
    if not moves:
        return position.score * DISC
    left = depth if moves == [PASS] and depth == 1 else depth - 1
    return max(-minimax(position.play(move), left) for move in moves)


@pytest.mark.parametrize("empties", [50, 40, 25, 12, 5, 3])
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_value_is_that_of_minimax(empties: int, depth: int) -> None:
    for seed in range(0, 300, 100):
        position = random_position(seed, empties)
        found = AlphaBeta(WEIGHTS, megabytes=1).search(position, depth)
        assert (found.value, found.depth) == (minimax(position, depth), depth)
        child = position.play(found.move)
        assert -minimax(child, depth - 1) == found.value or child.moves() == [PASS]


def test_passes_and_ends() -> None:
    passing = Position(mover=1 << 1, opponent=1 << 0)
    for depth in range(1, 5):
        found = AlphaBeta(WEIGHTS, megabytes=1).search(passing, depth)
        assert (found.value, found.move) == (minimax(passing, depth), PASS)
    assert minimax(passing, 2) == -64 * DISC


@pytest.mark.parametrize("seed", range(0, 500, 100))
def test_outside_of_the_window_the_value_is_a_bound(seed: int) -> None:
    position = random_position(seed, 30)
    exact = minimax(position, 4)
    for alpha, beta in ((exact + 1, exact + 2), (exact - 2, exact - 1), (exact - 1, exact + 1), (-INFINITE, exact - 1)):
        found = AlphaBeta(WEIGHTS, megabytes=1).search(position, 4, alpha, beta)
        if exact <= alpha:
            assert exact <= found.value <= alpha
        elif exact >= beta:
            assert beta <= found.value <= exact
        else:
            assert found.value == exact


def test_it_can_be_stopped_anywhere_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    position = random_position(0, 40)
    whole, search = AlphaBeta(WEIGHTS, megabytes=1).search(position, 5), AlphaBeta(WEIGHTS, megabytes=1)
    looks = iter([False, False, True])
    assert search.search(position, 30, stopped=lambda: next(looks)) is None
    assert next(looks, None) is None, "it asked once more after the answer to stop"
    found = search.search(position, 4)
    assert found.value == minimax(position, 4)
    monkeypatch.setattr(alphabeta_search, "_SLICE", 1)
    assert AlphaBeta(WEIGHTS, megabytes=1).search(position, 5) == whole


def test_the_same_search_again_is_looked_up() -> None:
    search = AlphaBeta(WEIGHTS, megabytes=4)
    first, again = search.search(START, 6), search.search(START, 6)
    assert (first.value, first.move) == (again.value, again.move)
    assert again.evaluations < first.evaluations / 4
    search.clear()
    assert search.search(START, 6) == first


def cuts(depth: int, shallow: int, margin: float, offset: float = 0.0, slope: float = 1.0) -> Probing:
    """One pair, the same in all stages."""
    table = np.zeros((STAGES, depth + 1, 1), CUT)
    table["shallow"] = -1
    table[:, depth, 0] = shallow, slope, offset, margin
    return Probing(table)


def reaches(position: Position, probing: Probing, bound: int) -> bool:
    """Whether a search of 5 plies finds the position to be worth `bound` at least."""
    found = AlphaBeta(WEIGHTS, probing, megabytes=1).search(position, 5, bound - 1, bound)
    return found.value >= bound


class TestMultiProbCut:
    def test_a_margin_of_the_whole_board_cuts_nothing(self) -> None:
        for seed in range(0, 300, 100):
            position = random_position(seed, 40)
            plain, probing = AlphaBeta(WEIGHTS, megabytes=1), AlphaBeta(WEIGHTS, cuts(4, 2, 128.0 * DISC), 1)
            assert probing.search(position, 5) == plain.search(position, 5)

    @pytest.mark.parametrize("shallow", [1, 2])
    def test_without_a_margin_a_deep_search_is_a_shallow_one(self, shallow: int) -> None:
        """In an empty window every move of the root, 4 plies deep, is decided by what fewer plies predict."""
        for seed in range(0, 300, 100):
            position = random_position(seed, 40)
            best = max(-minimax(position.play(move), shallow) for move in position.moves())
            assert reaches(position, cuts(4, shallow, 0.0), best)
            assert not reaches(position, cuts(4, shallow, 0.0), best + 1)

    def test_the_regression_is_applied(self) -> None:
        position = random_position(100, 40)
        probing = cuts(4, 2, 0.0, offset=500.0, slope=0.5)
        best = max(-(500 + minimax(position.play(move), 2) / 2) for move in position.moves())
        assert reaches(position, probing, math.floor(best))
        assert not reaches(position, probing, math.floor(best) + 2)

    def test_what_lies_within_the_margin_is_searched_in_full(self) -> None:
        position = random_position(200, 14)
        children = [position.play(move) for move in position.moves()]
        margin = max(abs(minimax(child, 4) - minimax(child, 2)) for child in children) + 1
        exact = minimax(position, 5)
        assert exact != max(-minimax(child, 2) for child in children)
        for bound in (exact - 2 * margin, exact - 1, exact, exact + 1, exact + 2 * margin):
            assert reaches(position, cuts(4, 2, float(margin)), bound) == (exact >= bound)

    def test_the_principal_variation_can_be_left_alone(self) -> None:
        """The root's first move is searched with the whole window, so its value is not one that was cut."""
        position = random_position(200, 40)
        probing = cuts(4, 1, 0.0)._replace(everywhere=False)
        found = AlphaBeta(WEIGHTS, probing, megabytes=1).search(position, 5)
        assert -minimax(position.play(found.move), 4) == found.value
