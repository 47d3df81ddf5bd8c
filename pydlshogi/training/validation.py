"""How well a network predicts recorded games: moves, results, and how far its win rates can be trusted.

Everything here is numpy on what a network says of the legal moves; this module knows no framework and no network.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pydlshogi.network.backend import Backend
from pydlshogi.support.arrays import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array, Records, Uint32Array

Predict = Callable[[Uint32Array, Int64Array, Int32Array], tuple[Float32Array, Float32Array]]
"""(packed, firsts, labels) -> priors of the legal moves and win rates: `Backend.predict` at temperature 1."""
Report = dict[str, Any]
Phases = Sequence[tuple[str, int, int]]
"""Name, first ply, and the ply after the last one."""

Legal = tuple[Uint32Array, Int64Array, Int32Array, Float32Array]
"""Packed positions with the labels of their legal moves, as the first fields of `Examples`; the weight of the move that
was played is above 0."""

_AT_ONCE: Final = 512
_LEAST: Final = 1e-9
"""Of a prior whose logarithm is taken."""


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


def sample(positions: Records, most: int) -> Records:
    """Up to `most` of the positions, the same ones every time, in memory; 0: all of them, where they are."""
    if not most:
        return positions
    chosen = np.random.default_rng(0).permutation(len(positions))[:most]
    return np.asarray(positions[np.sort(chosen)])


def asked(predict: Predict, positions: Records, legal: Callable[[Records], Legal]) -> list[Said]:
    """What `predict` says of positions, some hundred at a time; `legal` gives their legal moves."""
    answers = []
    for start in range(0, len(positions), _AT_ONCE):
        packed, firsts, labels, weights = legal(np.asarray(positions[start : start + _AT_ONCE]))
        priors, rates = predict(packed, firsts, labels)
        answers.append(Said(priors.astype(np.float64).clip(_LEAST), firsts, weights > 0, rates.astype(np.float64)))
    return answers


def report_of(answers: Sequence[Said], won: BoolArray, decided: BoolArray, plies: Int64Array, phases: Phases) -> Report:
    """What a network made of positions; whether the side to move has `won` its game, and whether either has: [n] each.

    policy_loss, top1, top5: of the move played, among the legal ones. value_loss, value_accuracy: of the result, where
    the game was won and lost. reliability: for each tenth of the win rate predicted, how many positions, the mean win
    rate predicted and the share won. phases: top1 and value_accuracy for each of them.
    """
    rank = np.concatenate([_ranks(said) for said in answers])
    rates = np.concatenate([said.rates for said in answers])
    correct = (rates > 0.5) == won
    of_phases = {}
    for name, first, end in phases:
        inside = (plies >= first) & (plies < end)
        of_phases[name] = {
            "positions": int(inside.sum()),
            "top1": _mean(rank[inside] == 0),
            "value_accuracy": _mean(correct[inside & decided]),
        }
    return {
        "positions": len(rank),
        "policy_loss": _mean(np.concatenate([-np.log(said.of_played) for said in answers])),
        "top1": _mean(rank == 0),
        "top5": _mean(rank < 5),
        "value_loss": _mean(cross_entropy(rates[decided], won[decided])),
        "value_accuracy": _mean(correct[decided]),
        "reliability": reliability(rates[decided], won[decided]),
        "phases": of_phases,
    }


def _ranks(said: Said) -> Int64Array:
    """int64 [n]: how many moves are liked better than the one played."""
    above = said.priors > np.repeat(said.of_played, np.diff(said.firsts))
    return np.add.reduceat(above, said.firsts[:-1], dtype=np.int64)


def best_temperature(answers: Sequence[Said]) -> int:
    """In percent: the one by which the policy logits must be divided to predict the moves played best."""

    def loss(percent: int) -> float:
        sharper = 100.0 / percent
        totals = (np.add.reduceat(said.priors**sharper, said.firsts[:-1]) for said in answers)
        return sum(
            float((np.log(total) - sharper * np.log(said.of_played)).sum())
            for said, total in zip(answers, totals, strict=True)
        )

    return min(range(60, 181, 5), key=loss)


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
