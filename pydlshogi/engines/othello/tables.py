"""What Othello's tables say of a batch: an evaluator by patterns, and rollouts."""

import random

import numpy as np

from pydlshogi.engines.othello.patterns import shipped_weights
from pydlshogi.engines.othello.policy import SHIPPED_POLICY, Tables, judge, load_policy, room_for_moves
from pydlshogi.engines.othello.rollouts import play_all
from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.support.arrays import Float32Array
from pydlshogi.support.files import shipped_model
from pydlshogi.uct.batch import Batch, Evaluations


class TableEvaluator:
    """Priors by the policy's tables, and values by the patterns. What of a batch is not wanted is not computed."""

    encoding = OTHELLO

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def evaluate(self, batch: Batch) -> Evaluations:
        size = len(batch)
        firsts = batch.firsts[: size + 1]
        priors, values = np.zeros(firsts[-1] if size else 0, np.float32), np.empty(size, np.float32)
        judge(
            self._tables,
            batch.packed[:size],
            batch.known[:size],
            batch.expands[:size],
            firsts,
            priors,
            values,
            room_for_moves(),
        )
        return Evaluations(priors, values)


def shipped_tables() -> TableEvaluator:
    """By the tables that come with the package. Raises ValueError, OSError."""
    policy, scales = load_policy(shipped_model() / SHIPPED_POLICY)
    return TableEvaluator(Tables(policy, scales, shipped_weights()))


class TableRollouts:
    """Games played out by the tables of `rollouts.py`."""

    def __init__(self, weights: Float32Array, seed: int | None = None) -> None:
        """`seed`: decides all games, if they are asked for by one thread. None: each time other games."""
        self._weights = weights
        self._random = random.Random(seed)

    def results(self, batch: Batch) -> Float32Array:
        results = np.empty(len(batch), np.float32)
        lot = np.array([self._random.getrandbits(64)], np.uint64)
        play_all(batch.packed[: len(batch)], self._weights, lot, results)
        return results
