"""What `train` learns Othello from: the moves of recorded games, and who won them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.games.othello.encodings import OTHELLO, WORDS, pack
from pydlshogi.games.othello.rules import MOST_MOVES, STATE, States, mobility
from pydlshogi.games.othello.squares import ONE, TURNED, ZERO, lowest, turned
from pydlshogi.games.othello.wthor import Games, held_out, positions_of, read_archive
from pydlshogi.support.arrays import Float32Array, Int32Array, Int64Array, Records, Uint32Array
from pydlshogi.support.command_line import setting
from pydlshogi.support.kernels.compiled import compiled
from pydlshogi.training.examples import TrainingBatch, inputs_of
from pydlshogi.training.settings import DatasetError, FromRecords, TrainingEntry
from pydlshogi.training.validation import Legal, Predict, Report, Said, asked, best_temperature, report_of, sample

_NO_GAMES: Final = {".json", ".jou", ".trn"}
"""What lies beside games: the settings of their self-play, WTHOR's lists of players and tournaments."""
PHASES: Final = (("opening", 0, 20), ("middle game", 20, 40), ("endgame", 40, 60))


@dataclass(frozen=True)
class Settings(FromRecords):
    """Everything a run depends on; its checkpoints carry it along."""

    train: str = setting("", "games to learn from, WTHOR, GGF or transcripts: a file, or a folder of such files")
    val: str = setting("", "games to validate with; left out: one in twenty, which are not learned from")
    encoding: str = setting("", "how the network sees the game; left out: by its kind")
    channels: int = setting(64, "channels of the convolutions", low=1, high=4096)
    symmetries: bool = setting(True, "turn and mirror the positions at random")


class OthelloDataset:
    """A `training.settings.Dataset`."""

    symmetries = len(OTHELLO.symmetries)

    def __init__(self, settings: Settings, encoding: Encoding, kept: dict[str, float]) -> None:
        games = read(Path(settings.train))
        held = np.zeros(len(games), np.bool_) if settings.val else held_out(games)
        val = read(Path(settings.val)) if settings.val else games[held]
        self._val = positions_of(val, val["score"])
        if not len(self._val):
            raise DatasetError(f"--val is needed: none of the {len(games)} games of {settings.train} is held out")
        learned = games[~held]
        self._positions = positions_of(learned, learned["score"])
        self.rows = np.arange(len(self._positions))

    def batch(self, rows: Int64Array, turns: Int64Array) -> TrainingBatch:
        positions = self._positions[rows]
        packed, firsts, labels, weights = with_legal_moves(positions, turns)
        results = (0.5 + 0.5 * np.sign(positions["lead"])).astype(np.float32)
        return TrainingBatch(
            inputs_of(OTHELLO, packed), firsts, labels.astype(np.int64), weights, results, np.ones_like(results)
        )

    def validate(self, predict: Predict, most: int) -> Report:
        positions = sample(self._val, most)
        lead = positions["lead"]
        plies = np.bitwise_count(positions["mover"] | positions["opponent"]).astype(np.int64) - 4
        return report_of(self._said(predict, positions), lead > 0, lead != 0, plies, PHASES)

    def fit(self, predict: Predict, most: int) -> dict[str, int]:
        return {"temperature": best_temperature(self._said(predict, sample(self._val, most)))}

    def _said(self, predict: Predict, positions: Records) -> list[Said]:
        return asked(predict, positions, lambda part: with_legal_moves(part, np.zeros(len(part), np.int64)))


def read(source: Path) -> Games:
    """The games of a file, or of all files of a folder but _NO_GAMES. Raises RecordError, OSError."""
    paths = sorted(source.iterdir()) if source.is_dir() else [source]
    return read_archive(path for path in paths if path.suffix.lower() not in _NO_GAMES).games


def with_legal_moves(positions: Records, turns: Int64Array) -> Legal:
    """`positions`, turned as TURNED[turns] says, as the first fields of their `Examples`: all legal moves, 1 for the
    one that was played. A label is the move's own number."""
    packed = np.zeros((len(positions), WORDS), np.uint32)
    firsts = np.zeros(len(positions) + 1, np.int64)
    labels = np.empty(len(positions) * MOST_MOVES, np.int32)
    weights = np.zeros(len(labels), np.float32)
    _fill(positions, turns, np.zeros(1, STATE), packed, firsts, labels, weights)
    return packed, firsts, labels[: firsts[-1]], weights[: firsts[-1]]


@compiled
def _fill(
    positions: Records,
    turns: Int64Array,
    states: States,
    packed: Uint32Array,
    firsts: Int64Array,
    labels: Int32Array,
    weights: Float32Array,
) -> None:
    n = 0
    for i in range(len(positions)):
        mover, opponent = turned(positions[i].mover, turns[i]), turned(positions[i].opponent, turns[i])
        states[0].mover, states[0].opponent = mover, opponent
        pack(states[0], packed[i])
        moves, played = mobility(mover, opponent), TURNED[turns[i], positions[i].move]
        while moves != ZERO:
            labels[n] = lowest(moves)
            weights[n] = labels[n] == played
            moves &= moves - ONE
            n += 1
        firsts[i + 1] = n


TRAINING: Final = TrainingEntry(Settings, OthelloDataset)
