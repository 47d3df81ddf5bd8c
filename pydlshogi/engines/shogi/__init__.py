"""The engines of shogi, as protocols take them. Light: what they think with is imported when they are loaded."""

from functools import partial
from pkgutil import resolve_name

from pydlshogi.engines.shogi.book import ShownBook
from pydlshogi.engines.shogi.options import MCTSPlayerOptions
from pydlshogi.game import PlayedPosition
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
    place = f"{__name__}.players:{player}"
    return Engine(name, options, partial(set_up, options=options), lambda: resolve_name(place)(options))


def set_up(sfen: str | None, options: EngineOptions) -> PlayedPosition:
    """The position of an sfen, None for the start of the game, under the rules that `options` choose. ValueError."""
    from pydlshogi.games.shogi.position import ShogiPosition
    from pydlshogi.games.shogi.sfen import START_SFEN

    rules = options.rules() if isinstance(options, MCTSPlayerOptions) else {}
    return ShogiPosition(START_SFEN if sfen is None else sfen, **rules)
