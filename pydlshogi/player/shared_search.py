"""The player that any game can have: the search of `pydlshogi.player` with the rules of a game."""

from collections.abc import Callable, Sequence

from pydlshogi.encoding import Encoding
from pydlshogi.evaluator import UniformEvaluator
from pydlshogi.game import PlayedPosition, Rules
from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.support.arrays import Records
from pydlshogi.uct.batch import Evaluator


class SharedSearchPlayer(MCTSPlayer):
    """It searches."""

    def __init__(
        self,
        rules: Rules,
        encodings: Sequence[Encoding],
        network: str,
        position: Callable[..., PlayedPosition],
        options: MCTSOptions,
    ) -> None:
        """All but the options as `GameEntry` gives them."""
        self.rules, self.encodings, self.shipped, self._position = rules, encodings, network, position
        super().__init__(options)

    def start(self) -> PlayedPosition:
        return self._position()

    def without_network(self) -> tuple[Evaluator, str] | None:
        return None if self.shipped else (UniformEvaluator(), "no network: all moves are alike")

    def rule_settings(self, position: PlayedPosition) -> Records:
        return self._position(**self.options.rules()).settings
