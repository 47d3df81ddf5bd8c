"""Dobutsu shogi: four animals a side on three files and four ranks, by the official rules."""

from pathlib import Path

from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.options import Check
from pydlshogi.support.files import cache_folder


class DobutsuOptions(MCTSOptions):
    """What the engine lets the user decide."""

    perfect_play = Check("Perfect_Play", False, help="play by the solution of the game, once that has been made")


def solution_file() -> Path:
    """Where the solution of the game is once somebody has made it. Raises OSError where a user has no home."""
    return cache_folder() / "dobutsu.solution"


def is_solved() -> bool:
    """Somebody has made the solution."""
    return solution_file().is_file()
