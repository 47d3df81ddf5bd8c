"""The engine plays itself, so that there is something to learn from: `python -m utils.othello.selfplay`

Games begin with random moves, go on with searches of a few plies and end with perfect play. They are files of WTHOR
format, which `learn` reads; a file that is there already is not played again, so that the same command goes on where it
was broken off. Without weights, the moves in between are as good as random: learning may begin from nothing.
"""

import random
import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from tqdm import tqdm

from pydlshogi.games.othello.engine.alphabeta_search import AlphaBeta
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.patterns import NUMBERS, STAGES, load_weights
from pydlshogi.games.othello.rules import PASS, START
from pydlshogi.games.othello.transcript import Transcript, game_of
from pydlshogi.games.othello.wthor import rows_of, write_wthor
from pydlshogi.support.command_line import bounded, exit_status, parser_for, positive
from pydlshogi.support.files import digest, reserved
from pydlshogi.support.processes import ProcessPool
from pydlshogi.support.settings import settle

GAMES_PER_FILE: Final = 100
_LONGEST_FILE: Final = 3600.0 * 24
"""Seconds after which a process that plays the games of a file is given up."""


class Settings(NamedTuple):
    """How the games are played."""

    level: int = 4
    """Plies to search."""
    exact: int = 12
    """Positions with no more empty squares are solved."""
    random_plies: int = 30
    """Most random moves at the beginning; how many, from 4, is drawn."""


def play(rng: random.Random, search: AlphaBeta, solver: Solver, settings: Settings) -> Transcript:
    """One game of the engine with itself."""
    position = START
    moves: list[int] = []
    drawn = rng.randint(4, settings.random_plies)
    while legal := position.moves():
        if legal == [PASS]:
            move = PASS
        elif position.empties <= settings.exact:
            solution = solver.solve(position)
            assert solution is not None
            move = solution.move
        elif len(moves) < drawn:
            move = rng.choice(legal)
        else:
            found = search.search(position, settings.level)
            assert found is not None
            move = found.move
        moves.append(move)
        position = position.play(move)
    return game_of(moves)


def _play_file(number: int, out: Path, weights: Path | None, seed: int, settings: Settings) -> None:
    search, solver = _engine(weights)
    rng = random.Random(f"{seed} {number}")
    search.clear()
    games = [play(rng, search, solver, settings) for _ in range(GAMES_PER_FILE)]
    write_wthor(file_of(out, number), rows_of(games), 0, settings.exact)


@cache
def _engine(weights: Path | None) -> tuple[AlphaBeta, Solver]:
    """Those of this process."""
    loaded = np.zeros((STAGES, NUMBERS), np.int16) if weights is None else load_weights(weights)
    return AlphaBeta(loaded, megabytes=16), Solver(16, loaded)


def file_of(out: Path, number: int) -> Path:
    """Where the games of this number, from 1, are written."""
    return out / f"selfplay-{number:05}.wtb"


def main(arguments: Sequence[str] | None = None) -> int:
    defaults = Settings()
    parser = parser_for("utils.othello.selfplay", "Let the engine play itself.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the games")
    parser.add_argument("--games", type=positive, default=1000, help=f"in all, in files of {GAMES_PER_FILE}")
    parser.add_argument("--weights", type=Path, help="of the patterns (default: none, which is nearly random play)")
    parser.add_argument("--level", type=bounded(1, 60), default=defaults.level, help="plies to search")
    parser.add_argument(
        "--exact", type=bounded(1, 20), default=defaults.exact, help="empty squares from which to solve"
    )
    parser.add_argument("--seed", type=int, default=0, help="other seeds, other games")
    parser.add_argument("--workers", type=positive, default=1, help="processes")
    options = parser.parse_args(arguments)
    settings = Settings(options.level, options.exact)
    job = partial(_play_file, out=options.out, weights=options.weights, seed=options.seed, settings=settings)

    def play_missing() -> None:
        weights = options.weights and digest(options.weights)
        with reserved(options.out), ProcessPool(options.workers) as pool:
            settle(options.out / "selfplay.json", {"weights": weights, "seed": options.seed, **settings._asdict()})
            files = range(1, 1 + -(-options.games // GAMES_PER_FILE))
            missing = [number for number in files if not file_of(options.out, number).exists()]
            played = pool.in_order(job, missing, _LONGEST_FILE)
            for _ in tqdm(
                played, total=len(missing), unit=f" x {GAMES_PER_FILE} games", dynamic_ncols=True, disable=None
            ):
                pass

    resume = "the same command plays the games that are missing"
    return exit_status("selfplay", play_missing, ValueError, resume=resume)


if __name__ == "__main__":
    sys.exit(main())
