"""Names and numbers of pieces, names of moves and their directions, the sizes of the network's input and output.

Data only.
"""

import re
from typing import Final

BLACK, WHITE = range(2)
PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD, KING = range(1, 9)
PROM_PAWN, PROM_LANCE, PROM_KNIGHT, PROM_SILVER, PROM_BISHOP, PROM_ROOK = range(9, 15)
HELD: Final = (PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK)
"""The order in hands."""
PROMOTED: Final = 8
"""What cshogi's numbers of promoted pieces have more; the king's is 8 too."""
COLOUR: Final = 16
"""What the numbers of White's pieces have more than those of Black's."""

USI_MOVE: Final = re.compile(r"[1-9][a-i][1-9][a-i]\+?|[PLNSGBR]\*[1-9][a-i]")
"""A move as USI writes it; whether it is legal is another question."""

# The order of pieces is python-shogi's: the order in which the planes of the network lie.
PIECE_TYPES: Final = (
    "PAWN", "LANCE", "KNIGHT", "SILVER", "GOLD", "BISHOP", "ROOK", "KING",
    "PROM_PAWN", "PROM_LANCE", "PROM_KNIGHT", "PROM_SILVER", "PROM_BISHOP", "PROM_ROOK",
)  # fmt: skip
MAX_PIECES_IN_HAND: Final = (18, 4, 4, 4, 4, 2, 2)

PLANES_PER_SIDE: Final = len(PIECE_TYPES) + sum(MAX_PIECES_IN_HAND)
NUM_PLANES: Final = 2 * PLANES_PER_SIDE  # 104

MOVE_DIRECTIONS: Final = (
    "UP", "UP_LEFT", "UP_RIGHT", "LEFT", "RIGHT", "DOWN", "DOWN_LEFT", "DOWN_RIGHT", "UP2_LEFT", "UP2_RIGHT",
    "UP_PROMOTE", "UP_LEFT_PROMOTE", "UP_RIGHT_PROMOTE", "LEFT_PROMOTE", "RIGHT_PROMOTE",
    "DOWN_PROMOTE", "DOWN_LEFT_PROMOTE", "DOWN_RIGHT_PROMOTE", "UP2_LEFT_PROMOTE", "UP2_RIGHT_PROMOTE",
)  # fmt: skip
UNPROMOTED_DIRECTIONS: Final = 10
LABEL_PLANES: Final = len(MOVE_DIRECTIONS) + len(MAX_PIECES_IN_HAND)  # 27: twenty directions, then seven drops
NUM_LABELS: Final = LABEL_PLANES * 81  # 2187
