"""Othello as one of the games of the catalogue."""

from typing import Final

from pydlshogi.games.catalogue import Example, GameEntry
from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import RULES
from pydlshogi.games.othello.sparse import OTHELLO_SPARSE
from pydlshogi.games.state_position import settings_of


def _start(draw_ply: int) -> OthelloPosition:
    """A game of Othello always ends, so nothing needs a last ply."""
    return OthelloPosition()


GAME: Final = GameEntry(
    name="othello",
    rules=RULES,
    encodings=(OTHELLO, OTHELLO_SPARSE),
    start=_start,
    settings=settings_of,
    learning={
        "kind": "policy_value_dense",
        "depth": 3,
        "channels": 256,
        "batch_size": 512,
        "optimiser": "adamw",
        "learning_rate": 0.0015,
        "average": 0.995,
        "symmetries": True,
        "opening_plies": 8.0,
        "window": 100_000,
    },
    example=Example(199_680, "the network that docs/othello.md describes"),
)
