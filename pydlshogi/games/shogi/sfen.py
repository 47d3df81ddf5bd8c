"""Positions of shogi as SFEN: what is not one is refused with a reason, where cshogi would take it or crash."""

from collections import Counter
from typing import Any, Final

import cshogi

from pydlshogi.support.sfen_fields import held_in, pieces_on, sfen_fields

START_SFEN: Final[str] = cshogi.STARTING_SFEN

_PIECES: Final = {"P": 18, "L": 4, "N": 4, "S": 4, "G": 4, "B": 2, "R": 2, "K": 2}
ON_BOARD: Final = {*_PIECES, "+P", "+L", "+N", "+S", "+B", "+R"}


def board_from_sfen(sfen: str) -> Any:
    """A `cshogi.Board` set to `sfen` (board, side, hands and, if given, the move number).

    Raises ValueError, with a reason, for what is not a shogi position: cshogi itself takes almost anything.
    """
    rows, side, hands, number = sfen_fields(sfen)
    hands = _checked_hands(hands, _checked_board(rows))
    board = cshogi.Board(f"{rows} {side} {hands} {number}")
    # cshogi crashes where a king that is not there could be checked.
    if ("k" if side == "b" else "K") in rows:
        # The board is set up again with the other side to move: cshogi lets no side in check pass.
        turned = cshogi.Board(f"{rows} {'w' if side == 'b' else 'b'} {hands} {number}")
        if turned.is_check():
            raise ValueError("the side that is not to move is in check")
    return board


def _checked_board(rows: str) -> Counter[str]:
    """How many pieces of each letter the board of an sfen holds, promoted ones counted as what they were.

    ValueError if `rows` are not nine ranks of nine squares, or hold what cannot stand there.
    """
    pieces = Counter[str]()
    pawns = Counter[tuple[str, int]]()
    kings: list[tuple[int, int]] = []
    for (rank, file), piece in pieces_on(rows, 9, 9, ON_BOARD).items():
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


def _checked_hands(hands: str, on_board: Counter[str]) -> str:
    """The hands of an sfen with every kind of piece named once.

    ValueError if with those `on_board` no set has them all: cshogi has room for the moves of one set, or crashes. Mate
    problems do have a pawn too many on the board, which is as good as a gold at most.
    """
    held = held_in(hands, {*_PIECES} - {"K"})
    for kind, most in _PIECES.items():
        counted = held if kind == "P" else held + on_board
        if (total := counted[kind] + counted[kind.lower()]) > most:
            raise ValueError(f"{total} pieces of kind {kind}: a set has {most}")
    # cshogi does not add up a piece that is named twice.
    return "".join(f"{count}{piece}" for piece, count in held.items() if count) or "-"
