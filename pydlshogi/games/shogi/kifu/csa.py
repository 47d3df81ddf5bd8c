"""CSA records, versions 2.x and 3.0 and as floodgate writes them: text to games, and a game to text.

The format: http://www2.computer-shogi.org/protocol/record_v22.html and record_v3.html; what floodgate adds in comments
(ratings, evaluations, summary): the shogi-server program.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import cycle, islice
from operator import add
from typing import Final, get_args

from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS
from pydlshogi.games.shogi.kifu.game import (
    UNKNOWN,
    Conclusion,
    Ending,
    Game,
    Line,
    Record,
    RecordError,
    Win,
    comment_lines,
    games_of,
    settle,
    sfen_of,
)
from pydlshogi.games.shogi.names import BISHOP, COLOUR, GOLD, KNIGHT, LANCE, PAWN, PROMOTED, ROOK, SILVER
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import START_SFEN, move_of, read_sfen
from pydlshogi.games.shogi.state import squares_of
from pydlshogi.support.decoding import one_line

_SIGNS: Final = "+-"
_HEADERS: Final = {
    "先手": "N+", "後手": "N-", "棋戦": "$EVENT", "場所": "$SITE", "開始日時": "$START_TIME", "終了日時": "$END_TIME",
    "持ち時間": "$TIME_LIMIT", "戦型": "$OPENING",
}  # fmt: skip
"""By those of KIF."""
_NAMES: Final = {theirs: ours for ours, theirs in _HEADERS.items()} | {"'$END_TIME": "終了日時"}
"""The last one floodgate's server writes below the moves."""
NAMES: Final = ["", *"FU KY KE GI KA HI KI OU TO NY NK NG UM RY".split()]
"""By the number of a piece."""
KINDS: Final = {name: kind for kind, name in enumerate(NAMES) if kind}
_IN_HAND: Final = -10
"""In place of a square."""
_SET: Final = {PAWN: 18, LANCE: 4, KNIGHT: 4, SILVER: 4, GOLD: 4, BISHOP: 2, ROOK: 2}

_STATEMENT: Final = re.compile(r"^(?:V\d|N[+-]|P[I1-9+-]|[+-]$|[+-]\d{4}[A-Z]{2}|%[A-Z])", re.MULTILINE)
_SEPARATOR: Final = re.compile(r"^/[ \t]*$", re.MULTILINE)
_COMMENTS_ONLY: Final = re.compile(r"(?:\s|'.*+)*\Z")
_JOINED: Final = re.compile(r"^(?!['N$]).*,.*", re.MULTILINE)
# A move, its time, its evaluation, and what else the mover's program said of it: nearly all of a record.
# No group is possessive: Python before 3.11.5 gets such ones wrong.
_PLY: Final = re.compile(
    r"^([+-])(\d\d\d\d[A-Z][A-Z])\s*+(?:T(\d{1,9}+(?:\.\d*+)?)\s*+)?"
    r"(?:'\*\*?+ *+([+-]?+\d{1,9}+)(?:\.\d++)?(?!\S).*+\s*+)?((?:'\*.*+\s*+)*)",
    re.MULTILINE | re.ASCII,
)
_TIME: Final = re.compile(r"T(\d{1,9}(?:\.\d*)?)\s*", re.ASCII)

# The side to move is the side after the last legal move: an illegal move is never pushed, so its maker is to move.
SPECIAL: Final[dict[str, Conclusion]] = {
    "%TORYO": ("resign", "-"),
    "%TSUMI": ("mate", "-"),
    "%TIME_UP": ("time_up", "-"),
    "%ILLEGAL_MOVE": ("illegal_move", "-"),
    "%+ILLEGAL_ACTION": ("illegal_move", "w"),
    "%-ILLEGAL_ACTION": ("illegal_move", "b"),
    "%KACHI": ("declaration", "+"),
    "%SENNICHITE": ("sennichite", "d"),
    "%JISHOGI": ("jishogi", "d"),
    "%HIKIWAKE": ("jishogi", "d"),
    "%MAX_MOVES": ("max_moves", "d"),
    "%CHUDAN": ("interrupted", None),
    "%MATTA": ("interrupted", None),
    "%ERROR": ("abnormal", None),
    "%FUZUMI": ("no_mate", None),
}
# The server's words, and ours for what it has no word for.
_CAUSES: Final[dict[str, Ending]] = {ending: ending for ending in get_args(Ending)} | {
    "toryo": "resign",
    "time up": "time_up",
    "kachi": "declaration",
    "illegal kachi": "illegal_move",
    "illegal move": "illegal_move",
    "uchifuzume": "illegal_move",
    "oute_kaihimore": "illegal_move",
    "outori": "illegal_move",
    "oute_sennichite": "perpetual_check",
}
_RESULTS: Final[dict[str, Win]] = {"win": "b", "lose": "w", "draw": "d"}


def holds_csa(text: str) -> bool:
    """Whether any line is a statement of the format."""
    return bool(_STATEMENT.search(text))


def parse(text: str) -> list[Game]:
    """The games of a CSA text, separated by lines of a single `/`.

    Raises RecordError for a statement that is not CSA, and at an illegal move unless it is the last and not the first.
    """
    blocks = [text]
    if "\n/" in text or text.startswith("/"):
        blocks = [block for block in _SEPARATOR.split(text) if not _COMMENTS_ONLY.match(block)]
    return games_of(blocks, lambda block: _Reader(block).game())


class _Reader:
    """What has been read of one game."""

    def __init__(self, text: str) -> None:
        self._notes: dict[str, str] = {}
        self._position: list[str] = []
        self._turn: int | None = None
        self._special = ""
        self._line = line = Line()
        if "," in text:
            text = _JOINED.sub(lambda line: line[0].replace(",", "\n"), text)
        header, *plies = _PLY.split(text)
        self._signs, written = plies[0::6], plies[1::6]
        line.moves = [move_named(csa) for csa in written]
        line.texts = [*map(add, self._signs, written)]
        line.times = [_seconds(text) for text in plies[2::6]]
        line.evals = [int(evaluation) if evaluation else None for evaluation in plies[3::6]]
        self._read_statements(0, header)
        self._above = [*self._notes]
        for ply, (said, rest) in enumerate(zip(plies[4::6], plies[5::6], strict=True), 1):
            if said:
                line.notes += [(ply, each[1:]) for each in said.split("\n") if each.startswith("'*")]
            if rest:
                self._read_statements(ply, rest)

    def game(self) -> Game:
        line, notes = self._line, self._notes
        if not (self._position or line.texts or self._special or notes):
            raise RecordError("neither a position nor a move nor a player: not a CSA record")
        turn = _SIGNS.index("".join(self._signs[:1]) or "+") if self._turn is None else self._turn
        due = [*islice(cycle(_SIGNS[turn:] + _SIGNS[:turn]), len(self._signs))]
        if self._signs != due:
            number = next(number for number, pair in enumerate(zip(self._signs, due, strict=True)) if len({*pair}) > 1)
            raise RecordError(f"move {number + 1}, {line.texts[number]}, is made by the side that is not to move")
        record = Record(_start_sfen(tuple(self._position), turn))
        record.play(line, self._conclusion)
        headers = dict[str, str]()
        for key, value in notes.items():
            if key in _NAMES or key in self._above:
                headers.setdefault(_NAMES.get(key, key[1:]), value)
        return record.game(headers, (_rating(notes.get("'black_rate")), _rating(notes.get("'white_rate"))))

    def _read_statements(self, ply: int, text: str) -> None:
        """Those between two moves."""
        for statement in text.split("\n"):
            head = statement[:1]
            if head in ("'", "$"):
                if statement.startswith("'*"):
                    self._line.notes.append((ply, statement[1:]))
                key, _, value = statement.partition(":")
                self._notes.setdefault(key, value.strip())
            elif head == "N" and statement[1:2] in ("+", "-"):
                self._notes.setdefault(statement[:2], statement[2:].strip())
            elif head == "P" and not ply:
                self._position.append(statement)
            elif head in ("+", "-") and len(statement.rstrip()) == 1 and not ply:
                self._turn = _SIGNS.index(head)
            elif head == "%":
                self._special = self._special or statement.rstrip()
            elif time := _TIME.fullmatch(statement):
                if ply and not self._special:
                    self._line.times[ply - 1] = _seconds(time[1])
            elif head not in ("", "V") and not statement.isspace():
                raise RecordError(f"not a CSA statement here: {statement[:40]!r}")
        if self._special and ply < len(self._line.texts):
            raise RecordError(f"{self._line.texts[ply]} follows the end, {self._special}")

    def _conclusion(self, position: ShogiPosition) -> Conclusion:
        """How the game ended. The server's summary knows better than the last statement: it writes `%TORYO` for a lost
        connection, `%KACHI` for a wrong declaration, and no statement for time, repetition and illegal moves."""
        cause, *results = self._notes.get("'summary", "").split(":")
        if cause in _CAUSES and len(results) == 2:
            win = _RESULTS.get(results[0].rpartition(" ")[2])
            return _CAUSES[cause], None if _CAUSES[cause] == "abnormal" else win
        if self._special == "%ILLEGAL_MOVE":
            repetition = position.fourfold()
            if repetition and repetition.value == 1.0:
                return "perpetual_check", "+"
        return SPECIAL.get(self._special, UNKNOWN)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    return float(text) if "." in text else int(text)


def _rating(note: str | None) -> float | None:
    try:
        return float(note.rpartition(":")[2]) if note else None
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _start_sfen(position: tuple[str, ...], turn: int) -> str:
    if not position:
        position = ("PI",)
    pieces: dict[int, int] = {}
    held = Counter[int]()
    rest_of: int | None = None
    for line in position:
        kind, body = line[1:2], line[2:].rstrip()
        if kind == "I":
            pieces |= {square: piece for square, piece in enumerate(squares_of(read_sfen(START_SFEN)[0])) if piece}
            for square, name in _placed(line, body):
                if pieces.pop(square, 0) % COLOUR != KINDS.get(name):
                    raise RecordError(f"{line!r} takes away a piece that is not there")
        elif "1" <= kind <= "9":
            _put_row(line, pieces)
        elif kind in ("+", "-"):
            side = _SIGNS.index(kind)
            for square, name in _placed(line, body):
                piece = COLOUR * side + KINDS.get(name, 0)
                if name == "AL":
                    rest_of = side
                elif square == _IN_HAND and piece % COLOUR in _SET:
                    held[piece] += 1
                elif square >= 0:
                    pieces[square] = piece
                else:
                    raise RecordError(f"{line!r} puts a piece where none can be")
        else:
            raise RecordError(f"not a position: {line[:40]!r}")
    if rest_of is not None:
        used = Counter(piece & 7 for piece in (*pieces.values(), *held.elements()))
        for rest, count in _SET.items():
            held[COLOUR * rest_of + rest] += max(0, count - used[rest])
    return sfen_of(pieces, held, turn)


def _put_row(line: str, pieces: dict[int, int]) -> None:
    cells = re.findall(r"[+-][A-Z]{2}|\*", line)
    if len(cells) != 9 or any(cell != "*" and cell[1:] not in KINDS for cell in cells):
        raise RecordError(f"not a row of nine squares: {line[:40]!r}")
    for file, cell in zip(range(8, -1, -1), cells, strict=True):
        if cell != "*":
            pieces[9 * file + int(line[1]) - 1] = COLOUR * _SIGNS.index(cell[0]) + KINDS[cell[1:]]


def _placed(line: str, body: str) -> list[tuple[int, str]]:
    """Squares and names of pieces; _IN_HAND for square 00, other negative numbers for what is no square."""
    cells = re.findall(r"([0-9])([0-9])([A-Z]{2})", body)
    if 4 * len(cells) != len(body) or any(name not in KINDS and name != "AL" for _, _, name in cells):
        raise RecordError(f"not a list of pieces: {line[:40]!r}")
    places = ((int(file), int(rank), name) for file, rank, name in cells)
    return [(9 * file + rank - 10 if bool(file) == bool(rank) else -1, name) for file, rank, name in places]


@lru_cache(maxsize=1 << 14)
def move_named(csa: str) -> int:
    """A move without its sign as `ShogiPosition.follow` takes it; 0 for what is none anywhere."""
    kind, (file, rank, to_file, to_rank) = KINDS.get(csa[4:], 0), map(int, csa[:4])
    to = 9 * (to_file - 1) + to_rank - 1
    if not (kind and to_file and to_rank and bool(file) == bool(rank)):
        return 0
    if not file:
        return to | (DROP + kind) << ORIGIN if kind <= GOLD else 0
    return to | (9 * (file - 1) + rank - 1) << ORIGIN | kind << 16


def _words(position: ShogiPosition, moves: Sequence[int]) -> Iterator[str]:
    """Moves from a position on, the signs before them."""
    for move, sign in zip(
        position.named(moves), cycle(_SIGNS[position.turn :] + _SIGNS[: position.turn]), strict=False
    ):
        origin, kind = move >> ORIGIN & SEVEN_BITS, move >> 16
        start = "00" if origin > DROP else _square(origin)
        name = NAMES[(kind or origin - DROP) + (PROMOTED if move & PROMOTE else 0)]
        yield f"{sign}{start}{_square(move & SEVEN_BITS)}{name}"


def _square(square: int) -> str:
    return f"{square // 9 + 1}{square % 9 + 1}"


def _rows(position: ShogiPosition) -> Iterator[str]:
    """The lines that set a position up."""
    squares = position.squares()
    for rank in range(9):
        row = squares[72 + rank :: -9]
        cells = (_SIGNS[piece // COLOUR] + NAMES[piece % COLOUR] if piece else " * " for piece in row)
        yield f"P{rank + 1}{''.join(cells)}"
    for sign, hand in zip(_SIGNS, position.hands(), strict=True):
        held = "".join(f"00{NAMES[kind]}" * many for kind, many in hand.items())
        yield from [f"P{sign}{held}"] * bool(held)
    yield _SIGNS[position.turn]


def line_to_csa(position: ShogiPosition, moves: Iterable[str]) -> list[str]:
    """USI moves from `position`, which is left as it is, as CSA writes them."""
    return [*_words(position, [move_of(usi) for usi in moves])]


def to_csa(game: Game, lines: Sequence[Sequence[str]] = ()) -> str:
    """`game` as a CSA text ending in a newline, ratings and evaluations in comments as floodgate writes them.

    `lines`, if any, has one entry per move: the USI moves expected after it, written behind its evaluation.

    Version 2.2, which every program reads, unless a name or a time needs 3.0; that one is in UTF-8. Raises RecordError
    for a game with variations, which CSA has not.
    """
    if game.variations:
        raise RecordError("CSA cannot hold variations")
    names = [one_line(name) for name in game.names]
    event, place, date = map(one_line, (game.event, game.place, game.date))
    fractions = any(time is not None and time != int(time) for time in game.times)
    others = [":".join((_HEADERS.get(name, "'" + name), value)) for name, value in game.headers]
    modern = fractions or not "".join((*names, event, place, date, *others, *map(one_line, game.comments))).isascii()
    text = ["'CSA encoding=UTF-8", "V3.0"] if modern else ["V2.2"]
    text += [f"N{sign}{name}" for sign, name in zip(_SIGNS, names, strict=True) if name]
    headers = (("EVENT", event), ("SITE", place), ("START_TIME", date))
    text += [f"${key}:{value}" for key, value in headers if value] + others
    position = ShogiPosition(game.start_sfen)
    text += ["PI", "+"] if game.start_sfen == START_SFEN else _rows(position)
    for side, name, rating in zip(("black", "white"), names, game.ratings, strict=True):
        if rating is not None:
            text.append(f"'{side}_rate:{name}:{rating}")
    text += comment_lines(game.comments, 0, "'*")
    end = (position.turn + len(game.moves)) % 2
    plies = zip(_words(position, game.moves), game.moves, game.evals, game.times, strict=True)
    for number, (word, move, evaluation, time) in enumerate(plies):
        text.append(word)
        if lines:
            position.push(move)
        if time is not None:
            seconds = min(time, 999_999_999)  # nine digits are read
            text.append(f"T{seconds:.3f}" if fractions else f"T{int(seconds)}")
        if evaluation is not None:
            expected = line_to_csa(position, lines[number]) if lines else []
            text.append(" ".join(["'**", str(evaluation), *expected]))
        text += comment_lines(game.comments, number + 1, "'*")
    return "\n".join([*text, *_closing(game, end)]) + "\n"


def _closing(game: Game, turn: int) -> list[str]:
    """The statement for how `game` ended, and a summary as floodgate's where no statement says it."""
    outcome = (game.ending, game.win)
    for statement, conclusion in SPECIAL.items():
        if settle(conclusion, turn) == outcome:
            return [statement]
    if outcome == ("unknown", None):
        return []
    cause = next(cause for cause, ending in reversed(_CAUSES.items()) if ending == game.ending)
    results = {"b": ("win", "lose"), "w": ("lose", "win"), "d": ("draw", "draw"), None: ("none", "none")}[game.win]
    players = (f"{one_line(name).replace(':', ' ')} {result}" for name, result in zip(game.names, results, strict=True))
    offence = {"b": ["%-ILLEGAL_ACTION"], "w": ["%+ILLEGAL_ACTION"]}.get(game.win or "", [])
    return (offence if game.ending == "perpetual_check" else []) + [f"'summary:{cause}:{':'.join(players)}"]
