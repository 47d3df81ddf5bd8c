"""The evaluation: 46 lines, corners and edges of the board, each worth what such a pattern was worth in past games.

A pattern is a row of squares; what stands on it is a number of digits 0, 1 and 2: the opponent's disc, empty, a disc of
the side to move. The weight of that number is added up over all patterns, from a table for the stage of the game
(Buro's Logistello). One more weight says what it is worth to be to move with an even, or an odd, number of discs on the
board: who will have the last move. Patterns that are the same but for a rotation or a mirror share their weights, and
so do the two ways to read a pattern that is its own mirror image.

The numbers of all patterns lie side by side as 16 bits each, four in a word. A disc adds the same word to them whatever
else stands on the board, so a move costs twelve additions for each disc that it changes.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.games.othello.rules import parse_move
from pydlshogi.games.othello.squares import ONE, TURNED, ZERO, lowest
from pydlshogi.support.arrays import Int16Array, Int32Array, Int64Array, Uint16Array, Uint64Array, named_arrays
from pydlshogi.support.files import replacing, shipped_model
from pydlshogi.support.kernels.compiled import compiled, inlined

SHIPPED_WEIGHTS: Final = "othello_patterns.npz"
SHAPES: Final[list[tuple[int, ...]]] = [
    tuple(map(parse_move, shape.split()))
    for shape in (
        "a2 b2 c2 d2 e2 f2 g2 h2",
        "a3 b3 c3 d3 e3 f3 g3 h3",
        "a4 b4 c4 d4 e4 f4 g4 h4",
        "a1 b2 c3 d4 e5 f6 g7 h8",
        "a2 b3 c4 d5 e6 f7 g8",
        "a3 b4 c5 d6 e7 f8",
        "a4 b5 c6 d7 e8",
        "a5 b6 c7 d8",
        "b2 a1 b1 c1 d1 e1 f1 g1 h1 g2",
        "a1 b1 c1 a2 b2 c2 a3 b3 c3",
        "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2",
    )
]
"""The squares of one pattern of each kind."""

DISC: Final = 1000
"""What a disc is worth: evaluations are in thousandths."""
STAGES: Final = 15
"""Four moves are a stage."""
WORDS: Final = 12
"""uint64 that hold the numbers of all patterns of a position."""


def images(squares: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The eight rotations and mirror images of a row of squares."""
    return [tuple(image) for image in TURNED[:, squares].tolist()]


def selves(squares: tuple[int, ...]) -> Iterator[tuple[list[int], Int64Array]]:
    """The ways in which a pattern lies on itself: where each square comes to lie, and what each number becomes."""
    powers = 3 ** np.arange(len(squares))
    digits = np.arange(3 ** len(squares))[:, None] // powers % 3
    for image in images(squares):
        if set(image) == set(squares):
            order = [image.index(square) for square in squares]
            yield order, (digits[:, order] * powers).sum(axis=1)


PATTERNS: Final[list[tuple[int, tuple[int, ...]]]] = [
    (number, image)
    for number, squares in enumerate(SHAPES)
    for image in {frozenset(image): image for image in reversed(images(squares))}.values()
]
"""All patterns: the number of the shape, and the squares in the order of its digits, the first counting least."""
_OFFSETS: Final[list[int]] = np.cumsum([0, *(3 ** len(squares) for squares in SHAPES)]).tolist()
"""Where the weights of each shape begin; the last entry is where all end."""
PARITY: Final = _OFFSETS[-1]
"""Where the two weights of an even and of an odd number of discs are, after those of the patterns."""
NUMBERS: Final = PARITY + 2
"""Of weights in a stage."""


def _words(values: Int64Array) -> Uint64Array:
    """uint64 [..., 12] of values [..., 46], which may be negative as long as no sum of them is."""
    lanes = np.zeros((*values.shape[:-1], 4 * WORDS), np.int64)
    lanes[..., : values.shape[-1]] = values
    shifted = lanes.reshape(*values.shape[:-1], WORDS, 4) << np.array([0, 16, 32, 48])
    words: Uint64Array = shifted.sum(axis=-1).astype(np.uint64)
    return words


def _discs() -> Int64Array:
    """int64 [64, 46]: by how much a square's digit counts in each pattern."""
    counts = np.zeros((64, len(PATTERNS)), np.int64)
    for column, (_, squares) in enumerate(PATTERNS):
        for digit, square in enumerate(squares):
            counts[square, column] = 3**digit
    return counts


DISCS: Final = _words(_discs())
"""uint64 [64, WORDS]: what a disc of the side to move adds to the words, less what an empty square does."""
_TWO_DISCS: Final = _words(2 * _discs())
_EMPTY: Final = _words(_discs().sum(axis=0))
_BOTH: Final = _words(2 * _discs().sum(axis=0))
FIRST: Final = np.array([_OFFSETS[shape] for shape, _ in PATTERNS], np.int32)
"""int32 [46]: where the weights of each pattern begin."""


def _classes() -> Int32Array:
    """int32 [NUMBERS]: the first of all weights that are the same as this one."""
    classes = np.arange(NUMBERS, dtype=np.int32)
    for squares, first in zip(SHAPES, _OFFSETS, strict=False):
        own = classes[first : first + 3 ** len(squares)]
        for _, numbers in selves(squares):
            own[:] = np.minimum(own, first + numbers)
    return classes


CLASSES: Final = _classes()


class Judged(NamedTuple):
    """The numbers of all patterns along a path of positions, a row for each, and the weights that judge them."""

    words: Uint64Array
    """uint64 [rows, WORDS]"""
    numbers: Uint16Array
    """The same as uint16 [rows, 48]."""
    weights: Int16Array
    """int16 [STAGES, NUMBERS]"""


def judged_by(weights: Int16Array, rows: int) -> Judged:
    """Room for `rows` positions."""
    words = np.zeros((rows, WORDS), np.uint64)
    return Judged(words, words.view(np.uint16), weights)


@compiled
def write_numbers(mover: np.uint64, opponent: np.uint64, words: Uint64Array) -> None:
    """Write the numbers of all patterns into the first row of `words`, uint64 [rows, 12]."""
    for word in range(WORDS):
        words[0, word] = _EMPTY[word]
    while mover != ZERO:
        square = lowest(mover)
        mover &= mover - ONE
        for word in range(WORDS):
            words[0, word] += DISCS[square, word]
    while opponent != ZERO:
        square = lowest(opponent)
        opponent &= opponent - ONE
        for word in range(WORDS):
            words[0, word] -= DISCS[square, word]


@inlined
def advance_numbers(words: Uint64Array, row: int, square: np.uint64, turned: np.uint64) -> None:
    """Write the numbers after a move into the next row, as the opponent sees them: its discs are the other digit."""
    for word in range(WORDS):
        words[row + 1, word] = _BOTH[word] - words[row, word] - DISCS[square, word]
    while turned != ZERO:
        square = lowest(turned)
        turned &= turned - ONE
        for word in range(WORDS):
            words[row + 1, word] -= _TWO_DISCS[square, word]


@inlined
def pass_numbers(words: Uint64Array, row: int) -> None:
    """Write the numbers after a pass into the next row."""
    for word in range(WORDS):
        words[row + 1, word] = _BOTH[word] - words[row, word]


@inlined
def stage_of(discs: int) -> int:
    """The stage of a position with `discs` discs, 0 to 14."""
    return min((discs - 4) >> 2, STAGES - 1)


@inlined
def evaluate(weights: Int16Array, discs: int, numbers: Uint16Array, row: int) -> int:
    """What a position is worth to the side to move, in thousandths of a disc.

    `weights` are int16 [STAGES, NUMBERS]; `numbers` are rows of words as uint16 [rows, 48].
    """
    stage = stage_of(discs)
    total = int(weights[stage, PARITY + (discs & 1)])
    for pattern in range(len(FIRST)):
        total += weights[stage, FIRST[pattern] + numbers[row, pattern]]
    return total


def save_weights(path: Path, weights: Int16Array) -> None:
    """Write weights, int16 [STAGES, NUMBERS], one for each class of numbers. Raises OSError."""
    with replacing(path) as file:
        np.savez_compressed(file, weights=weights[:, np.unique(CLASSES)])


@cache
def load_weights(path: str | Path) -> Int16Array:
    """int16 [STAGES, NUMBERS]: what `save_weights` wrote; "": those that come along. Raises ValueError, OSError."""
    path = Path(path or shipped_model() / SHIPPED_WEIGHTS)
    firsts, members = np.unique(CLASSES, return_inverse=True)
    (weights,) = named_arrays(path, ["weights"], "weights of patterns")
    if weights.dtype != np.int16 or weights.shape != (STAGES, len(firsts)):
        raise ValueError(f"{path} holds {weights.dtype} {list(weights.shape)}, not int16 {[STAGES, len(firsts)]}")
    return np.ascontiguousarray(weights[:, members])
