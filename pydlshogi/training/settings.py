"""How a network learns, whatever it learns from: settings of all that trains one, and of runs from records.

What `pydlshogi.train` needs of a game is its `TrainingEntry`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from pydlshogi.encoding import Encoding
from pydlshogi.network.architecture import KINDS, PLAIN_LAYERS, Architecture, architecture_for
from pydlshogi.support import OneLineError
from pydlshogi.support.arrays import Int64Array
from pydlshogi.support.command_line import SettingError, check, setting
from pydlshogi.training.examples import TrainingBatch
from pydlshogi.training.validation import Predict, Report

SPARSE = "sparse"
"""The kind of network whose first layer is a table; the others are in `KINDS`."""
PRECISIONS = ("auto", "float32", "bfloat16")


@dataclass(frozen=True)
class Learning:
    """A network and how it learns; checkpoints carry it along."""

    kind: str = setting("policy_value_resnet", "which network", *KINDS, SPARSE)
    depth: int = setting(6, "blocks of a residual network", low=1, high=200)
    channels: int = setting(96, "channels of the convolutions", low=1, high=4096)
    value_width: int = setting(512, "sums that a sparse network makes for its value", low=2, high=8192)
    policy_width: int = setting(256, "and for its policy", low=1, high=8192)
    init: str = setting("", "network (.npz) to begin with, of this size or smaller: it grows")

    batch_size: int = setting(256, "positions a step", low=2)
    optimiser: str = setting(
        "muon", "of the 3x3 kernels; with muon the other weights, or all, get adamw", "muon", "adamw"
    )
    learning_rate: float = setting(0.02, "at its highest; with muon the other weights get a tenth", low=0, high=1000)
    weight_decay: float = setting(0.01, "of kernels and matrices", low=0)
    warmup: float = setting(0.02, "share of the run in which the learning rate rises", low=0, high=1)
    decay: float = setting(0.5, "share of the run, its end, in which the learning rate falls to 0", low=0, high=1)
    clip: float = setting(5.0, "largest norm of a step's gradient", low=0)
    average: float = setting(
        0.999, "decay, a step, of the running average of the weights: that average is the network", low=0, high=1
    )
    value_weight: float = setting(1.0, "weight of the value loss beside the policy loss", low=0)
    symmetries: bool = setting(False, "show positions as they are or as the encoding's symmetries turn them, at random")

    seed: int = setting(0, "of the first weights, the order and the symmetries", low=0, high=2**63 - 1)
    precision: str = setting("auto", "of the arithmetic; auto measures", *PRECISIONS)
    shards: int = setting(0, "threads that each compute a part of every batch; 0: one a core, one on a GPU", low=0)

    def architecture(self, encoding: Encoding) -> Architecture:
        """The network that the settings ask for, for this encoding; the plain one always has the book's layers."""
        depth = PLAIN_LAYERS if self.kind == "policy_value" else self.depth
        return architecture_for(encoding, self.kind, depth, self.channels)


def encodings_for(encodings: Sequence[Encoding], kind: str, name: str) -> list[Encoding]:
    """Those that a network of this kind may have: the one of this name; "": any. Raises SettingError."""
    fit = [encoding for encoding in encodings if bool(encoding.planes) == (kind != SPARSE)]
    named = [encoding for encoding in fit if name in ("", encoding.name)]
    if not named:
        known = ", ".join(encoding.name for encoding in fit) or "none"
        raise SettingError(f"--kind {kind} does not go with --encoding {name}, but with {known}")
    return named


@dataclass(frozen=True)
class FromRecords(Learning):
    """Everything a run from records depends on, but for what a game adds; its checkpoints carry it along."""

    out: str = setting("", "folder of the run: checkpoint, log and network")
    train: str = setting("", "what to learn from")
    val: str = setting("", "what to validate with")
    encoding: str = setting("", "how the network sees the game; left out: as is usual for its kind")

    hours: float = setting(0.0, "length of the run in hours", low=0, high=10**6)
    steps: int = setting(0, "or its length in steps; then a run can be repeated exactly", low=0, high=10**9)

    log_every: int = setting(50, "steps between lines of the log", low=1)
    validate_every: int = setting(1000, "steps between validations", low=1)
    validate_positions: int = setting(8192, "positions of a validation; the last one takes all", low=1)
    save_minutes: float = setting(3.0, "minutes between checkpoints", low=0)

    def check(self) -> None:
        """Raises SettingError if something is missing, contradicts itself or makes no sense."""
        check(self)
        if not self.out or not self.sources:
            raise SettingError("--train and --out are needed")
        if bool(self.hours) == bool(self.steps):
            raise SettingError("say how long: --hours or --steps")

    @property
    def sources(self) -> str:
        """Whatever there is to learn from; "": nothing."""
        return self.train


OF_SPARSE: Final[dict[str, Any]] = {
    "batch_size": 8192,
    "clip": 1.0,
    "symmetries": True,
    "validate_every": 500,
    "validate_positions": 32768,
}
"""What --kind sparse sets: a step of a small batch takes as long as one of a large one."""

ON_RESUME: Final = frozenset(
    {
        *("out", "train", "val", "hours", "steps", "log_every", "validate_every", "validate_positions"),
        *("save_minutes", "shards"),
    }
)
"""What may be said anew with --resume."""


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
