"""What holds for every game of the catalogue: its entry, its opponents, its encodings."""

import numpy as np
import pytest

from pydlshogi.catalogue import GAMES, engine_named, game_named
from pydlshogi.encoding import Encoding, lists_for, planes_of, sample, unpack
from pydlshogi.entry import GameFiles
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
        assert len(position.states) == 1
        assert position.ending() is None
    assert kind_of(name).referee(None, 10).turn == "b"
    assert game.files is None or isinstance(game.files, GameFiles)


@pytest.mark.parametrize("name", GAMES)
def test_opponents_are_engines_with_settings_that_they_have(name: str) -> None:
    game = GAMES[name]
    for opponent in game.opponents.values():
        options = engine_named(name, opponent.engine).options
        assert [options.set(option, value) for option, value in opponent.settings.items()] == [""] * len(
            opponent.settings
        )


ENCODINGS = [encoding for name in sorted(GAMES) for encoding in game_named(name).encodings if encoding.planes]


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: encoding.name)
@pytest.mark.parametrize("ones", [1, 2, 4])
def test_words_that_are_no_position_are_unpacked_within_the_planes(encoding: Encoding, ones: int) -> None:
    """Networks are timed with such, and an evaluation server may be sent some."""
    rows, size = 64, encoding.planes * encoding.height * encoding.width
    words = np.random.default_rng(ones).integers(0, 1 << 32, (ones, rows, encoding.words), np.uint32)
    memory = np.full((rows + 40, size), 7, np.float32)
    board = encoding.planes, encoding.height, encoding.width
    unpack(encoding, np.bitwise_and.reduce(words), memory[20:-20].reshape(rows, *board))
    assert (memory[:20] == 7).all()
    assert (memory[-20:] == 7).all()
    assert set(np.unique(memory[20:-20]).tolist()) <= {0.0, 1.0}
    every_bit = np.full((rows, encoding.words), 0xFFFFFFFF, np.uint32)
    unpack(encoding, every_bit, memory[20:-20].reshape(rows, *board))
    assert (memory[-20:] == 7).all()


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: encoding.name)
def test_planes_hold_what_is_listed(encoding: Encoding) -> None:
    """In positions of games and in words that are none."""
    rng, squares = np.random.default_rng(8), encoding.height * encoding.width
    words = rng.integers(0, 1 << 32, (3, 200, encoding.words), np.uint32)
    packed = np.concatenate([sample(encoding, 300), words[0], words[0] & words[1] & words[2]])
    lists = lists_for(encoding, len(packed))
    encoding.list_active(packed, *lists)
    for active, full, (a, f), planes in zip(*lists, planes_of(encoding, packed), strict=True):
        listed = np.zeros((encoding.planes, squares), np.float32)
        np.add.at(listed.reshape(-1), active[:a], 1)
        np.add.at(listed, full[:f], 1)
        np.testing.assert_array_equal(planes, listed.reshape(planes.shape))
