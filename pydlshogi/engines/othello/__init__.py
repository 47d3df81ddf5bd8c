"""The engines of Othello, as the board takes them. Light: what they think with is imported when they are loaded."""

from pydlshogi.player.base_player import BasePlayer, Engine, PlayedPosition
from pydlshogi.player.options import SearchOptions, Spin


class OthelloOptions(SearchOptions):
    """What the user decides."""

    level = Spin("Level", 0, 0, 60, help="as in GTP, at most; 0: as much as there is time for")


def alphabeta() -> Engine:
    """The engine that searches with alpha-beta over learned patterns."""
    options = OthelloOptions()

    def load() -> BasePlayer:
        from pydlshogi.engines.othello.players import OthelloPlayer, alphabeta_engine

        return OthelloPlayer(options, alphabeta_engine)

    return Engine("pydlshogi othello", options, set_up, load)


def mcts(*, iago: bool = False) -> Engine:
    """The engine that searches as AlphaZero did, or as IaGo."""
    options = OthelloOptions()

    def load() -> BasePlayer:
        from pydlshogi.engines.othello.players import OthelloPlayer, search_engine

        return OthelloPlayer(options, lambda options: search_engine(options, iago=iago))

    return Engine("pydlshogi othello search", options, set_up, load)


def iago() -> Engine:
    """The engine that searches as IaGo did."""
    return mcts(iago=True)


def set_up(text: str | None) -> PlayedPosition:
    """The position of a text, None for the start of the game. ValueError."""
    from pydlshogi.games.othello.position import OthelloPosition

    return OthelloPosition(text)
