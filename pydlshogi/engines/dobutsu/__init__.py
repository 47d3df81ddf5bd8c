"""The engine of Dobutsu shogi: the search that all games share, and the solution of the game where there is one."""

from pydlshogi.engines.named import shared_search
from pydlshogi.games.dobutsu.game import GAME
from pydlshogi.player.base_player import Engine
from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.options import Check


class DobutsuOptions(MCTSOptions):
    """What the engine lets the user decide."""

    perfect_play = Check("Perfect_Play", False, help="play by the solution of the game, once that has been made")


def mcts() -> Engine:
    """The engine that searches."""
    return shared_search(GAME, DobutsuOptions(), "pydlshogi.engines.dobutsu.players:DobutsuPlayer")
