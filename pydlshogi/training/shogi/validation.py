"""How well a network predicts recorded games: moves, results, and how far its win rates can be trusted.

Everything here is numpy on logits; this module knows no framework and no network.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pydlshogi.encoding import Encoding, planes_of
from pydlshogi.support.arrays import BoolArray, Float32Array, Float64Array, Int32Array
from pydlshogi.training.shogi.evaluations import ValueTarget, fit_eval_coef, win_rates
from pydlshogi.training.shogi.recorded import examples_of
from pydlshogi.training.shogi.records import LOSS, NO_EVAL, WIN, Positions

Infer = Callable[[Float32Array], tuple[Float32Array, Float32Array]]
Report = dict[str, Any]

PHASES: Final = (("opening", 0, 30), ("middle game", 30, 80), ("endgame", 80, 1 << 16))
"""Name, first ply, and the ply after the last one."""

_BATCH: Final = 512


def sample(positions: Positions, most: int) -> Positions:
    """Up to `most` of the positions, the same ones every time, in memory."""
    chosen = np.random.default_rng(0).permutation(len(positions))[:most]
    return np.asarray(positions[np.sort(chosen)])


def batches(positions: Positions, encoding: Encoding) -> Iterator[tuple[Positions, Float32Array, Int32Array]]:
    """`positions` in their order, _BATCH at a time: the rows, their planes and the labels of the moves played."""
    for start in range(0, len(positions), _BATCH):
        rows = np.asarray(positions[start : start + _BATCH])
        examples = examples_of(rows, encoding, ValueTarget(1.0, 1.0))
        yield rows, planes_of(encoding, examples.packed), examples.labels


def validate(infer: Infer, positions: Positions, encoding: Encoding) -> Report:
    """What `infer` (planes [B, planes, height, width] -> policy and value logits) makes of `positions`.

    policy_loss, top1, top5: of the move played, among all labels. value_loss, value_accuracy: of the result, where the
    game was won and lost. eval_error: root mean square of the distance between the win rates predicted and those of the
    records' evaluations, scaled as they predict the results best. reliability: for each tenth of the win rate
    predicted, how many positions, the mean win rate predicted and the share won. phases: top1 and value_accuracy for
    each of PHASES.
    """
    ranks, policy_losses, logits = [], [], []
    for _, planes, labels in batches(positions, encoding):
        policy, value = infer(planes)
        played = policy[np.arange(len(policy)), labels]
        ranks.append((policy > played[:, None]).sum(1))
        policy_losses.append(_log_sum_exp(policy) - played)
        logits.append(value)
    rank, logit = np.concatenate(ranks), np.concatenate(logits)
    decided = (positions["result"] == WIN) | (positions["result"] == LOSS)
    won = positions["result"] == WIN
    correct = (logit > 0) == won
    rates = 1.0 / (1.0 + np.exp(-logit.astype(np.float64)))
    judged = positions["eval"] != NO_EVAL
    errors = rates[judged] - win_rates(positions["eval"][judged], fit_eval_coef(positions))
    phases = {}
    for name, first, end in PHASES:
        inside = (positions["ply"] >= first) & (positions["ply"] < end)
        phases[name] = {
            "positions": int(inside.sum()),
            "top1": _mean(rank[inside] == 0),
            "value_accuracy": _mean(correct[inside & decided]),
        }
    return {
        "positions": len(positions),
        "policy_loss": _mean(np.concatenate(policy_losses)),
        "top1": _mean(rank == 0),
        "top5": _mean(rank < 5),
        "value_loss": _mean(cross_entropy(rates[decided], won[decided])),
        "value_accuracy": _mean(correct[decided]),
        "eval_error": round(float(np.sqrt((errors**2).mean())), 4) if len(errors) else None,
        "reliability": reliability(rates[decided], won[decided]),
        "phases": phases,
    }


def reliability(rates: Float64Array, won: BoolArray) -> list[Report]:
    """For each tenth of the win rate predicted: how many positions, the mean win rate predicted, the share won."""
    tenths = np.minimum((rates * 10).astype(np.int64), 9)
    return [
        {"positions": int((tenths == i).sum()), "predicted": _mean(rates[tenths == i]), "won": _mean(won[tenths == i])}
        for i in range(10)
    ]


def cross_entropy(rates: Float64Array, won: BoolArray) -> Float64Array:
    """-ln of the probability given to what happened, for each position."""
    return np.asarray(-np.log(np.where(won, rates, 1.0 - rates).clip(1e-9)))


def _log_sum_exp(logits: Float32Array) -> Float32Array:
    top = logits.max(1)
    return np.asarray(top + np.log(np.exp(logits - top[:, None]).sum(1)), np.float32)


def _mean(values: npt.NDArray[Any]) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None
