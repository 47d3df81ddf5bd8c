"""What shallow searches say of deep ones (Multi-ProbCut, Buro 1997): measured, and kept in a file.

    python -m utils.othello.probcut --games FILE --out probcut.toml
    python -m utils.othello.probcut --table FILE     what it is worth, see probcut_table.py

Positions of games are searched 1, 2, 3 ... plies deep. A pair of depths is a line through the values of all positions,
deep = slope x shallow + offset, and how far off the values are. There are two forms. The tutorial's has one pair for
each depth, a slope of 1, and the same numbers for the whole game. The form by stages has several pairs for each depth,
and numbers that change evenly with the number of empty squares. Either cuts where the deep value is predicted to leave
the window by more than a number of deviations. The pairs that are known are in use while deeper ones are measured.
"""

import argparse
import math
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from tqdm import tqdm

from pydlshogi.games.othello.engine.alphabeta_search import AlphaBeta, Probing
from pydlshogi.games.othello.engine.cuts import (
    TUTORIAL_CUTS,
    CutPair,
    Cuts,
    at_stage,
    described,
    probing_of,
    write_cuts,
)
from pydlshogi.games.othello.engine.patterns import DISC, SHIPPED_WEIGHTS, STAGES, load_weights
from pydlshogi.games.othello.records import read_from_start, read_games
from pydlshogi.games.othello.rules import PASS, Position
from pydlshogi.games.othello.transcript import Transcript, transcript
from pydlshogi.support.arrays import Float64Array, Int16Array
from pydlshogi.support.command_line import bounded, exit_status, parser_for, positive, remedy
from pydlshogi.support.files import check_writable, replacing, shipped_model
from pydlshogi.support.pool import WorkerPool
from pydlshogi.support.processes import ProcessPool
from utils.othello.probcut_table import LONGEST_TASK, deepened, fill

FIRST_PLY: Final = 9
"""Positions are taken from a game after this many moves, as the tutorial does,"""
ROOM: Final = 15
"""while this many more squares are empty than a search is deep."""
MOST_POSITIONS: Final = 8000
"""More would only take time: a line has four numbers."""
LEAST_POSITIONS: Final = 30
"""From fewer nothing is concluded."""
LEAST_DEPTH: Final = 3
"""Searches that are less deep are not worth a shallow one."""
LEAST_SLOPE: Final = 0.1
"""A line that falls would turn the cuts round."""
_TASK: Final = 20
"""Positions that a process searches at a time."""


class Form(NamedTuple):
    """A way to cut."""

    by_stage: bool
    deviations: float
    """The margin."""
    everywhere: bool
    """See `Probing`."""

    def shallow(self, depth: int) -> list[int]:
        """The shallow searches to try before one of `depth`, in their order."""
        if depth < LEAST_DEPTH:
            return []
        if not self.by_stage:
            return [TUTORIAL_PAIRS[depth]] if depth in TUTORIAL_PAIRS else []
        return sorted({part - (part + depth) % 2 for part in (depth // 3, depth // 2)} - {0, -1})


TUTORIAL_PAIRS: Final = {3: 1, 4: 2, 5: 1, 6: 2, 7: 3, 8: 4, 9: 3, 10: 4, 11: 5, 12: 6, 13: 5, 14: 6}
FORMS: Final = {
    "tutorial": Form(by_stage=False, deviations=1.4, everywhere=True),
    "stages": Form(by_stage=True, deviations=1.1, everywhere=False),
}


def samples(games: Iterable[Transcript]) -> list[Position]:
    """The positions to measure on: those after the first moves in which the side to move can play.

    Of more than MOST_POSITIONS that number is chosen at random, always the same.
    """
    positions = []
    for game in games:
        position = game.start
        for ply, move in enumerate(game.moves):
            if ply >= FIRST_PLY and move != PASS:
                positions.append(position)
            position = position.play(move)
    return random.Random(0).sample(positions, MOST_POSITIONS) if len(positions) > MOST_POSITIONS else positions


def values(positions: Sequence[Position], depth: int, weights: Int16Array, probing: Probing) -> list[int]:
    """What searches of `depth` plies find, in thousandths of a disc."""
    search = AlphaBeta(weights, probing, megabytes=4)
    return [deepened(search, position, depth).value for position in positions]


def fit(depth: int, shallow: int, deep: Float64Array, less: Float64Array, passed: Float64Array, form: Form) -> CutPair:
    """The pair through the values of a deep search and of a shallow one; `passed` is the share of the game, 0 to 1."""
    if not form.by_stage:
        slope, offset = (1.0, 1.0), (float(np.mean(deep - less)),) * 2
        deviation = (float(np.std(deep - less)),) * 2
    else:
        terms = np.stack([less, less * passed, np.ones_like(less), passed], axis=1)
        (a, a_rise, b, b_rise), *_ = np.linalg.lstsq(terms, deep, rcond=None)
        slope = (max(LEAST_SLOPE, float(a)), max(LEAST_SLOPE, float(a + a_rise)))
        offset = (float(b), float(b + b_rise))
        # A normal error is on average sqrt(2 / pi) deviations in size.
        sizes = np.abs(deep - terms @ [a, a_rise, b, b_rise]) * math.sqrt(math.pi / 2)
        (s, s_rise), *_ = np.linalg.lstsq(terms[:, 2:], sizes, rcond=None)
        least = float(np.mean(sizes)) / 4
        deviation = (max(least, float(s)), max(least, float(s + s_rise)))
    correlation = float(np.corrcoef(less, deep)[0, 1])
    return CutPair(depth, shallow, slope, offset, deviation, len(deep), correlation)


class Measured(NamedTuple):
    """What was measured of one depth."""

    depth: int
    pairs: tuple[CutPair, ...]
    cuts: Cuts
    """With these pairs and those of lower depths."""
    values: dict[int, Float64Array]
    """For this depth and those of its pairs: the values of the positions, in thousandths of a disc."""


def measure(
    positions: Sequence[Position], form: Form, deepest: int, weights: Int16Array, pool: WorkerPool
) -> Iterator[Measured]:
    """Measure the pairs of all depths up to `deepest`, as far as there are positions for it."""
    cuts = Cuts(form.deviations, form.everywhere, ())
    known: dict[int, Float64Array] = {}
    empties = np.array([position.empties for position in positions])
    for depth in range(1, deepest + 1):
        roomy = [position for position in positions if position.empties > depth + ROOM]
        if len(roomy) < LEAST_POSITIONS:
            return
        tasks = [roomy[first : first + _TASK] for first in range(0, len(roomy), _TASK)]
        work = partial(values, depth=depth, weights=weights, probing=probing_of(cuts))
        bar = tqdm(
            pool.in_order(work, tasks, LONGEST_TASK),
            total=len(tasks),
            desc=f"depth {depth}",
            leave=False,
            dynamic_ncols=True,
            disable=None,
        )
        found = np.full(len(positions), np.nan)
        found[empties > depth + ROOM] = np.concatenate(list(bar))
        known[depth] = found
        there = ~np.isnan(found)
        passed = (60 - empties[there]) / 60
        pairs = tuple(
            fit(depth, shallow, found[there], known[shallow][there], passed, form) for shallow in form.shallow(depth)
        )
        cuts = cuts._replace(pairs=cuts.pairs + pairs)
        yield Measured(depth, pairs, cuts, {each: known[each][there] for each in (depth, *form.shallow(depth))})


def plot(measured: Sequence[Measured], path: Path) -> None:
    """Draw the values of all pairs and their lines into a picture. Raises OSError."""
    from matplotlib.figure import Figure

    pairs = [(each, pair) for each in measured for pair in each.pairs]
    rows = math.ceil(len(pairs) / 4)
    figure = Figure(figsize=(14, 3.2 * rows), layout="constrained")
    axes = figure.subplots(rows, 4, squeeze=False)
    for each, (one, pair) in zip(axes.flat, pairs, strict=False):
        x, y = one.values[pair.shallow] / DISC, one.values[pair.depth] / DISC
        each.plot(x, y, ".", markersize=2)
        ends = np.array([x.min(), x.max()])
        middle = [at_stage(STAGES // 2, both) for both in (pair.slope, pair.offset, pair.deviation)]
        line = middle[0] * ends + middle[1] / DISC
        each.plot(ends, line, color="tab:red", linewidth=1)
        for side in (-1, 1):
            each.plot(ends, line + side * middle[2] / DISC, color="tab:red", linewidth=0.6, linestyle="--")
        each.set_title(f"{pair.depth} plies over {pair.shallow}: r = {pair.correlation:.3f}", fontsize="small")
    for each in axes.flat[len(pairs) :]:
        each.set_visible(False)
    figure.suptitle("values in discs; the line half-way through the game, and one deviation to both sides")
    with replacing(path) as file:
        figure.savefig(file, dpi=80, format=path.suffix.removeprefix(".") or "png")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for(
        "utils.othello.probcut", "Measure what shallow searches say of deep ones, or what that is worth in games."
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--games", type=Path, help="measure on this file of games: transcripts, GGF or WTHOR")
    what.add_argument("--table", type=Path, help="play the games of the table, and keep them in this file")
    parser.add_argument("--weights", type=Path, default=shipped_model() / SHIPPED_WEIGHTS, help="of the patterns")
    parser.add_argument("--workers", type=positive, default=1, help="processes")
    measuring = parser.add_argument_group("measuring")
    measuring.add_argument(
        "--out", type=Path, help="file to write, .toml (default: the file of games with this ending)"
    )
    measuring.add_argument("--form", choices=FORMS, default="stages", help="(default: %(default)s)")
    measuring.add_argument("--depth", type=bounded(1, 30), default=14, help="of the deepest search")
    measuring.add_argument("--plot", type=Path, help="draw all values and lines into this picture, .png")
    playing = parser.add_argument_group("the table")
    playing.add_argument("--cuts", type=Path, default=shipped_model() / TUTORIAL_CUTS, help="(default: %(default)s)")
    playing.add_argument("--each", type=positive, default=100, help="games in each cell")
    playing.add_argument("--openings", type=Path, help="file of transcripts (default: random ones)")
    options = parser.parse_args(arguments)
    if options.each % 2:
        parser.error("--each is even: every opening is played twice")
    if options.plot and not find_spec("matplotlib"):
        parser.error("--plot needs matplotlib, which is not installed here: " + remedy("train", "matplotlib"))

    def run() -> None:
        if options.plot:
            check_writable(options.plot)
        with ProcessPool(options.workers) as pool:
            (_measure if options.games else _play)(options, pool)

    resume = "the same command goes on with it" if options.table else ""
    return exit_status("probcut", run, ValueError, resume=resume)


def _measure(options: argparse.Namespace, pool: WorkerPool) -> None:
    weights = load_weights(options.weights)
    measured = []
    for each in measure(samples(read_games(options.games)), FORMS[options.form], options.depth, weights, pool):
        measured.append(each)
        for pair in each.pairs:
            print(described(pair), flush=True)
        if each.cuts.pairs:
            write_cuts(options.out or options.games.with_suffix(".toml"), each.cuts)
    found = [each for each in measured if each.pairs]
    if not found:
        raise ValueError(
            f"{options.games}: nothing to conclude; pairs begin at depth {LEAST_DEPTH}, and want {LEAST_POSITIONS} "
            f"positions with {ROOM} more empty squares"
        )
    if options.plot:
        plot(found, options.plot)


def _play(options: argparse.Namespace, pool: WorkerPool) -> None:
    openings = None
    if options.openings:
        openings = [transcript(game.moves) for game in read_from_start(options.openings)]
        random.Random(0).shuffle(openings)
    fill(options.table, options.weights, options.cuts, openings, options.each, pool)


if __name__ == "__main__":
    sys.exit(main())
