"""Options of the engine that depend on the network, fitted to recorded positions."""

from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding, labels_of
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.training.shogi.evaluations import DEFAULT_EVAL_COEF
from pydlshogi.training.shogi.records import NO_EVAL, Positions
from pydlshogi.training.shogi.validation import Infer, batches

MODEST_EVAL: Final = 1500
"""Centipawns: larger evaluations of the records do not count when Eval_Coef is fitted."""


def fit_for_play(infer: Infer, positions: Positions, encoding: Encoding) -> dict[str, int]:
    """The options, fitted to `positions`.

    Eval_Coef: centipawns for one unit of the value logit, by least squares against the records' evaluations up to
    MODEST_EVAL; DEFAULT_EVAL_COEF where there are none, or the slope is not positive. temperature, in percent: the one
    by which the policy logits of the legal moves must be divided to predict the moves played best.
    """
    logits, policies = [], []
    position = ShogiPosition()
    for rows, planes, labels in batches(positions, encoding):
        policy, value = infer(planes)
        logits.append(value)
        for code, label, row in zip(np.ascontiguousarray(rows["hcp"]), labels, policy, strict=True):
            position.board.set_hcp(code)
            legal = labels_of(encoding, encoding.state(position), position.legal_moves())
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
