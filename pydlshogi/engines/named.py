"""Engines by the name of their game: those that a game brings along, and the search that any game can have.

Light: what an engine thinks with is imported when it is loaded.
"""

from collections.abc import Callable
from pkgutil import resolve_name

from pydlshogi.games.catalogue import game_named
from pydlshogi.games.entry import GameEntry
from pydlshogi.player.base_player import BasePlayer, Engine
from pydlshogi.player.mcts_options import MCTSOptions
from pydlshogi.player.options import EngineOptions


class UnknownEngine(ValueError):
    """The game has no engine of this name; the message is one line."""


def engine_named(game: str, name: str = "") -> Engine:
    """The engine of a game; "": the one that analyses. Raises UnknownGame, UnknownEngine."""
    entry = game_named(game)
    if name and name not in entry.engines:
        raise UnknownEngine(f"{game} has no engine {name}; it has {', '.join(entry.engines)}")
    place = entry.engines[name or next(iter(entry.engines))]
    if place is None:
        options = MCTSOptions()
        shared = "pydlshogi.engines.shared_search:SharedSearchPlayer"
        return new_engine(entry, options, lambda: resolve_name(shared)(entry, options))
    engine: Engine = resolve_name(place)()
    return engine


def new_engine(game: GameEntry, options: EngineOptions, load: Callable[[], BasePlayer], name: str = "") -> Engine:
    """An engine of a game, under the rules that its options choose."""
    return Engine(name or f"pydlshogi {game.name}", options, lambda sfen: game.position(sfen, **options.rules()), load)
