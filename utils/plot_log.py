"""The journal of a run as a picture: `python -m utils.plot_log runs/mine` draws its log.jsonl into log.png.

Runs of `pydlshogi.train` and of `pydlshogi.cycle` write such journals.
"""

import argparse
import json
import sys
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from pydlshogi.support.command_line import exit_status, remedy

try:
    import matplotlib
except ImportError as error:
    sys.exit(f"plot_log: Matplotlib is not installed here: {remedy('train', 'matplotlib')} ({error})")

matplotlib.use("Agg")  # no screen is needed to write a file
from matplotlib import pyplot as plt

from pydlshogi.support.elo import estimate
from pydlshogi.support.files import open_plain, replacing

Line = dict[str, Any]


class PlotError(Exception):
    """A log that cannot be drawn; the message is one line."""


def read_log(path: Path) -> tuple[list[Line], list[Line]]:
    """Lines of training, and lines of validation, of a log.jsonl; ValueError where it is none.

    A last line that was cut off is passed over: the run may still be writing it.
    """
    with open_plain(path) as file:
        texts = file.read().decode().splitlines()
    lines = []
    for number, text in enumerate(texts, 1):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            if number < len(texts):
                raise ValueError(f"line {number} is not JSON") from error
            continue
        if not isinstance(line, dict):
            raise ValueError(f"line {number} is no line of a journal")
        lines.append(line)
    steps, validations = [line for line in lines if "loss" in line], [line for line in lines if "validation" in line]
    if not steps:
        raise ValueError("there is no line of training in it")
    return steps, validations


def smooth(values: list[float], keep: float = 0.9) -> list[float]:
    """The running average of `values`, which keeps the share `keep` from one value to the next."""
    result = [values[0]]
    for value in values[1:]:
        result.append(keep * result[-1] + (1 - keep) * value)
    return result


def draw_curves(axes: Any, steps: list[Line], validations: list[Line], parts: list[tuple[str, str, str]]) -> None:
    """Training, smoothed, as a line and validation as dots, for each (name in training, in validation, label)."""
    scale = steps[-1]["positions"] / steps[-1]["step"] / 1e6
    for colour, (trained, validated, label) in zip(("tab:blue", "tab:orange", "tab:green"), parts, strict=False):
        if trained:
            x = [line["positions"] / 1e6 for line in steps]
            axes.plot(x, smooth([line[trained] for line in steps]), color=colour, alpha=0.6, label=f"{label}, training")
        x = [line["step"] * scale for line in validations]
        y = [line["validation"][validated] for line in validations]
        axes.plot(x, y, "o-", color=colour, markersize=3, label=f"{label}, validation")
    axes.set_xlabel("million positions seen")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def draw_reliability(axes: Any, report: Line) -> None:
    """Share won over win rate predicted; the area of a dot is its number of positions."""
    rows = [row for row in report["reliability"] if row["positions"]]
    most = max((row["positions"] for row in rows), default=1)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    axes.scatter(
        [row["predicted"] for row in rows],
        [row["won"] for row in rows],
        s=[10 + 120 * row["positions"] / most for row in rows],
    )
    axes.set_xlabel("win rate predicted")
    axes.set_ylabel("share won")
    axes.set_title("calibration", fontsize="medium")
    axes.grid(alpha=0.3)


_CURVES = (
    ("loss", {"policy_loss": "policy", "value_loss": "value"}),
    ("games", {"draws": "draws", "first_wins": "won by the first to move", "exact": "positions proven"}),
    ("wrongly given up", {"false_resignations": "of the games in which a side would have"}),
    ("plies of a game", {"length": ""}),
)
"""What is drawn of the journal of a cycle: title, and name in the journal with its label."""
_PARTS = ("play", "learn", "compare")


def draw_cycles(cycles: list[Line]) -> Any:
    """The figure of a run of `pydlshogi.cycle`."""
    figure, panels = plt.subplots(4, 2, figsize=(11, 13), layout="constrained")
    minutes: list[float] = []
    for line in cycles:
        minutes.append((minutes[-1] if minutes else 0.0) + sum(line[part] for part in _PARTS) / 60)
    flat: list[Any] = list(panels.flat)
    curves, (elo, speed, time, window) = flat[:4], flat[4:]
    for axes, (title, names) in zip(curves, _CURVES, strict=True):
        for name, label in names.items():
            axes.plot(minutes, [line[name] for line in cycles], label=label)
        axes.set_title(title, fontsize="medium")
        if any(names.values()):
            axes.legend(fontsize="small")
    compared = [(minute, line) for minute, line in zip(minutes, cycles, strict=True) if "elo" in line]
    elo.plot([minute for minute, _ in compared], [line["elo"] for _, line in compared], "o-", label="summed up")
    anchored = [(minute, line["anchor"]) for minute, line in compared if "anchor" in line]
    ends = [(match["elo"], estimate(match["counts"])) for _, match in anchored]
    elo.errorbar(
        [minute for minute, _ in anchored],
        [match["elo"] for _, match in anchored],
        [
            [max(0.0, shown - found.low) for shown, found in ends],
            [max(0.0, found.high - shown) for shown, found in ends],
        ],
        fmt="s",
        label="against the anchor",
    )
    elo.set_title("Elo", fontsize="medium")
    elo.legend(fontsize="small")
    totals = [max(1e-9, sum(line[part] for part in _PARTS)) for line in cycles]
    speed.plot(minutes, [60 * line["played"] / total for line, total in zip(cycles, totals, strict=True)])
    speed.set_title("games a minute", fontsize="medium")
    shares = [[line[part] / total for line, total in zip(cycles, totals, strict=True)] for part in _PARTS]
    time.stackplot(minutes, shares, labels=_PARTS)
    time.set_title("share of the time", fontsize="medium")
    time.legend(fontsize="small")
    window.plot(minutes, [line["window"] for line in cycles])
    window.set_title("positions in the window", fontsize="medium")
    for axes in flat:
        axes.set_xlabel("minutes")
        axes.grid(alpha=0.3)
    return figure


def draw_training(steps: list[Line], validations: list[Line]) -> Any:
    """The figure of a run of `pydlshogi.train`: losses, accuracies, calibration and speed."""
    figure, ((losses, accuracies), (calibration, speed)) = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    draw_curves(
        losses,
        steps,
        validations,
        [("policy_loss", "policy_loss", "policy loss"), ("value_loss", "value_loss", "value loss")],
    )
    draw_curves(
        accuracies,
        steps,
        validations,
        [
            ("policy_accuracy", "top1", "move played is first"),
            ("value_accuracy", "value_accuracy", "winner predicted"),
            ("", "top5", "move played is among five"),
        ],
    )
    if validations:
        draw_reliability(calibration, validations[-1]["validation"])
    x = [line["positions"] / 1e6 for line in steps]
    speed.plot(x, [line["positions_per_s"] for line in steps], linewidth=0.8)
    speed.set_xlabel("million positions seen")
    speed.set_ylabel("positions/s")
    speed.grid(alpha=0.3)
    rate = speed.twinx()
    rate.plot(x, [line["learning_rate"] for line in steps], color="tab:red")
    rate.set_ylabel("learning rate", color="tab:red")
    return figure


def plot(log: Path, picture: Path) -> None:
    """Draw what `log` says of its run into the PNG file `picture`."""
    steps, validations = read_log(log)
    figure = draw_cycles(steps) if "games" in steps[0] else draw_training(steps, validations)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=90, format=picture.suffix.removeprefix(".") or "png")
    plt.close(figure)
    with replacing(picture) as file:
        file.write(drawn.getvalue())


def _run(options: argparse.Namespace) -> None:
    log = options.log / "log.jsonl" if options.log.is_dir() else options.log
    picture = options.picture or log.with_suffix(".png")
    try:
        if picture.exists() and log.exists() and picture.samefile(log):
            raise ValueError("the picture would take the place of the journal")
        plot(log, picture)
    except KeyError as error:
        raise PlotError(f"{log}: a line lacks {error}") from error
    except (ValueError, TypeError, ZeroDivisionError) as error:
        raise PlotError(f"{log}: {error}") from error
    print(picture)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m utils.plot_log", description="Draw the log of a training run.")
    parser.add_argument("log", type=Path, help="log.jsonl of the run, or its folder")
    parser.add_argument("picture", type=Path, nargs="?", help="the PNG to write (beside the log)")
    return exit_status("plot_log", partial(_run, parser.parse_args(arguments)), PlotError)


if __name__ == "__main__":
    sys.exit(main())
