"""Positions and moves of Dobutsu shogi as text: SFEN and USI.

Two dialects of SFEN are about: one that borrows shogi's letters (giraffe R, elephant B, lion K, chick P, hen +P) and
one with letters of its own (G, E, L, C, H or +C). Both are read, the first is written. Files are numbered from Black's
right, ranks lettered from the top: Black's lion begins on 2d.
"""

import re
from collections import Counter
from typing import Final, NamedTuple

from pydlshogi.games.dobutsu.rules import (
    CHICK,
    DROPS,
    ELEPHANT,
    ENEMY,
    FILES,
    GIRAFFE,
    HEN,
    IN_HAND,
    LION,
    NEIGHBOUR,
    RANKS,
    SQUARES,
    WAYS,
)
from pydlshogi.games.sfen_fields import held_in, pieces_on, sfen_fields

START_SFEN: Final = "rkb/1p1/1P1/BKR b - 1"

_PIECES: Final = {"P": CHICK, "B": ELEPHANT, "R": GIRAFFE, "K": LION, "+P": HEN}
_OTHER_DIALECT: Final = {"C": CHICK, "E": ELEPHANT, "G": GIRAFFE, "L": LION, "H": HEN, "+C": HEN}
_ALL_PIECES: Final = _PIECES | _OTHER_DIALECT
_TO_OTHER_DIALECT: Final = str.maketrans("PBRKpbrk", "CEGLcegl")
_LETTERS: Final = {piece: letters for letters, piece in _PIECES.items()}
_SQUARE_NAMES: Final = [f"{FILES - square % FILES}{'abcd'[square // FILES]}" for square in range(SQUARES)]


Piece = tuple[int, bool]
"""A kind, and whether it is White's."""


class Setup(NamedTuple):
    """What an sfen says."""

    pieces: int
    """The number of the state."""
    white: bool
    """White is to move."""
    ply: int


def read_sfen(sfen: str) -> Setup:
    """The position of an sfen: board, side, hands and, if given, the move number. ValueError with a reason."""
    rows, side, hands, number = sfen_fields(sfen)
    white = side == "w"
    squares = {at: _kind(letters) for at, letters in pieces_on(rows, FILES, RANKS, _ALL_PIECES).items()}
    held = Counter[Piece]()
    for letter, many in held_in(hands, _ALL_PIECES).items():
        held[_kind(letter)] += many
        if _kind(letter)[0] > IN_HAND:
            raise ValueError(f"{letter} is not held in hand")
    _check_set(Counter(squares.values()), held)
    pieces = 0
    for (rank, file), (piece, is_white) in squares.items():
        square = FILES * rank + file
        seen = SQUARES - 1 - square if white else square
        pieces |= (piece + ENEMY * (is_white != white)) << 4 * seen
    for (piece, is_white), many in held.items():
        pieces |= many << 4 * SQUARES + 2 * (piece - CHICK + IN_HAND * (is_white != white))
    return Setup(pieces, white, number)


def _kind(letters: str) -> Piece:
    return _ALL_PIECES[letters.upper()], letters.islower()


def _check_set(on_board: Counter[Piece], held: Counter[Piece]) -> None:
    """ValueError unless each side has its lion and no kind has more than two pieces."""
    if on_board[LION, False] != 1 or on_board[LION, True] != 1:
        raise ValueError("each side has one lion")
    for kinds, name in (((CHICK, HEN), "chicks"), ((ELEPHANT,), "elephants"), ((GIRAFFE,), "giraffes")):
        total = sum(number for (kind, _), number in (on_board + held).items() if kind in kinds)
        if total > 2:
            raise ValueError(f"{total} {name}: a set has 2")


def write_sfen(pieces: int, white: bool, ply: int) -> str:
    """The sfen of a state's number, White or Black being to move."""
    rows = []
    for rank in range(RANKS):
        row = ""
        for file in range(FILES):
            square = FILES * rank + file
            piece = pieces >> 4 * (SQUARES - 1 - square if white else square) & 15
            row += _letters(piece % ENEMY, (piece > ENEMY) != white) if piece else " "
        rows.append(re.sub(" +", lambda empty: str(len(empty[0])), row))
    hands = ""
    for of_white in (False, True):
        for piece in (GIRAFFE, ELEPHANT, CHICK):
            many = pieces >> 4 * SQUARES + 2 * (piece - CHICK + IN_HAND * (of_white != white)) & 3
            hands += (str(many) if many > 1 else "") + _letters(piece, of_white) if many else ""
    return f"{'/'.join(rows)} {'w' if white else 'b'} {hands or '-'} {ply}"


def _letters(piece: int, white: bool) -> str:
    return _LETTERS[piece].lower() if white else _LETTERS[piece]


def write_move(pieces: int, white: bool, move: int) -> str:
    """A legal move in USI notation."""
    target, way = divmod(move, WAYS)
    if way >= DROPS:
        return f"{_LETTERS[way - DROPS + CHICK]}*{square_name(target, white)}"
    origin = int(NEIGHBOUR[target, way ^ 4])
    promotes = target < FILES and pieces >> 4 * origin & 15 == CHICK
    return f"{square_name(origin, white)}{square_name(target, white)}{'+' if promotes else ''}"


def in_first_dialect(usi: str) -> str:
    """A move whose drop may be written in the other dialect."""
    piece, star, square = usi.partition("*")
    return f"{_LETTERS[_OTHER_DIALECT[piece]]}*{square}" if star and piece in _OTHER_DIALECT else usi


def in_other_dialect(usi: str) -> str:
    """A move as `write_move` writes it, its drop in the other dialect."""
    piece, star, square = usi.partition("*")
    return f"{piece.translate(_TO_OTHER_DIALECT)}*{square}" if star else usi


def sfen_in_other_dialect(sfen: str) -> str:
    """A position as `write_sfen` writes it, in the other dialect; the hen is +C."""
    board, side, hands, number = sfen.split()
    return f"{board.translate(_TO_OTHER_DIALECT)} {side} {hands.translate(_TO_OTHER_DIALECT)} {number}"


def drawn(sfen: str) -> list[str]:
    """The board of an sfen for people, Black's pieces as capitals, with the hands beside."""
    board, _, hands, _ = sfen.split()
    spaced = re.sub(r"\d|\+?[A-Za-z]", lambda it: "  ." * int(it[0]) if it[0].isdigit() else it[0].rjust(3), board)
    rows = spaced.split("/")
    return ["  3  2  1", *(f"{row}  {rank}" for row, rank in zip(rows, "abcd", strict=True)), f"in hand: {hands}"]


def square_name(square: int, white: bool) -> str:
    return _SQUARE_NAMES[SQUARES - 1 - square if white else square]
