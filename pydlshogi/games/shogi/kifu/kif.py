"""KIF and KI2 records (and BOD diagrams in them): text to a game. `kif_writer` writes KIF.

The formats: http://kakinoki.o.oo7.jp/kif_format.html. Evaluations are taken from the comments of Shogidokoro, ShogiGUI,
ShogiHome, floodgate and lishogi.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from pydlshogi.analysis import MATE_EVAL
from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS
from pydlshogi.games.shogi.kifu.game import (
    UNKNOWN,
    Conclusion,
    Ending,
    Game,
    Line,
    RecordError,
    Variation,
    Win,
    game_with,
    games_of,
    settle,
    sfen_of,
)
from pydlshogi.games.shogi.names import (
    BISHOP,
    BLACK,
    GOLD,
    KING,
    PROM_BISHOP,
    PROM_KNIGHT,
    PROM_LANCE,
    PROM_ROOK,
    PROM_SILVER,
    ROOK,
    WHITE,
)
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import LETTERS, START_SFEN
from pydlshogi.games.shogi.zobrist import COLOUR
from pydlshogi.support.decoding import lines_of

_LOWER: Final = "/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
HANDICAPS: Final[dict[str, str]] = {
    "平手": START_SFEN,
    "香落ち": f"lnsgkgsn1/1r5b1{_LOWER}",
    "右香落ち": f"1nsgkgsnl/1r5b1{_LOWER}",
    "角落ち": f"lnsgkgsnl/1r7{_LOWER}",
    "飛車落ち": f"lnsgkgsnl/7b1{_LOWER}",
    "飛香落ち": f"lnsgkgsn1/7b1{_LOWER}",
    "二枚落ち": f"lnsgkgsnl/9{_LOWER}",
    "三枚落ち": f"lnsgkgsn1/9{_LOWER}",
    "四枚落ち": f"1nsgkgsn1/9{_LOWER}",
    "五枚落ち": f"2sgkgsn1/9{_LOWER}",
    "左五枚落ち": f"1nsgkgs2/9{_LOWER}",
    "六枚落ち": f"2sgkgs2/9{_LOWER}",
    "左七枚落ち": f"2sgkg3/9{_LOWER}",
    "右七枚落ち": f"3gkgs2/9{_LOWER}",
    "八枚落ち": f"3gkg3/9{_LOWER}",
    "十枚落ち": f"4k4/9{_LOWER}",
}
_RARE_HANDICAPS: Final = {
    "両香落ち": f"1nsgkgsn1/1r5b1{_LOWER}",
    "右三枚落ち": f"1nsgkgsnl/9{_LOWER}",
    "七枚落ち": f"3gkgs2/9{_LOWER}",
    "九枚落ち": f"4kg3/9{_LOWER}",
    "歩三兵": "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w 3p 1",
    "裸玉": "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "トンボ桂香": f"ln2k2nl/1r5b1{_LOWER}",
    "トンボ香": f"l3k3l/1r5b1{_LOWER}",
    "トンボ": f"4k4/1r5b1{_LOWER}",
    "太閤落ち": f"lnsgkgsnl/1r5b1{_LOWER.replace('ppp', 'p1p', 1)}",
}
"""That few programs know: they are read by name, and written as diagrams."""
_OF_A_SIDE: Final = {"R": 1, "B": 1, "G": 2, "S": 2, "N": 2, "L": 2}
NAMES: Final = " 歩香桂銀角飛金玉と杏圭全馬龍"
"""By the number of a piece."""
_PIECES: Final = {
    **{name: kind for kind, name in enumerate(NAMES) if kind},
    "王": KING, "竜": PROM_ROOK, "成香": PROM_LANCE, "成桂": PROM_KNIGHT, "成銀": PROM_SILVER,
}  # fmt: skip
KANJI: Final = ("", *"一二三四五六七八九十", *(f"十{digit}" for digit in "一二三四五六七八"))
"""The numbers up to 18."""
_RANKS: Final = {name: n for n in range(1, 10) for name in (str(n), KANJI[n])}
_RANGING: Final = (BISHOP, ROOK, PROM_BISHOP, PROM_ROOK)
_SIGNS: Final = ("▲▼☗", "△▽☖")

_NARROW: Final = str.maketrans("０１２３４５６７８９（）：／", "0123456789():/")
_DIGIT: Final = "[0-9０-９]"
_PLACE: Final = (
    r"(?:(?P<same>同)|(?P<file>[1-9１-９])(?P<rank>[1-9１-９一二三四五六七八九]))\s*"
    r"(?P<piece>成[香桂銀]|[歩香桂銀金角飛玉王と杏圭全馬龍竜])"
)
_ACT: Final = r"(?P<act>打|成|不成|生)?"
_KIF_MOVE: Final = re.compile(rf"(?:[▲△▼▽☗☖]\s*)?{_PLACE}{_ACT}\s*(?:[(（](?P<origin>{_DIGIT}{{2}})[)）])?")
_MOVE: Final = re.sub(r"\(\?P<[a-z]+>", "(?:", _KIF_MOVE.pattern)  # to name groups takes time
_NUMBERED: Final = re.compile(
    r"(?![\s9９]+[8８]\s+[7７]\s+[6６])"  # the line above a diagram
    rf"\s*({_DIGIT}+)\s+(?:({_MOVE})|([^\s(（#+]+))"
    rf"(?:.*?[(（]\s*({_DIGIT}{{1,6}}(?:[:：]{_DIGIT}{{1,6}}){{0,2}}(?:\.{_DIGIT}+)?)\s*[/／)）])?"
)
_KI2_MOVE: Final = re.compile(rf"\s*(?P<sign>[▲△▼▽☗☖])\s*{_PLACE}(?P<side>[左右直])?(?P<way>[上行入引寄])?{_ACT}\s*")
_LAST_MOVE: Final = re.compile(r"手数\s*[=＝].*?([1-9])([一二三四五六七八九])")
_VARIATION: Final = re.compile(r"\s*(?:変化\s*:\s*)+([0-9]{1,5})")
_RESULT: Final = re.compile(r"\s*まで、?\d+手(?P<rest>.*)")
_HEADERS: Final = ("手合割", "先手", "後手", "下手", "上手", "開始日時")
_HEADER: Final = re.compile(rf"\s*(?:{'|'.join(_HEADERS)}|棋戦|表題|場所)\s*[:：]")
_ABOVE: Final = re.compile(r"#|[^\s\d*&|:：▲△▼▽☗☖]+[:：]")
_THREE: Final = re.compile(r"^(\s*手合割\s*[:：]\s*)三枚", re.MULTILINE)

ENDINGS: Final[dict[str, Conclusion]] = {
    "投了": ("resign", "-"),
    "不詰": ("no_mate", None),  # before 詰, which stands in it
    "詰み": ("mate", "-"),
    "詰": ("mate", "-"),
    "切れ負け": ("time_up", "-"),
    "時間切れ": ("time_up", "-"),
    "反則負け": ("illegal_move", "-"),
    "反則勝ち": ("illegal_move", "+"),
    "入玉勝ち": ("declaration", "+"),
    "入玉宣言": ("declaration", "+"),
    "トライ": ("try", "-"),
    "不戦勝": ("default", "+"),
    "不戦敗": ("default", "-"),
    "千日手": ("sennichite", "d"),
    "持将棋": ("jishogi", "d"),
    "引き分け": ("jishogi", "d"),
    "最大手数": ("max_moves", "d"),
    "中断": ("interrupted", None),
    "封じ手": ("interrupted", None),
}
"""The words that end a game; of those that end it alike the first is written."""

_KI2_END: Final = re.compile(rf"\s*(?P<sign>[▲△▼▽☗☖])\s*(?P<word>{'|'.join(ENDINGS)})")

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


def parse(text: str) -> list[Game]:
    """The games of a KIF or KI2 text, with their variations.

    Raises RecordError for a line that should be a move and is not, for a position no game can start from, and at an
    illegal move unless it is the last and not the first. A variation ends before its first illegal move.
    """
    return games_of(_records(text), _game)


def _records(text: str) -> list[str]:
    """The texts of the games: a header between moves begins the next one, with the headers right above it.

    `first`: the line that the next one begins with, if moves follow; -1: below moves, where no header has come yet.
    """
    records, first = [list[str]()], 0
    for line in text.split("\n"):
        lines = records[-1]
        if first < 0 and _HEADER.match(line):
            first = next(number for number in range(len(lines), 0, -1) if not _ABOVE.match(lines[number - 1]))
        elif first >= 0 and (line.lstrip()[:1] in (*_SIGNS[0], *_SIGNS[1]) or _NUMBERED.match(line)):
            if first:
                records.append(lines[first:])
                del lines[first:]
            first = -1
        records[-1].append(line)
    return ["\n".join(lines) for lines in records]


def _game(text: str) -> Game:
    """The game; of 三枚落ち, which some play without the other lance, the one that its moves fit."""
    errors, games = list[RecordError](), list[Game]()
    for reading in dict.fromkeys((text, _THREE.sub(r"\1右三枚", text))):
        for at_once in (True, False):
            try:
                games.append(_read(reading, at_once))
                break
            except RecordError as error:
                errors.append(error)
    if not games:
        raise errors[1]
    return max(games, key=lambda game: len(game.moves))


def _read(text: str, at_once: bool) -> Game:
    """`at_once`: the moves of the game are made together, so that a wrong one comes to light too late to tell of it."""
    reader = _Reader(at_once)
    for line in text.split("\n"):
        if line and line[0] not in "#&":
            try:
                reader.read_line(line)
            except RecordError as error:
                reader.break_off(error)
    return reader.game()


class _Reader:
    """What has been read so far. The board is set up at the first move, when the headers are known."""

    def __init__(self, at_once: bool) -> None:
        self._at_once = at_once
        self._headers: dict[str, str] = {}
        self._rows: list[str] = []
        self._diagram_turn: int = BLACK
        self._start_sfen = ""
        self._position: ShogiPosition | None = None
        self._number: int | None = None
        self._destination: int | None = None
        self._line = Line()
        self._path: list[int] = []
        """The moves of the line, and those before it."""
        self._closing = ""
        self._main: Line | None = None
        """The game, once a variation has begun."""
        self._result: tuple[Ending, Win | None] = ("unknown", None)
        self._variations: list[Variation] = []

    def read_line(self, line: str) -> None:
        if line[0] == "*":
            if self._line.illegal and "反則" in line:
                self._line.conclusion = self._line.conclusion or ENDINGS["反則負け"]
            self._read_comment(line)
            return
        if numbered := _NUMBERED.match(line):
            self._read_numbered(line, *numbered.groups())
            return
        narrow = line.translate(_NARROW)
        if line.lstrip()[:1] in (*_SIGNS[0], *_SIGNS[1]):
            self._read_ki2(narrow)
        elif result := _RESULT.match(narrow):
            self._closing = self._closing or result["rest"]
        elif variation := _VARIATION.match(narrow):
            self._begin_variation(int(variation[1]) - 1)
        elif not self._path:
            self._read_header(line, narrow)

    def _read_comment(self, line: str) -> None:
        evals = self._line.evals
        judged = evals and not self._line.illegal
        evaluation = evaluation_of(line, mover=1 - self._turn) if judged else None
        if evaluation is None and not line.startswith("**"):
            self._line.comments.add(len(self._line.moves), line[1:])
        elif judged and evals[-1] is None:
            evals[-1] = evaluation

    def _begin_variation(self, after: int) -> None:
        """What follows leaves the line that was read last, after its first `after` moves."""
        self._end_line()
        self._line, self._number = Line(after), after
        if not 0 <= after <= len(self._path):
            raise RecordError(f"a variation begins at move {after + 1}, which the line before it has not")
        while len(self._path) > after:
            self._set_up().pop()
            self._path.pop()
        self._destination = self._path[-1] & SEVEN_BITS if self._path else None

    def _end_line(self) -> None:
        if self._main is None:
            self._main, self._result = self._line, self._settled()
        elif self._line.moves:
            self._variations.append(self._line.variation())
        elif self._line.comments:
            for line in chain.from_iterable(self._line.comments.values()):
                self._main.comments.add(max(0, min(self._line.after, len(self._main.moves))), line)

    def break_off(self, error: RecordError) -> None:
        """A variation cannot be read any further; of the game itself, raises the error."""
        if self._main is None:
            raise error
        if not self._line.illegal:
            self._line.illegal = str(error)
            self._line.comments.add(len(self._line.moves), f"({error})")

    def game(self) -> Game:
        self._end_line()
        assert self._main is not None
        return game_with(self._start_sfen, self._headers, self._main, self._result, *self._variations)

    def _settled(self) -> tuple[Ending, Win | None]:
        """How the game ended, and for whom."""
        read = self._line
        if not (self._rows or read.moves or read.illegal or any(key in self._headers for key in _HEADERS)):
            raise RecordError("neither a move nor a position nor a player: not a record")
        position = self._set_up()
        if self._at_once:
            self._path[:] = made = position.follow(read.moves)
            if len(made) < len(read.moves):
                raise self._refusal()
            read.moves = made
        conclusion = None if read.conclusion == UNKNOWN else read.conclusion
        conclusion = conclusion or _conclusion(self._closing, position)
        return settle(conclusion, position.turn, read.illegal, len(read.moves))

    def _read_header(self, line: str, narrow: str) -> None:
        if line.startswith("|"):
            self._rows.append(line)
        elif last_move := _LAST_MOVE.match(narrow):
            self._destination = _square(last_move[1], last_move[2])
        elif line.strip() in ("後手番", "上手番"):
            self._diagram_turn = WHITE
        elif ":" in narrow:
            key, value = re.split("[:：]", line, maxsplit=1)
            self._headers.setdefault(key.strip(), value.strip())

    def _set_up(self) -> ShogiPosition:
        if self._position is None:
            handicap = re.sub(r"[\s+＋]", "", self._headers.get("手合割", "").partition("#")[0]) or "平手"
            if self._rows:
                self._start_sfen = self._diagram()
            elif start := _handicap(handicap):
                self._start_sfen = start
            elif handicap == "その他":
                raise RecordError("手合割 その他 (another start position) without a diagram of it")
            else:
                raise RecordError(f"unknown handicap {handicap[:20]!r}")
            self._position = ShogiPosition(self._start_sfen)
        return self._position

    def _diagram(self) -> str:
        if len(self._rows) != 9:
            raise RecordError(f"a diagram of {len(self._rows)} rows")
        pieces: dict[tuple[int, int], str] = {}
        for rank, row in enumerate(self._rows, 1):
            cells = re.findall(r"([ vV▽△^▲]?)([・.歩香桂銀金角飛玉王と杏圭全馬龍竜])", row.split("|")[1])
            if len(cells) != 9:
                raise RecordError(f"not a row of nine squares: {row[:40]!r}")
            for file, (side, name) in zip(range(9, 0, -1), cells, strict=True):
                if name in _PIECES:
                    letter = LETTERS[_PIECES[name]]
                    pieces[file, rank] = letter.lower() if side and side in "vV▽△" else letter
        hands: dict[str, int] = {}
        for side, keys in enumerate((("先手の持駒", "下手の持駒"), ("後手の持駒", "上手の持駒"))):
            held = self._headers.get(keys[0]) or self._headers.get(keys[1], "")
            for name, number in re.findall(r"([歩香桂銀金角飛])([一二三四五六七八九十]+|\d*)", held.translate(_NARROW)):
                letter = LETTERS[_PIECES[name]]
                if not number.isdecimal() and (number or "一") not in KANJI:
                    raise RecordError(f"{number} is no number of pieces in hand")
                many = int(number) if number.isdecimal() else KANJI.index(number or "一")
                hands[letter.lower() if side else letter] = many
        return sfen_of(pieces, hands, self._diagram_turn)

    def _read_numbered(self, line: str, number: str, text: str | None, word: str, time: str | None) -> None:
        self._count(int(number[:9]))
        if text:
            move = _written_in_kif(text)
            self._make(move.text, self._kif_move(move), _seconds(time) if time else None)
        elif word[0] in "123456789１２３４５６７８９同":
            raise RecordError(f"not a move: {line.translate(_NARROW).strip()[:40]!r}")
        else:
            self._line.conclusion = self._line.conclusion or ENDINGS.get(word, UNKNOWN)

    def _count(self, number: int) -> None:
        if self._number is not None and number != self._number + 1:
            raise RecordError(f"move {number} follows move {self._number}")
        self._number = number

    def _read_ki2(self, line: str) -> None:
        if self._at_once and self._main is None:
            raise RecordError("what a move of KI2 says depends on those before it")
        position = 0
        while position < len(line):
            if end := _KI2_END.match(line, position):
                self._line.conclusion = settle(ENDINGS[end["word"]], int(end["sign"] in _SIGNS[1]))
                return
            move = _KI2_MOVE.match(line, position)
            if not move:
                raise RecordError(f"not a move: {line[position:].strip()[:40]!r}")
            if not self._line.illegal and move["sign"] not in _SIGNS[self._turn]:
                raise RecordError(f"move {self._next}, {_written(move)}, is made by the side not to move")
            self._make(_written(move), self._ki2_move(move), None)
            position = move.end()

    def _make(self, text: str, move: int, time: float | None) -> None:
        line = self._line
        if line.illegal or line.conclusion or (self._closing and self._main is None):
            if self._main is not None:
                return
            raise self._refusal() if line.illegal else RecordError(f"{text} follows the end of the game")
        if not self._at_once or self._main is not None:
            made = self._set_up().follow([move])
            if not made:
                if self._main is not None:
                    raise RecordError(f"move {self._next}, {text}, is illegal")
                line.illegal = text
                return
            (move,) = made
        self._destination = move & SEVEN_BITS
        self._path.append(move)
        line.moves.append(move)
        line.evals.append(None)
        line.times.append(time)

    @property
    def _turn(self) -> int:
        """Who makes the next move."""
        return (self._set_up().white_begins + len(self._path)) % 2

    @property
    def _next(self) -> int:
        """The number of the next move."""
        return len(self._path) + 1

    def _refusal(self) -> RecordError:
        return RecordError(f"move {self._next}, {self._line.illegal}, is illegal")

    def _to(self, square: int | None, text: str) -> int:
        """The square; None: that of the last move."""
        if square is not None:
            return square
        if self._destination is None:
            raise RecordError(f"move {self._next}, {text}: the same square as which move?")
        return self._destination

    def _kif_move(self, move: "_KifMove") -> int:
        """The move as `ShogiPosition.follow` takes it."""
        to = self._to(move.to, move.text)
        return to | move.rest if move.rest else 0

    def _ki2_move(self, move: re.Match[str]) -> int:
        """The move, found by the rules of relative notation; 0 where no piece can make it."""
        position, kind = self._set_up(), _PIECES[move["piece"]]
        to = self._to(_square_of(move), _written(move))
        drop = to | _drop(kind) if _drop(kind) else 0
        if move["act"] == "打":
            return drop
        own, squares = kind + COLOUR * position.turn, (*position.squares(), *[0] * (1 << 7))
        end = to | (PROMOTE if move["act"] == "成" else 0)
        made = [
            each
            for each in position.legal_moves().tolist()
            if each & (PROMOTE | SEVEN_BITS) == end and squares[each >> ORIGIN & SEVEN_BITS] == own
        ]
        if not made and not move["side"] and not move["way"]:
            return drop
        made = _by_direction(made, kind, position.turn, move["side"] or "", move["way"] or "")
        if len(made) > 1:
            raise RecordError(f"move {self._next}, {_written(move)}, can be made by {len(made)} pieces")
        return made[0] if made else 0


def _handicap(name: str) -> str | None:
    """The position that is called so. Of those with 得 the lower side holds what the upper side gives away."""
    name = name.replace("兩", "両")
    start = (HANDICAPS | _RARE_HANDICAPS).get(name.replace("得", "落ち"))
    if start and "得" in name:
        given = {letter: full - start.count(letter.lower()) for letter, full in _OF_A_SIDE.items()}
        held = (f"{many if many > 1 else ''}{letter}" for letter, many in given.items() if many)
        start = start.replace(" - ", f" {''.join(held)} ")
    return start


class _KifMove(NamedTuple):
    """A move as KIF writes it."""

    text: str
    to: int | None
    """None: where the move before went."""
    rest: int
    """The move but for that; 0: it starts from no square, or drops what is in no hand."""


@lru_cache(maxsize=1 << 14)
def _written_in_kif(text: str) -> _KifMove:
    found = _KIF_MOVE.fullmatch(text.translate(_NARROW))
    assert found
    origin, act = found["origin"], found["act"]
    kind, rest = _PIECES[found["piece"]], 0
    if act == "打" or origin in (None, "00"):
        rest = _drop(kind)
    elif "0" not in origin:
        rest = kind << 16 | (PROMOTE if act == "成" else 0) | _square(origin[0], origin[1]) << ORIGIN
    return _KifMove(_written(found), _square_of(found), rest)


def _square_of(move: re.Match[str]) -> int | None:
    return None if move["same"] else _square(move["file"], move["rank"])


def _drop(kind: int) -> int:
    """A drop without its square; 0 for a king or a promoted piece."""
    return (DROP + kind) << ORIGIN if kind <= GOLD else 0


def _by_direction(moves: list[int], kind: int, turn: int, side: str, way: str) -> list[int]:
    """Those of `moves`, all to one square, that "right", "up" and so on describe, as their maker sees it."""

    def offset(move: int) -> tuple[int, int]:
        """How far to the left of the destination, and how far behind it, the move starts."""
        start, to = move >> ORIGIN & SEVEN_BITS, move & SEVEN_BITS
        left, behind = start // 9 - to // 9, start % 9 - to % 9
        return (-left, -behind) if turn == WHITE else (left, behind)

    if way == "寄":
        moves = [move for move in moves if offset(move)[1] == 0]
    elif way:
        sign = -1 if way == "引" else 1
        moves = [move for move in moves if sign * offset(move)[1] > 0]
    if side == "直":
        return [move for move in moves if offset(move)[0] == 0 and offset(move)[1] > 0]
    if not side:
        return moves
    sign = 1 if side == "左" else -1
    # Of two ranging pieces one is the left one, wherever they stand; for other pieces the destination divides.
    if kind in _RANGING:
        return sorted(moves, key=lambda move: sign * offset(move)[0])[-1:]
    return [move for move in moves if sign * offset(move)[0] > 0]


def _written(move: re.Match[str]) -> str:
    """The move as it stands in the record."""
    return move[0].strip()


def _square(file: str, rank: str) -> int:
    return 9 * (int(file) - 1) + _RANKS[rank] - 1


@lru_cache(maxsize=1 << 12)
def _seconds(text: str) -> float:
    seconds = 0.0
    for part in text.translate(_NARROW).split(":"):
        seconds = 60 * seconds + float(part)
    return int(seconds) if seconds == int(seconds) else seconds


def _conclusion(result: str, position: ShogiPosition) -> Conclusion:
    """What the closing line (such as "まで90手で後手の勝ち", here from "で" on) says."""
    if side := re.search("([先下後上])手[^先下後上]*([勝負])", result):
        wins = (side[1] in "先下") == (side[2] == "勝")
        causes: tuple[tuple[str, Ending], ...] = (
            ("千日手", "perpetual_check"), ("反則", "illegal_move"), ("入玉", "declaration"), ("宣言", "declaration"),
            ("切れ", "time_up"), ("トライ", "try"), ("不戦", "default"), ("詰", "mate"),
        )  # fmt: skip
        ending = next((ending for word, ending in causes if word in result), None)
        return ending or ("resign" if len(position.legal_moves()) else "mate"), "b" if wins else "w"
    return next((conclusion for word, conclusion in ENDINGS.items() if word in result), UNKNOWN)


def comment_lines(comments: Sequence[str], ply: int, mark: str) -> list[str]:
    """The lines of the comment on the position after `ply` moves, each with the mark of a format before it.

    A tab keeps what people write apart from what programs write in the same place.
    """
    lines = [line for text in comments[ply : ply + 1] for line in lines_of(text)]
    like_programs = (_FIGURE.match(line) or evaluation_of(f"*{line}", BLACK) is not None for line in lines)
    return [f"{mark}\t{line}" if like else mark + line for line, like in zip(lines, like_programs, strict=True)]


def score_of(comment: str) -> int | None:
    """Centipawns from Black's view, as ShogiHome and others write them; None where the comment does not."""
    found = _SCORE.match(comment)
    return round(float(found[1])) if found else None


def evaluation_of(comment: str, mover: int) -> int | None:
    """Centipawns from Black's view, or None where the comment is no evaluation."""
    if (score := score_of(comment)) is not None:
        return score
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
