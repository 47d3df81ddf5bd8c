"""Even openings for matches, in the manner of XOT: `python -m utils.othello.even FILE`

All positions after a number of moves are searched, each once however the board is turned. Those are kept that the
engine thinks are worth nearly the same to both sides.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tqdm import tqdm

from pydlshogi.games.othello.engine.alphabeta_search import depths_to
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.protocols.loaded_engine import (
    DEFAULT_LEVEL,
    HIGHEST_LEVEL,
    LoadedEngine,
    discs_of,
    engine_with,
)
from pydlshogi.games.othello.rules import START, Position, move_name, parse_move
from pydlshogi.games.othello.squares import standing
from pydlshogi.games.othello.transcript import after, transcript
from pydlshogi.player.clock import Limits
from pydlshogi.player.option_settings import add_option_setting
from pydlshogi.support.command_line import bounded, exit_status, parser_for
from pydlshogi.support.files import check_writable, write_whole

DOUBT: Final = 2.0
"""Discs that a shallow search may be wrong by."""


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


def lines(plies: int) -> list[tuple[int, ...]]:
    """All lines of `plies` moves, of those that lead to equal positions one. A bar shows the progress."""
    found: dict[Position, tuple[int, ...]] = {standing(START): ()}
    for _ in range(plies):
        longer: dict[Position, tuple[int, ...]] = {}
        for moves in tqdm(found.values(), unit="position", leave=False, dynamic_ncols=True, disable=None):
            for move in (position := after(START, moves)).moves():
                longer.setdefault(standing(position.play(move)), (*moves, move))
        found = longer
    return list(found.values())


def is_even(engine: LoadedEngine, level: int, position: Position, within: float) -> bool:
    """Whether neither side is ahead by more than `within` discs.

    Where a shallow search finds one ahead by clearly more, a deep one is spared.
    """
    if position.over:
        return False
    for each in depths_to(level):
        engine.set_level(each)
        (lead,) = judged(engine, position).values()
        if abs(lead) > within + (DOUBT if each < level else 0.0):
            return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.othello.even", "Find even openings to play matches from.")
    parser.add_argument("file", type=Path, help="file of transcripts to write")
    parser.add_argument("--plies", type=bounded(1, 10), default=8, help="moves of an opening")
    parser.add_argument("--within", type=bounded(0, 64, float), default=1.0, help="discs by which a side may be ahead")
    add_judge_options(parser)
    options = parser.parse_args(arguments)

    def run() -> None:
        check_writable(options.file)
        engine = judge_of(options)
        every_line = tqdm(lines(options.plies), unit="position", dynamic_ncols=True, disable=None)
        found = sorted(
            line for line in every_line if is_even(engine, options.level, after(START, line), options.within)
        )
        remark = f"# Neither side is ahead by more than {options.within:g} discs at level {options.level}."
        write_whole(options.file, "\n".join([remark, *map(transcript, found), ""]).encode())
        print(f"{len(found)} openings")

    return exit_status("even", run)


if __name__ == "__main__":
    sys.exit(main())
