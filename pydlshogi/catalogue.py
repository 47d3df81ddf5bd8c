"""The games there are, by name: the folders of `pydlshogi/games`, each with its entry as GAME in its own `game.py`."""

from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

from pydlshogi.entry import GameEntry
from pydlshogi.player.base_player import Engine
from pydlshogi.support import OneLineError


def _games() -> dict[str, GameEntry]:
    folders = Path(__file__).with_name("games").glob("*/game.py")
    found = [import_module(f"pydlshogi.games.{path.parent.name}.game").GAME for path in folders]
    return {game.name: game for game in sorted(found, key=lambda game: (game.rank, game.name))}


GAMES: Final[dict[str, GameEntry]] = _games()
"""See `GameEntry.rank` for their order."""


class UnknownGame(OneLineError, ValueError):
    """There is no game of this name; the message is one line."""


class UnknownEngine(ValueError):
    """The game has no engine of this name; the message is one line."""


def game_named(name: str) -> GameEntry:
    """The game of this name: one of GAMES, or anybody's as `MODULE:NAME`. Raises UnknownGame."""
    if name in GAMES:
        return GAMES[name]
    if ":" not in name:
        raise UnknownGame(f"no game is called {name}; there are {', '.join(sorted(GAMES))}")
    try:
        game = resolve_name(name)
    except (AttributeError, ImportError, ValueError) as error:
        raise UnknownGame(f"{name}: {error}") from error
    if not isinstance(game, GameEntry):
        raise UnknownGame(f"{name} is no game")
    return game


def engine_named(game: str, name: str = "") -> Engine:
    """The engine of a game; "": the one that analyses. Raises UnknownGame, UnknownEngine."""
    engines = game_named(game).engines
    if name and name not in engines:
        raise UnknownEngine(f"{game} has no engine {name}; it has {', '.join(engines)}")
    return engines[name or next(iter(engines))]()
