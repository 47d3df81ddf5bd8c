"""The games that come with the engine: the lists name them, and they are what kifu/README.md says."""

from collections import Counter
from pathlib import Path

import pytest

from pydlshogi.games.shogi.kifu.formats import SUFFIXES
from pydlshogi.games.shogi.kifu.game import replay
from pydlshogi.games.shogi.read_kifu import read, read_list

ROOT = Path(__file__).resolve().parent.parent
TRAIN, TEST = list(read_list(ROOT / "kiflist_train_1000.txt")), list(read_list(ROOT / "kiflist_test_100.txt"))


def test_every_game_is_in_one_list_and_none_twice() -> None:
    assert (len(TRAIN), len(TEST)) == (1000, 100)
    there = {path for path in (ROOT / "kifu").rglob("*") if path.suffix in SUFFIXES}
    assert there == {*TRAIN, *TEST}
    moves = Counter(path.read_text().split("\nPI\n")[1] for path in (*TRAIN, *TEST))
    assert max(moves.values()) == 1


@pytest.mark.parametrize("path", TEST[::5], ids=lambda path: path.stem)
def test_a_game_is_whole(path: Path) -> None:
    (game,) = read(path)
    assert "pydlshogi" in " ".join(name or "" for name in game.names)
    assert game.win in ("b", "w", "d")
    assert sum(value is not None for value in game.evals) >= len(game.moves) // 3
    assert sum(1 for _ in replay(game)) == len(game.moves)
