"""What the alpha-beta engine thinks of positions, for those who make openings."""

import argparse
from collections.abc import Sequence

from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import Position, move_name, parse_move
from pydlshogi.player.clock import Limits
from pydlshogi.player.option_settings import add_option_setting
from pydlshogi.protocols.loaded_engine import DEFAULT_LEVEL, HIGHEST_LEVEL, LoadedEngine, discs_of, engine_with
from pydlshogi.support.command_line import bounded


def add_judge_options(parser: argparse.ArgumentParser) -> None:
    """Options for `judge_of`."""
    parser.add_argument("--level", type=bounded(1, HIGHEST_LEVEL), default=DEFAULT_LEVEL, help="plies to search")
    add_option_setting(parser)


def judge_of(options: argparse.Namespace) -> LoadedEngine:
    """The engine that the options ask for, without a book. Raises OptionError, PlayerError."""
    return LoadedEngine(engine_with("alphabeta", ["Openings=false", *options.option]), options.level)


def judged(engine: LoadedEngine, position: Position, most: int = 1, moves: Sequence[int] = ()) -> dict[int, float]:
    """The best moves of a position in which there is one, or of `moves`: `most`, or as many as there are; and by how
    many discs the side to move will win with each."""
    limits = Limits(infinite=True, searchmoves=tuple(map(move_name, moves)))
    answer = engine.ask(OthelloPosition(position), limits, lines=most)
    return {parse_move(info.pv[0]): discs_of(info) or 0.0 for info in answer.lines}
