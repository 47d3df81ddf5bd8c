"""The catalogue of games: an entry has all that it names, and costs nothing until it is asked."""

from pkgutil import resolve_name

import pytest

from pydlshogi.engines.named import engine_named
from pydlshogi.games.catalogue import GAMES
from pydlshogi.web.records import GameFiles
from utils.arena.games import kind_of


@pytest.mark.parametrize("name", GAMES)
def test_an_entry_has_what_it_names(name: str) -> None:
    game = GAMES[name]
    assert game.rules.name == name
    assert len({encoding.name for encoding in game.encodings}) == len(game.encodings)
    for start in game.starts.values():
        position = game.position(start, draw_ply=100)
        assert game.position(position.sfen()).sfen() == position.sfen()
        assert position.settings.dtype == game.rules.settings
        assert len(game.rules.states(position)) == 1
        assert position.ending() is None
    assert kind_of(name).referee(None, 10).turn == "b"
    assert game.files is None or isinstance(resolve_name(game.files), GameFiles)


@pytest.mark.parametrize("name", GAMES)
def test_opponents_are_engines_with_settings_that_they_have(name: str) -> None:
    game = GAMES[name]
    for opponent in game.opponents.values():
        options = engine_named(name, opponent.engine).options
        assert [options.set(option, value) for option, value in opponent.settings.items()] == [""] * len(
            opponent.settings
        )
