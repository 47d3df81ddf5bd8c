"""The settings of a training run, each an option of the command line. Knows nothing of what they do."""

import argparse
from dataclasses import dataclass, field, fields
from typing import Any, Final


def setting(default: Any, meaning: str, *choices: str) -> Any:
    """A field of Settings that is an option of the command line too."""
    return field(default=default, metadata={"help": meaning, "choices": choices or None})


@dataclass(frozen=True)
class Settings:
    """Everything a run depends on; its checkpoints carry it along."""

    out: str = setting("", "folder of the run: checkpoint, log and network")
    train: str = setting("", "games to learn from: games.jsonl(.xz), or a list of record files")
    more: str = setting("", "list of further record files to learn from, of them only the results: own games, say")
    val: str = setting("", "games to validate with, of either kind; left out: the val split of the games.jsonl")
    cache: str = setting("", "folder of packed positions; left out: pydlshogi in the user's cache folder")

    net: str = setting("policy_value_resnet", "which network", "policy_value", "policy_value_resnet")
    blocks: int = setting(6, "residual blocks of policy_value_resnet")
    channels: int = setting(96, "channels of the convolutions")
    init: str = setting("", "network (.npz) to begin with, of this size or smaller: it grows")

    hours: float = setting(0.0, "length of the run in hours")
    stop_at: str = setting("", "or its end, in local time: 2026-01-31T18:00")
    steps: int = setting(0, "or its length in steps; then a run can be repeated exactly")

    batch_size: int = setting(256, "positions a step")
    optimiser: str = setting(
        "muon", "of the 3x3 kernels; with muon the other weights get adamw", "muon", "adamw", "sgd"
    )
    learning_rate: float = setting(0.02, "at its highest; with muon the other weights get a tenth")
    weight_decay: float = setting(0.01, "of kernels and matrices")
    warmup: float = setting(0.02, "share of the run in which the learning rate rises")
    decay: float = setting(0.5, "share of the run, its end, in which the learning rate falls to 0")
    clip: float = setting(5.0, "largest norm of a step's gradient")
    average: float = setting(0.999, "decay, a step, of the running average of the weights: that average is the network")

    val_lambda: float = setting(0.6, "share of the game's result in the value target; the rest is the record's eval")
    eval_plies: int = setting(1, "plies, from the position on, whose evals are averaged for the value target")
    value_weight: float = setting(1.0, "weight of the value loss beside the policy loss")
    label_smoothing: float = setting(0.0, "share of the policy target spread over all labels")
    mirror: bool = setting(False, "show half of the positions, by lot, with left and right exchanged")
    repeats: int = setting(16, "how often the same position may count in an epoch")

    log_every: int = setting(50, "steps between lines of the log")
    validate_every: int = setting(1000, "steps between validations")
    validate_positions: int = setting(8192, "positions of a validation; the last one takes all")
    save_minutes: float = setting(3.0, "minutes between checkpoints")
    seed: int = setting(0, "of the first weights, the order and the mirror")
    precision: str = setting("auto", "of the arithmetic; auto measures", "auto", "float32", "bfloat16")
    shards: int = setting(0, "threads that each compute a part of every batch; 0: one a core, one on a GPU")
    tensorboard: bool = setting(False, "write the log for TensorBoard too")


QUICK: Final = {
    "out": "runs/quick",
    "train": "kiflist_train_1000.txt",
    "val": "kiflist_test_100.txt",
    "blocks": 3,
    "channels": 64,
    "hours": 0.075,
    "validate_every": 200,
    "validate_positions": 2048,
    "average": 0.99,
}
"""What --quick sets: a small network from the records of this repository, in about five minutes on two cores."""

ON_RESUME: Final = {
    "out", "train", "more", "val", "cache", "hours", "stop_at", "steps", "log_every", "validate_every",
    "validate_positions", "save_minutes", "shards", "tensorboard",
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
    result.add_argument(
        "--benchmark", action="store_true", help="measure whether the loader keeps up, and train nothing"
    )
    for each in fields(Settings):
        name, meaning = "--" + each.name.replace("_", "-"), each.metadata["help"]
        if isinstance(each.default, bool):
            action = argparse.BooleanOptionalAction
            result.add_argument(name, action=action, default=argparse.SUPPRESS, help=f"{meaning} ({each.default})")
        else:
            default = f" ({each.default})" if each.default else ""
            result.add_argument(
                name,
                type=type(each.default),
                choices=each.metadata["choices"],
                default=argparse.SUPPRESS,
                metavar=None if each.metadata["choices"] else type(each.default).__name__,
                help=meaning + default,
            )
    return result
