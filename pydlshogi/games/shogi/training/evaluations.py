"""The evaluations of recorded games: centipawns to win rates, and what they and results say of a position's value."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from pydlshogi.games.shogi.training.records import MAX_EVAL, NO_EVAL, NO_RESULT, WIN, Positions
from pydlshogi.support.arrays import Float32Array, Int16Array

DEFAULT_EVAL_COEF: Final = 600
"""The python-dlshogi book's."""
_LARGEST_LEAD: Final = 0.5 - 1e-9
"""Of a mean win rate over a half: a mate is no infinite evaluation."""


def win_rates(evals: Int16Array, eval_coef: float) -> Float32Array:
    """Expected scores 0..1 of evaluations in centipawns: 1 / (1 + exp(-eval / eval_coef))."""
    return (0.5 + 0.5 * np.tanh(evals / (2.0 * eval_coef))).astype(np.float32)


@dataclass(frozen=True)
class ValueTarget:
    """How the expected score is made of a game's result and the record's evaluation.

    `val_lambda` x result + (1 - `val_lambda`) / (1 + exp(-eval / `eval_coef`)), or the one of the two that is known.
    """

    val_lambda: float
    eval_coef: float

    def __call__(self, rows: Positions) -> tuple[Float32Array, Float32Array]:
        """Expected scores and their weights, float32 [B] each; where neither is known the weight is 0."""
        has_result, has_eval = rows["result"] != NO_RESULT, rows["eval"] != NO_EVAL
        results = (rows["result"].astype(np.float32) + 1.0) / 2.0
        shares = np.where(has_result, np.where(has_eval, self.val_lambda, 1.0), 0.0)
        values = shares * results + (1.0 - shares) * win_rates(rows["eval"], self.eval_coef)
        return values.astype(np.float32), (has_result | has_eval).astype(np.float32)


def averaged_evals(positions: Positions, plies: int, eval_coef: float) -> Int16Array:
    """For each position the mean, taken of win rates, of the evaluations of `plies` positions of its game from it on.

    int16, NO_EVAL where none of them is known; `positions` whose plies go on are those of one game, in order. Two
    players judge a game with two programs, so the mean is nearer to the truth than the mover's evaluation alone.
    """
    known = positions["eval"] != NO_EVAL
    side = np.where(positions["ply"] % 2 == 0, 1.0, -1.0)
    leads = np.where(known, side * (win_rates(positions["eval"], eval_coef) - 0.5), 0.0)
    game = np.cumsum(np.diff(positions["ply"].astype(np.int64), prepend=-1) != 1)
    totals, counts = np.zeros(len(leads)), np.zeros(len(leads))
    for ahead in range(min(plies, len(leads))):
        here, there = slice(len(leads) - ahead), slice(ahead, None)
        counted = known[there] & (game[there] == game[here])
        totals[here] += counted * leads[there]
        counts[here] += counted
    leads = side * totals / counts.clip(1.0)
    evals = 2.0 * eval_coef * np.arctanh(2.0 * leads.clip(-_LARGEST_LEAD, _LARGEST_LEAD))
    return np.where(counts > 0, evals.round(), NO_EVAL).astype(np.int16)


def fit_eval_coef(positions: Positions) -> float:
    """The `eval_coef` with which the records' evaluations predict their results best (least cross entropy).

    DEFAULT_EVAL_COEF where no position has both.
    """
    known = (np.abs(positions["result"]) == WIN) & (np.abs(positions["eval"].astype(np.int64)) <= MAX_EVAL)
    evals, won = positions["eval"][known], positions["result"][known] == WIN
    if not len(evals):
        return float(DEFAULT_EVAL_COEF)

    def cross_entropy(eval_coef: float) -> float:
        rates = win_rates(evals, eval_coef).clip(1e-3, 1 - 1e-3)
        return float(-np.log(np.where(won, rates, 1 - rates)).mean())

    return float(min(range(100, 1501, 10), key=cross_entropy))
