"""Shogi as one of the games of the catalogue."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pydlshogi.entry import GameEntry, Look, Name, OpeningNames, Opponent, ladder
from pydlshogi.game import PlayedPosition, Rules
from pydlshogi.games.shogi.engine.book import OwnBook, ShownBook
from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.player.base_player import BasePlayer, Engine
from pydlshogi.player.mcts_options import ReflexOptions, Search1Options

if TYPE_CHECKING:
    from pydlshogi.encoding import Encoding
    from pydlshogi.entry import GameFiles
    from pydlshogi.games.shogi.engine.mate_searcher import CheckmateSolver
    from pydlshogi.games.shogi.position import ShogiPosition
    from pydlshogi.player.network_player import Network
    from pydlshogi.training.settings import TrainingEntry


class Shogi(GameEntry):
    """Its entry."""

    name = "shogi"
    rank = 0
    network = "pydlshogi.npz"
    opponents = {
        **ladder(
            2000,
            beginner=(0, 210),
            novice=1,
            easy=(4, 184),
            casual=5,
            medium=6,
            strong=7,
            hard=(7, 120),
            expert=8,
            master=11,
            champion=13,
        ),
        "policy only": Opponent("policy"),
        "one move ahead": Opponent("search1"),
    }
    elo = {
        "beginner": 158,
        "novice": 371,
        "easy": 590,
        "casual": 836,
        "medium": 1037,
        "strong": 1210,
        "hard": 1472,
        "expert": 1678,
        "master": 1898,
        "champion": 2129,
    }
    starts = {
        "even": None,
        "lance handicap": "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "bishop handicap": "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "rook handicap": "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "rook and lance": "lnsgkgsn1/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "two pieces": "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "four pieces": "1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "six pieces": "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    }
    poses_mates = True
    learning = {"games": 32, "draw_ply": 320, "resign": 0.05, "opening_plies": 8, "until_mated": False}
    look = Look(
        hand=True,
        names={
            "K": Name("king", "玉"),
            "R": Name("rook", "飛"),
            "B": Name("bishop", "角"),
            "G": Name("gold", "金"),
            "S": Name("silver", "銀"),
            "N": Name("knight", "桂"),
            "L": Name("lance", "香"),
            "P": Name("pawn", "歩"),
            "+R": Name("dragon", "龍"),
            "+B": Name("horse", "馬"),
            "+S": Name("promoted silver", "成銀"),
            "+N": Name("promoted knight", "成桂"),
            "+L": Name("promoted lance", "成香"),
            "+P": Name("tokin", "と"),
        },
    )

    @property
    def rules(self) -> Rules:
        from pydlshogi.games.shogi.rules import RULES

        return RULES

    @property
    def encodings(self) -> "Sequence[Encoding]":
        from pydlshogi.games.shogi.sparse import ALL_ENCODINGS

        return ALL_ENCODINGS

    def position(self, sfen: str | None = None, *, draw_ply: int = 0, **rules: Any) -> PlayedPosition:
        """`rules`: as `MCTSPlayerOptions.rules` names them."""
        from pydlshogi.games.shogi.position import ShogiPosition

        return ShogiPosition(sfen, draw_ply=draw_ply, **rules)

    @property
    def engines(self) -> Mapping[str, Callable[[], Engine]]:
        return {"mcts": self.mcts, "policy": self.policy, "search1": self.search1}

    def mcts(self, options: MCTSPlayerOptions | None = None) -> Engine:
        """The engine that searches, with mates beside the search and a book before it."""
        options = options or MCTSPlayerOptions()

        def load() -> BasePlayer:
            from pydlshogi.games.shogi.engine.mate_searcher import ShogiMateSearcher
            from pydlshogi.player.mcts_player import MCTSPlayer

            return MCTSPlayer(options, self._network(), [OwnBook()], ShogiMateSearcher())

        return self.engine(options, load, "pydlshogi")._replace(known_moves=ShownBook(options))

    def policy(self) -> Engine:
        """The engine that plays the network's first choice."""
        options = ReflexOptions()

        def load() -> BasePlayer:
            from pydlshogi.player.reflex_player import ReflexPlayer, by_policy

            return ReflexPlayer(options, self._network(), by_policy)

        return self.engine(options, load, "pydlshogi policy_player")

    def search1(self) -> Engine:
        """The engine that looks one move ahead."""
        options = Search1Options()

        def load() -> BasePlayer:
            from pydlshogi.player.reflex_player import ReflexPlayer, by_value

            self.position().outcome()  # it asks for that of each position: compile it before a clock runs
            return ReflexPlayer(options, self._network(), by_value)

        return self.engine(options, load, "pydlshogi search1_player")

    def _network(self) -> "Network":
        from pydlshogi.games.shogi.encodings import MOVES
        from pydlshogi.player.network_player import Network

        return Network(self, hashed=MOVES)

    @property
    def training(self) -> "TrainingEntry":
        from pydlshogi.games.shogi.training.dataset import TRAINING

        return TRAINING

    @property
    def files(self) -> "GameFiles":
        from pydlshogi.games.shogi.files import FILES

        return FILES

    def opening(self, position: "ShogiPosition", before: OpeningNames) -> OpeningNames:
        from pydlshogi.games.shogi.openings import opening

        return opening(position, before)

    def gives_odds(self, start: str) -> bool:
        return "/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w" in start

    def in_danger(self, position: "ShogiPosition") -> str:
        from pydlshogi.games.shogi.position import checked_king

        return checked_king(position)

    @cached_property
    def _solver(self) -> "CheckmateSolver":
        from pydlshogi.games.shogi.engine.mate_searcher import CheckmateSolver

        return CheckmateSolver()

    def defence(self, position: "ShogiPosition") -> Sequence[str]:
        return self._solver.defence(position)

    def why_not(self, position: "ShogiPosition", move: str) -> str:
        from pydlshogi.games.shogi.position import why_not

        return why_not(position, move)


GAME: Final = Shogi()
