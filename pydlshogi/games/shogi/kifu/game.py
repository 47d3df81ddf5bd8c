"""What a record says of one game, whatever format it was written in. Knows the rules of shogi, but no format."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydlshogi.analysis import MATE_EVAL
from pydlshogi.games.shogi.names import BLACK, COLOUR, HELD, KING, WHITE
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import move_of, read_sfen, usi_of, write_sfen
from pydlshogi.games.shogi.state import set_up
from pydlshogi.support import OneLineError
from pydlshogi.support.decoding import lines_of, one_line

Win = Literal["b", "w", "d"]
Ending = Literal[
    "resign", "mate", "declaration", "try", "time_up", "illegal_move", "perpetual_check", "default",
    "sennichite", "jishogi", "max_moves", "interrupted", "abnormal", "no_mate", "unknown",
]  # fmt: skip
# How a game ended and for whom: a side, a draw, "+" the side to move won, "-" it lost, None nobody.
Conclusion = tuple[Ending, Literal["b", "w", "d", "+", "-"] | None]
UNKNOWN: Final[Conclusion] = ("unknown", None)

_SIDES: Final[tuple[Win, Win]] = ("b", "w")
_NAMED: Final = (
    "手合割", "先手", "後手", "下手", "上手", "開始日時", "棋戦", "場所", "先手の持駒", "後手の持駒", "下手の持駒",
    "上手の持駒", "手番", "summary", "black_rate", "white_rate",
)  # fmt: skip
"""Headers that are fields of `Game`, or of a format."""
_OTHER: Final = re.compile(r"(?!まで|変化|手数.|P[I\d]|V\d)[^\W\d][\w ・（）]*")
"""The name of another one, which no format takes for something else."""
CANDIDATE: Final = "**解析 候補"


# Nearly all evaluations.
_SCORE: Final = re.compile(
    r"\*+(?:#?評価値=|(?:対局|解析|Match|Analysis)\s.*?(?:評価値|Value)\s*)([+-]?[0-9]{1,9}(?:\.[0-9]+)?)"
)
_BLACK_VIEW: Final = (
    re.compile(r"\*+#?詰み=(?P<winner>先手|後手)勝ち(?::(?P<plies>[0-9]{1,4})手)?"),
    re.compile(r"\*+(?:対局|解析|Match|Analysis)\s.*?(?P<sign>[+-])詰\s*(?P<plies>[0-9]{0,4})"),
    re.compile(r"\*\*\s+(?P<score>[+-]?[0-9]{1,9})(?:\s|$)"),
    re.compile(r"\* *\[%eval (?P<pawns>[+-]?[0-9]{1,9}(?:\.[0-9]+)?)\]"),
    re.compile(r"\* *\[%eval (?:mate|#)(?P<sign>-?)(?P<plies>[0-9]{1,4})\]"),
)
_FIGURE: Final = re.compile(r"\*|[+-]?\d")
"""How comments of programs begin in one format or other."""
_MOVER_VIEW: Final = (
    re.compile(r"\*(?P<score>[+-]?[0-9]{1,9})$"),
    re.compile(r"\*(?P<sign>[+-])(?:Mate|詰)(?::(?P<plies>[0-9]{1,4}))?$"),
)


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
    analysis: tuple[tuple[str, ...], ...] = ()
    """Candidates of an analysis after each, as KIF writes them."""

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
    headers: tuple[tuple[str, str], ...] = ()
    """What else is said of it, by the names that KIF has for that."""
    analysis: tuple[tuple[str, ...], ...] = ()
    """As that of a variation, but with the start before it."""
    remark: str = field(default="", compare=False)
    """One line to show: the last move of the record is illegal, and `moves` lacks it."""

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
        said = {ply: "\n".join(lines).strip("\n") for ply, lines in self.items() if any(lines)}
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
    """The game or a variation as it is written: nothing of it has been played."""

    def __init__(self, after: int = 0) -> None:
        self.after = after
        self.moves: list[Any] = []
        """Numbers as `ShogiPosition.follow` takes them, or where some are `relative` what finds one in its position."""
        self.relative = False
        self.texts: list[str] = []
        """The moves as they are written."""
        self.times: list[float | None] = []
        self.evals: list[int | None] = []
        """Those beside the moves; others are in the notes."""
        self.notes: list[tuple[int, str]] = []
        """Comments as KIF marks them, each behind the number of moves before it."""
        self.conclusion: Conclusion | None = None
        self.error = ""
        """Why it could not be read further."""

    def refusal(self, made: int) -> str:
        """Why the move after the first `made` ones is not played; "": there is none."""
        return f"move {self.after + made + 1}, {self.texts[made]}, is illegal" if made < len(self.texts) else ""


class Record:
    """Plays the lines of a record: the game, then the variations in their order."""

    def __init__(self, start_sfen: str) -> None:
        self.position = ShogiPosition(start_sfen)
        self._start_sfen, self._turn, self._ply = start_sfen, self.position.turn, self.position.ply()
        self._moves: list[int] = []
        self._variations: list[Variation] = []

    def play(self, line: Line, closing: Callable[[ShogiPosition], Conclusion] = lambda _: UNKNOWN) -> None:
        """Play the game; `closing` says how it ended where the line does not.

        Raises RecordError at an illegal move unless it is the last and not the first.
        """
        self._follow(line, self._moves)
        made = len(self._moves)
        refusal = line.refusal(made)
        if len(line.texts) > made + 1:
            raise RecordError(refusal)
        self._remark = refusal and f"{refusal}: the moves before it are kept"
        self._times = tuple(line.times[:made])
        self._evals, self._comments, self._analysis = self._said(line, made)
        conclusion = line.conclusion if line.conclusion not in (None, UNKNOWN) else closing(self.position)
        self._result = settle(conclusion, self.position.turn, "".join(line.texts[made:]), made)

    def vary(self, line: Line) -> None:
        """Play a variation. It ends before its first illegal move, or where it could not be read."""
        moves, error = list[int](), ""
        if line.after > self.position.ply() - self._ply:
            error = f"a variation begins at move {line.after + 1}, which the line before it has not"
        while self.position.ply() - self._ply > line.after:
            self.position.pop()
        try:
            if not error:
                self._follow(line, moves)
        except RecordError as refusal:
            error = str(refusal)
        made = len(moves)
        error = error or line.refusal(made) or line.error
        evals, comments, analysis = self._said(line, made, error)
        if moves:
            # What was said before the first move is said of that one.
            comments[1] = comments.pop(0, []) + comments.get(1, [])
            said = (comments.of_plies() + ("",) * (made + 1))[1 : made + 1]
            ending = "illegal_move" if error else (line.conclusion or UNKNOWN)[0]
            times = tuple(line.times[:made])
            self._variations.append(Variation(line.after, tuple(moves), evals, times, said, ending, analysis[1:]))
        else:
            for each in comments.get(0, ()):
                self._comments.add(min(line.after, len(self._moves)), each)

    def game(self, headers: Mapping[str, str], ratings: tuple[float | None, float | None] = (None, None)) -> Game:
        """What was played; `headers` are those of KIF."""
        names = (("先手", "下手"), ("後手", "上手"))
        black, white = (headers.get(even) or headers.get(odds, "") for even, odds in names)
        said = ((one_line(name), one_line(value)) for name, value in headers.items() if name not in _NAMED)
        others = {name: value for name, value in said if value and _OTHER.fullmatch(name)}
        return Game(
            self._start_sfen, tuple(self._moves), self._result[1], self._result[0], self._evals, self._times,
            names=(black, white), ratings=ratings, event=headers.get("棋戦", ""), date=headers.get("開始日時", ""),
            place=headers.get("場所", ""), comments=self._comments.of_plies(), variations=tuple(self._variations),
            headers=tuple(others.items()), analysis=self._analysis, remark=self._remark,
        )  # fmt: skip

    def _follow(self, line: Line, made: list[int]) -> None:
        """Play the moves as far as they are legal, and add them to `made`."""
        if not line.relative:
            made += self.position.follow(line.moves)
            return
        for each in line.moves:
            move = self.position.follow([each(self.position) if callable(each) else each])
            if not move:
                break
            made += move

    def _said(
        self, line: Line, made: int, error: str = ""
    ) -> tuple[tuple[int | None, ...], Comments, tuple[tuple[str, ...], ...]]:
        """The evaluations of the `made` moves, the comments with the error that has cut the line, and the analysis."""
        analysis: dict[int, list[str]] = {}
        evals, comments = [*line.evals[:made], *[None] * (made - len(line.evals))], Comments()
        for ply, text in line.notes:
            if ply > made and error:
                comments.add(made, f"({error})")
                error = ""
            if ply <= made and text.startswith(CANDIDATE):
                analysis.setdefault(ply, []).append(one_line(text))
            mover = (self._turn + line.after + ply - 1) % 2
            if 0 < ply <= made and (evaluation := evaluation_of(text, mover)) is not None:
                evals[ply - 1] = evaluation if evals[ply - 1] is None else evals[ply - 1]
            elif not text.startswith("**"):
                comments.add(min(ply, made), text[1:])
        if error:
            comments.add(made, f"({error})")
        return tuple(evals), comments, tuple(tuple(analysis.get(ply, ())) for ply in range(made + 1) if analysis)


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


def sfen_of(pieces: Mapping[int, int], held: Mapping[int, int], turn: int) -> str:
    """SFEN of the pieces on some squares, and how many of each piece are in hand: all are numbers of cshogi.

    Raises RecordError where no game can be played from it, as where there are three rooks, nor a problem in which
    `turn` (0 Black, 1 White) is to mate: the side that mates needs no king.
    """
    if COLOUR * (1 - turn) + KING not in pieces.values():
        raise RecordError(f"{('White', 'Black')[turn]} has no king")
    hands = [{kind: min(max(held.get(COLOUR * side + kind, 0), 0), 99) for kind in HELD} for side in range(2)]
    sfen = write_sfen(set_up([pieces.get(square, 0) for square in range(81)], hands, turn), 1)
    try:
        read_sfen(sfen)
    except ValueError as error:
        raise RecordError(f"no start position: {error}") from error
    return sfen


def comment_lines(comments: Sequence[str], ply: int, mark: str) -> list[str]:
    """The lines of the comment on the position after `ply` moves, each with the mark of a format before it.

    A tab keeps what people write apart from what programs write in the same place.
    """
    lines = [line for text in comments[ply : ply + 1] for line in lines_of(text)]
    like_programs = (_FIGURE.match(line) or evaluation_of(f"*{line}", BLACK) is not None for line in lines)
    return [f"{mark}\t{line}" if like else mark + line for line, like in zip(lines, like_programs, strict=True)]


def evaluation_of(comment: str, mover: int) -> int | None:
    """Centipawns from Black's view, or None where the comment is no evaluation."""
    if found := _SCORE.match(comment):
        return round(float(found[1]))
    for patterns, sign in ((_BLACK_VIEW, 1), (_MOVER_VIEW, -1 if mover == WHITE else 1)):
        for pattern in patterns:
            if found := pattern.match(comment):
                return sign * _centipawns(found.groupdict())
    return None


def _centipawns(found: dict[str, str | None]) -> int:
    if score := found.get("score"):
        return round(float(score))
    if pawns := found.get("pawns"):
        return round(100 * float(pawns))
    loses = found.get("sign") == "-" or found.get("winner") == "後手"
    mate = MATE_EVAL - int(found.get("plies") or 0)
    return -mate if loses else mate
