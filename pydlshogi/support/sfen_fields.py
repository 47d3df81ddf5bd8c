"""The four fields of an SFEN, and how boards and hands are written."""

import re
from collections import Counter
from collections.abc import Container
from typing import Final

_MOST_PLIES: Final = 10_000


def sfen_fields(sfen: str) -> tuple[str, str, str, int]:
    """The fields of an sfen, whose last may be missing: board, side to move (b or w), hands, number of the next move.

    Board and hands are not checked yet. ValueError with a reason.
    """
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
    return rows, side, hands, int(number)


def pieces_on(rows: str, files: int, ranks: int, known: Container[str]) -> dict[tuple[int, int], str]:
    """The pieces of a board, by rank and file from the top left, each as it is written.

    ValueError unless it has all squares, and all pieces are `known`: in upper case, with + where promoted.
    """
    lines, pieces = rows.split("/"), {}
    if len(lines) != ranks:
        raise ValueError(f"the board has {len(lines)} ranks")
    for rank, row in enumerate(lines):
        file = 0
        for piece in re.findall(r"\+?.", row):
            if piece in "123456789":
                file += int(piece)
            elif piece.upper() in known:
                pieces[rank, file] = piece
                file += 1
            else:
                raise ValueError(f"{piece} is no piece")
        if file != files:
            raise ValueError(f"rank {'abcdefghi'[rank]} has {file} squares")
    return pieces


def held_in(hands: str, known: Container[str]) -> Counter[str]:
    """How many of each piece are in hand. ValueError unless all are `known`: in upper case."""
    held = Counter[str]()
    pieces = re.findall(r"(\d*)(\D)", "" if hands == "-" else hands)
    if not re.fullmatch(r"(\d*\D)+", hands) or any(piece.upper() not in known for _, piece in pieces):
        raise ValueError(f"{hands} are no pieces in hand")
    for number, piece in pieces:
        held[piece] += int(number or 1)
    return held


def drawn(sfen: str, files: int) -> list[str]:
    """The board drawn, for people: Black's pieces as capitals, with the hands below."""
    board, _, hands, _ = sfen.split()
    spaced = re.sub(r"\d|\+?[A-Za-z]", lambda it: "  ." * int(it[0]) if it[0].isdigit() else it[0].rjust(3), board)
    rows = [f"{row}  {rank}" for row, rank in zip(spaced.split("/"), "abcdefghi", strict=False)]
    return ["".join(f"{file:3}" for file in range(files, 0, -1)), *rows, f"in hand: {hands}"]
