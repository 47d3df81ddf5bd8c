"""Registers openings for the engine to play: `python -m utils.othello.register FILE --games GAMES`

--games GAMES    how the games in some files begin
--grow           what the engine itself finds nearly as good as the best, ply after ply
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tqdm import tqdm

from pydlshogi.engines.othello.openings import SPREAD, RegisteredLine, lines, read_openings, write_openings
from pydlshogi.games.othello.records import read_games
from pydlshogi.games.othello.rules import MOST_MOVES, START, Position
from pydlshogi.games.othello.squares import standing
from pydlshogi.games.othello.transcript import RecordError, after
from pydlshogi.player.base_player import PlayerError
from pydlshogi.player.option_settings import OptionError
from pydlshogi.protocols.loaded_engine import LoadedEngine
from pydlshogi.support.command_line import bounded, exit_status, parser_for, positive
from pydlshogi.support.files import check_writable
from utils.othello.judging import add_judge_options, judge_of, judged


def beginnings(paths: Iterable[Path], plies: int, least: int) -> list[tuple[int, ...]]:
    """How games begin, as far as `plies` moves, if at least so many games begin so. Raises RecordError, OSError."""
    games = (game for path in paths for game in read_games(path) if game.start == START)
    counts = Counter(game.moves[:plies] for game in games if len(game.moves) > plies)
    return [moves for moves, times in counts.items() if times >= least]


def grown(engine: LoadedEngine, plies: int) -> list[tuple[int, ...]]:
    """All lines of `plies` moves, each nearly as good as the best one in its position; of equal positions one line."""

    def good(position: Position) -> list[int]:
        moves = judged(engine, position, MOST_MOVES)
        return [move for move, discs in moves if discs >= moves[0].discs - SPREAD]

    return [moves for moves, _ in lines(plies, good)]


def line_of(engine: LoadedEngine, moves: tuple[int, ...]) -> RegisteredLine:
    """The opening with what the engine thinks of its end, in which somebody can move."""
    position = after(START, moves)
    (best,) = judged(engine, position)
    return RegisteredLine(moves, best.discs if position.black_to_move else -best.discs)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.othello.register", "Register openings for the engine to play.")
    parser.add_argument("file", type=Path, help="file of openings; those that it holds are kept")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--games", type=Path, nargs="+", help="files of games whose beginnings to register")
    what.add_argument("--grow", action="store_true", help="register what the engine itself finds")
    parser.add_argument("--plies", type=bounded(1, 30), default=8, help="moves of an opening (default %(default)s)")
    parser.add_argument("--least", type=positive, default=1, help="games that begin so (default %(default)s)")
    add_judge_options(parser)
    options = parser.parse_args(arguments)

    def run() -> None:
        check_writable(options.file)
        known = read_openings(options.file) if options.file.exists() else []
        engine = judge_of(options)
        if options.grow:
            found = grown(engine, options.plies)
        else:
            found = beginnings(options.games, options.plies, options.least)
        there = {standing(after(START, opening.moves)) for opening in known}
        new = [moves for moves in found if standing(after(START, moves)) not in there]
        bar = tqdm(new, unit="opening", dynamic_ncols=True, disable=None)
        write_openings(options.file, [*known, *(line_of(engine, moves) for moves in bar)])
        print(f"{len(new)} openings registered, {len(known)} were known")

    return exit_status("register", run, OptionError, PlayerError, RecordError)


if __name__ == "__main__":
    sys.exit(main())
