"""The alpha-beta of Othello plays itself, so that there is something to learn from.

    python -m utils.lab.othello_selfplay --out runs/othello --games 200

Games begin with random moves, go on with searches of a few plies and end with perfect play. They are files of WTHOR
format, of 100 games each; a file that is there is not played again.
"""

import random
import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

from pydlshogi.games.othello.engine.alphabeta_search import AlphaBeta
from pydlshogi.games.othello.engine.endgame import Solver
from pydlshogi.games.othello.engine.patterns import load_weights
from pydlshogi.games.othello.rules import PASS, START
from pydlshogi.games.othello.transcript import Transcript, game_of
from pydlshogi.games.othello.wthor import rows_of, write_wthor
from pydlshogi.support.command_line import bounded, exit_status, parser_for, positive
from pydlshogi.support.pool import ProcessPool

_GAMES: Final = 100
"""Of a file."""
_EXACT: Final = 12
"""Positions with no more empty squares are solved."""
_RANDOM_PLIES: Final = 30
"""Most random moves at the beginning; how many, from 4, is drawn."""


@cache
def _engine() -> tuple[AlphaBeta, Solver]:
    """Those of this process."""
    return AlphaBeta(load_weights(""), megabytes=16), Solver(16, load_weights(""))


def play(rng: random.Random, level: int) -> Transcript:
    """One game of the engine with itself."""
    search, solver = _engine()
    position, moves, drawn = START, list[int](), rng.randint(4, _RANDOM_PLIES)
    while legal := position.moves():
        if legal == [PASS]:
            move = PASS
        elif position.empties <= _EXACT:
            solution = solver.solve(position)
            assert solution is not None
            move = solution.move
        elif len(moves) < drawn:
            move = rng.choice(legal)
        else:
            found = search.search(position, level)
            assert found is not None
            move = found.move
        moves.append(move)
        position = position.play(move)
    return game_of(moves)


def _play_file(file: Path, seed: int, level: int) -> Path:
    _engine()[0].clear()
    rng = random.Random(f"{seed} {file.name}")
    write_wthor(file, rows_of([play(rng, level) for _ in range(_GAMES)]), 0, _EXACT)
    return file


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.othello_selfplay", __doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the games")
    parser.add_argument("--games", type=positive, default=1000, help="in all")
    parser.add_argument("--level", type=bounded(1, 60), default=4, help="plies to search")
    parser.add_argument("--seed", type=int, default=0, help="other seeds, other games")
    parser.add_argument("--workers", type=positive, default=1, help="processes")
    options = parser.parse_args(arguments)

    def run() -> None:
        options.out.mkdir(parents=True, exist_ok=True)
        files = [options.out / f"selfplay-{number:05}.wtb" for number in range(1, 1 + -(-options.games // _GAMES))]
        missing = [file for file in files if not file.exists()]
        with ProcessPool(options.workers) as pool:
            for file in pool.in_order(partial(_play_file, seed=options.seed, level=options.level), missing):
                print(file, flush=True)

    return exit_status("othello_selfplay", run)


if __name__ == "__main__":
    sys.exit(main())
