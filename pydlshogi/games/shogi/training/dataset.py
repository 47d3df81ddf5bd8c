"""What `train` learns shogi from: recorded games, positions that another program judged, positions searched anew; how
well a network predicts such games, and what is fitted to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.games.shogi.sparse import ALL_ENCODINGS
from pydlshogi.games.shogi.training.formats import load
from pydlshogi.games.shogi.training.recorded import (
    DEFAULT_EVAL_COEF,
    Recorded,
    Searched,
    Several,
    ValueTarget,
    averaged_evals,
    fit_eval_coef,
    read_sets,
    win_rates,
    with_legal_moves,
)
from pydlshogi.games.shogi.training.records import LOSS, NO_EVAL, WIN, Positions, limit_repeats
from pydlshogi.support.arrays import Int64Array
from pydlshogi.support.command_line import SettingError, setting
from pydlshogi.support.files import cache_folder
from pydlshogi.training.examples import TrainingBatch, batch_of
from pydlshogi.training.journal import say
from pydlshogi.training.settings import DatasetError, FromRecords, TrainingEntry
from pydlshogi.training.validation import Predict, Report, Said, asked, best_temperature, report_of, sample

EVAL_COEF: Final = {"train": "eval_coef", "taught": "taught_eval_coef", "searched": "searched_eval_coef"}
"""By the name of a source: centipawns of its evaluations for one unit of the logit of a win rate; kept with the run."""

PHASES: Final = (("opening", 0, 30), ("middle game", 30, 80), ("endgame", 80, 1 << 16))
"""See `training.validation.Phases`."""
MODEST_EVAL: Final = 1500
"""Centipawns: larger evaluations of the records do not count when Eval_Coef is fitted."""
_LEAST_RATE: Final = 1e-6
"""Of a win rate whose logit is taken."""


@dataclass(frozen=True)
class Settings(FromRecords):
    """Everything a run depends on; its checkpoints carry it along."""

    train: str = setting(
        "", "what to learn from: games.jsonl(.xz), a list of record files, or .psv, .hcpe, .hcpe3, .pack"
    )
    more: str = setting("", "list of further record files to learn from, of them only the results: own games, say")
    taught: str = setting(
        "", "the same with evals on another scale, to learn from too, or alone: a folder of `utils.lab.teach`, say"
    )
    searched: str = setting(
        "", "folder of `utils.lab.search_records`, or .hcpe3 with its visits, to learn from too, or alone"
    )
    val: str = setting("", "games to validate with, of either kind; left out: the val split of the games.jsonl")
    cache: str = setting("", "folder of packed positions; left out: pydlshogi in the user's cache folder")
    encoding: str = setting(
        "",
        "planes and labels: the book's, dlshogi's, dlshogi's and more, or the sparse network's",
        *("", *(each.name for each in ALL_ENCODINGS)),
    )

    val_lambda: float = setting(
        0.6, "share of the game's result in the value target; the rest is the record's eval", low=0, high=1
    )
    search_value: float = setting(
        0.5, "share of a search's expected score in the value target of a searched position", low=0, high=1
    )
    eval_plies: int = setting(1, "plies, from the position on, whose evals are averaged for the value target", low=1)
    repeats: int = setting(16, "how often the same position may count in an epoch", low=1)

    def check(self) -> None:
        super().check()
        if not self.val and ".jsonl" not in Path(self.train).name:
            raise SettingError("--val is needed: a list of records has no val split")

    @property
    def sources(self) -> str:
        return self.train or self.taught or self.searched


QUICK: Final[dict[str, Any]] = {
    "out": "runs/quick",
    "train": "kiflist_train_1000.txt",
    "val": "kiflist_test_100.txt",
    "depth": 3,
    "channels": 64,
    "hours": 0.075,
    "validate_every": 200,
    "validate_positions": 2048,
    "average": 0.99,
}
"""What --quick sets: a small network from the records of this repository, in about five minutes on two cores."""

ON_RESUME: Final = frozenset({"more", "taught", "searched", "cache"})
"""What may be said anew with --resume, beside what may be for every game."""


class ShogiDataset:
    """A `training.settings.Dataset`."""

    symmetries = 1

    def __init__(self, settings: Settings, encoding: Encoding, kept: dict[str, float]) -> None:
        data, self._val = load_data(settings)
        for name, each in data.items():
            if EVAL_COEF[name] not in kept:
                kept[EVAL_COEF[name]] = fit_eval_coef(positions_of(each))
        generator, ends = np.random.default_rng(settings.seed), np.cumsum([0, *map(len, data.values())])
        often_enough = (limit_repeats(positions_of(each), settings.repeats, generator) for each in data.values())
        self.rows = np.concatenate([end + rows for end, rows in zip(ends, often_enough, strict=False)])
        self._source = source_of(data, settings, encoding, kept)
        self._encoding = encoding

    def batch(self, rows: Int64Array, turns: Int64Array) -> TrainingBatch:
        # What a sparse encoding has packed cannot be turned: the positions are.
        mirrored = None if self._encoding.planes else turns > 0
        return batch_of(self._source.examples(rows, mirrored), self._encoding, turns)

    def validate(self, predict: Predict, most: int) -> Report:
        return validate(predict, sample(self._val, most), self._encoding)

    def fit(self, predict: Predict, most: int) -> dict[str, int]:
        return fit_for_play(predict, sample(self._val, most), self._encoding)


def load_data(settings: Settings) -> tuple[dict[str, Positions | Searched], Positions]:
    """What is to be learned, by the name of its source, and positions to validate with."""
    cache = Path(settings.cache) if settings.cache else cache_folder()
    val = load(Path(settings.val or settings.train), "val", cache, say)
    data: dict[str, Positions | Searched] = {}
    if settings.train:
        learned = load(Path(settings.train), "train", cache, say)
        if not settings.val and np.array_equal(learned["hcp"][learned["move"] != 0], val["hcp"]):
            raise DatasetError(f"--val is needed: no line of {settings.train} has a split")
        if settings.more:
            further = np.array(load(Path(settings.more), "train", cache, say))
            # The engine's own opinion of its games teaches it nothing, and is on another scale.
            further["eval"] = NO_EVAL
            learned = np.concatenate([learned, further])
        data["train"] = learned
    if settings.taught:
        data["taught"] = load(Path(settings.taught), "train", cache, say)
    if settings.searched:
        data["searched"] = read_sets(Path(settings.searched), say)
    return data, val


def positions_of(data: Positions | Searched) -> Positions:
    """Without what was found in them."""
    return data.positions if isinstance(data, Searched) else data


def source_of(
    data: Mapping[str, Positions | Searched], settings: Settings, encoding: Encoding, kept: Mapping[str, float]
) -> Several:
    """All that is to be learned as examples, `kept` having the scales of the evaluations."""
    sources = []
    for name, each in data.items():
        target, known = ValueTarget(settings.val_lambda, kept[EVAL_COEF[name]]), each
        if settings.eval_plies > 1 and name == "train" and not isinstance(each, Searched):
            known = np.array(each)
            known["eval"] = averaged_evals(each, settings.eval_plies, target.eval_coef)
        sources.append(Recorded(known, encoding, target, settings.search_value))
    return Several(sources)


def said_of(predict: Predict, positions: Positions, encoding: Encoding) -> list[Said]:
    """What `predict` says of `positions`, in their order."""
    return asked(predict, positions, lambda part: with_legal_moves(part, encoding))


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


TRAINING: Final = TrainingEntry(Settings, ShogiDataset, ON_RESUME, QUICK)
