"""Rollouts: whole games played in a moment, each move sampled by what stands around its square.

A move is sampled in proportion to its weight, which depends on the stage of the game (that of policy.py), on its square
and on the eight squares around it: the side to move's disc, the opponent's, or none. Squares that are the same but for
a rotation or a mirror share their weights.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from pydlshogi.evaluator import RolloutEvaluator
from pydlshogi.games.othello.encodings import unpacked
from pydlshogi.games.othello.engine import files_of_engine
from pydlshogi.games.othello.engine.options import OthelloMCTSOptions
from pydlshogi.games.othello.engine.policy import STAGES, policy_stage
from pydlshogi.games.othello.rules import MOST_MOVES, final_score, moved, to_move
from pydlshogi.games.othello.squares import BESIDE, ONE, TURNED, ZERO, count, lowest
from pydlshogi.support.arrays import Float32Array, Int32Array, Uint32Array, Uint64Array, named_arrays
from pydlshogi.support.files import replacing, shipped_model
from pydlshogi.support.kernels.compiled import allocating, inlined
from pydlshogi.support.kernels.hashes import splitmix
from pydlshogi.uct.batch import Batch, Evaluator

SHIPPED_ROLLOUTS: Final = "othello_rollouts.npz"
SURROUNDINGS: Final = 3**8
"""What the eight squares around one can hold: 0 empty or no square, 1 the mover's disc, 2 the opponent's, each."""

_STEP: Final[Any] = np.uint64(0x9E3779B97F4A7C15)


def _digits() -> Int32Array:
    """int32 [256]: a set of squares around one, in rising order, as a number with a digit for each."""
    bits = np.arange(256)[:, None] >> np.arange(8) & 1
    digits: Int32Array = (bits * 3 ** np.arange(8)).sum(axis=1).astype(np.int32)
    return digits


def _classes() -> Int32Array:
    """int32 [64, SURROUNDINGS]: the number of the weight that each square and its surroundings share with others."""
    digits = np.arange(SURROUNDINGS)[:, None] // 3 ** np.arange(8) % 3
    seen, steps = TURNED.astype(np.int64), np.array([-9, -8, -7, -1, 1, 7, 8, 9])
    places = np.searchsorted(steps, seen[:, 27 + steps] - seen[:, [27]])  # 27 is any square with eight around it
    numbers = (digits * 3 ** places[:, None]).sum(axis=2)
    classes = np.min([SURROUNDINGS * seen[turn, :, None] + numbers[turn] for turn in range(8)], axis=0)
    return np.unique(classes, return_inverse=True)[1].reshape(classes.shape).astype(np.int32)


_DIGITS: Final = _digits()
CLASSES: Final = _classes()
WEIGHTS: Final = int(CLASSES.max()) + 1
"""Of a stage."""


@inlined
def _gathered(discs: np.uint64, square: np.uint64) -> np.uint64:
    """Which of the squares around one are among `discs`, as eight bits in rising order."""
    near = discs & BESIDE[square]
    # The square nine below comes to bit 0, the others to 1, 2; 8, 10; 16, 17 and 18.
    near = near >> (square - np.uint64(9)) if square >= np.uint64(9) else near << (np.uint64(9) - square)
    low = (near & np.uint64(7)) | (near >> np.uint64(5) & np.uint64(8)) | (near >> np.uint64(6) & np.uint64(16))
    return np.uint64(low | (near >> np.uint64(11) & np.uint64(0xE0)))


@inlined
def surroundings(mover: np.uint64, opponent: np.uint64, square: np.uint64) -> int:
    """What stands around a square: below SURROUNDINGS."""
    return int(_DIGITS[_gathered(mover, square)] + 2 * _DIGITS[_gathered(opponent, square)])


@inlined
def uniform(state: Uint64Array) -> float:
    """A number from 0 to 1, 1 excluded; `state`, uint64 [1], moves on [splitmix64]."""
    state[0] += _STEP
    return float(splitmix(state[0]) >> np.uint64(11)) * 2.0**-53


@inlined
def play_out(mover: np.uint64, opponent: np.uint64, weights: Float32Array, sums: Float32Array, rng: Uint64Array) -> int:
    """By how many discs the side to move wins a game played to its end at random.

    `weights`: float32 [STAGES, 64, SURROUNDINGS], above 0; `sums`: float32 [MOST_MOVES], to work with; `rng`: see
    `uniform`.
    """
    turns = 0
    while True:
        mover, opponent, moves, passed = to_move(mover, opponent)
        turns += passed
        if moves == ZERO:
            break
        square = lowest(moves)
        if moves & (moves - ONE) != ZERO:
            total, number, left = np.float32(0), 0, moves
            stage = policy_stage(count(mover | opponent))
            while left != ZERO:
                each = lowest(left)
                left &= left - ONE
                total += weights[stage, each, surroundings(mover, opponent, each)]
                sums[number] = total
                number += 1
            wanted = np.float32(uniform(rng)) * total
            number = 0
            while sums[number] < wanted:
                number += 1
                moves &= moves - ONE
            square = lowest(moves)
        mover, opponent = moved(mover, opponent, square)
        turns += 1
    score = final_score(mover, opponent)
    return -score if turns & 1 else score


@allocating
def play_all(packed: Uint32Array, weights: Float32Array, rng: Uint64Array, results: Float32Array) -> None:
    """Play packed positions to their ends; each result is 1 if the side to move has won, 0.5 draw, 0 if it has lost."""
    sums = np.empty(MOST_MOVES, np.float32)
    for row in range(len(packed)):
        mover, opponent = unpacked(packed[row])
        results[row] = 0.5 + 0.5 * np.sign(play_out(mover, opponent, weights, sums, rng))


def table_rollouts(weights: Float32Array, seed: int | None = None) -> Callable[[Batch], Float32Array]:
    """Plays positions on to the end: results as `play_all` has them. `seed` decides all games, if one thread alone asks
    for them; None: each time other games."""
    lots = random.Random(seed)

    def roll_out(batch: Batch) -> Float32Array:
        results = np.empty(len(batch), np.float32)
        play_all(batch.packed[: len(batch)], weights, np.array([lots.getrandbits(64)], np.uint64), results)
        return results

    return roll_out


def with_rollouts(evaluator: Evaluator, options: OthelloMCTSOptions) -> Evaluator:
    """The evaluator, a share of its values rolled out. Raises PlayerError."""
    if not options.rollout_share:
        return evaluator
    path = Path(options.rollouts_file or shipped_model() / SHIPPED_ROLLOUTS)
    with files_of_engine():
        roll_out = table_rollouts(load_rollouts(path), options.seed or None)
    return RolloutEvaluator(evaluator, roll_out, options.rollout_share)


def save_rollouts(path: Path, logits: Float32Array) -> None:
    """Write the logarithms of weights, float32 [STAGES, WEIGHTS]. Raises OSError."""
    with replacing(path) as file:
        np.savez_compressed(file, logits=logits.astype(np.float16))


def load_rollouts(path: Path) -> Float32Array:
    """Weights that `save_rollouts` wrote, as `play_out` takes them. Raises ValueError, OSError."""
    (logits,) = named_arrays(path, ["logits"], "weights of rollouts")
    if logits.shape != (STAGES, WEIGHTS) or logits.dtype.kind != "f" or not np.isfinite(logits).all():
        raise ValueError(f"{path} holds {logits.dtype} {list(logits.shape)}, not {[STAGES, WEIGHTS]} numbers")
    return weights_of(logits.astype(np.float32))


def weights_of(logits: Float32Array) -> Float32Array:
    """float32 [STAGES, 64, SURROUNDINGS]: the weights of these logarithms, float32 [STAGES, WEIGHTS], each no more than
    a million times another's.
    """
    highest = np.clip(logits, -7, 7)
    weights: Float32Array = np.exp(highest).astype(np.float32)[:, CLASSES]
    return np.ascontiguousarray(weights)
