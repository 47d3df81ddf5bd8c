"""Shogi as one of the games of the catalogue."""

from typing import Final

from pydlshogi.games.catalogue import Example, GameEntry
from pydlshogi.games.shogi.encodings import ENCODINGS
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.rules import RULES, settings_of
from pydlshogi.games.shogi.sparse import SPARSE


def _start(draw_ply: int) -> ShogiPosition:
    return ShogiPosition(draw_ply=draw_ply)


GAME: Final = GameEntry(
    name="shogi",
    rules=RULES,
    encodings=(*ENCODINGS, SPARSE),
    start=_start,
    settings=settings_of,
    learning={"games": 32, "draw_ply": 320, "resign": 0.05, "opening_plies": 8, "until_mated": False},
    example=Example(24_000_000, "AlphaZero (Science 362, 2018)"),
)
