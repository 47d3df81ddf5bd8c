"""What holds for the encodings of every game."""

import numpy as np
import pytest

from pydlshogi.encoding import Encoding
from pydlshogi.games.catalogue import GAMES, game_named

ENCODINGS = [encoding for name in sorted(GAMES) for encoding in game_named(name).encodings]


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: encoding.name)
@pytest.mark.parametrize("ones", [1, 2, 4])
def test_words_that_are_no_position_are_unpacked_within_the_planes(encoding: Encoding, ones: int) -> None:
    """Networks are timed with such, and an evaluation server may be sent some."""
    rows, size = 64, encoding.planes * encoding.height * encoding.width
    words = np.random.default_rng(ones).integers(0, 1 << 32, (ones, rows, encoding.words), np.uint32)
    memory = np.full((rows + 40, size), 7, np.float32)
    board = encoding.planes, encoding.height, encoding.width
    encoding.unpack(np.bitwise_and.reduce(words), memory[20:-20].reshape(rows, *board))
    assert (memory[:20] == 7).all()
    assert (memory[-20:] == 7).all()
    assert set(np.unique(memory[20:-20]).tolist()) <= {0.0, 1.0}
    every_bit = np.full((rows, encoding.words), 0xFFFFFFFF, np.uint32)
    encoding.unpack(every_bit, memory[20:-20].reshape(rows, *board))
    assert (memory[-20:] == 7).all()
