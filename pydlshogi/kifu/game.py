"""What a record says of one game, whatever format it was written in. Knows the rules of shogi, but no format."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeVar

import cshogi

from pydlshogi.games.shogi.sfen import board_from_sfen

Question = TypeVar("Question")
Answer = TypeVar("Answer")
Win = Literal["b", "w", "d"]
Ending = Literal[
    "resign", "mate", "declaration", "try", "time_up", "illegal_move", "perpetual_check", "default",
    "sennichite", "jishogi", "max_moves", "interrupted", "abnormal", "no_mate", "unknown",
]  # fmt: skip
# How a game ended and for whom: a side, a draw, "+" the side to move won, "-" it lost, None nobody.
Verdict = tuple[Ending, Literal["b", "w", "d", "+", "-"] | None]

MATE_EVAL: Final = 100_000
"""Evaluation of a mate found, less the plies it takes; engines on floodgate write the same figure."""

_SIDES: Final[tuple[Win, Win]] = ("b", "w")
_COUNTS: Final = {"K": 2, "R": 2, "B": 2, "G": 4, "S": 4, "N": 4, "L": 4, "P": 18}


class RecordError(ValueError):
    """A text that is no sound record of a game; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Game:
    """One game, every move of it legal.

    `win` is None where the result is unknown or says nothing of the position: the game is unfinished, was
    interrupted, or (`ending` "abnormal") a connection broke. `evals` and `times` have one entry per move: the mover's
    evaluation in centipawns from Black's view, and seconds. `comments` are what people said of the positions after so
    many moves, "" for nothing, with nothing of those beyond; their lines are apart. Pairs are (Black, White).
    """

    start_sfen: str
    moves: tuple[str, ...]
    win: Win | None
    ending: Ending
    evals: tuple[int | None, ...]
    times: tuple[float | None, ...]
    names: tuple[str, str] = ("", "")
    ratings: tuple[float | None, float | None] = (None, None)
    event: str = ""
    date: str = ""
    place: str = ""
    comments: tuple[str, ...] = ()


class Comments(dict[int, list[str]]):
    """The lines that are said of the positions after so many moves, as they are read."""

    def add(self, ply: int, line: str) -> None:
        self.setdefault(ply, []).append(line.strip())

    def of_plies(self) -> tuple[str, ...]:
        """As Game has them."""
        said = {ply: "\n".join(lines) for ply, lines in self.items() if any(lines)}
        return tuple(said.get(ply, "") for ply in range(1 + max(said, default=-1)))


def comment_lines(game: Game, ply: int, mark: str) -> list[str]:
    """The lines of what is said of the position after so many moves, each with the mark of a format before it."""
    return [mark + line for text in game.comments[ply : ply + 1] if text for line in text.split("\n")]


def settle(verdict: Verdict, turn: int) -> tuple[Ending, Win | None]:
    """Ending and winner of a game in which `turn` (0 Black, 1 White) is to move."""
    ending, outcome = verdict
    if outcome == "+":
        return ending, _SIDES[turn]
    if outcome == "-":
        return ending, _SIDES[1 - turn]
    return ending, outcome


class Answers(dict[Question, Answer]):
    """What a function of one argument answers, kept for good; a lookup costs half of what a cached function does."""

    def __init__(self, function: Callable[[Question], Answer]) -> None:
        self._function = function

    def __missing__(self, question: Question) -> Answer:
        return self.setdefault(question, self._function(question))

    def of(self, questions: Iterable[Question]) -> list[Answer]:
        """The answer to each of `questions`."""
        return list(map(self.__getitem__, questions))


def _usi_of(turn: int, move: int) -> str | None:
    """USI of `move`, which cshogi holds to be legal for `turn`; None where it is not, and for 0, cshogi's illegal move.

    cshogi's own test lets a piece promote outside the camp, and lets pawns, lances and knights go where they can
    never move again.
    """
    if not move:
        return None
    origin, destination = move >> 7 & 127, move & 127
    drop = origin >= 81
    kind = origin - 80 if drop else move >> 16 & 15
    rank = 8 - destination % 9 if turn == cshogi.WHITE else destination % 9
    if move >> 14 & 1:
        start_rank = 8 - origin % 9 if turn == cshogi.WHITE else origin % 9
        possible = kind <= cshogi.ROOK and min(rank, start_rank) <= 2
    elif kind == cshogi.KNIGHT:
        possible = rank >= 2
    else:
        possible = rank >= 1 or kind not in (cshogi.PAWN, cshogi.LANCE)
    # One string a move, whoever makes it: less to keep in the processor's cache.
    usi = sys.intern(cshogi.move_to_usi(move))
    return usi if possible else None


def _move16_of(usi: str) -> int:
    """The 16 bits of cshogi's move, which are the same on every board."""
    squares = cshogi.SQUARE_NAMES
    origin = 80 + cshogi.PIECE_SYMBOLS.index(usi[0].lower()) if usi[1] == "*" else squares.index(usi[:2])
    return int(squares.index(usi[2:4])) | int(origin) << 7 | usi.endswith("+") << 14


# By the side that moves (Black, White), then by cshogi's move without its captured piece: the low 20 bits.
USI_OF: Final = (Answers(partial(_usi_of, cshogi.BLACK)), Answers(partial(_usi_of, cshogi.WHITE)))
MOVE16_OF: Final = Answers(_move16_of)


def legal_usi(board: Any, move: int) -> str | None:
    """USI of the cshogi `move` where it is legal on `board` (a `cshogi.Board`), else None."""
    return USI_OF[board.turn][move & 0xFFFFF] if board.is_legal(move) else None


def replay(game: Game) -> Iterator[tuple[Any, int]]:
    """The board before each move of `game`, and that move as cshogi's number; the board is one object that moves on."""
    board = cshogi.Board(game.start_sfen)
    for usi in game.moves:
        move = board.move_from_move16(MOVE16_OF[usi])
        yield board, move
        board.push(move)


def one_line(text: str) -> str:
    """For a header of a record."""
    return " ".join(text.splitlines())


def check_set(counts: Counter[str]) -> None:
    """Raises RecordError unless these pieces, letters as in SFEN, can be those of a game: two kings, no three rooks."""
    for side, king in (("Black", "K"), ("White", "k")):
        if counts[king] != 1:
            raise RecordError(
                f"{side} has {counts[king]} kings" if counts[king] else f"{side} has no king: a problem, not a game"
            )
    for letter, limit in _COUNTS.items():
        count = counts[letter] + counts[letter.lower()]
        if count > limit:
            raise RecordError(f"the start position has {count} of {letter}, a set has {limit}")


def sfen_of(pieces: Mapping[tuple[int, int], str], hands: Mapping[str, int], turn: int) -> str:
    """SFEN of pieces {(file, rank): letter as in SFEN} and hands {letter: count}, both upper case for Black.

    Raises RecordError where no game can be played from it, as where a king is missing or there are three rooks.
    """
    check_set(Counter(hands) + Counter(letter[-1] for letter in pieces.values()))
    rows = []
    for rank in range(1, 10):
        row = "".join(pieces.get((file, rank), " ") for file in range(9, 0, -1))
        rows.append(re.sub(" +", lambda empty: str(len(empty[0])), row))
    held = "".join(
        (str(hands[letter]) if hands[letter] > 1 else "") + letter
        for letter in "RBGSNLPrbgsnlp"
        if hands.get(letter, 0) > 0
    )
    sfen = f"{'/'.join(rows)} {'bw'[turn]} {held or '-'} 1"
    try:
        board_from_sfen(sfen)
    except ValueError as error:
        raise RecordError(f"no start position: {error}") from error
    return sfen
