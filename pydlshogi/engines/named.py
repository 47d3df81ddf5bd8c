"""Engines by the name of their game: those that a game brings along, and the search that any game can have.

Light: what an engine thinks with is imported when it is loaded.
"""

from pkgutil import resolve_name

from pydlshogi.game import PlayedPosition
from pydlshogi.games.catalogue import game_named
from pydlshogi.games.entry import GameEntry
from pydlshogi.player.base_player import Engine
from pydlshogi.player.mcts_options import MCTSOptions


class UnknownEngine(ValueError):
    """The game has no engine of this name; the message is one line."""


def engine_named(game: str, name: str = "") -> Engine:
    """The engine of a game; "": the one that analyses. Raises UnknownGame, UnknownEngine."""
    entry = game_named(game)
    if name and name not in entry.engines:
        raise UnknownEngine(f"{game} has no engine {name}; it has {', '.join(entry.engines)}")
    place = entry.engines[name or next(iter(entry.engines))]
    if place is None:
        return shared_search(entry)
    engine: Engine = resolve_name(place)()
    return engine


def shared_search(
    game: GameEntry,
    options: MCTSOptions | None = None,
    player: str = "pydlshogi.engines.shared_search:SharedSearchPlayer",
) -> Engine:
    """The engine that searches by the rules of a game. `player`, MODULE:CLASS, may add something of the game's own."""
    options = options or MCTSOptions()

    def set_up(sfen: str | None) -> PlayedPosition:
        return game.position(sfen, draw_ply=options.draw_ply)

    return Engine(f"pydlshogi {game.name}", options, set_up, lambda: resolve_name(player)(game, options))
