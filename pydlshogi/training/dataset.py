"""What a game's records are to training: a dataset to learn from and to validate with."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from pydlshogi.encoding import Encoding
from pydlshogi.network.weights import Weights
from pydlshogi.support import OneLineError
from pydlshogi.support.arrays import Int64Array
from pydlshogi.training.examples import TrainingBatch
from pydlshogi.training.settings import FromRecords
from pydlshogi.training.validation import Predict, Report


class DatasetError(OneLineError, ValueError):
    """Records that cannot become a training set; the message is one line."""


class Dataset(Protocol):
    """Recorded positions, in one encoding."""

    @property
    def rows(self) -> Int64Array:
        """The numbers of the examples of an epoch."""

    @property
    def symmetries(self) -> int:
        """In how many ways a position can be turned."""

    def batch(self, rows: Int64Array, turns: Int64Array) -> TrainingBatch:
        """The examples with these numbers, each turned in one of the ways, 0: as it is. Several threads may ask."""

    def validate(self, predict: Predict, most: int) -> Report:
        """How well up to `most` of the other positions, the same ones every time, are predicted; 0: all of them."""

    def fit(self, predict: Predict, most: int) -> dict[str, int]:
        """Options of the engine that depend on the network, fitted to the same positions."""


class TrainingEntry(NamedTuple):
    """How networks learn a game from its records: see `GameEntry.training`."""

    settings: type[FromRecords]
    load: Callable[[Any, Encoding, dict[str, float]], Dataset]
    """(settings, encoding, kept). What is found out of the records once for a whole run is put into `kept`, and taken
    from there when the run is resumed. Raises DatasetError, ArraysError."""
    on_resume: frozenset[str] = frozenset()
    """Settings of the game that may be said anew."""
    quick: Mapping[str, Any] = {}
    """What --quick sets."""
    reencoded: Callable[[Encoding, Weights], Weights] = lambda _, weights: weights
    """A network to begin with, as the encoding sees the game. Raises ModelError."""
