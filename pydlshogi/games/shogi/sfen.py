"""Positions of shogi as SFEN, moves as USI: what is no position is refused with a reason."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS
from pydlshogi.games.shogi.names import COLOUR, HELD
from pydlshogi.games.shogi.state import hands_of, set_up, squares_of
from pydlshogi.support.arrays import Records
from pydlshogi.support.usi_text import held_in, pieces_on, sfen_fields

START_SFEN: Final = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"

LETTERS: Final = " P L N S B R G K +P +L +N +S +B +R".split(" ")
"""By the number of a piece."""
_PIECES: Final = {
    letters.lower() if side else letters: COLOUR * side + kind
    for side in range(2)
    for kind, letters in enumerate(LETTERS)
    if kind
}
_WRITTEN: Final = {piece: letters for letters, piece in _PIECES.items()}
ON_BOARD: Final = {*LETTERS[1:]}
_IN_HAND: Final = {"P", "L", "N", "S", "G", "B", "R"}
_SET: Final = {"P": 18, "L": 4, "N": 4, "S": 4, "G": 4, "B": 2, "R": 2, "K": 2}
SQUARES: Final = [f"{file}{rank}" for file in range(1, 10) for rank in "abcdefghi"]
"""The names of the squares."""
_NUMBERS: Final = {name: square for square, name in enumerate(SQUARES)}
_ORIGINS: Final = _NUMBERS | {f"{letters}*": DROP + kind for kind, letters in enumerate(LETTERS) if letters in _IN_HAND}
_FROM: Final = {origin: name for name, origin in _ORIGINS.items()}


@lru_cache(maxsize=1 << 14)
def move_of(usi: str) -> int:
    """The 16 bits of a move, 0 for what cannot be one anywhere."""
    origin, to, promotes = _ORIGINS.get(usi[:2], -1), _NUMBERS.get(usi[2:4], -1), usi[4:]
    if min(origin, to) < 0 or promotes not in ("", "+") or (origin > DROP and promotes):
        return 0
    return to | origin << ORIGIN | (PROMOTE if promotes else 0)


def usi_of(move: int) -> str:
    """A move in USI; its lowest 16 bits suffice."""
    origin = _FROM[move >> ORIGIN & SEVEN_BITS]
    return f"{origin}{SQUARES[move & SEVEN_BITS]}{'+' if move & PROMOTE else ''}"


def read_sfen(sfen: str) -> tuple[Records, int]:
    """The state of `sfen` (board, side, hands and, if given, the move number), one record, and the number of the move.

    Raises ValueError, with a reason, for what is not a shogi position.
    """
    states, number = _read(sfen)
    return states.copy(), number


@lru_cache(maxsize=256)
def _read(sfen: str) -> tuple[Records, int]:
    rows, side, hands, number = sfen_fields(sfen)
    on_board = pieces_on(rows, 9, 9, ON_BOARD)
    held = _checked_hands(hands, _checked_board(on_board))
    squares, turn = [0] * 81, int(side == "w")
    for (rank, file), letters in on_board.items():
        squares[9 * (8 - file) + rank] = _PIECES[letters]
    in_hand = [{kind: held[_WRITTEN[COLOUR * side + kind]] for kind in HELD} for side in range(2)]
    if set_up(squares, in_hand, 1 - turn)["check"]:
        raise ValueError("the side that is not to move is in check")
    return set_up(squares, in_hand, turn), number


def _checked_board(on_board: Mapping[tuple[int, int], str]) -> Counter[str]:
    """How many pieces of each letter there are on a board, by rank and file, promoted ones counted as what they were.

    ValueError if there is what cannot stand there.
    """
    pieces = Counter[str]()
    pawns = Counter[tuple[str, int]]()
    kings: list[tuple[int, int]] = []
    for (rank, file), piece in on_board.items():
        letter, kind = piece[-1], piece[-1].upper()
        pieces[letter] += 1
        from_top = rank if letter.isupper() else 8 - rank
        if piece == letter and from_top < {"P": 1, "L": 1, "N": 2}.get(kind, 0):
            raise ValueError(f"{letter} can never move from rank {'abcdefghi'[rank]}")
        if piece in ("P", "p"):
            pawns[letter, file] += 1
        if kind == "K":
            kings.append((rank, file))
    if max(pawns.values(), default=0) > 1:
        raise ValueError("two pawns of one side stand on one file")
    if not kings:
        raise ValueError("neither side has a king")
    if pieces["K"] > 1 or pieces["k"] > 1:
        raise ValueError("one side has two kings")
    if len(kings) == 2 and all(abs(one - other) < 2 for one, other in zip(*kings, strict=True)):
        raise ValueError("the kings touch")
    return pieces


def _checked_hands(hands: str, on_board: Counter[str]) -> Counter[str]:
    """How many of each letter an sfen has in hand.

    ValueError if with those `on_board` no set has them all: kernels have room for the moves of one set. Mate problems
    do have a pawn too many on the board, which is as good as a gold at most.
    """
    held = held_in(hands, _IN_HAND)
    for kind, most in _SET.items():
        counted = held if kind == "P" else held + on_board
        if (total := counted[kind] + counted[kind.lower()]) > most:
            raise ValueError(f"{total} pieces of kind {kind}: a set has {most}")
    return held


def write_sfen(states: Records, ply: int) -> str:
    """The first of some states as an sfen."""
    squares, turn = squares_of(states), int(states["turn"][0])
    ranks = ("".join(_WRITTEN.get(piece, " ") for piece in squares[72 + rank :: -9]) for rank in range(9))
    rows = re.sub(" +", lambda empty: str(len(empty[0])), "/".join(ranks))
    held = (
        f"{many if many > 1 else ''}{_WRITTEN[COLOUR * side + kind]}"
        for side, hand in enumerate(hands_of(states))
        for kind, many in hand.items()
    )
    return f"{rows} {'bw'[turn]} {''.join(held) or '-'} {ply}"


def turned(sfen: str) -> str:
    """The same position with the board turned round and the colours exchanged."""
    rows, side, hands, number = sfen.split()
    rows = "".join(re.findall(r"\+?.", rows)[::-1]).swapcase()
    of_white, of_black = (re.sub(unwanted, "", hands).swapcase() for unwanted in (r"\d*[A-Z]|-", r"\d*[a-z]|-"))
    return f"{rows} {'w' if side == 'b' else 'b'} {of_white + of_black or '-'} {number}"
