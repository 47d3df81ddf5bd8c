"""The settings of `train` for shogi, each an option of the command line. Knows nothing of what they do."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydlshogi.games.shogi.sparse import ALL_ENCODINGS
from pydlshogi.support.settings import SettingError, setting
from pydlshogi.training.settings import FromRecords


@dataclass(frozen=True)
class Settings(FromRecords):
    """Everything a run depends on; its checkpoints carry it along."""

    train: str = setting(
        "", "what to learn from: games.jsonl(.xz), a list of record files, or .psv, .hcpe, .hcpe3, .pack"
    )
    more: str = setting("", "list of further record files to learn from, of them only the results: own games, say")
    taught: str = setting(
        "", "the same with evals on another scale, to learn from too, or alone: a folder of `utils.teach`, say"
    )
    searched: str = setting(
        "", "folder of `utils.search_records`, or .hcpe3 with its visits, to learn from too, or alone"
    )
    val: str = setting("", "games to validate with, of either kind; left out: the val split of the games.jsonl")
    cache: str = setting("", "folder of packed positions; left out: pydlshogi in the user's cache folder")
    cluster: str = setting("", "who packs them, a Ray cluster: local, auto or HOST:PORT; left out: this machine")
    encoding: str = setting(
        "",
        "planes and labels: the book's 104, dlshogi's 119, these and 4 of the last moves or 62 of declarations; or the "
        "sparse network's",
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

ON_RESUME: Final = frozenset({"more", "taught", "searched", "cache", "cluster"})
"""What may be said anew with --resume, beside what may be for every game."""
