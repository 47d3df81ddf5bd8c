"""What the engine of Dobutsu shogi lets the user decide beside what all engines do."""

from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.options import Check


class DobutsuOptions(MCTSOptions):
    """What the engine lets the user decide."""

    perfect_play = Check("Perfect_Play", False, help="play by the solution of the game, once that has been made")
