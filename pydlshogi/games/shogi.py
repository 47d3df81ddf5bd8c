"""Shogi behind the `Position` protocol: rules by cshogi, and here the verdicts that need judgement.

In the search a position counts as a repetition when it occurs for the second time (`outcome`): a draw, perpetual check,
or the same board with more or less in hand. In the game it takes four occurrences (`fourfold`). Declaration and the
draw by move number live here too. It knows no search and no encoding.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import cshogi
import numpy as np

from pydlshogi.common import USI_MOVE
from pydlshogi.game import Int32Array, Outcome
from pydlshogi.games.mate import NO_SQUARE, find_mate

START_SFEN: Final[str] = cshogi.STARTING_SFEN

MATE_IN_ONE: Final = Outcome(1.0, plies=1)
DECLARED: Final = Outcome(1.0, plies=1)
DRAWN: Final = Outcome(0.5)

# cshogi's verdicts, all for the side to move. Superior: the same board, and more in hand than the last time, so
# that the opponent has given something away for nothing; the search takes that for a loss.
_REPETITIONS: Final = {
    cshogi.REPETITION_DRAW: Outcome(0.5, by_path=True),
    cshogi.REPETITION_WIN: Outcome(1.0, by_path=True),
    cshogi.REPETITION_LOSE: Outcome(0.0, by_path=True),
    cshogi.REPETITION_SUPERIOR: Outcome(1.0, by_path=True),
    cshogi.REPETITION_INFERIOR: Outcome(0.0, by_path=True),
}


_HAND: Final = re.compile(r"(\d*)([PLNSGBRplnsgbr])")
_PIECES: Final = {"P": 18, "L": 4, "N": 4, "S": 4, "G": 4, "B": 2, "R": 2, "K": 2}
_FIVE_POINTS: Final = (cshogi.BISHOP, cshogi.ROOK, cshogi.PROM_BISHOP, cshogi.PROM_ROOK)
_HELD: Final = (cshogi.PAWN, cshogi.LANCE, cshogi.KNIGHT, cshogi.SILVER, cshogi.GOLD, cshogi.BISHOP, cshogi.ROOK)
_ALL_POINTS: Final = 54  # of a full set: 4 x 5 + 34
_MOST_PLIES: Final = 10_000
PROOF_NODES: Final = 1000
"""Enough for `find_mate` to prove every mate that `outcome` sees."""
_63_BITS: Final = 2**63 - 1


class ShogiPosition:
    """A shogi position with the moves that led to it."""

    def __init__(
        self,
        sfen: str = START_SFEN,
        moves: Iterable[str] = (),
        *,
        draw_ply: int = 0,
        declaration: int = cshogi.LAW_27,
        odds_count: bool = False,
        mate_plies: int = 1,
    ) -> None:
        """Set up `sfen` and play `moves` (USI).

        `draw_ply`: the game is drawn once so many moves have been played without mate; 0: never.
        `mate_plies`: `outcome` sees mates within so many plies.
        `declaration`: cshogi.LAW_27 or cshogi.LAW_24. `odds_count`: what is missing from a full set counts towards a
        declaration of White, who gives odds. Raises ValueError for a broken sfen or an illegal move.
        """
        self.board: Any = board_from_sfen(sfen)
        self.draw_ply = draw_ply
        self.declaration = declaration
        self._odds = max(0, _ALL_POINTS - _points(self.board.pieces, *self.board.pieces_in_hand)) if odds_count else 0
        # cshogi's search for short mates crashes where a king is missing, as one is from most mate problems.
        kings = [self.board.king_square(side) for side in (cshogi.BLACK, cshogi.WHITE)]
        self.mate_plies = mate_plies if max(kings) < NO_SQUARE else 1
        # cshogi's own methods, without one of ours around them: the search calls them once per ply.
        self.push = self.board.push
        self.pop = self.board.pop
        for move in moves:
            self.push_usi(move)

    def push_usi(self, usi: str) -> int:
        """Play a move in USI notation and return it; ValueError if it is not legal here."""
        move = self.move_from_usi(usi)
        self.board.push(move)
        return move

    def legal_moves(self) -> Int32Array:
        moves = self.board.legal_moves
        return np.fromiter(moves, np.int32, len(moves))

    def key(self) -> int:
        # cshogi's 64 bits without the highest. Its lowest is the side to move, which must stay.
        return int(self.board.zobrist_hash()) & _63_BITS

    def ply(self) -> int:
        return int(self.board.move_number)

    def declares(self) -> bool:
        """The side to move may win by declaration."""
        return bool(self.board.is_nyugyoku(self.declaration)) or (self._odds > 0 and self._declares_giving_odds())

    def _declares_giving_odds(self) -> bool:
        """White may declare with the missing pieces counted: the same law as cshogi's, with other points."""
        board = self.board
        if board.turn == cshogi.BLACK or not _in_camp(board.king_square(cshogi.WHITE)) or board.is_check():
            return False
        camp = [
            piece
            for square, piece in enumerate(board.pieces)
            if _in_camp(square) and cshogi.WPAWN <= piece != cshogi.WKING
        ]
        least = 31 if self.declaration == cshogi.LAW_24 else 27
        return len(camp) >= 10 and _points(camp, board.pieces_in_hand[cshogi.WHITE]) + self._odds >= least

    def outcome(self) -> Outcome | None:
        """Draw by move number, repetition at the second occurrence, declaration, mate within `mate_plies`."""
        board = self.board
        if self.draw_ply and board.move_number > self.draw_ply:
            return None if board.is_check() and not len(board.legal_moves) else DRAWN
        repetition = board.is_draw()
        if repetition != cshogi.NOT_REPETITION:
            return _REPETITIONS[repetition]
        if self.declares():
            return DECLARED
        if not board.is_check() and board.mate_move_in_1ply():
            return MATE_IN_ONE
        return self._short_mate() if self.mate_plies > 1 else None

    def _short_mate(self) -> Outcome | None:
        """A mate in three or more plies, if it comes before the game is drawn."""
        plies = self.mate_plies
        if self.draw_ply:
            plies = min(plies, self.draw_ply - self.board.move_number + 1)
        plies -= 1 - plies % 2
        # cshogi's quick word first, which is right all but once in ten thousand times.
        if plies < 3 or not self.board.mate_move(plies):
            return None
        line = find_mate(self.board, plies, PROOF_NODES).line
        return Outcome(1.0, plies=len(line)) if line else None

    def move_from_usi(self, usi: str) -> int:
        """The legal move that `usi` names here; ValueError if there is none."""
        move = int(self.board.move_from_usi(usi)) if USI_MOVE.fullmatch(usi) else 0
        # Not cshogi's is_legal: it also accepts some promotions, and pawns left unpromoted, that the rules forbid.
        if not move or move not in self.board.legal_moves:
            raise ValueError(f"{usi} is not a legal move")
        return move

    def fourfold(self) -> Outcome | None:
        """The verdict of the rules of the game if this position has now occurred four times, else None.

        A draw (sennichite), unless one side gave check with every move since the first of the four: that side loses.
        """
        here = self.board.zobrist_hash()
        keys, checks = self._past()
        occasions = [ply for ply, key in enumerate(keys) if key == here]
        if len(occasions) < 4:
            return None
        since = checks[occasions[-4] + 1 :]
        # Every second one, from the last on, tells of the side to move here: if it was in check each time, the opponent
        # gave perpetual check. The others tell of the opponent.
        if all(since[-1::-2]):
            return Outcome(1.0, by_path=True)
        if all(since[-2::-2]):
            return Outcome(0.0, by_path=True)
        return Outcome(0.5, by_path=True)

    def past_keys(self) -> list[int]:
        """Keys of the positions that the game has been through before this one."""
        keys, _ = self._past()
        return [key & _63_BITS for key in keys[:-1]]

    def _past(self) -> tuple[list[int], list[bool]]:
        """Key of every position of the game so far, and whether its side to move was in check."""
        board = self.board.copy()
        keys, checks = [board.zobrist_hash()], [board.is_check()]
        for _ in range(len(board.history)):
            board.pop()
            keys.append(board.zobrist_hash())
            checks.append(board.is_check())
        return keys[::-1], checks[::-1]


def _points(pieces: Iterable[int], *hands: Sequence[int]) -> int:
    """Points of a declaration: bishops and rooks 5, kings none, the others 1."""
    kinds = [piece & 15 for piece in pieces if piece & 15 not in (0, cshogi.KING)]
    held = [kind for hand in hands for kind, count in zip(_HELD, hand, strict=True) for _ in range(count)]
    return sum(5 if kind in _FIVE_POINTS else 1 for kind in kinds + held)


def _in_camp(square: int) -> bool:
    """On the three ranks nearest to Black."""
    return square % 9 >= 6


def board_from_sfen(sfen: str) -> Any:
    """A `cshogi.Board` set to `sfen` (board, side, hands and, if given, the move number).

    Raises ValueError, with a reason, for what is not a shogi position: cshogi itself takes almost anything.
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
    hands = _checked_hands(hands, _checked_board(rows))
    board = cshogi.Board(" ".join((rows, side, hands, number)))
    # cshogi crashes where a king that is not there could be checked.
    if ("k" if side == "b" else "K") in rows:
        # The board is set up again with the other side to move: cshogi lets no side in check pass.
        turned = cshogi.Board(" ".join((rows, "w" if side == "b" else "b", hands, number)))
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
    ranks = rows.split("/")
    if len(ranks) != 9:
        raise ValueError(f"the board has {len(ranks)} ranks")
    for rank, row in enumerate(ranks):
        file = 0
        for promoted, square in re.findall(r"(\+?)(.)", row):
            kind = square.upper()
            if square in "123456789" and not promoted:
                file += int(square)
                continue
            if kind not in _PIECES or (promoted and kind in "GK"):
                raise ValueError(f"{promoted}{square} is no piece")
            pieces[square] += 1
            from_top = rank if square.isupper() else 8 - rank
            if not promoted and from_top < {"P": 1, "L": 1, "N": 2}.get(kind, 0):
                raise ValueError(f"{square} can never move from rank {'abcdefghi'[rank]}")
            if kind == "P" and not promoted:
                pawns[square, file] += 1
            if kind == "K":
                kings.append((rank, file))
            file += 1
        if file != 9:
            raise ValueError(f"rank {'abcdefghi'[rank]} has {file} squares")
    if max(pawns.values(), default=0) > 1:
        raise ValueError("two pawns of one side stand on one file")
    if pieces["K"] > 1 or pieces["k"] > 1:
        raise ValueError("one side has two kings")
    if len(kings) == 2 and all(abs(one - other) < 2 for one, other in zip(*kings, strict=True)):
        raise ValueError("the kings touch")
    return pieces


def _checked_hands(hands: str, on_board: Counter[str]) -> str:
    """The hands of an sfen with every kind of piece named once.

    ValueError if with those `on_board` no set has so many: cshogi has room for the moves of one set, or crashes. Mate
    problems do have a pawn too many on the board, which is as good as a gold at most.
    """
    held = Counter[str]()
    if hands != "-":
        if _HAND.sub("", hands):
            raise ValueError(f"{hands} are no pieces in hand")
        for count, piece in _HAND.findall(hands):
            held[piece] += int(count or 1)
    for kind, most in _PIECES.items():
        counted = held if kind == "P" else held + on_board
        if (total := counted[kind] + counted[kind.lower()]) > most:
            raise ValueError(f"{total} pieces of kind {kind}: a set has {most}")
    # cshogi does not add up a piece that is named twice.
    return "".join(f"{count}{piece}" for piece, count in held.items() if count) or "-"
