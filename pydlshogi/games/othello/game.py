"""Othello as one of the games of the catalogue."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pydlshogi.entry import GameEntry, Look, Name, OpeningNames, Opponent
from pydlshogi.game import PlayedPosition, Rules
from pydlshogi.games.othello.engine.options import AlphaBetaOptions, OthelloMCTSOptions
from pydlshogi.player.base_player import BasePlayer, Engine

if TYPE_CHECKING:
    from pydlshogi.encoding import Encoding
    from pydlshogi.entry import GameFiles
    from pydlshogi.games.othello.position import OthelloPosition
    from pydlshogi.training.settings import TrainingEntry


class Othello(GameEntry):
    """Its entry."""

    name = "othello"
    opponents = {
        "beginner": Opponent("mcts", {"Skill_Level": "0"}),
        "novice": Opponent("mcts", {"Skill_Level": "4"}),
        "easy": Opponent("mcts", {"Skill_Level": "8"}),
        "casual": Opponent("mcts", {"Skill_Level": "12"}),
        "medium": Opponent("alphabeta", {"Level": "4"}),
        "strong": Opponent("alphabeta", {"Level": "6"}),
        "hard": Opponent("alphabeta", {"Level": "8"}),
        "expert": Opponent("alphabeta", {"Level": "11"}),
        "full strength": Opponent("alphabeta", {}, 2000),
        "network search": Opponent("mcts", {}, 2000),
        "IaGo": Opponent("iago", {}, 2000),
    }
    elo = {
        "beginner": 138,
        "novice": 341,
        "easy": 558,
        "casual": 754,
        "medium": 1006,
        "strong": 1219,
        "hard": 1363,
        "expert": 1510,
    }
    judged_visits = 20_000
    judged_lines = 1
    has_policy = False
    in_discs = True
    learning = {
        "kind": "policy_value_dense",
        "depth": 3,
        "channels": 256,
        "batch_size": 512,
        "optimiser": "adamw",
        "learning_rate": 0.0015,
        "average": 0.995,
        "symmetries": True,
        "opening_plies": 8.0,
        "window": 100_000,
    }
    look = Look(names={"D": Name("disc", "石")}, columns="abcdefgh", rows="12345678")

    @property
    def rules(self) -> Rules:
        from pydlshogi.games.othello.rules import RULES

        return RULES

    @property
    def encodings(self) -> "Sequence[Encoding]":
        from pydlshogi.games.othello.encodings import ENCODINGS

        return ENCODINGS

    def position(self, sfen: str | None = None, *, draw_ply: int = 0) -> PlayedPosition:
        from pydlshogi.games.othello.position import OthelloPosition

        return OthelloPosition(sfen, draw_ply=draw_ply)

    @property
    def engines(self) -> Mapping[str, Callable[[], Engine]]:
        return {"alphabeta": self.alphabeta, "mcts": self.mcts, "iago": self.iago}

    def alphabeta(self) -> Engine:
        """The engine that searches with alpha-beta over learned patterns."""
        options = AlphaBetaOptions()

        def load() -> BasePlayer:
            from pydlshogi.games.othello.engine.alphabeta_player import AlphaBetaPlayer

            return AlphaBetaPlayer(options)

        return self.engine(options, load, "pydlshogi alpha-beta")

    def mcts(self, name: str = "pydlshogi search", iago: bool = False) -> Engine:
        """The engine that searches as AlphaZero did, or as IaGo."""
        options = OthelloMCTSOptions()
        options.iago = iago

        def load() -> BasePlayer:
            from pydlshogi.games.othello.engine.policy import tables_of
            from pydlshogi.games.othello.engine.rollouts import with_rollouts
            from pydlshogi.games.othello.engine.solving import EndSolver, NoMates
            from pydlshogi.player.mcts_player import MCTSPlayer
            from pydlshogi.player.network_player import Network

            network = Network(self, tables_of, with_rollouts, unmeasured_batch=128)
            return MCTSPlayer(options, network, [EndSolver(network)], NoMates())

        return self.engine(options, load, name)

    def iago(self) -> Engine:
        """The engine that searches as IaGo did."""
        return self.mcts("pydlshogi search IaGo", iago=True)

    @property
    def training(self) -> "TrainingEntry":
        from pydlshogi.games.othello.training import TRAINING

        return TRAINING

    @property
    def files(self) -> "GameFiles":
        from pydlshogi.games.othello.files import FILES

        return FILES

    def opening(self, position: "OthelloPosition", before: OpeningNames) -> OpeningNames:
        from pydlshogi.games.othello.openings import opening

        return opening(position, before)

    def score(self, position: "OthelloPosition") -> str:
        """The discs of Black and White; at the end the winner has the empty squares too."""
        discs, end = [position.now.black.bit_count(), position.now.white.bit_count()], position.ending()
        if end is not None and end.winner is not None:
            discs[end.winner] = 64 - discs[1 - end.winner]
        return "{}-{}".format(*discs)


GAME: Final = Othello()
