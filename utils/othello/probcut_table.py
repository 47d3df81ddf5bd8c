"""What Multi-ProbCut is worth: it plays a few plies deeper against the plain search.

    python -m utils.othello.probcut --table FILE

For each cell of the table Multi-ProbCut at N + n plies plays the plain search at N, every opening twice with colours
swapped; both solve the last squares. A game is a line of FILE once it is finished, so that the same command goes on
where it was broken off, however rudely.
"""

import hashlib
import math
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from tqdm import tqdm

from pydlshogi.games.othello.engine.alphabeta_search import AlphaBeta, Found, depths_to
from pydlshogi.games.othello.engine.cuts import probing_of, read_cuts
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.patterns import load_weights
from pydlshogi.games.othello.rules import PASS, START, Position
from pydlshogi.games.othello.transcript import parse_transcript, transcript
from pydlshogi.support.elo import histogram_of_pairs
from pydlshogi.support.errors import OneLineError
from pydlshogi.support.pool import Plain, WorkerPool
from utils.arena.finished import FinishedGames

LONGEST_TASK: Final = 3600.0
"""Seconds after which a game, or a process that searches some positions, is given up."""
PLAIN: Final = (4, 6, 8, 10)
MORE: Final = (0, 1, 2, 3)
SOLVED: Final = 12
"""Both sides solve positions with this many empty squares."""
OPENING_PLIES: Final = 8
"""Of openings that are drawn."""


class Fixture(NamedTuple):
    """A game to play."""

    plain: int
    more: int
    number: int
    """From 0; of two games with the same opening the cuts have Black in the first."""
    opening: str


def tasks(games: int, openings: Sequence[str] | None) -> Iterator[Fixture]:
    """All games of the table, `games` (an even number) in each cell; without `openings` they are drawn."""
    for plain in PLAIN:
        for more in MORE:
            for number in range(games):
                pair = number // 2
                opening = openings[pair % len(openings)] if openings else drawn_opening(pair)
                yield Fixture(plain, more, number, opening)


def drawn_opening(seed: int) -> str:
    """A transcript of random moves after which the game goes on."""
    rng = random.Random(seed)
    position, moves = START, []
    for _ in range(OPENING_PLIES):
        moves.append(rng.choice(position.moves()))
        position = position.play(moves[-1])
    return transcript(moves)


def play(task: Fixture, weights: Path, cuts: Path) -> dict[str, Any]:
    """The line of a game. Of two numbers the first is that of the cuts; seconds are those of the processor."""
    searches, solver = _searches(weights, cuts)
    depths = (task.plain + task.more, task.plain)
    seconds, evaluations = [0.0, 0.0], [0, 0]
    opening = parse_transcript(task.opening)
    position, moves = opening.end, list(opening.moves)
    while legal := position.moves():
        side = int(position.black_to_move == bool(task.number % 2))
        if legal == [PASS]:
            move = PASS
        elif position.empties <= SOLVED:
            solution = solver.solve(position)
            assert solution is not None
            move = solution.move
        else:
            began = time.process_time()
            found = deepened(searches[side], position, depths[side])
            seconds[side] += time.process_time() - began
            evaluations[side] += found.evaluations
            move = found.move
        moves.append(move)
        position = position.play(move)
    discs = -position.lead if task.number % 2 else position.lead
    spent = [round(each, 4) for each in seconds]
    return {**task._asdict(), "moves": transcript(moves), "discs": discs, "evaluations": evaluations, "seconds": spent}


@cache
def _searches(weights: Path, cuts: Path) -> tuple[tuple[AlphaBeta, AlphaBeta], Solver]:
    """The two sides, and the solver, of this process."""
    loaded = load_weights(weights)
    return (AlphaBeta(loaded, probing_of(read_cuts(cuts))), AlphaBeta(loaded)), Solver(weights=loaded)


def deepened(search: AlphaBeta, position: Position, depth: int) -> Found:
    """A search after shallower ones that order its moves; nothing is known from the moves before."""
    search.clear()
    steps = [search.search(position, each) for each in depths_to(depth)]
    *_, last = steps
    assert last is not None
    return last._replace(evaluations=sum(step.evaluations for step in steps if step is not None))


def fill(path: Path, weights: Path, cuts: Path, openings: Sequence[str] | None, games: int, pool: WorkerPool) -> None:
    """Play what a file of games lacks, `games` in each cell, and print the table, however that ends.

    Raises OneLineError if its games are of other parameters or openings.
    """
    held = weights.read_bytes() + cuts.read_bytes() + " ".join(openings or ()).encode()
    parameters = hashlib.sha256(held).hexdigest()[:16]
    names = ("plain", "more", "number", "parameters", "discs", "evaluations", "seconds")
    with closing(FinishedGames(path, names)) as finished:
        if any(game["parameters"] != parameters for game in finished.games):
            raise OneLineError(f"{path} holds games of other weights, cuts or openings: choose another file")
        there = {(game["plain"], game["more"], game["number"]) for game in finished.games}
        missing = [task for task in tasks(games, openings) if task[:3] not in there]
        played = pool.map(Plain(partial(play, weights=weights, cuts=cuts)), missing, LONGEST_TASK)
        try:
            for _, game in tqdm(played, total=len(missing), unit="game", dynamic_ncols=True, disable=None):
                finished.add({**game, "parameters": parameters})
        finally:
            print(table(finished.games))


def table(games: Sequence[dict[str, Any]]) -> str:
    """The table in Markdown: share of the points with its 95 % error, evaluations and time as ratios."""
    lines = [f"| | {' | '.join(f'N = {plain}' for plain in PLAIN)} |", f"|---|{'---|' * len(PLAIN)}"]
    for more in MORE:
        cells = []
        for plain in PLAIN:
            cells.append(_cell([game for game in games if (game["plain"], game["more"]) == (plain, more)]))
        lines.append(f"| +{more} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(games: Sequence[dict[str, Any]]) -> str:
    counts = histogram_of_pairs({game["number"]: (1 + float(np.sign(game["discs"]))) / 2 for game in games})
    pairs = np.repeat(np.linspace(0, 1, 5), counts)
    if len(pairs) < 2:
        return "-"
    error = 1.96 * float(np.std(pairs, ddof=1)) / math.sqrt(len(pairs))
    evaluations, seconds = (
        sum(game[what][0] for game in games) / max(1e-9, sum(game[what][1] for game in games))
        for what in ("evaluations", "seconds")
    )
    return f"{100 * np.mean(pairs):.0f} ± {100 * error:.0f} / {evaluations:.3g} / {seconds:.3g} ({len(games)})"
