"""The player of Dobutsu shogi: that of `pydlshogi.player` with its rules."""

from pydlshogi.games.dobutsu.encodings import DOBUTSU
from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.dobutsu.rules import RULES
from pydlshogi.games.dobutsu.sparse import DOBUTSU_SPARSE
from pydlshogi.player.base_player import PlayedPosition
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.support.arrays import Records


class DobutsuMCTSPlayer(MCTSPlayer):
    """It searches."""

    rules = RULES
    encodings = (DOBUTSU, DOBUTSU_SPARSE)
    shipped = "dobutsu.npz"

    def start(self) -> DobutsuPosition:
        return DobutsuPosition()

    def rule_settings(self, position: PlayedPosition) -> Records:
        return DobutsuPosition(draw_ply=self.options.draw_ply).settings
