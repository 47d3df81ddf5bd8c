"""The games there are, by name."""

from pkgutil import resolve_name
from typing import Final

from pydlshogi.games.dobutsu.game import GAME as DOBUTSU
from pydlshogi.games.entry import GameEntry
from pydlshogi.games.othello.game import GAME as OTHELLO
from pydlshogi.games.shogi.game import GAME as SHOGI
from pydlshogi.support.errors import OneLineError

GAMES: Final[dict[str, GameEntry]] = {game.name: game for game in (SHOGI, DOBUTSU, OTHELLO)}
"""The first is the one that is meant where none is named, and the last whose formats a record is tried in."""


class UnknownGame(OneLineError, ValueError):
    """There is no game of this name; the message is one line."""


def game_named(name: str) -> GameEntry:
    """The game of this name: one of GAMES, or anybody's as `MODULE:NAME`. Raises UnknownGame."""
    if name in GAMES:
        return GAMES[name]
    if ":" not in name:
        raise UnknownGame(f"no game is called {name}; there are {', '.join(sorted(GAMES))}")
    try:
        game: GameEntry = resolve_name(name)
    except (AttributeError, ImportError, ValueError) as error:
        raise UnknownGame(f"{name}: {error}") from error
    return game
