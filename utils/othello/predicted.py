"""How well a network predicts games of people: `python -m utils.othello.predicted GAMES --network FILE`

Of the games that learning holds out of the files (see `wthor.held_out`): how often the likeliest move was played, and
how often the side with the higher value won, by four plies. The same counts as `learn_policy` and `learn_value` give.
"""

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from tqdm import tqdm

from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.othello.encodings import ENCODINGS
from pydlshogi.games.othello.engine.patterns import STAGES, stage_of
from pydlshogi.games.othello.engine.policy import shipped_tables
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.records import read_archive
from pydlshogi.games.othello.rules import MOST_MOVES, PASS
from pydlshogi.games.othello.transcript import Transcript
from pydlshogi.games.othello.wthor import games_of, held_out
from pydlshogi.network.loading import load_backend
from pydlshogi.support.arrays import Int64Array
from pydlshogi.support.command_line import exit_status, parser_for, positive
from pydlshogi.uct.batch import Batch, Evaluator
from utils.othello.learn_policy import by_four_plies, hit

_LONGEST: Final = 60
"""Positions of a game that are looked at: a pass is no choice."""


def predicted(game: Transcript, evaluator: Evaluator, batch: Batch) -> tuple[list[float], Int64Array]:
    """For each move of a game whether it was the likeliest (see `hit`); and int64 [STAGES, 2]: how often the side with
    the higher value did not win and did, nothing if it was drawn. `batch` is room to work in.
    """
    batch.clear()
    position, played, black, stages = game.start, list[int](), list[bool](), list[int]()
    for move in game.moves:
        if move != PASS:
            legal = np.array(position.moves(), np.int32)
            batch.add(OthelloPosition(position), legal)
            played.append(int(np.flatnonzero(legal == move)[0]))
            black.append(position.black_to_move)
            stages.append(stage_of(64 - position.empties))
        position = position.play(move)
    priors, values, _ = evaluator.evaluate(batch)
    bounds = pairwise(batch.firsts[: len(batch) + 1].tolist())
    hits = [hit(priors[first:stop], stop - first, chosen) for (first, stop), chosen in zip(bounds, played, strict=True)]
    winners = np.zeros((STAGES, 2), np.int64)
    if game.result:
        right = (values > 0.5) == (np.array(black) == (game.result > 0))
        np.add.at(winners, (stages, right.astype(np.int64)), 1)
    return hits, winners


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.othello.predicted", "How well a network predicts games.")
    parser.add_argument("games", type=Path, nargs="+", help="files of games, .wtb")
    parser.add_argument("--network", type=Path, help="of `pydlshogi.train othello`, say; without, the engine's tables")
    parser.add_argument("--most", type=positive, help="only the first N games that are held out", metavar="N")
    options = parser.parse_args(arguments)

    def run() -> None:
        rows = read_archive(options.games).games
        rows = rows[held_out(rows)][: options.most]
        if not len(rows):
            raise ValueError("none of these games is held out")
        evaluator: Evaluator = shipped_tables()
        if options.network:
            backend = load_backend("auto", options.network, ENCODINGS, threads=1, batch_size=_LONGEST)
            evaluator = NetworkEvaluator(backend)
        batch, hits, winners = Batch(_LONGEST, MOST_MOVES, evaluator.encoding), list[float](), np.zeros((STAGES, 2))
        for game in tqdm(games_of(rows, 0), total=len(rows), unit="game", disable=None):
            own, counts = predicted(game, evaluator, batch)
            hits += own
            winners += counts
        print(f"moves predicted: {np.mean(hits):.1%} of {len(hits):,}")
        print(by_four_plies(right / (wrong + right) if wrong + right else math.nan for wrong, right in winners))

    return exit_status("predicted", run, ValueError)


if __name__ == "__main__":
    sys.exit(main())
