"""Shogi behind the `Position` protocol: the compiled rules with the notation of SFEN and USI around them.

In the search a position counts as a repetition when it occurs for the second time (`outcome`): a draw, perpetual check,
or the same board with more or less in hand. In the game it takes four occurrences (`fourfold`).
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import numpy as np

from pydlshogi.game import GameEnd, Outcome
from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS, piece_at
from pydlshogi.games.shogi.moves import MOST_MOVES, is_legal
from pydlshogi.games.shogi.names import BISHOP, COLOUR, GOLD, KING, KNIGHT, LANCE, PAWN, PROMOTED, ROOK, SILVER
from pydlshogi.games.shogi.rules import RULES, SETTINGS, declares
from pydlshogi.games.shogi.sfen import SQUARES, START_SFEN, move_of, read_sfen, usi_of, write_sfen
from pydlshogi.games.shogi.state import Hands, board_of, hands_of, pieces_of, play, set_up, squares_of, through
from pydlshogi.state_position import StatePosition
from pydlshogi.support.arrays import Int32Array, Record, Records, Uint16Array
from pydlshogi.support.kernels.compiled import compiled, rule, wide
from pydlshogi.support.usi_text import drawn

_POINTS: Final = {PAWN: 1, LANCE: 1, KNIGHT: 1, SILVER: 1, GOLD: 1, BISHOP: 5, ROOK: 5}
_ALL_POINTS: Final = 54  # of a full set


class ShogiPosition(StatePosition):
    """A shogi position with the moves that led to it."""

    def __init__(
        self,
        sfen: str | Records | None = None,
        moves: Iterable[str] = (),
        *,
        draw_ply: int = 0,
        declaration: Literal[27, 24] = 27,
        odds_count: bool = False,
        mate_plies: int = 1,
    ) -> None:
        """Set up `sfen`, None for the start of the game, or one state, and play `moves` (USI).

        `draw_ply`: the game is drawn after that many moves without mate; 0: never. `mate_plies`: the longest mates that
        are seen. `declaration`: the points of the law of 27 or of 24. `odds_count`: what is missing from a full set
        counts towards a declaration of White, who gives odds. Raises ValueError for a broken sfen or an illegal move.
        """
        start, ply = (sfen, 1) if isinstance(sfen, np.ndarray) else read_sfen(START_SFEN if sfen is None else sfen)
        settings = np.zeros(1, SETTINGS)
        settings["draw_ply"], settings["mate_plies"] = draw_ply, mate_plies
        settings["points"] = (31, 31) if declaration == 24 else (28, 27)
        if odds_count:
            pieces = pieces_of(start)
            settings["points"][0, 1] -= max(0, _ALL_POINTS - sum(each * pieces[kind] for kind, each in _POINTS.items()))
        self.white_begins = bool(start["turn"][0])
        super().__init__(RULES, start[0], ply, settings)
        for move in moves:
            self.push_usi(move)

    @property
    def check(self) -> bool:
        """The side to move is in check."""
        return bool(self.state["check"])

    def squares(self) -> list[int]:
        """The pieces of the 81 squares."""
        return squares_of(self.states[-1:])

    def hands(self) -> Hands:
        """What is in hand."""
        return hands_of(self.states[-1:])

    def follow(self, moves: Sequence[int]) -> list[int]:
        """Play moves as far as they are legal; returns those played. From bit 16 on the kind of the piece may stand, as
        it was before the move or, where that is not said otherwise, as it becomes."""
        if not moves:
            return []
        self._make_room(len(moves))
        made = np.array(moves, np.int32)
        count = _follow(self._states, self._count - 1, made, np.empty(MOST_MOVES, np.uint16))
        played: list[int] = made[:count].tolist()
        self._count += count
        self._moves += played
        return played

    def named(self, moves: Sequence[int]) -> list[int]:
        """Moves from here on, from bit 16 on the kind of the piece as it was before, but for drops. None is played."""
        named = np.array(moves, np.int32)
        _name(through(self.states[-1:], moves), named)
        return named.tolist()  # type: ignore[no-any-return]

    def push_usi(self, usi: str) -> int:
        """Play a move in USI notation and return it; ValueError if it is not legal here."""
        for move in self.follow([move_of(usi)]):
            return move
        raise ValueError(f"{usi} is not a legal move")

    def sfen(self) -> str:
        return write_sfen(self.states[-1:], self.ply())

    def usi(self, move: int) -> str:
        return usi_of(move)

    def describe(self) -> list[str]:
        return drawn(self.sfen(), 9)

    def declares(self) -> bool:
        """The side to move may win by declaration."""
        return bool(_declares(self.states[-1:], self.settings))

    def outcome_to_learn(self) -> Outcome | None:
        """As `outcome`, but a repetition is the fourth occurrence: before it more in hand has won nothing yet, and a
        check nothing lost."""
        return self.fourfold() or self._judged(self.states[-1:])

    def move_from_usi(self, usi: str) -> int:
        """The legal move that `usi` names here; ValueError if there is none."""
        move = move_of(usi)
        if move not in self.legal_moves():
            raise ValueError(f"{usi} is not a legal move")
        return move

    def ending(self) -> GameEnd | None:
        if not len(self.legal_moves()):
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
        occasions = self.occasions()
        if len(occasions) < 4:
            return None
        since = self.states["check"][occasions[-4] + 1 :]
        # Every second one, from the last on, tells of the side to move here: if it was in check each time, the opponent
        # gave perpetual check. The others tell of the opponent.
        if since[-1::-2].all():
            return Outcome(1.0, by_path=True)
        if since[-2::-2].all():
            return Outcome(0.0, by_path=True)
        return Outcome(0.5, by_path=True)


@rule
def _named(state: Record, written: int) -> int:
    """The move that a record names; 0 where another piece stands on the square it starts from."""
    move, kind = written & 0xFFFF, written >> 16
    if kind:
        there = piece_at(board_of(state), move >> ORIGIN & SEVEN_BITS) % COLOUR
        if there + PROMOTED == kind and there and not move & PROMOTE:
            move |= PROMOTE
        elif there != kind:
            move = 0
    return move


@compiled
def _follow(states: Records, last: int, written: Int32Array, room: Uint16Array) -> int:
    """Play moves from states[last] on, up to the first that is not legal: see `follow`. What was played takes the place
    of what was written. Returns how many were played."""
    for place in range(len(written)):
        state = states[last + place]
        move = _named(state, wide(written[place]))
        if not is_legal(state, move, room):
            return place
        play(state, move, states[last + place + 1])
        written[place] = move
    return len(written)


@compiled
def _name(states: Records, moves: Int32Array) -> None:
    for i in range(len(moves)):
        origin = wide(moves[i]) >> ORIGIN & SEVEN_BITS
        if origin <= DROP:
            moves[i] |= piece_at(board_of(states[i]), origin) % COLOUR << 16


@compiled
def _declares(states: Records, settings: Records) -> bool:
    return declares(states[0], settings[0])


def checked_king(position: ShogiPosition) -> str:
    """The square of the king that is in check; "" if none is."""
    return SQUARES[position.state["kings"][position.turn]] if position.check else ""


def why_not(position: ShogiPosition, move: str) -> str:
    """Why a move that is not legal is forbidden, or all moves from a square are; "" where no piece goes there."""
    if position.check:
        return "the king is in check"
    squares, own = position.squares(), COLOUR * position.turn
    for kind in (GOLD, SILVER):  # together they go where a king goes
        unthreatened = [own + kind if piece == own + KING else piece for piece in squares]
        state = set_up(unthreatened, position.hands(), position.turn)
        if any(usi_of(other).startswith(move) for other in ShogiPosition(state).legal_moves().tolist()):
            return "the king would be taken"
    to = move.removeprefix("P*")
    if to == move or to not in SQUARES or squares[square := SQUARES.index(to)]:
        return ""
    if own + PAWN in squares[square - square % 9 :][:9]:
        return "two pawns on one file"
    return "a pawn that is dropped may not mate" if square % 9 != (8 if own else 0) else ""
