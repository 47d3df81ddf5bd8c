"""Dobutsu shogi behind the `Position` protocol: the compiled rules with the notation of SFEN and USI around them.

Two dialects of SFEN are about: one that borrows shogi's letters (giraffe R, elephant B, lion K, chick P, hen +P) and
one with letters of its own (G, E, L, C, H or +C). Both are read, the first is written. Files are numbered from Black's
right, ranks lettered from the top: Black's lion begins on 2d.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

import numpy as np

from pydlshogi.game import GameEnd, Outcome
from pydlshogi.games.dobutsu.rules import (
    CHICK,
    DROPS,
    ELEPHANT,
    ENEMY,
    FILES,
    GIRAFFE,
    GOES,
    HEN,
    IN_HAND,
    LION,
    NEIGHBOUR,
    OFF,
    RANKS,
    RULES,
    SETTINGS,
    SQUARES,
    STATE,
    WAYS,
)
from pydlshogi.state_position import StatePosition
from pydlshogi.support.usi_text import drawn, held_in, pieces_on, sfen_fields

START_SFEN: Final = "rkb/1p1/1P1/BKR b - 1"
_OCCURRENCES: Final = 3

_PIECES: Final = {"P": CHICK, "B": ELEPHANT, "R": GIRAFFE, "K": LION, "+P": HEN}
_OTHER_DIALECT: Final = {"C": CHICK, "E": ELEPHANT, "G": GIRAFFE, "L": LION, "H": HEN, "+C": HEN}
_ALL_PIECES: Final = _PIECES | _OTHER_DIALECT
_TO_OTHER_DIALECT: Final = str.maketrans("PBRKpbrk", "CEGLcegl")
_LETTERS: Final = {piece: letters for letters, piece in _PIECES.items()}
_SQUARE_NAMES: Final = [f"{FILES - square % FILES}{'abcd'[square // FILES]}" for square in range(SQUARES)]


class DobutsuPosition(StatePosition):
    """A position of Dobutsu shogi with the moves that led to it."""

    def __init__(self, sfen: str | None = None, moves: Iterable[str] = (), *, draw_ply: int = 0) -> None:
        """Set up `sfen`, None for the start of the game, and play `moves` (USI).

        `draw_ply`: the game is drawn after that many moves without a win; 0: never. Raises ValueError for
        a broken sfen or an illegal move.
        """
        pieces, self.white_begins, ply = _read_sfen(START_SFEN if sfen is None else sfen)
        start, settings = np.zeros(1, STATE), np.zeros(1, SETTINGS)
        start["pieces"], settings["draw_ply"] = pieces, draw_ply
        super().__init__(RULES, start[0], ply, settings)
        for move in moves:
            self.push_usi(move)

    def sfen(self) -> str:
        return write_sfen(int(self.state["pieces"]), self.turn == 1, self.ply())

    def describe(self) -> list[str]:
        return drawn(self.sfen(), FILES)

    def usi(self, move: int) -> str:
        """A legal move in USI notation."""
        (target, way), white = divmod(move & 0xFFFF, WAYS), self.turn == 1
        if way >= DROPS:
            return f"{_LETTERS[way - DROPS + CHICK]}*{_square_name(target, white)}"
        origin = int(NEIGHBOUR[target, way ^ 4])
        promotes = target < FILES and int(self.state["pieces"]) >> 4 * origin & 15 == CHICK
        return f"{_square_name(origin, white)}{_square_name(target, white)}{'+' if promotes else ''}"

    def move_from_usi(self, usi: str) -> int:
        """The legal move that `usi` names here, in either dialect; ValueError if there is none.

        The + of a promotion may be missing.
        """
        piece, star, square = usi.partition("*")
        wanted = f"{_LETTERS[_OTHER_DIALECT[piece]]}*{square}" if star and piece in _OTHER_DIALECT else usi
        for move in self.legal_moves().tolist():
            if wanted in (written := self.usi(move), written.rstrip("+")):
                return int(move)
        raise ValueError(f"{usi} is not a legal move")

    def push_usi(self, usi: str) -> int:
        """Play a move in USI notation and return it; ValueError if it is not legal here."""
        move = self.move_from_usi(usi)
        self.push(move)
        return move

    def ending(self) -> GameEnd | None:
        if not len(self.legal_moves()):
            tried = ("k" if self.turn else "K") in self.sfen().split()[0]
            return GameEnd("try" if tried else "lion caught", 1 - self.turn)
        return GameEnd("repetition", None) if self.threefold() else None

    def threefold(self) -> Outcome | None:
        """A draw if this position has now occurred for the third time, else None."""
        return Outcome(0.5, by_path=True) if len(self.occasions()) >= _OCCURRENCES else None


def threatened_lion(position: DobutsuPosition) -> str:
    """The square of the lion of the side to move where it could be caught; "" if it could not."""
    pieces = int(position.state["pieces"])
    on = [pieces >> 4 * square & 15 for square in range(SQUARES)]
    if LION not in on:
        return ""
    # What comes from a direction of ours goes in the same one of its own.
    beside = enumerate(NEIGHBOUR[on.index(LION)].tolist())
    caught = any(
        origin != OFF and on[origin] > ENEMY and GOES[on[origin] - ENEMY] >> direction & 1
        for direction, origin in beside
    )
    return _square_name(on.index(LION), position.turn == 1) if caught else ""


_Piece = tuple[int, bool]
"""A kind, and whether it is White's."""


def _read_sfen(sfen: str) -> tuple[int, bool, int]:
    """The number of the state, whether White is to move, and the number of the next move. ValueError with a reason."""
    rows, side, hands, number = sfen_fields(sfen)
    white = side == "w"
    squares = {at: _kind(letters) for at, letters in pieces_on(rows, FILES, RANKS, _ALL_PIECES).items()}
    held = Counter[_Piece]()
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
    return pieces, white, number


def _kind(letters: str) -> _Piece:
    return _ALL_PIECES[letters.upper()], letters.islower()


def _check_set(on_board: Counter[_Piece], held: Counter[_Piece]) -> None:
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


def in_other_dialect(usi: str) -> str:
    """A move as `DobutsuPosition.usi` writes it, its drop in the other dialect."""
    piece, star, square = usi.partition("*")
    return f"{piece.translate(_TO_OTHER_DIALECT)}*{square}" if star else usi


def sfen_in_other_dialect(sfen: str) -> str:
    """A position as `write_sfen` writes it, in the other dialect; the hen is +C."""
    board, side, hands, number = sfen.split()
    return f"{board.translate(_TO_OTHER_DIALECT)} {side} {hands.translate(_TO_OTHER_DIALECT)} {number}"


def _square_name(square: int, white: bool) -> str:
    return _SQUARE_NAMES[SQUARES - 1 - square if white else square]
