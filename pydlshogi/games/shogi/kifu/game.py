"""What a record says of one game, whatever format it was written in. Knows the rules of shogi, but no format."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import move_of, read_sfen, usi_of
from pydlshogi.support.errors import OneLineError

Win = Literal["b", "w", "d"]
Ending = Literal[
    "resign", "mate", "declaration", "try", "time_up", "illegal_move", "perpetual_check", "default",
    "sennichite", "jishogi", "max_moves", "interrupted", "abnormal", "no_mate", "unknown",
]  # fmt: skip
# How a game ended and for whom: a side, a draw, "+" the side to move won, "-" it lost, None nobody.
Conclusion = tuple[Ending, Literal["b", "w", "d", "+", "-"] | None]
UNKNOWN: Final[Conclusion] = ("unknown", None)

_SIDES: Final[tuple[Win, Win]] = ("b", "w")


class RecordError(OneLineError, ValueError):
    """A text that is no sound record of a game; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class Variation:
    """Moves that were not played. `evals`, `times` and `comments` have one entry for each."""

    after: int
    """It leaves the line before it after this many moves: the first one leaves the game, any other one the variation
    before it, which begins with the moves that came before that."""
    moves: tuple[int, ...]
    evals: tuple[int | None, ...]
    times: tuple[float | None, ...]
    comments: tuple[str, ...]
    ending: Ending = "unknown"

    @property
    def usi(self) -> tuple[str, ...]:
        """The moves in USI."""
        return tuple(map(usi_of, self.moves))


@dataclass(frozen=True, slots=True)
class Game:
    """One game, every move of it legal; a move is a number of 16 bits, see `games.shogi.board`.

    `win` is None where the result is unknown or says nothing of the position: the game is unfinished, was
    interrupted, or (`ending` "abnormal") a connection broke. `evals` and `times` have one entry per move: the mover's
    evaluation in centipawns from Black's view, and seconds. `comments` are what people said of the positions after so
    many moves, "" for nothing, with nothing of those beyond; their lines are apart. Pairs are (Black, White).
    """

    start_sfen: str
    moves: tuple[int, ...]
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
    variations: tuple[Variation, ...] = ()

    @property
    def is_problem(self) -> bool:
        """Whether it begins with one king: mate is to be found."""
        rows, _, _ = self.start_sfen.partition(" ")
        return not {"K", "k"} <= {*rows}

    @property
    def usi(self) -> tuple[str, ...]:
        """The moves in USI."""
        return tuple(map(usi_of, self.moves))


class Comments(dict[int, list[str]]):
    """The comments as they are read: lines, by the number of moves before the position."""

    def add(self, ply: int, line: str) -> None:
        self.setdefault(ply, []).append(line.strip())

    def of_plies(self) -> tuple[str, ...]:
        """As Game has them."""
        said = {ply: "\n".join(lines) for ply, lines in self.items() if any(lines)}
        return tuple(said.get(ply, "") for ply in range(1 + max(said, default=-1)))


def games_of(texts: Sequence[str], read: Callable[[str], Game]) -> list[Game]:
    """The games of the texts of a file. Raises RecordError, which says which one."""
    games: list[Game] = []
    for number, text in enumerate(texts, 1):
        try:
            games.append(read(text))
        except RecordError as error:
            raise RecordError(f"game {number}: {error}" if len(texts) > 1 else str(error)) from None
    return games


class Line:
    """What has been read of the game or of a variation."""

    def __init__(self, after: int = 0) -> None:
        self.after = after
        self.moves: list[int] = []
        self.evals: list[int | None] = []
        self.times: list[float | None] = []
        self.comments = Comments()
        """By the number of moves of this line."""
        self.illegal = ""
        self.conclusion: Conclusion | None = None

    def variation(self) -> Variation:
        """There is a move in it. What was said before the first is said of that one."""
        self.comments.setdefault(1, [])[:0] = self.comments.pop(0, [])
        said = (self.comments.of_plies() + ("",) * (len(self.moves) + 1))[1 : len(self.moves) + 1]
        ending = "illegal_move" if self.illegal else (self.conclusion or UNKNOWN)[0]
        return Variation(self.after, tuple(self.moves), tuple(self.evals), tuple(self.times), said, ending)


def game_with(
    start_sfen: str, headers: Mapping[str, str], line: Line, result: tuple[Ending, Win | None], *variations: Variation
) -> Game:
    """The game of a record whose headers are those of KIF."""
    black, white = (headers.get(even) or headers.get(odds, "") for even, odds in (("先手", "下手"), ("後手", "上手")))
    return Game(
        start_sfen, tuple(line.moves), result[1], result[0], tuple(line.evals), tuple(line.times),
        names=(black, white), event=headers.get("棋戦", ""), date=headers.get("開始日時", ""),
        place=headers.get("場所", ""), comments=line.comments.of_plies(), variations=variations,
    )  # fmt: skip


def settle(conclusion: Conclusion, turn: int, illegal: str = "", made: int = 0) -> tuple[Ending, Win | None]:
    """Ending and winner of a game in which `turn` (0 Black, 1 White) is to move.

    `illegal`: the last move of the record where it is that, and how many are `made` before. It ended the game unless
    the record tells another ending, for which the other side is to move. Raises RecordError if it is the only one and
    not what the record ends by.
    """
    ending, outcome = conclusion
    if illegal and not made and ending != "illegal_move":
        raise RecordError(f"move 1, {illegal}, is illegal")
    if illegal and ending not in ("illegal_move", "unknown"):
        turn = 1 - turn
    elif illegal and outcome not in _SIDES:
        ending, outcome = "illegal_move", "-"
    if outcome == "+":
        return ending, _SIDES[turn]
    if outcome == "-":
        return ending, _SIDES[1 - turn]
    return ending, outcome


def moves_of(start_sfen: str, usi: Iterable[str]) -> tuple[int, ...]:
    """Moves that are written in USI, as `Game` has them. Raises ValueError."""
    words = list(usi)
    moves = ShogiPosition(start_sfen).follow([move_of(word) for word in words])
    if len(moves) < len(words):
        raise ValueError(f"move {len(moves) + 1}, {words[len(moves)]}, is not legal")
    return tuple(moves)


def replay(game: Game) -> Iterator[tuple[ShogiPosition, int]]:
    """The position before each move of `game`, and that move; the position is one object that moves on."""
    position = ShogiPosition(game.start_sfen)
    for move in game.moves:
        yield position, move
        position.push(move)


def sfen_of(pieces: Mapping[tuple[int, int], str], hands: Mapping[str, int], turn: int) -> str:
    """SFEN of pieces {(file, rank): letter as in SFEN} and hands {letter: count}, both upper case for Black.

    Raises RecordError where no game can be played from it, as where there are three rooks, nor a problem in which
    `turn` (0 Black, 1 White) is to mate: the side that mates needs no king.
    """
    for side, name, king in ((0, "Black", "K"), (1, "White", "k")):
        if side != turn and king not in pieces.values():
            raise RecordError(f"{name} has no king")
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
        read_sfen(sfen)
    except ValueError as error:
        raise RecordError(f"no start position: {error}") from error
    return sfen
