"""The alpha-beta search, against plain minimax."""

from pathlib import Path

import numpy as np
import pytest
from othello_games import lying, number_on, random_game, random_position, random_weights

from pydlshogi.games.othello.engine import alphabeta_search, patterns
from pydlshogi.games.othello.engine.alphabeta_search import CUT, INFINITE, AlphaBeta, Probing
from pydlshogi.games.othello.engine.patterns import CLASSES, DISC, PATTERNS, STAGES, WORDS, evaluate, write_numbers
from pydlshogi.games.othello.rules import PASS, START, Position, flips

WEIGHTS = random_weights(1)


def evaluation(position: Position) -> int:
    if not position.mover:
        return -64 * DISC
    return int(evaluate(WEIGHTS, 64 - position.empties, written(position), 0))


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

    def test_what_lies_within_the_margin_is_searched_in_full(self) -> None:
        position = random_position(200, 14)
        children = [position.play(move) for move in position.moves()]
        margin = max(abs(minimax(child, 4) - minimax(child, 2)) for child in children) + 1
        exact = minimax(position, 5)
        assert exact != max(-minimax(child, 2) for child in children)
        for bound in (exact - 2 * margin, exact - 1, exact, exact + 1, exact + 2 * margin):
            assert reaches(position, cuts(4, 2, float(margin)), bound) == (exact >= bound)


def numbers_of(position: Position) -> list[int]:
    return [number_on(position, squares) for _, squares in PATTERNS]


def written(position: Position) -> "np.ndarray[tuple[int, int], np.dtype[np.uint16]]":
    words = np.zeros((1, WORDS), np.uint64)
    write_numbers(np.uint64(position.mover), np.uint64(position.opponent), words)
    return words.view(np.uint16)


def test_numbers_are_counted_and_go_along_with_moves() -> None:
    words = np.zeros((70, WORDS), np.uint64)
    for seed in range(5):
        position = START
        write_numbers(np.uint64(position.mover), np.uint64(position.opponent), words)
        for row, move in enumerate(random_game(seed).moves):
            if move == PASS:
                patterns.pass_numbers(words, row)
            else:
                square = np.uint64(move)
                discs = flips(np.uint64(position.mover), np.uint64(position.opponent), square)
                patterns.advance_numbers(words, row, square, discs)
            position = position.play(move)
            assert list(words[row + 1].view(np.uint16)[:46]) == numbers_of(position)
            assert list(written(position)[0, :46]) == numbers_of(position)


def test_a_position_is_worth_the_same_however_it_lies() -> None:
    for seed in range(0, 1000, 100):
        positions = {lying(random_position(seed, 30), turn) for turn in range(8)}
        assert (len(positions), len({*map(evaluation, positions)})) == (8, 1)


def test_the_value_is_the_sum_of_the_weights_of_its_lines() -> None:
    weights = random_weights(2)
    for empties in (19, 20):
        position = random_position(0, empties)
        numbers = zip(patterns.FIRST, numbers_of(position), strict=True)
        expected = sum(int(weights[10, first + number]) for first, number in numbers)
        expected += int(weights[10, patterns.PARITY + empties % 2])
        assert evaluate(weights, 64 - empties, written(position), 0) == expected
    # Of the second rank: a disc of the side to move on b2 alone, or on g2 alone.
    empty = (3**8 - 1) // 2
    first = int(patterns.FIRST[0])
    assert CLASSES[first + empty + 3] == CLASSES[first + empty + 3**6]
    assert CLASSES[first + empty + 3] != CLASSES[first + empty + 3**5]
    assert len(CLASSES) == patterns.NUMBERS
    assert len(np.unique(CLASSES)) == 113_879


def test_refusals(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", other=np.zeros(3))
    np.savez(tmp_path / "small.npz", weights=np.zeros((STAGES, 7), np.int16))
    small = r"holds int16 \[15, 7\], not int16 \[15, 113879\]"
    for name, reason in (("other.npz", "holds no weights of patterns"), ("small.npz", small)):
        with pytest.raises(ValueError, match=reason):
            patterns.load_weights(tmp_path / name)
