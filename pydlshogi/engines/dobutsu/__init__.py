"""The engine of Dobutsu shogi: the search that all games share, and the solution of the game where there is one."""

from pkgutil import resolve_name

from pydlshogi.engines.named import new_engine
from pydlshogi.games.dobutsu.game import GAME
from pydlshogi.player.base_player import Engine
from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.options import Check


class DobutsuOptions(MCTSOptions):
    """What the engine lets the user decide."""

    perfect_play = Check("Perfect_Play", False, help="play by the solution of the game, once that has been made")


def mcts() -> Engine:
    """The engine that searches."""
    options = DobutsuOptions()
    return new_engine(GAME, options, lambda: resolve_name(f"{__name__}.players:DobutsuPlayer")(GAME, options))
