"""What the alpha-beta engine thinks of positions, for those who make openings."""

import argparse
from typing import NamedTuple

from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import Position, parse_move
from pydlshogi.player.clock import Limits
from pydlshogi.player.option_settings import add_option_setting
from pydlshogi.protocols.loaded_engine import DEFAULT_LEVEL, HIGHEST_LEVEL, LoadedEngine, discs_of, engine_with
from pydlshogi.support.command_line import bounded


class JudgedMove(NamedTuple):
    """A move."""

    move: int
    discs: float
    """By how many the side to move will win."""


def add_judge_options(parser: argparse.ArgumentParser) -> None:
    """Options for `judge_of`."""
    parser.add_argument(
        "--level", type=bounded(1, HIGHEST_LEVEL), default=DEFAULT_LEVEL, help="plies to search (default %(default)s)"
    )
    add_option_setting(parser)


def judge_of(options: argparse.Namespace) -> LoadedEngine:
    """The engine that the options ask for. Raises OptionError, PlayerError."""
    return LoadedEngine(engine_with("alphabeta", options.option), options.level)


def judged(engine: LoadedEngine, position: Position, most: int = 1) -> list[JudgedMove]:
    """The best moves of a position in which there is one: `most`, or as many as there are."""
    answer = engine.ask(OthelloPosition(position), Limits(infinite=True), lines=most)
    return [JudgedMove(parse_move(info.pv[0]), discs_of(info) or 0.0) for info in answer.lines]
