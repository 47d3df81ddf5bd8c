"""Shogi behind the `Position` protocol: rules by cshogi, and here the verdicts that need judgement.

In the search a position counts as a repetition when it occurs for the second time (`outcome`): a draw, perpetual check,
or the same board with more or less in hand. In the game it takes four occurrences (`fourfold`). Declaration and
the draw by move number live here too. It knows no search and no encoding.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Final, Self

import cshogi
import numpy as np

from pydlshogi.game import GameEnd, Outcome
from pydlshogi.games.shogi.names import USI_MOVE
from pydlshogi.games.shogi.sfen import START_SFEN, board_from_sfen
from pydlshogi.games.shogi.state import states_of
from pydlshogi.games.shogi.tables import NO_SQUARE
from pydlshogi.games.shogi.zobrist import HELD, WORD, hands_key
from pydlshogi.support.arrays import Int32Array, Records

SETTINGS: Final = np.dtype(
    [
        ("draw_ply", np.int32),  # the last move of the game; 0: there is none
        ("mate_plies", np.int32),  # the longest mates that are seen
        ("points", np.int32, 2),  # what Black and White need to declare
    ]
)
"""What the rules need to know of a game."""

MATE_IN_ONE: Final = Outcome(1.0, plies=1)
DECLARED: Final = Outcome(1.0, plies=1)
DRAW: Final = Outcome(0.5)

# cshogi's verdicts, all for the side to move. Superior: the same board, and more in hand than the last time, so
# that the opponent has given something away for nothing; the search takes that for a loss.
_REPETITIONS: Final = {
    cshogi.REPETITION_DRAW: Outcome(0.5, by_path=True),
    cshogi.REPETITION_WIN: Outcome(1.0, by_path=True),
    cshogi.REPETITION_LOSE: Outcome(0.0, by_path=True),
    cshogi.REPETITION_SUPERIOR: Outcome(1.0, by_path=True),
    cshogi.REPETITION_INFERIOR: Outcome(0.0, by_path=True),
}


_FIVE_POINTS: Final = (cshogi.BISHOP, cshogi.ROOK, cshogi.PROM_BISHOP, cshogi.PROM_ROOK)
_ALL_POINTS: Final = 54  # of a full set: 4 x 5 + 34
_63_BITS: Final = 2**63 - 1


class ShogiPosition:
    """A shogi position with the moves that led to it."""

    def __init__(
        self,
        sfen: str | None = None,
        moves: Iterable[str] = (),
        *,
        draw_ply: int = 0,
        declaration: int = cshogi.LAW_27,
        odds_count: bool = False,
        mate_plies: int = 1,
    ) -> None:
        """Set up `sfen`, None for the start of the game, and play `moves` (USI).

        `draw_ply`: the game is drawn after that many moves without mate; 0: never.
        `mate_plies`: searches see mates within that many plies, by `settings`; `outcome` sees those in one.
        `declaration`: cshogi.LAW_27 or cshogi.LAW_24. `odds_count`: what is missing from a full set counts towards a
        declaration of White, who gives odds. Raises ValueError for a broken sfen or an illegal move.
        """
        self.board: Any = board_from_sfen(START_SFEN if sfen is None else sfen)
        self.draw_ply = draw_ply
        self.declaration = declaration
        self.odds = max(0, _ALL_POINTS - _points(self.board.pieces, *self.board.pieces_in_hand)) if odds_count else 0
        self.mate_plies = mate_plies
        self.pop = self.board.pop
        for move in moves:
            self.push_usi(move)

    @property
    def settings(self) -> Records:
        """One record of SETTINGS."""
        settings = np.zeros(1, SETTINGS)
        settings["draw_ply"], settings["mate_plies"] = self.draw_ply, self.mate_plies
        needed = (31, 31) if self.declaration == cshogi.LAW_24 else (28, 27)
        settings["points"] = needed[0], needed[1] - self.odds
        return settings

    @property
    def states(self) -> Records:
        return states_of(self.board)

    def copy(self) -> Self:
        twin = copy(self)
        twin.board = self.board.copy()
        twin.pop = twin.board.pop
        return twin

    def push(self, move: int) -> None:
        """Play a move: cshogi's, or its lowest 16 bits."""
        # The bits above say what moves and what is taken; a drop has none.
        self.board.push(move if move >> 16 else self.board.move_from_move16(move))

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

    def board_key(self) -> int:
        return int(self.board.zobrist_hash() - hands_key(self.board.pieces_in_hand)) & WORD

    def ply(self) -> int:
        return int(self.board.move_number)

    @property
    def turn(self) -> int:
        return int(self.board.turn)

    def last_move(self) -> int:
        return int(self.board.history[-1])

    def sfen(self) -> str:
        return str(self.board.sfen())

    def usi(self, move: int) -> str:
        return str(cshogi.move_to_usi(move))

    def describe(self) -> list[str]:
        return str(self.board).splitlines()

    def declares(self) -> bool:
        """The side to move may win by declaration."""
        return bool(self.board.is_nyugyoku(self.declaration)) or (self.odds > 0 and self._declares_giving_odds())

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
        return len(camp) >= 10 and _points(camp, board.pieces_in_hand[cshogi.WHITE]) + self.odds >= least

    def outcome(self) -> Outcome | None:
        """Repetition at the second occurrence, draw by move number, declaration, mate in one."""
        repetition = self.board.is_draw()
        return self._unrepeated() if repetition == cshogi.NOT_REPETITION else _REPETITIONS[repetition]

    def outcome_to_learn(self) -> Outcome | None:
        """As `outcome`, but a repetition is the fourth occurrence: before it more in hand has won nothing yet, and a
        check nothing lost."""
        repeated = self.board.is_draw() != cshogi.NOT_REPETITION
        return (self.fourfold() if repeated else None) or self._unrepeated()

    def _unrepeated(self) -> Outcome | None:
        """The verdict on the position alone."""
        board = self.board
        if self.draw_ply and board.move_number > self.draw_ply:
            return None if board.is_check() and not len(board.legal_moves) else DRAW
        if self.declares():
            return DECLARED
        if board.king_square(1 - board.turn) == NO_SQUARE:
            return None  # cshogi would find mates of it
        mates = not board.is_check() and (board.mate_move_in_1ply() or self._dragon_mates())
        return MATE_IN_ONE if mates else None

    def _dragon_mates(self) -> bool:
        """A dragon mates in one: cshogi overlooks those that do so from afar."""
        board = self.board
        for move in board.legal_moves:
            if cshogi.move_from_piece_type(move) == cshogi.PROM_ROOK and not cshogi.move_is_drop(move):
                board.push(move)
                mate = board.is_check() and not len(board.legal_moves)
                board.pop()
                if mate:
                    return True
        return False

    def move_from_usi(self, usi: str) -> int:
        """The legal move that `usi` names here; ValueError if there is none."""
        move = int(self.board.move_from_usi(usi)) if USI_MOVE.fullmatch(usi) else 0
        # Not cshogi's is_legal: it also accepts some promotions, and pawns left unpromoted, that the rules forbid.
        if not move or move not in self.board.legal_moves:
            raise ValueError(f"{usi} is not a legal move")
        return move

    def ending(self) -> GameEnd | None:
        if not len(self.board.legal_moves):
            return GameEnd("mate", 1 - self.turn)
        repeated = self.fourfold()
        if repeated is None:
            return None
        if repeated.value == 0.5:
            return GameEnd("repetition", None)
        return GameEnd("perpetual check", self.turn if repeated.value else 1 - self.turn)

    def fourfold(self) -> Outcome | None:
        """The verdict of the rules of the game if this position has now occurred four times, else None.

        A draw (sennichite), unless one side gave check with every move since the first of the four: that side loses.
        """
        board, past = self.board.copy(), [(self.board.zobrist_hash(), self.board.is_check())]
        for _ in self.board.history:
            board.pop()
            past.append((board.zobrist_hash(), board.is_check()))
        past.reverse()
        occasions = [ply for ply, (key, _) in enumerate(past) if key == past[-1][0]]
        if len(occasions) < 4:
            return None
        since = [check for _, check in past[occasions[-4] + 1 :]]
        # Every second one, from the last on, tells of the side to move here: if it was in check each time, the opponent
        # gave perpetual check. The others tell of the opponent.
        if all(since[-1::-2]):
            return Outcome(1.0, by_path=True)
        if all(since[-2::-2]):
            return Outcome(0.0, by_path=True)
        return Outcome(0.5, by_path=True)

    def past_board_keys(self) -> list[int]:
        keys: list[int] = self.states["board_key"][:-1].tolist()
        return keys


def _points(pieces: Iterable[int], *hands: Sequence[int]) -> int:
    """Points of a declaration: bishops and rooks 5, kings none, the others 1."""
    kinds = [piece & 15 for piece in pieces if piece & 15 not in (0, cshogi.KING)]
    held = [kind for hand in hands for kind, count in zip(HELD, hand, strict=True) for _ in range(count)]
    return sum(5 if kind in _FIVE_POINTS else 1 for kind in kinds + held)


def _in_camp(square: int) -> bool:
    """On the three ranks nearest to Black."""
    return square % 9 >= 6


def checked_king(position: ShogiPosition) -> str:
    """The square of the king that is in check; "" if none is."""
    board = position.board
    return str(cshogi.SQUARE_NAMES[board.king_square(board.turn)]) if board.is_check() else ""


def why_not(position: ShogiPosition, move: str) -> str:
    """Why a move that is not legal is forbidden, or all moves from a square are; "" where no piece goes there."""
    board = position.board
    if board.is_check():
        return "the king is in check"
    if any(cshogi.move_to_usi(other).startswith(move) for other in board.pseudo_legal_moves):
        return "the king would be taken"
    to = move.removeprefix("P*")
    if to == move or to not in cshogi.SQUARE_NAMES or board.piece(square := cshogi.SQUARE_NAMES.index(to)):
        return ""
    file = board.pieces[square - square % 9 :][:9]
    if (cshogi.WPAWN if board.turn else cshogi.BPAWN) in file:
        return "two pawns on one file"
    return "a pawn that is dropped may not mate" if square % 9 != (8 if board.turn else 0) else ""
