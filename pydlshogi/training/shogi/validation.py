"""How well a network predicts recorded games: moves, results, and how far its win rates can be trusted.

Everything here is numpy on what a network says of the legal moves; this module knows no framework and no network.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pydlshogi.encoding import Encoding
from pydlshogi.network.backend import Backend
from pydlshogi.support.arrays import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array, Uint32Array
from pydlshogi.training.shogi.evaluations import fit_eval_coef, win_rates
from pydlshogi.training.shogi.recorded import with_legal_moves
from pydlshogi.training.shogi.records import LOSS, NO_EVAL, WIN, Positions

Predict = Callable[[Uint32Array, Int64Array, Int32Array], tuple[Float32Array, Float32Array]]
"""(packed, firsts, labels) -> priors of the legal moves and win rates: `Backend.predict` at temperature 1."""
Report = dict[str, Any]

PHASES: Final = (("opening", 0, 30), ("middle game", 30, 80), ("endgame", 80, 1 << 16))
"""Name, first ply, and the ply after the last one."""

_BATCH: Final = 512
_LEAST: Final = 1e-9
"""Of a prior whose logarithm is taken."""


def sample(positions: Positions, most: int) -> Positions:
    """Up to `most` of the positions, the same ones every time, in memory."""
    chosen = np.random.default_rng(0).permutation(len(positions))[:most]
    return np.asarray(positions[np.sort(chosen)])


def asking(backend: Backend) -> Predict:
    """A loaded network."""
    return lambda packed, firsts, labels: backend.predict(packed, firsts.astype(np.int32), labels, 1.0)


class Said(NamedTuple):
    """What a network says of some positions."""

    priors: Float64Array
    """float64 [all]: of the legal moves."""
    firsts: Int64Array
    """int64 [n + 1]: where those of each position begin, and the last end."""
    played: BoolArray
    """bool [all]: whether that move was played."""
    rates: Float64Array
    """float64 [n]: expected scores."""

    @property
    def of_played(self) -> Float64Array:
        """float64 [n]: the priors of the moves played."""
        return self.priors[self.played]


def said_of(predict: Predict, positions: Positions, encoding: Encoding) -> Iterator[Said]:
    """What `predict` says of `positions`, in their order, _BATCH at a time."""
    for start in range(0, len(positions), _BATCH):
        legal = with_legal_moves(np.asarray(positions[start : start + _BATCH]), encoding)
        priors, rates = predict(legal.packed, legal.firsts, legal.labels)
        yield Said(priors.astype(np.float64).clip(_LEAST), legal.firsts, legal.weights > 0, rates.astype(np.float64))


def validate(predict: Predict, positions: Positions, encoding: Encoding) -> Report:
    """What a network makes of `positions`, in each of which a move was played.

    policy_loss, top1, top5: of the move played, among the legal ones. value_loss, value_accuracy: of the result, where
    the game was won and lost. eval_error: root mean square of the distance between the win rates predicted and those of
    the records' evaluations, scaled as they predict the results best. reliability: for each tenth of the win rate
    predicted, how many positions, the mean win rate predicted and the share won. phases: top1 and value_accuracy for
    each of PHASES.
    """
    ranks, policy_losses, said_rates = [], [], []
    for said in said_of(predict, positions, encoding):
        above = said.priors > np.repeat(said.of_played, np.diff(said.firsts))
        ranks.append(np.add.reduceat(above, said.firsts[:-1], dtype=np.int64))
        policy_losses.append(-np.log(said.of_played))
        said_rates.append(said.rates)
    rank, rates = np.concatenate(ranks), np.concatenate(said_rates)
    decided = (positions["result"] == WIN) | (positions["result"] == LOSS)
    won = positions["result"] == WIN
    correct = (rates > 0.5) == won
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


def _mean(values: npt.NDArray[Any]) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None
