"""Registers openings for the engine to play: `python -m utils.othello.register FILE --games GAMES`

--games GAMES    how the games in some files begin
--grow           what the engine itself finds nearly as good as the best, ply after ply
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tqdm import tqdm

from pydlshogi.engines.othello.alphabeta_options import ALPHABETA
from pydlshogi.engines.othello.clock import Clock, Effort
from pydlshogi.engines.othello.engine import EngineError, OthelloEngine, unheard
from pydlshogi.engines.othello.openings import SPREAD, RegisteredLine, lines, read_openings, standing, write_openings
from pydlshogi.games.othello.records import read_games
from pydlshogi.games.othello.rules import MOST_MOVES, START, Position
from pydlshogi.games.othello.transcript import RecordError, after
from pydlshogi.support.command_line import exit_status
from pydlshogi.support.files import check_writable


def beginnings(paths: Iterable[Path], plies: int, least: int) -> list[tuple[int, ...]]:
    """How games begin, as far as `plies` moves, if at least so many games begin so. Raises RecordError, OSError."""
    games = (game for path in paths for game in read_games(path) if game.start == START)
    counts = Counter(game.moves[:plies] for game in games if len(game.moves) > plies)
    return [moves for moves, times in counts.items() if times >= least]


def grown(engine: OthelloEngine, effort: Effort, plies: int) -> list[tuple[int, ...]]:
    """All lines of `plies` moves, each nearly as good as the best one in its position; of equal positions one line."""

    def good(position: Position) -> list[int]:
        hints = engine.hints(position, MOST_MOVES, Clock(effort), unheard)
        best = hints[0].score or 0.0
        return [hint.move for hint in hints if (hint.score or 0.0) >= best - SPREAD]

    return [moves for moves, _ in lines(plies, good)]


def judged(engine: OthelloEngine, effort: Effort, moves: tuple[int, ...]) -> RegisteredLine:
    """The opening with what the engine thinks of its end, in which somebody can move."""
    position = after(START, moves)
    score = engine.hints(position, 1, Clock(effort), unheard)[0].score or 0.0
    return RegisteredLine(moves, score if position.black_to_move else -score)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m utils.othello.register", description="Register openings for the engine to play."
    )
    parser.add_argument("file", type=Path, help="file of openings; those that it holds are kept")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--games", type=Path, nargs="+", help="files of games whose beginnings to register")
    what.add_argument("--grow", action="store_true", help="register what the engine itself finds")
    parser.add_argument("--plies", type=int, default=8, help="moves of an opening (default %(default)s)")
    parser.add_argument("--least", type=int, default=1, help="games that begin so (default %(default)s)")
    ALPHABETA.add_options(parser)
    options = parser.parse_args(arguments)
    if not 1 <= options.plies <= 30 or options.least < 1:
        parser.error("--plies is 1 to 30, --least at least 1")

    def run() -> None:
        check_writable(options.file)
        options.no_openings = True
        engine, effort = ALPHABETA.engine_of(options)
        known = read_openings(options.file) if options.file.exists() else []
        engine.prepare()
        if options.grow:
            found = grown(engine, effort, options.plies)
        else:
            found = beginnings(options.games, options.plies, options.least)
        there = {standing(after(START, opening.moves)) for opening in known}
        new = [moves for moves in found if standing(after(START, moves)) not in there]
        bar = tqdm(new, unit="opening", dynamic_ncols=True, disable=None)
        write_openings(options.file, [*known, *(judged(engine, effort, moves) for moves in bar)])
        print(f"{len(new)} openings registered, {len(known)} were known")

    return exit_status("register", run, EngineError, RecordError)


if __name__ == "__main__":
    sys.exit(main())
