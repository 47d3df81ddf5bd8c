"""The journal of a training run as a picture: `python -m utils.plot_log runs/mine` draws its log.jsonl into log.png."""

import argparse
import json
import sys
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # no screen is needed to write a file
from matplotlib import pyplot as plt

from pydlshogi.command_line import exit_status
from pydlshogi.files import replacing

Line = dict[str, Any]


class PlotError(Exception):
    """A log that cannot be drawn; the message is one line."""


def read_log(path: Path) -> tuple[list[Line], list[Line]]:
    """Lines of training, and lines of validation, of a log.jsonl; ValueError where it is none.

    A last line that was cut off is passed over: the run may still be writing it.
    """
    texts = path.read_text(encoding="utf-8").splitlines()
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
    """Share won over win rate foretold; the area of a dot is its number of positions."""
    rows = [row for row in report["reliability"] if row["positions"]]
    most = max((row["positions"] for row in rows), default=1)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    axes.scatter(
        [row["foretold"] for row in rows],
        [row["won"] for row in rows],
        s=[10 + 120 * row["positions"] / most for row in rows],
    )
    axes.set_xlabel("win rate foretold")
    axes.set_ylabel("share won")
    axes.set_title("calibration", fontsize="medium")
    axes.grid(alpha=0.3)


def plot(log: Path, picture: Path) -> None:
    """Draw losses, accuracies, calibration and speed of `log` into the PNG file `picture`."""
    steps, validations = read_log(log)
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
            ("value_accuracy", "value_accuracy", "winner foretold"),
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
