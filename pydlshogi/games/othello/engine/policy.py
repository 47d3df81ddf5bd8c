"""The policy: how likely each move is to be played, by patterns before and after it.

Each pattern that goes through the square of a move has a weight for that square and for what stands on the pattern
before the move. Each pattern that the move changes has a weight for what stands there after it, less that for what
stood there before: whatever a move leaves alone says nothing for or against it. The sum of a move's weights is its
logit; there are weights for each stage of the game. Patterns are those of `patterns.py`, and those that are the same
but for a rotation or a mirror share their weights.

Beside it stands the value: what the patterns' evaluation in discs means as a win rate, with a scale for each stage of
those.
"""

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.games.othello.encodings import OTHELLO, unpacked
from pydlshogi.games.othello.engine import files_of_engine
from pydlshogi.games.othello.engine.options import OthelloMCTSOptions
from pydlshogi.games.othello.engine.patterns import (
    CLASSES,
    DISC,
    DISCS,
    FIRST,
    PATTERNS,
    SHAPES,
    WORDS,
    evaluate,
    load_weights,
    selves,
    stage_of,
    write_numbers,
)
from pydlshogi.games.othello.engine.patterns import STAGES as VALUE_STAGES
from pydlshogi.games.othello.rules import MOST_MOVES, flips, mobility
from pydlshogi.games.othello.squares import ONE, ZERO, count, lowest
from pydlshogi.network.backend import sigmoid, softmax
from pydlshogi.support.arrays import (
    BoolArray,
    Float32Array,
    Int16Array,
    Int32Array,
    Int64Array,
    Uint16Array,
    Uint32Array,
    Uint64Array,
    named_arrays,
)
from pydlshogi.support.files import replacing, shipped_model
from pydlshogi.support.kernels.compiled import compiled, inlined
from pydlshogi.uct.batch import Batch, Evaluations

SHIPPED_POLICY: Final = "othello_policy.npz"
STAGES: Final = 6
"""Ten moves are a stage."""

_EMPTY: Final = 1
"""The digit of an empty square."""


def _through() -> tuple[Int32Array, list[int], int]:
    """For each shape, each of its squares and each number the weight it has, one after the other, where that square is
    empty; where those of each shape begin; and how many weights there are.
    """
    numbered, begins, weights = list[Int64Array](), list[int](), 0
    for squares in SHAPES:
        begins.append(sum(map(len, numbered)))
        # What stands on the squares of a shape is a number in base 3, as in the patterns.
        size = 3 ** len(squares)
        digits = np.arange(size)[:, None] // 3 ** np.arange(len(squares)) % 3
        classes = np.empty((len(squares), size), np.int64)
        for place in range(len(squares)):
            # A shape that is turned or mirrored onto itself shows the same by another number, and the square at another
            # place. They share a weight: the first place and number stand for all.
            seen = [order.index(place) * size + same for order, same in selves(squares)]
            classes[place] = np.where(digits[:, place] == _EMPTY, np.min(seen, axis=0), -1)
        firsts, members = np.unique(classes, return_inverse=True)
        # The first class is -1: no move is played where a disc stands.
        numbered.append(np.maximum(members.ravel() - 1, 0) + weights)
        weights += len(firsts) - 1
    return np.concatenate(numbered).astype(np.int32), begins, weights


def _lines(begins: list[int]) -> tuple[Int32Array, Int32Array, Int32Array]:
    """For each square how many patterns go through it, which, and where in `THROUGH` the weights of these begin."""
    lines: list[list[tuple[int, int]]] = [[] for _ in range(64)]
    for pattern, (shape, squares) in enumerate(PATTERNS):
        for place, square in enumerate(squares):
            lines[square].append((pattern, begins[shape] + place * 3 ** len(squares)))
    most = max(map(len, lines))
    filled = np.array([line + [(0, 0)] * (most - len(line)) for line in lines], np.int32)
    return np.array(list(map(len, lines)), np.int32), filled[:, :, 0].copy(), filled[:, :, 1].copy()


THROUGH, _BEGINS, _FIRST_AFTER = _through()
"""THROUGH, int32: the weight of each square of each shape with each number. numba keeps no kernel that has as large an
array as a constant, so kernels are handed it.
"""
_LINES, _LINE_PATTERN, _LINE_BEGIN = _lines(_BEGINS)
_AFTER: Final[Int32Array] = _FIRST_AFTER + np.unique(CLASSES, return_inverse=True)[1].astype(np.int32)
"""int32 [numbers of all patterns]: the weight of each."""
WEIGHTS: Final = int(_AFTER.max()) + 1
"""Of a stage."""
MOST_LINES: Final = int(_LINES.max())
_PATTERN_COUNT: Final = len(PATTERNS)


class Moves(NamedTuple):
    """The moves of a position, and the numbers of the weights that make up their logits. Room to work in."""

    words: Uint64Array
    """uint64 [2, WORDS]: the numbers of all patterns before and after a move."""
    squares: Int64Array
    """int64 [MOST_MOVES]"""
    counts: Int32Array
    """int32 [MOST_MOVES, 2]: how many weights are added for a move, and how many are taken away."""
    added: Int32Array
    """int32 [MOST_MOVES, MOST_LINES + patterns]"""
    taken: Int32Array
    """int32 [MOST_MOVES, patterns]"""


def room_for_moves() -> Moves:
    """Arrays for one position."""
    return Moves(
        np.zeros((2, WORDS), np.uint64),
        np.zeros(MOST_MOVES, np.int64),
        np.zeros((MOST_MOVES, 2), np.int32),
        np.zeros((MOST_MOVES, MOST_LINES + _PATTERN_COUNT), np.int32),
        np.zeros((MOST_MOVES, _PATTERN_COUNT), np.int32),
    )


@inlined
def policy_stage(discs: int) -> int:
    """The stage of a position with `discs` discs."""
    return min((discs - 4) // 10, STAGES - 1)


@compiled
def describe(mover: np.uint64, opponent: np.uint64, squares: np.uint64, through: Int32Array, moves: Moves) -> int:
    """Write the moves to `squares`, in rising order, with the numbers of their weights; returns how many there are."""
    words, numbers = moves.words, moves.words.view(np.uint16)
    write_numbers(mover, opponent, words)
    n = 0
    while squares != ZERO:
        square = lowest(squares)
        squares &= squares - ONE
        moves.squares[n] = square
        lines = _LINES[square]
        for line in range(lines):
            number = numbers[0, _LINE_PATTERN[square, line]]
            moves.added[n, line] = through[_LINE_BEGIN[square, line] + number]
        for word in range(WORDS):
            words[1, word] = words[0, word] + DISCS[square, word]
        turned = flips(mover, opponent, square)
        while turned != ZERO:
            disc = lowest(turned)
            turned &= turned - ONE
            for word in range(WORDS):
                words[1, word] += DISCS[disc, word] << ONE
        changed = 0
        for pattern in range(_PATTERN_COUNT):
            before, after = numbers[0, pattern], numbers[1, pattern]
            if before != after:
                moves.added[n, lines + changed] = _AFTER[FIRST[pattern] + after]
                moves.taken[n, changed] = _AFTER[FIRST[pattern] + before]
                changed += 1
        moves.counts[n, 0], moves.counts[n, 1] = lines + changed, changed
        n += 1
    return n


@inlined
def logit(weights: Float32Array, moves: Moves, move: int) -> float:
    """The logit of one of the moves; `weights` are float32 [WEIGHTS], those of the stage."""
    total: Any = np.float32(0)
    for place in range(moves.counts[move, 0]):
        total += weights[moves.added[move, place]]
    for place in range(moves.counts[move, 1]):
        total -= weights[moves.taken[move, place]]
    return total  # type: ignore[no-any-return]


@inlined
def shift(weights: Float32Array, moves: Moves, move: int, step: np.float32) -> None:
    """Add `step` to each weight that counts for one of the moves, and take it from each that counts against it."""
    for place in range(moves.counts[move, 0]):
        weights[moves.added[move, place]] += step
    for place in range(moves.counts[move, 1]):
        weights[moves.taken[move, place]] -= step


@inlined
def write_shares(
    weights: Float32Array,
    mover: np.uint64,
    opponent: np.uint64,
    squares: np.uint64,
    through: Int32Array,
    moves: Moves,
    shares: Float32Array,
) -> int:
    """Describe the moves to `squares` and write the share of each; returns how many there are.

    `weights` are those of the stage.
    """
    legal = describe(mover, opponent, squares, through, moves)
    for move in range(legal):
        shares[move] = logit(weights, moves, move)
    softmax(shares[:legal])
    return legal


class Tables(NamedTuple):
    """A policy and what it takes to judge positions too."""

    policy: Float32Array
    """float32 [STAGES, WEIGHTS]"""
    scales: Float32Array
    """float32 [VALUE_STAGES]: the lead, in discs, that is a win rate of 1 / (1 + 1/e), 73 %."""
    patterns: Int16Array
    """int16 [VALUE_STAGES, NUMBERS]: see patterns.py."""
    through: Int32Array = THROUGH


@inlined
def win_rate(tables: Tables, discs: int, numbers: Uint16Array) -> Any:
    """That of the side to move, float32; `numbers` are a row of words as uint16 [1 or more, 48], discs how many there
    are.
    """
    score = np.float32(evaluate(tables.patterns, discs, numbers, 0)) / np.float32(DISC)
    return sigmoid(score / tables.scales[stage_of(discs)])


@compiled
def judge(
    tables: Tables,
    packed: Uint32Array,
    known: Float32Array,
    expands: BoolArray,
    firsts: Int32Array,
    priors: Float32Array,
    values: Float32Array,
    moves: Moves,
) -> None:
    """Fill in the values of packed positions and, where a row `expands`, the priors of their legal moves.

    A value that is `known` is taken as it is. `firsts` says where the priors of each row begin, and the last end.
    """
    numbers = moves.words.view(np.uint16)
    for row in range(len(packed)):
        mover, opponent = unpacked(packed[row])
        discs = count(mover | opponent)
        first, last = firsts[row], firsts[row + 1]
        values[row] = known[row]
        if np.isnan(known[row]):
            write_numbers(mover, opponent, moves.words)
            values[row] = win_rate(tables, discs, numbers)
        if not expands[row]:
            continue
        if last - first == 1:
            priors[first] = 1
            continue
        own, squares = tables.policy[policy_stage(discs)], mobility(mover, opponent)
        write_shares(own, mover, opponent, squares, tables.through, moves, priors[first:last])


class TableEvaluator:
    """Priors by the policy's tables, and values by the patterns. What of a batch is not wanted is not computed."""

    encoding = OTHELLO

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def evaluate(self, batch: Batch) -> Evaluations:
        size = len(batch)
        firsts = batch.firsts[: size + 1]
        priors, values = np.zeros(firsts[-1], np.float32), np.empty(size, np.float32)
        judge(
            self._tables,
            batch.packed[:size],
            batch.known_values[:size],
            batch.expands[:size],
            firsts,
            priors,
            values,
            room_for_moves(),
        )
        return Evaluations(priors, values)


def tables_of(options: OthelloMCTSOptions) -> tuple[TableEvaluator, str]:
    """What evaluates where no network is named, by the tables that the options name; and its name. PlayerError."""
    with files_of_engine():
        policy, scales = load_policy(Path(options.policy or shipped_model() / SHIPPED_POLICY))
        return TableEvaluator(Tables(policy, scales, load_weights(options.weights))), "tables of people's games"


def save_policy(path: Path, policy: Float32Array, scales: Float32Array) -> None:
    """Write a policy and the scales of its values; each weight becomes 8 bits. Raises OSError."""
    steps = np.maximum(np.abs(policy).max(axis=1) / 127, 1e-9).astype(np.float32)
    weights = np.rint(policy / steps[:, None]).astype(np.int8)
    with replacing(path) as file:
        np.savez_compressed(file, weights=weights, steps=steps, scales=scales)


def load_policy(path: Path) -> tuple[Float32Array, Float32Array]:
    """What `save_policy` wrote. Raises ValueError, OSError."""
    weights, steps, scales = named_arrays(path, ["weights", "steps", "scales"], "policy")
    shapes = (weights.shape, steps.shape, scales.shape)
    wanted = ((STAGES, WEIGHTS), (STAGES,), (VALUE_STAGES,))
    kinds = weights.dtype.kind + steps.dtype.kind + scales.dtype.kind
    if shapes != wanted or kinds != "iff" or not (np.isfinite(steps).all() and (scales > 0).all()):
        raise ValueError(f"{path} holds arrays of {shapes}, not of {wanted}, or of other numbers")
    return weights * steps.astype(np.float32)[:, None], scales.astype(np.float32)
