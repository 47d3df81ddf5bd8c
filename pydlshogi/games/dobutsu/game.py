"""Dobutsu shogi as one of the games of the catalogue."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pydlshogi.entry import Exam, GameEntry, Look, Name, Opponent, ladder
from pydlshogi.game import PlayedPosition, Rules
from pydlshogi.games.dobutsu import DobutsuOptions, is_solved
from pydlshogi.player.base_player import BasePlayer, Engine

if TYPE_CHECKING:
    from pydlshogi.encoding import Encoding
    from pydlshogi.games.dobutsu.position import DobutsuPosition


class Dobutsu(GameEntry):
    """Its entry."""

    name = "dobutsu"
    network = "dobutsu.npz"
    opponents = {
        **ladder(
            1000, beginner=(0, 200), novice=3, easy=5, casual=7, medium=(7, 120), strong=(7, 80), hard=10, expert=13
        ),
        "perfect": Opponent("mcts", {"Perfect_Play": "true"}, 1000, is_solved),
    }
    elo = {
        "beginner": 196,
        "novice": 406,
        "easy": 650,
        "casual": 844,
        "medium": 1039,
        "strong": 1283,
        "hard": 1484,
        "expert": 1680,
    }
    learning = {
        "kind": "policy_value_dense",
        "depth": 3,
        "channels": 256,
        "minutes": 10.0,
        "batch_size": 1024,
        "optimiser": "muon",
        "learning_rate": 0.05,
        "average": 0.99,
        "symmetries": True,
        "full_share": 1.0,
        "reuse": 8.0,
        "window_growth": 1.0,
        "opening_plies": 10.0,
        "opening_random": 1.0,
        "final_temperature": 0.25,
        "draw_ply": 160,
    }
    look = Look(
        hand=True,
        names={
            "K": Name("lion", "ライオン"),
            "B": Name("elephant", "ぞう"),
            "R": Name("giraffe", "きりん"),
            "P": Name("chick", "ひよこ"),
            "+P": Name("hen", "にわとり"),
        },
        letters={"K": "L", "B": "E", "R": "G", "P": "C", "+P": "H"},
    )

    @property
    def rules(self) -> Rules:
        from pydlshogi.games.dobutsu.rules import RULES

        return RULES

    @property
    def encodings(self) -> "Sequence[Encoding]":
        from pydlshogi.games.dobutsu.encodings import ENCODINGS

        return ENCODINGS

    def position(self, sfen: str | None = None, *, draw_ply: int = 0) -> PlayedPosition:
        from pydlshogi.games.dobutsu.position import DobutsuPosition

        return DobutsuPosition(sfen, draw_ply=draw_ply)

    @property
    def engines(self) -> Mapping[str, Callable[[], Engine]]:
        return {"mcts": self.mcts}

    def mcts(self) -> Engine:
        """The engine that searches; it plays by the solution of the game where there is one."""
        options = DobutsuOptions()

        def load() -> BasePlayer:
            from pydlshogi.games.dobutsu.perfect_play import PerfectPlay
            from pydlshogi.player.mcts_player import MCTSPlayer
            from pydlshogi.player.network_player import Network

            return MCTSPlayer(options, Network(self), [PerfectPlay()])

        return self.engine(options, load)

    @property
    def exam(self) -> Exam:
        from pydlshogi.games.dobutsu.critical import exam

        return exam()

    def in_danger(self, position: "DobutsuPosition") -> str:
        from pydlshogi.games.dobutsu.position import threatened_lion

        return threatened_lion(position)


GAME: Final = Dobutsu()
