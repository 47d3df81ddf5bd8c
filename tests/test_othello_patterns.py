"""The patterns: their numbers against a slow obvious count, their symmetry, and their files."""

from pathlib import Path

import numpy as np
import pytest
from othello_games import random_game, random_position, random_weights

from pydlshogi.games.othello.engine import patterns
from pydlshogi.games.othello.engine.patterns import (
    CLASSES,
    FIRST,
    NUMBERS,
    PARITY,
    PATTERNS,
    STAGES,
    WORDS,
    evaluate,
    load_weights,
    write_numbers,
)
from pydlshogi.games.othello.rules import PASS, START, Position, flips


def numbers_of(position: Position) -> list[int]:
    """What stands on each pattern: 0 the opponent, 1 nothing, 2 the side to move."""
    digits = [1 + (position.mover >> square & 1) - (position.opponent >> square & 1) for square in range(64)]
    return [sum(digits[square] * 3**place for place, square in enumerate(squares)) for _, squares in PATTERNS]


def written(position: Position) -> "np.ndarray[tuple[int, int], np.dtype[np.uint16]]":
    words = np.zeros((1, WORDS), np.uint64)
    write_numbers(np.uint64(position.mover), np.uint64(position.opponent), words)
    return words.view(np.uint16)


def turned(position: Position) -> Position:
    """The board seen from the opposite side, and in a mirror."""
    mover, opponent = (
        sum(1 << 8 * (square % 8) + square // 8 for square in range(64) if discs >> (63 - square) & 1)
        for discs in (position.mover, position.opponent)
    )
    return Position(mover, opponent, position.black_to_move)


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


def test_a_position_and_its_mirror_image_are_worth_the_same() -> None:
    weights = random_weights(1)
    for seed in range(0, 1000, 100):
        position = random_position(seed, 30)
        assert position != turned(position)
        values = [evaluate(weights, 34, written(each), 0) for each in (position, turned(position))]
        assert values[0] == values[1]


def test_the_value_is_the_sum_of_the_weights_of_its_lines() -> None:
    weights = random_weights(2)
    for empties in (19, 20):
        position = random_position(0, empties)
        numbers = zip(FIRST, numbers_of(position), strict=True)
        expected = sum(int(weights[10, first + number]) for first, number in numbers)
        expected += int(weights[10, PARITY + empties % 2])
        assert evaluate(weights, 64 - empties, written(position), 0) == expected
    # Of the second rank: a disc of the side to move on b2 alone, or on g2 alone.
    empty = (3**8 - 1) // 2
    first = int(FIRST[0])
    assert CLASSES[first + empty + 3] == CLASSES[first + empty + 3**6]
    assert CLASSES[first + empty + 3] != CLASSES[first + empty + 3**5]
    assert len(CLASSES) == NUMBERS
    assert len(np.unique(CLASSES)) == 113_879


class TestFiles:
    def test_refusals(self, tmp_path: Path) -> None:
        path = tmp_path / "weights.npz"
        np.savez(tmp_path / "other.npz", other=np.zeros(3))
        np.savez(tmp_path / "small.npz", weights=np.zeros((STAGES, 7), np.int16))
        path.write_bytes(b"no archive")
        for name, reason in {
            "weights.npz": "holds no weights of patterns",
            "other.npz": "holds no weights of patterns",
            "small.npz": r"holds int16 \[15, 7\], not int16 \[15, 113879\]",
        }.items():
            with pytest.raises(ValueError, match=reason):
                load_weights(tmp_path / name)
        with pytest.raises(FileNotFoundError):
            load_weights(tmp_path / "nothing.npz")
