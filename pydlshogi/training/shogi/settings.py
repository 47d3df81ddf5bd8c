"""The settings of `train`, each an option of the command line. Knows nothing of what they do."""

import argparse
from dataclasses import dataclass
from typing import Any, Final

from pydlshogi.games.shogi.encodings import ENCODINGS
from pydlshogi.games.shogi.sparse import SPARSE as SPARSE_ENCODING
from pydlshogi.support.settings import add_options, setting
from pydlshogi.training.settings import Learning


@dataclass(frozen=True)
class Settings(Learning):
    """Everything a run depends on; its checkpoints carry it along."""

    out: str = setting("", "folder of the run: checkpoint, log and network")
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
        "book",
        "planes and labels: the book's 104, dlshogi's 119, these and 4 of the last moves or 62 of declarations; or the "
        "sparse network's",
        *(each.name for each in (*ENCODINGS, SPARSE_ENCODING)),
    )

    hours: float = setting(0.0, "length of the run in hours", low=0, high=10**6)
    steps: int = setting(0, "or its length in steps; then a run can be repeated exactly", low=0, high=10**9)

    val_lambda: float = setting(
        0.6, "share of the game's result in the value target; the rest is the record's eval", low=0, high=1
    )
    search_value: float = setting(
        0.5, "share of a search's expected score in the value target of a searched position", low=0, high=1
    )
    eval_plies: int = setting(1, "plies, from the position on, whose evals are averaged for the value target", low=1)
    repeats: int = setting(16, "how often the same position may count in an epoch", low=1)

    log_every: int = setting(50, "steps between lines of the log", low=1)
    validate_every: int = setting(1000, "steps between validations", low=1)
    validate_positions: int = setting(8192, "positions of a validation; the last one takes all", low=1)
    save_minutes: float = setting(3.0, "minutes between checkpoints", low=0)


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

OF_SPARSE: Final[dict[str, Any]] = {
    "encoding": SPARSE_ENCODING.name,
    "batch_size": 8192,
    "clip": 1.0,
    "symmetries": True,
    "validate_every": 500,
    "validate_positions": 32768,
}
"""What --kind sparse sets: a step of a small batch takes as long as one of a large one."""

ON_RESUME: Final = {
    "out", "train", "more", "taught", "val", "searched", "cache", "cluster", "hours", "steps", "log_every",
    "validate_every", "validate_positions", "save_minutes", "shards",
}  # fmt: skip
"""What may be said anew with --resume."""


def parser() -> argparse.ArgumentParser:
    """Options that are not given do not appear in the result, so that they can be told from defaults."""
    result = argparse.ArgumentParser(
        prog="python -m pydlshogi.train", description="Train a policy-value network on game records."
    )
    result.add_argument(
        "--quick", action="store_true", help="a small network in five minutes; other options still count"
    )
    result.add_argument("--resume", action="store_true", help="go on with the run in --out")
    add_options(result, Settings)
    return result
