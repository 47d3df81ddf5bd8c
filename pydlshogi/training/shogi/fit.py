"""Options of the engine that depend on the network, fitted to recorded positions."""

from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.training.shogi.evaluations import DEFAULT_EVAL_COEF
from pydlshogi.training.shogi.records import NO_EVAL, Positions
from pydlshogi.training.shogi.validation import said_of
from pydlshogi.training.validation import Predict, best_temperature

MODEST_EVAL: Final = 1500
"""Centipawns: larger evaluations of the records do not count when Eval_Coef is fitted."""
_LEAST_RATE: Final = 1e-6
"""Of a win rate whose logit is taken."""


def fit_for_play(predict: Predict, positions: Positions, encoding: Encoding) -> dict[str, int]:
    """The options, fitted to `positions`.

    Eval_Coef: centipawns for one unit of the logit of the win rate, by least squares against the records' evaluations
    up to MODEST_EVAL; DEFAULT_EVAL_COEF where there are none, or the slope is not positive. temperature: see
    `best_temperature`.
    """
    answers = list(said_of(predict, positions, encoding))
    rates = np.concatenate([said.rates for said in answers]).clip(_LEAST_RATE, 1 - _LEAST_RATE)
    logit = np.log(rates / (1 - rates))
    evals = positions["eval"].astype(np.float64)
    known = (positions["eval"] != NO_EVAL) & (np.abs(evals) <= MODEST_EVAL)
    slope = float((evals[known] * logit[known]).sum() / (logit[known] ** 2).sum()) if known.any() else 0.0
    return {
        "Eval_Coef": max(1, round(slope)) if slope > 0.0 else DEFAULT_EVAL_COEF,
        "temperature": best_temperature(answers),
    }
