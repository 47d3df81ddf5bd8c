"""What the engines of Othello know, learned from games: `python -m utils.lab.othello_learn KIND GAMES --out FILE`

KIND is `patterns`, the evaluation; `policy` or `rollouts`, see othello_policy.py; or `cuts`, see othello_cuts.py. GAMES
are files of WTHOR format, to `cuts` one of any format; one game in twenty, chosen by its moves, is not learned from and
tells how well that goes.

To the patterns a position is worth what its game would have come to with perfect play of both sides from some point on,
which such files say. Where the game itself came to something else, its positions after that point are passed over. The
weights of each stage are those that predict best.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from pydlshogi.games.othello.engine.cuts import described, write_cuts
from pydlshogi.games.othello.engine.patterns import (
    CLASSES,
    DISC,
    FIRST,
    NUMBERS,
    PARITY,
    STAGES,
    WORDS,
    load_weights,
    save_weights,
    write_numbers,
)
from pydlshogi.games.othello.engine.policy import save_policy
from pydlshogi.games.othello.engine.rollouts import save_rollouts
from pydlshogi.games.othello.rules import States
from pydlshogi.games.othello.squares import count
from pydlshogi.games.othello.wthor import Archive, Games, held_out, read_archive, read_games
from pydlshogi.games.othello.wthor import positions_of as played_positions
from pydlshogi.support.arrays import Float32Array, Int16Array, Int32Array, Records
from pydlshogi.support.command_line import exit_status, natural, parser_for, pool_of, positive
from pydlshogi.support.kernels.compiled import allocating
from utils.lab import othello_cuts, othello_policy
from utils.lab.othello_cuts import FORMS
from utils.lab.othello_policy import KINDS, fit_scales

# The classes of numbers, one after the other.
_CLASS_OF: Final[Int32Array] = np.unique(CLASSES, return_inverse=True)[1].astype(np.int32)
CLASS_COUNT: Final = int(_CLASS_OF.max()) + 1


def positions_of(archive: Archive, stage: int) -> Records:
    """POSITION [n]: the positions of a stage in which the side to move can play, as far as it is known what perfect
    play would have come to.
    """
    games = archive.games
    positions = played_positions(games, games["theoretical"], 4 * stage, 4 * stage + 4)
    empties = 64 - np.bitwise_count(positions["mover"] | positions["opponent"])
    numbers, as_perfect = positions["game"], games["score"] == games["theoretical"]
    known: Records = positions[as_perfect[numbers] | (empties >= archive.depths[numbers])]
    return known


def fit(classes: Int32Array, labels: Float32Array, ridge: float = 30.0, steps: int = 15) -> Float32Array:
    """The weights of all classes whose sums come nearest to `labels`, in discs; `classes` is int32 [positions, 47].

    Least squares with a penalty of `ridge` on each squared weight, which halves one that occurs as often, in `steps`
    steps of conjugate gradients on the normal equations, preconditioned by how often each class occurs.
    """
    weights = np.zeros(CLASS_COUNT, np.float32)
    often = _spread(classes, np.ones(len(classes), np.float32)) + np.float32(ridge)
    rest = _spread(classes, labels)
    direction = step = rest / often
    slope = float(rest @ step)
    for _ in range(steps):
        if slope == 0:  # there is nothing left to improve
            break
        curved = _spread(classes, sums(classes, direction)) + np.float32(ridge) * direction
        length = np.float32(slope / float(direction @ curved))
        weights += length * direction
        rest -= length * curved
        step = rest / often
        before, slope = slope, float(rest @ step)
        direction = step + np.float32(slope / before) * direction
    return weights


def weights_of(fitted: Float32Array) -> Int16Array:
    """int16 [NUMBERS]: the weights of a stage, from those of all classes in discs."""
    weights: Int16Array = np.clip(np.rint(DISC * fitted), -32768, 32767).astype(np.int16)[_CLASS_OF]
    return weights


@allocating
def classes_of(states: States) -> Int32Array:
    """int32 [positions, 47]: the classes of the numbers of all patterns, and that of the parity of the discs."""
    classes = np.empty((len(states), len(FIRST) + 1), np.int32)
    words = np.zeros((1, WORDS), np.uint64)
    numbers = words.view(np.uint16)
    for row in range(len(states)):
        write_numbers(states[row].mover, states[row].opponent, words)
        for pattern in range(len(FIRST)):
            classes[row, pattern] = _CLASS_OF[FIRST[pattern] + numbers[0, pattern]]
        classes[row, len(FIRST)] = _CLASS_OF[PARITY + (count(states[row].mover | states[row].opponent) & 1)]
    return classes


@allocating
def sums(classes: Int32Array, weights: Float32Array) -> Float32Array:
    """float32 [positions]: the sum of the weights of each position's classes."""
    total = np.zeros(len(classes), np.float32)
    for row in range(len(classes)):
        for pattern in range(classes.shape[1]):
            total[row] += weights[classes[row, pattern]]
    return total


@allocating
def _spread(classes: Int32Array, values: Float32Array) -> Float32Array:
    """float32 [CLASS_COUNT]: for each class the sum of the values of the positions it occurs in."""
    total = np.zeros(CLASS_COUNT, np.float32)
    for row in range(len(classes)):
        for pattern in range(classes.shape[1]):
            total[classes[row, pattern]] += values[row]
    return total


def learn(archive: Archive) -> Iterator[tuple[str, Int16Array]]:
    """Learn stage after stage, the last one first; each time how well that went, and the weights so far.

    Until it is learned, and where the games have no positions of it, a stage has the weights of the next one.
    """
    weights = np.zeros((STAGES, NUMBERS), np.int16)
    held = held_out(archive.games)
    for stage in reversed(range(STAGES)):
        weights[stage] = weights[min(stage + 1, STAGES - 1)]
        positions = positions_of(archive, stage)
        test = held[positions["game"]]
        empties = f"{60 - 4 * stage:2} to {max(1, 57 - 4 * stage):2} empty squares"
        if test.all():
            yield f"{empties}: nothing to learn from", weights
            continue
        classes, leads = classes_of(positions), positions["lead"].astype(np.float32)
        fitted = fit(classes[~test], leads[~test])
        weights[stage] = weights_of(fitted)
        errors = sums(classes[test], fitted) - leads[test]
        yield f"{empties}: {len(test) - test.sum():,} positions, {_describe(errors, leads[test])}", weights


def _describe(errors: Float32Array, values: Float32Array) -> str:
    if not len(errors):
        return "none to test by"
    error, deviation = (float(np.sqrt(np.mean(np.square(each)))) for each in (errors, values))
    return f"{len(errors):,} of other games, won by {deviation:.2f} discs; predicted with an error of {error:.2f}"


def learn_moves(options: argparse.Namespace, games: Games) -> None:
    """A policy or rollouts, into a file."""
    held = held_out(games)
    epochs = options.epochs or KINDS[options.kind].epochs
    weights = othello_policy.learn(options.kind, games, held, epochs, options.seed)
    if options.kind == "rollouts":
        save_rollouts(options.out, weights)
        return
    patterns = load_weights("")
    scales, _ = fit_scales(games, np.flatnonzero(~held), patterns)
    _, right = fit_scales(games, np.flatnonzero(held), patterns)
    print(f"winner predicted by the patterns, by four plies: {' '.join(f'{100 * share:.0f}' for share in right)}")
    save_policy(options.out, weights, scales)


def learn_cuts(options: argparse.Namespace) -> None:
    """Multi-ProbCut, into a file."""
    positions, printed = othello_cuts.samples(chain.from_iterable(map(read_games, options.games))), 0
    with pool_of(options.workers, None) as pool:
        for cuts in othello_cuts.measure(positions, FORMS[options.form], options.depth, load_weights(""), pool):
            for pair in cuts.pairs[printed:]:
                print(described(pair), flush=True)
            printed = len(cuts.pairs)
            write_cuts(options.out, cuts)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.othello_learn", __doc__)
    parser.add_argument("kind", choices=["patterns", "cuts", *KINDS])
    parser.add_argument("games", type=Path, nargs="+", help="files of games, .wtb")
    parser.add_argument("--out", type=Path, required=True, help="file to write, .npz; of cuts .toml")
    parser.add_argument("--epochs", type=positive, help="of moves: how often to go through the games")
    parser.add_argument("--seed", type=natural, default=1, help="of moves: decides the order of the games")
    parser.add_argument("--form", choices=FORMS, default="stages", help="of cuts")
    parser.add_argument("--depth", type=positive, default=14, help="of the deepest search for cuts")
    parser.add_argument("--workers", type=natural, default=0, help="processes that search for cuts; 0: one a core")
    options = parser.parse_args(arguments)

    def run() -> None:
        if options.kind == "cuts":
            learn_cuts(options)
            return
        archive = read_archive(options.games)
        if options.kind in KINDS:
            learn_moves(options, archive.games)
            return
        for line, weights in learn(archive):
            print(line, flush=True)
            save_weights(options.out, weights)

    return exit_status("othello_learn", run, ValueError)


if __name__ == "__main__":
    sys.exit(main())
