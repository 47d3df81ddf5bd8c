"""The engines of Othello, as protocols take them. Light: what they think with is imported when they are loaded."""

from pydlshogi.engines.othello.options import AlphaBetaOptions, OthelloMCTSOptions
from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import BasePlayer, Engine


def alphabeta(options: AlphaBetaOptions | None = None) -> Engine:
    """The engine that searches with alpha-beta over learned patterns."""
    options = options or AlphaBetaOptions()

    def load() -> BasePlayer:
        from pydlshogi.engines.othello.alphabeta_player import AlphaBetaPlayer

        return AlphaBetaPlayer(options)

    return Engine("pydlshogi alpha-beta", options, set_up, load)


def mcts(options: OthelloMCTSOptions | None = None) -> Engine:
    """The engine that searches as AlphaZero did, or as IaGo."""
    options = options or OthelloMCTSOptions()

    def load() -> BasePlayer:
        from pydlshogi.engines.othello.mcts_player import OthelloMCTSPlayer

        return OthelloMCTSPlayer(options)

    return Engine("pydlshogi search", options, set_up, load)


def iago() -> Engine:
    """The engine that searches as IaGo did."""
    options = OthelloMCTSOptions()
    options.iago = True
    return mcts(options)._replace(name="pydlshogi search IaGo")


def set_up(text: str | None) -> PlayedPosition:
    """The position of a text, None for the start of the game. ValueError."""
    from pydlshogi.games.othello.position import OthelloPosition

    return OthelloPosition(text)
