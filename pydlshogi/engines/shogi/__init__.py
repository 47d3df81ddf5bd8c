"""The engines of shogi, as protocols take them. Light: what they think with is imported when they are loaded."""

from pkgutil import resolve_name

from pydlshogi.engines.named import new_engine
from pydlshogi.engines.shogi.book import ShownBook
from pydlshogi.engines.shogi.options import MCTSPlayerOptions
from pydlshogi.games.shogi.game import GAME
from pydlshogi.player.base_player import Engine
from pydlshogi.player.mcts_options import ReflexOptions, Search1Options
from pydlshogi.player.options import EngineOptions


def mcts(options: MCTSPlayerOptions | None = None) -> Engine:
    """The engine that searches."""
    options = options or MCTSPlayerOptions()
    return _engine("pydlshogi", options, "ShogiMCTSPlayer")._replace(known_moves=ShownBook(options))


def policy() -> Engine:
    """The engine that plays the network's first choice."""
    return _engine("pydlshogi policy_player", ReflexOptions(), "ShogiPolicyPlayer")


def search1() -> Engine:
    """The engine that looks one move ahead."""
    return _engine("pydlshogi search1_player", Search1Options(), "ShogiSearch1Player")


def _engine(name: str, options: EngineOptions, player: str) -> Engine:
    return new_engine(GAME, options, lambda: resolve_name(f"{__name__}.players:{player}")(options), name)
