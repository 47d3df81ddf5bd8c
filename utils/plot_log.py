"""The journal of a run as a picture: `python -m utils.plot_log runs/mine` draws its log.jsonl into log.png.

Runs of `pydlshogi.train` and of `pydlshogi.cycle` write such journals.
"""

import argparse
import sys
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from pydlshogi.support.command_line import exit_status, parser_for, remedy
from pydlshogi.support.decoding import parse_json

try:
    from matplotlib.figure import Figure
except ImportError as error:
    sys.exit(f"plot_log: Matplotlib is not installed here: {remedy('train', 'matplotlib')} ({error})")

from pydlshogi.support.elo import estimate
from pydlshogi.support.files import open_plain, replacing

Line = dict[str, Any]


def read_log(path: Path) -> tuple[list[Line], list[Line]]:
    """Lines of training, and lines of validation, of a log.jsonl. The run may still be writing the last one."""
    with open_plain(path) as file:
        lines = [parse_json(text) for text in file.read().decode().splitlines(keepends=True) if text.endswith("\n")]
    return [line for line in lines if "loss" in line], [line for line in lines if "validation" in line]


def dress(axes: Any, across: str, title: str = "") -> None:
    """What a panel has beside its curves; a legend where these have names."""
    axes.set_xlabel(across)
    axes.set_title(title, fontsize="medium")
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="small")


def draw_curves(axes: Any, steps: list[Line], validations: list[Line], *parts: tuple[str, str, str]) -> None:
    """Training, smoothed, as a line and validation as dots, for each (name in training, in validation, label)."""
    scale = steps[-1]["positions"] / steps[-1]["step"] / 1e6
    for colour, (trained, validated, label) in zip(("tab:blue", "tab:orange", "tab:green"), parts, strict=False):
        if trained:
            x = [line["positions"] / 1e6 for line in steps]
            smooth = [*accumulate((line[trained] for line in steps), lambda mean, value: 0.9 * mean + 0.1 * value)]
            axes.plot(x, smooth, color=colour, alpha=0.6, label=f"{label}, training")
        x = [line["step"] * scale for line in validations]
        y = [line["validation"][validated] for line in validations]
        axes.plot(x, y, "o-", color=colour, markersize=3, label=f"{label}, validation")
    dress(axes, "million positions seen")


def draw_cycles(cycles: list[Line]) -> Figure:
    """The figure of a run of `pydlshogi.cycle`: losses, how games ended, and Elo."""
    figure = Figure(figsize=(11, 11), layout="constrained")
    losses, games, elo = figure.subplots(3)
    minutes = [
        seconds / 60 for seconds in accumulate(line["play"] + line["learn"] + line["compare"] for line in cycles)
    ]
    for axes, title, names in (
        (losses, "loss", {"policy_loss": "policy", "value_loss": "value"}),
        (games, "games", {"draws": "draws", "first_wins": "won by the first to move", "exact": "positions proven"}),
    ):
        for name, label in names.items():
            axes.plot(minutes, [line[name] for line in cycles], label=label)
        dress(axes, "minutes", title)
    draw_elo(elo, [(minute, line) for minute, line in zip(minutes, cycles, strict=True) if "elo" in line])
    dress(elo, "minutes", "Elo")
    return figure


def draw_elo(axes: Any, compared: list[tuple[float, Line]]) -> None:
    """What the comparisons have found, by the minute; against the anchor with 95 % of certainty."""
    axes.plot([minute for minute, _ in compared], [line["elo"] for _, line in compared], "o-", label="summed up")
    anchored = [(minute, line["anchor"]) for minute, line in compared if "anchor" in line]
    shown = [match["elo"] for _, match in anchored]
    found = [estimate(match["counts"]) for _, match in anchored]
    below = [max(0.0, at - each.low) for at, each in zip(shown, found, strict=True)]
    above = [max(0.0, each.high - at) for at, each in zip(shown, found, strict=True)]
    axes.errorbar([minute for minute, _ in anchored], shown, [below, above], fmt="s", label="against the anchor")


def draw_training(steps: list[Line], validations: list[Line]) -> Figure:
    """The figure of a run of `pydlshogi.train`: losses and accuracies."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    losses, accuracies = figure.subplots(1, 2)
    two_losses = [(name, name, name.replace("_", " ")) for name in ("policy_loss", "value_loss")]
    draw_curves(losses, steps, validations, *two_losses)
    right = (
        ("policy_accuracy", "top1", "move played is first"),
        ("value_accuracy", "value_accuracy", "winner predicted"),
    )
    draw_curves(accuracies, steps, validations, *right, ("", "top5", "move played is among five"))
    return figure


def plot(options: argparse.Namespace) -> None:
    """Draw the journal of a run into a picture. Raises ValueError where it is none."""
    log = options.log / "log.jsonl" if options.log.is_dir() else options.log
    picture = options.picture or log.with_suffix(".png")
    if picture.exists() and log.exists() and picture.samefile(log):
        raise ValueError(f"{log}: the picture would take the place of the journal")
    try:
        steps, validations = read_log(log)
        figure = draw_cycles(steps) if "games" in steps[0] else draw_training(steps, validations)
    except (ValueError, LookupError, TypeError, ZeroDivisionError) as error:
        raise ValueError(f"{log} is no journal of a run: {error!r}") from error
    with replacing(picture) as file:
        figure.savefig(file, dpi=90, format=picture.suffix.removeprefix(".") or "png")
    print(picture)


def main(arguments: list[str] | None = None) -> int:
    parser = parser_for("utils.plot_log", "Draw the log of a training run.")
    parser.add_argument("log", type=Path, help="log.jsonl of the run, or its folder")
    parser.add_argument("picture", type=Path, nargs="?", help="the PNG to write (beside the log)")
    return exit_status("plot_log", partial(plot, parser.parse_args(arguments)), ValueError)


if __name__ == "__main__":
    sys.exit(main())
