"""The four fields of an SFEN, which games of the family of shogi share."""

from typing import Final, NamedTuple

_MOST_PLIES: Final = 10_000


class SfenFields(NamedTuple):
    """Board, side to move (b or w), hands and number of the next move; board and hands are not checked yet."""

    rows: str
    side: str
    hands: str
    ply: int


def sfen_fields(sfen: str) -> SfenFields:
    """The fields of an sfen, whose last may be missing. ValueError with a reason."""
    if not sfen.isascii():
        raise ValueError("an sfen is plain ASCII")
    fields = sfen.split()
    if len(fields) == 3:
        fields.append("1")
    if len(fields) != 4:
        raise ValueError("an sfen has a board, a side to move, hands and a move number")
    rows, side, hands, number = fields
    if side not in ("b", "w"):
        raise ValueError(f"the side to move is b or w, not {side}")
    if not number.isdecimal() or int(number) > _MOST_PLIES:
        raise ValueError(f"{number} is not a move number")
    return SfenFields(rows, side, hands, int(number))
