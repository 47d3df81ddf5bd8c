"""The player that any game can have: the search of `pydlshogi.player` with the rules of a game."""

from pydlshogi.evaluator import UniformEvaluator
from pydlshogi.game import PlayedPosition
from pydlshogi.games.entry import GameEntry
from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.support.arrays import Records
from pydlshogi.uct.batch import Evaluator


class SharedSearchPlayer(MCTSPlayer):
    """It searches."""

    def __init__(self, game: GameEntry, options: MCTSOptions) -> None:
        self.rules, self.encodings, self.shipped = game.rules, game.encodings, game.network
        self._position = game.position
        super().__init__(options)

    def start(self) -> PlayedPosition:
        return self._position()

    def without_network(self) -> tuple[Evaluator, str] | None:
        return None if self.shipped else (UniformEvaluator(), "no network: all moves are alike")

    def rule_settings(self, position: PlayedPosition) -> Records:
        return self._position(**self.options.rules()).settings
