"""The engines of Othello, as protocols take them. Light: what they think with is imported when they are loaded."""

from pkgutil import resolve_name

from pydlshogi.engines.othello.options import AlphaBetaOptions, OthelloMCTSOptions
from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import BasePlayer, Engine
from pydlshogi.player.options import EngineOptions


def alphabeta() -> Engine:
    """The engine that searches with alpha-beta over learned patterns."""
    return _engine("pydlshogi alpha-beta", AlphaBetaOptions(), "alphabeta_player:AlphaBetaPlayer")


def mcts() -> Engine:
    """The engine that searches as AlphaZero did, or as IaGo."""
    return _engine("pydlshogi search", OthelloMCTSOptions(), "mcts_player:OthelloMCTSPlayer")


def iago() -> Engine:
    """The engine that searches as IaGo did."""
    options = OthelloMCTSOptions()
    options.iago = True
    return _engine("pydlshogi search IaGo", options, "mcts_player:OthelloMCTSPlayer")


def _engine(name: str, options: EngineOptions, player: str) -> Engine:
    def load() -> BasePlayer:
        loaded: BasePlayer = resolve_name(f"{__name__}.{player}")(options)
        return loaded

    return Engine(name, options, _set_up, load)


def _set_up(text: str | None) -> PlayedPosition:
    from pydlshogi.games.othello.position import OthelloPosition

    return OthelloPosition(text)
