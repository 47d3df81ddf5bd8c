"""The engine of Othello, as the board takes it. Light: what it thinks with is imported when it is loaded."""

from pydlshogi.player.base_player import BasePlayer, Engine, PlayedPosition
from pydlshogi.player.options import SearchOptions, Spin


class AlphaBetaOptions(SearchOptions):
    """What the user decides."""

    level = Spin("Level", 0, 0, 60, help="plies to search at most; 0: as many as there is time for")


def alphabeta(options: AlphaBetaOptions | None = None) -> Engine:
    """The engine that searches with alpha-beta over learned patterns."""
    options = options or AlphaBetaOptions()

    def load() -> BasePlayer:
        from pydlshogi.engines.othello.players import AlphaBetaPlayer

        return AlphaBetaPlayer(options)

    return Engine("pydlshogi othello", options, set_up, load)


def set_up(text: str | None) -> PlayedPosition:
    """The position of a text, None for the start of the game. ValueError."""
    from pydlshogi.games.othello.position import OthelloPosition

    return OthelloPosition(text)
