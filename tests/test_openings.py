"""Names of openings, of games that are known by them."""

from collections.abc import Iterable

import pytest

from pydlshogi.entry import NO_NAMES, OpeningNames
from pydlshogi.games.shogi import openings as shogi
from pydlshogi.games.shogi.position import ShogiPosition


def named(moves: Iterable[str]) -> OpeningNames:
    position, opening = ShogiPosition(), NO_NAMES
    for move in moves:
        position.push(position.move_from_usi(move))
        opening = shogi.opening(position, opening)
    return opening


@pytest.mark.parametrize(
    ("moves", "names"),
    [
        ("7g7f", []),
        ("2g2f 8c8d", ["相居飛車"]),
        ("7g7f 8c8d 7i6h 3c3d 6h7g", ["矢倉"]),
        ("7g7f 3c3d 2g2f 4c4d 3i4h 8b4b", ["四間飛車"]),
        ("7g7f 8c8d 2h6h 3c3d 8h2b+ 3a2b", ["角交換四間飛車"]),  # more is known of it later
        ("2g2f 8c8d 7g7f 4a3b 2f2e 8d8e 8h7g 3c3d 7i8h 2b7g+ 8h7g", ["角換わり"]),
        ("2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 2e2d 2c2d 2h2d P*2c", ["相掛かり"]),
        ("7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 2e2d 2c2d 2h2d 8e8f 8g8f 8b8f 2d3d", ["横歩取り"]),
        ("2h6h 8b3b", ["相振り飛車"]),
        ("2h6h 8c8d 5i4h 5a4b 4h3h 4b3b 3h2h 6a5b 3i3h", ["四間飛車", "▲美濃囲い", "△舟囲い"]),
    ],
)
def test_shogi(moves: str, names: list[str]) -> None:
    assert [name.japanese for name in named(moves.split()).names] == names
