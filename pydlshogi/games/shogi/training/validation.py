"""How well a network predicts recorded games of shogi, with their evaluations; and what is fitted to them."""

from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.games.shogi.training.evaluations import DEFAULT_EVAL_COEF, fit_eval_coef, win_rates
from pydlshogi.games.shogi.training.recorded import with_legal_moves
from pydlshogi.games.shogi.training.records import LOSS, NO_EVAL, WIN, Positions
from pydlshogi.training.validation import Predict, Report, Said, asked, best_temperature, report_of

PHASES: Final = (("opening", 0, 30), ("middle game", 30, 80), ("endgame", 80, 1 << 16))
"""See `training.validation.Phases`."""
MODEST_EVAL: Final = 1500
"""Centipawns: larger evaluations of the records do not count when Eval_Coef is fitted."""
_LEAST_RATE: Final = 1e-6
"""Of a win rate whose logit is taken."""


def said_of(predict: Predict, positions: Positions, encoding: Encoding) -> list[Said]:
    """What `predict` says of `positions`, in their order."""
    return asked(predict, positions, lambda part: with_legal_moves(part, encoding)[:4])


def validate(predict: Predict, positions: Positions, encoding: Encoding) -> Report:
    """What a network makes of `positions`, in each of which a move was played: `report_of` with PHASES, and eval_error.

    That is the root mean square of the distance between the win rates predicted and those of the records' evaluations,
    scaled as they predict the results best.
    """
    answers = said_of(predict, positions, encoding)
    won, lost = positions["result"] == WIN, positions["result"] == LOSS
    judged = positions["eval"] != NO_EVAL
    rates = np.concatenate([said.rates for said in answers])
    errors = rates[judged] - win_rates(positions["eval"][judged], fit_eval_coef(positions))
    return {
        **report_of(answers, won, won | lost, positions["ply"].astype(np.int64), PHASES),
        "eval_error": round(float(np.sqrt((errors**2).mean())), 4) if len(errors) else None,
    }


def fit_for_play(predict: Predict, positions: Positions, encoding: Encoding) -> dict[str, int]:
    """Options of the engine that depend on the network, fitted to `positions`.

    Eval_Coef: centipawns for one unit of the logit of the win rate, by least squares against the records' evaluations
    up to MODEST_EVAL; DEFAULT_EVAL_COEF where there are none, or the slope is not positive. temperature: see
    `best_temperature`.
    """
    answers = said_of(predict, positions, encoding)
    rates = np.concatenate([said.rates for said in answers]).clip(_LEAST_RATE, 1 - _LEAST_RATE)
    logit = np.log(rates / (1 - rates))
    evals = positions["eval"].astype(np.float64)
    known = (positions["eval"] != NO_EVAL) & (np.abs(evals) <= MODEST_EVAL)
    slope = float((evals[known] * logit[known]).sum() / (logit[known] ** 2).sum()) if known.any() else 0.0
    return {
        "Eval_Coef": max(1, round(slope)) if slope > 0.0 else DEFAULT_EVAL_COEF,
        "temperature": best_temperature(answers),
    }
