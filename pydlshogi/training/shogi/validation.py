"""How well a network predicts recorded games of shogi: beside what every game has, the evaluations in the records."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.training.shogi.evaluations import fit_eval_coef, win_rates
from pydlshogi.training.shogi.recorded import with_legal_moves
from pydlshogi.training.shogi.records import LOSS, NO_EVAL, WIN, Positions
from pydlshogi.training.validation import Predict, Report, Said, asked, report_of

PHASES: Final = (("opening", 0, 30), ("middle game", 30, 80), ("endgame", 80, 1 << 16))
"""See `training.validation.Phases`."""

_BATCH: Final = 512


def sample(positions: Positions, most: int) -> Positions:
    """Up to `most` of the positions, the same ones every time, in memory."""
    chosen = np.random.default_rng(0).permutation(len(positions))[:most]
    return np.asarray(positions[np.sort(chosen)])


def said_of(predict: Predict, positions: Positions, encoding: Encoding) -> Iterator[Said]:
    """What `predict` says of `positions`, in their order, _BATCH at a time."""
    for start in range(0, len(positions), _BATCH):
        legal = with_legal_moves(np.asarray(positions[start : start + _BATCH]), encoding)
        yield asked(predict, legal.packed, legal.firsts, legal.labels, legal.weights > 0)


def validate(predict: Predict, positions: Positions, encoding: Encoding) -> Report:
    """What a network makes of `positions`, in each of which a move was played: `report_of` with PHASES, and eval_error.

    That is the root mean square of the distance between the win rates predicted and those of the records' evaluations,
    scaled as they predict the results best.
    """
    answers = list(said_of(predict, positions, encoding))
    won, lost = positions["result"] == WIN, positions["result"] == LOSS
    judged = positions["eval"] != NO_EVAL
    rates = np.concatenate([said.rates for said in answers])
    errors = rates[judged] - win_rates(positions["eval"][judged], fit_eval_coef(positions))
    return {
        **report_of(answers, won, won | lost, positions["ply"].astype(np.int64), PHASES),
        "eval_error": round(float(np.sqrt((errors**2).mean())), 4) if len(errors) else None,
    }
