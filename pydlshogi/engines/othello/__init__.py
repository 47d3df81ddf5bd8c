"""The engines of Othello, as protocols take them. Light: what they think with is imported when they are loaded."""

from pkgutil import resolve_name

from pydlshogi.engines.named import new_engine
from pydlshogi.engines.othello.options import AlphaBetaOptions, OthelloMCTSOptions
from pydlshogi.games.othello.game import GAME
from pydlshogi.player.base_player import Engine
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
    return new_engine(GAME, options, lambda: resolve_name(f"{__name__}.{player}")(options), name)
