"""How well a network foretells recorded games: moves, results, and how far its win rates can be trusted.

Everything here is numpy on logits; this module knows no framework and no network.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import cshogi
import numpy as np
import numpy.typing as npt

from pydlshogi.dataset import DEFAULT_EVAL_COEF, LOSS, NO_EVAL, WIN, Positions, fit_eval_coef, win_rates
from pydlshogi.features import Float32Array, move_label
from pydlshogi.training.batches import Batch, ValueTarget, encode

BoolArray = npt.NDArray[np.bool_]
Infer = Callable[[Float32Array], tuple[Float32Array, Float32Array]]
Report = dict[str, Any]

PHASES: Final = (("opening", 0, 30), ("middle game", 30, 80), ("endgame", 80, 1 << 16))
"""Name, first ply, and the ply after the last one."""

MODEST_EVAL: Final = 1500
"""Centipawns: larger evaluations of the records do not count when Eval_Coef is fitted."""

_BATCH: Final = 512


def sample(positions: Positions, most: int) -> Positions:
    """Up to `most` of the positions, the same ones every time, in memory."""
    chosen = np.random.default_rng(0).permutation(len(positions))[:most]
    return np.asarray(positions[np.sort(chosen)])


def _batches(positions: Positions) -> Iterator[tuple[Positions, Batch]]:
    """`positions` in their order, none mirrored, _BATCH at a time: the rows and the batch made of them."""
    for start in range(0, len(positions), _BATCH):
        rows = np.asarray(positions[start : start + _BATCH])
        yield rows, encode(rows, np.zeros(len(rows), np.bool_), ValueTarget(1.0, 1.0))


def validate(infer: Infer, positions: Positions) -> Report:
    """What `infer` (planes [B, 104, 9, 9] -> policy and value logits, [B, 2187] and [B]) makes of `positions`.

    policy_loss, top1, top5: of the move played, among all labels. value_loss, value_accuracy: of the result, where the
    game was won and lost. eval_error: root mean square of the distance between the win rates foretold and those of the
    records' evaluations, scaled as they foretell the results best. reliability: for each tenth of the win rate
    foretold, how many positions, the mean win rate foretold and the share won. phases: top1 and value_accuracy for each
    of PHASES.
    """
    ranks, policy_losses, logits = [], [], []
    for _, batch in _batches(positions):
        policy, value = infer(batch.planes)
        played = policy[np.arange(len(policy)), batch.labels]
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


def reliability(rates: npt.NDArray[np.float64], won: BoolArray) -> list[Report]:
    """For each tenth of the win rate foretold: how many positions, the mean win rate foretold, the share won."""
    tenths = np.minimum((rates * 10).astype(np.int64), 9)
    return [
        {"positions": int((tenths == i).sum()), "foretold": _mean(rates[tenths == i]), "won": _mean(won[tenths == i])}
        for i in range(10)
    ]


def cross_entropy(rates: npt.NDArray[np.float64], won: BoolArray) -> npt.NDArray[np.float64]:
    """-ln of the probability given to what happened, for each position."""
    return np.asarray(-np.log(np.where(won, rates, 1.0 - rates).clip(1e-9)))


def fit_for_play(infer: Infer, positions: Positions) -> dict[str, int]:
    """The engine's options that depend on the network, fitted to `positions`.

    Eval_Coef: centipawns for one unit of the value logit, by least squares against the records' evaluations up to
    MODEST_EVAL; DEFAULT_EVAL_COEF where there are none, or the slope is not positive. temperature, in percent: the one
    by which the policy logits of the legal moves must be divided to foretell the moves played best.
    """
    logits, policies = [], []
    board = cshogi.Board()
    for rows, batch in _batches(positions):
        policy, value = infer(batch.planes)
        logits.append(value)
        for code, label, row in zip(rows["hcp"], batch.labels, policy, strict=True):
            board.set_hcp(code)
            legal = np.array([move_label(move, board.turn) for move in board.legal_moves])
            # The move played comes first.
            policies.append(np.concatenate([row[[label]], row[legal[legal != label]]]).astype(np.float64))
    evals, logit = positions["eval"].astype(np.float64), np.concatenate(logits).astype(np.float64)
    known = (positions["eval"] != NO_EVAL) & (np.abs(evals) <= MODEST_EVAL)
    slope = float((evals[known] * logit[known]).sum() / (logit[known] ** 2).sum()) if known.any() else 0.0

    def loss(percent: int) -> float:
        scaled = (row * (100.0 / percent) for row in policies)
        return sum(float(np.log(np.exp(row - row.max()).sum()) + row.max() - row[0]) for row in scaled)

    return {
        "Eval_Coef": max(1, round(slope)) if slope > 0.0 else DEFAULT_EVAL_COEF,
        "temperature": min(range(60, 181, 5), key=loss),
    }


def _log_sum_exp(logits: Float32Array) -> Float32Array:
    top = logits.max(1)
    return np.asarray(top + np.log(np.exp(logits - top[:, None]).sum(1)), np.float32)


def _mean(values: npt.NDArray[Any]) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None
