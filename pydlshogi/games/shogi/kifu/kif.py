"""KIF and KI2 records (and BOD diagrams in them): text to a game. `kif_writer` writes KIF.

The formats: http://kakinoki.o.oo7.jp/kif_format.html. Evaluations are taken from the comments of Shogidokoro, ShogiGUI,
ShogiHome, floodgate and lishogi.
"""

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

from pydlshogi.analysis import AnalysedMove
from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS
from pydlshogi.games.shogi.kifu.game import (
    UNKNOWN,
    Conclusion,
    Game,
    Line,
    Record,
    RecordError,
    evaluation_of,
    games_of,
    settle,
    sfen_of,
)
from pydlshogi.games.shogi.kifu.kif_writer import DECLARED, ENDINGS, HANDICAPS, KANJI, LOWER, NAMES
from pydlshogi.games.shogi.names import BISHOP, BLACK, COLOUR, GOLD, PROM_BISHOP, PROM_ROOK, ROOK, WHITE
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import usi_of

_RARE_HANDICAPS: Final = {
    "両香落ち": f"1nsgkgsn1/1r5b1{LOWER}",
    "右三枚落ち": f"1nsgkgsnl/9{LOWER}",
    "七枚落ち": f"3gkgs2/9{LOWER}",
    "九枚落ち": f"4kg3/9{LOWER}",
    "歩三兵": "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w 3p 1",
    "裸玉": "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "トンボ桂香": f"ln2k2nl/1r5b1{LOWER}",
    "トンボ香": f"l3k3l/1r5b1{LOWER}",
    "トンボ": f"4k4/1r5b1{LOWER}",
    "太閤落ち": f"lnsgkgsnl/1r5b1{LOWER.replace('ppp', 'p1p', 1)}",
}
"""That few programs know: they are read by name, and written as diagrams."""
_ALL_HANDICAPS: Final = HANDICAPS | _RARE_HANDICAPS
_OF_A_SIDE: Final = {"R": 1, "B": 1, "G": 2, "S": 2, "N": 2, "L": 2}
_SHORT: Final = {"王": "玉", "竜": "龍", "成香": "杏", "成桂": "圭", "成銀": "全"}
_PIECES: Final = {name: NAMES.index(_SHORT.get(name, name)) for name in (*NAMES[1:], *_SHORT)}
_RANKS: Final = {name: n for n in range(1, 10) for name in (str(n), KANJI[n])}
_RANGING: Final = (BISHOP, ROOK, PROM_BISHOP, PROM_ROOK)
_SIGNS: Final = ("▲▼☗", "△▽☖")

_NARROW: Final = str.maketrans("０１２３４５６７８９（）：／", "0123456789():/")
_DIGIT: Final = "[0-9０-９]"
_PLACE: Final = (
    r"(?:(?P<same>同)|(?P<file>[1-9１-９])(?P<rank>[1-9１-９一二三四五六七八九]))\s*"
    r"(?P<piece>成[香桂銀]|[歩香桂銀金角飛玉王と杏圭全馬龍竜])"
)
_PARTS: Final = re.compile(
    rf"(?:(?P<sign>[▲△▼▽☗☖])\s*)?{_PLACE}(?P<side>[左右直])?(?P<way>[上行入引寄])?(?P<act>打|成|不成|生)?"
    rf"\s*(?:[(（](?P<origin>{_DIGIT}{{2}})[)）])?"
)
_MOVE: Final = re.sub(r"\(\?P<[a-z]+>", "(?:", _PARTS.pattern)  # to name groups takes time
_NUMBERED: Final = re.compile(
    r"(?![9９]\s+[8８]\s+[7７]\s+[6６])"  # the line above a diagram
    rf"({_DIGIT}+)\s+(?:({_MOVE})|([^\s(（#+]+))"
    rf"(?:.*?[(（]\s*({_DIGIT}{{1,6}}(?:[:：]{_DIGIT}{{1,6}}){{0,2}}(?:\.{_DIGIT}+)?)\s*[/／)）])?"
)
_SIGNED: Final = re.compile(rf"(?=(?P<sign>[▲△▼▽☗☖]))(?:(?P<move>{_MOVE})|.\s*(?P<word>[^\s▲△▼▽☗☖]+))\s*")
_LAST_MOVE: Final = re.compile(r"手数\s*[=＝].*?([1-9])([一二三四五六七八九])")
_VARIATION: Final = re.compile(r"(?:変化\s*:\s*)+([0-9]{1,5})")
_RESULT: Final = re.compile(r"まで、?(?:\d+手)?(?P<rest>.*)")
_TURN: Final = re.compile(r"(?:手番:)?([先後上下])手(?:番|(?<=:.手))\s*")
_OTHER_GAME: Final = re.compile(r"(?<!詰)(?<!詰め)将棋$")
_HEADERS: Final = ("手合割", "先手", "後手", "下手", "上手", "開始日時")
_HEADER: Final = re.compile(rf"(?:{'|'.join(_HEADERS)}|棋戦|表題|場所)\s*[:：]")
_ABOVE: Final = re.compile(r"#|[^\s\d*&|:：▲△▼▽☗☖]+[:：]")

_CANDIDATE: Final = re.compile(r"\*\*解析 候補\d+\s(?:.*?ノード数\s+(?P<nodes>\d{1,12}))?.*?読み筋(?P<line>.*)")


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
        elif first >= 0 and (line[:1] in (*_SIGNS[0], *_SIGNS[1]) or _NUMBERED.match(line)):
            if first:
                records.append(lines[first:])
                del lines[first:]
            first = -1
        records[-1].append(line)
    return ["\n".join(lines) for lines in records]


def _game(text: str) -> Game:
    """The game: of those that may be meant, the one that its moves fit."""
    reader = _Reader()
    for line in text.split("\n"):
        if line and line[0] not in "#&":
            try:
                reader.read_line(line)
            except RecordError as error:
                reader.break_off(error)
    errors, games = list[RecordError](), list[Game]()
    for start in reader.starts():
        try:
            games.append(reader.game(start))
        except RecordError as error:
            errors.append(error)
    if not games:
        raise errors[0]
    return max(games, key=lambda game: len(game.moves))


class _Move(NamedTuple):
    """A move as it is written."""

    text: str
    parts: re.Match[str]
    to: int | None
    """None: where the move before went."""
    rest: int | None
    """The move but for that; 0: it starts from no square, or drops what is in no hand; None: the position says it."""


@lru_cache(maxsize=1 << 14)
def _written(text: str) -> _Move:
    parts = _PARTS.fullmatch(text.translate(_NARROW))
    assert parts
    origin, act, kind, rest = parts["origin"], parts["act"], _PIECES[parts["piece"]], None
    if act == "打" or origin == "00":
        rest = _drop(kind)
    elif origin:
        rest = 0 if "0" in origin else kind << 16 | PROMOTE * (act == "成") | _square(*origin) << ORIGIN
    return _Move(parts[0].strip(), parts, None if parts["same"] else _square(parts["file"], parts["rank"]), rest)


class _Reader:
    """What has been read so far. No board is set up: the moves of KIF say by themselves what they are."""

    def __init__(self) -> None:
        self._headers: dict[str, str] = {}
        self._rows: list[str] = []
        self._turn: int | None = None
        self._number: int | None = None
        self._destination: int | None = None
        """Where the move before the first went, as a diagram says it."""
        self._line = Line()
        self._lines = [self._line]
        """The game, then the variations."""
        self._path: list[int] = []
        """Where the moves of the line, and those before it, went."""
        self._closing = ""
        self._like_a_move = ""
        """A line that begins as a move does, above all moves."""

    def read_line(self, line: str) -> None:
        if line[0] == "*":
            self._line.notes.append((len(self._line.texts) + bool(self._line.error), line))
            return
        if numbered := _NUMBERED.match(line):
            self._read_numbered(line, *numbered.groups())
            return
        narrow = line.translate(_NARROW)
        if line[:1] in (*_SIGNS[0], *_SIGNS[1]):
            self._read_ki2(narrow)
        elif result := _RESULT.match(narrow):
            self._closing = self._closing or (result["rest"] if self._in_game else "")
        elif variation := _VARIATION.match(narrow):
            self._number = after = int(variation[1]) - 1
            self._line = Line(after)
            self._lines.append(self._line)
            self._destination = None
            del self._path[max(0, after) :]
        elif not self._path:
            self._read_header(line, narrow)

    @property
    def _in_game(self) -> bool:
        """No variation has begun."""
        return len(self._lines) == 1

    def break_off(self, error: RecordError) -> None:
        """A variation cannot be read any further; of the game itself, raises the error."""
        if self._in_game:
            raise error
        self._line.error = self._line.error or str(error)

    def starts(self) -> Sequence[int | str]:
        """What it may begin from: who moves first in its diagram, or a handicap; 三枚落ち is played in two ways."""
        handicap = re.sub(r"[\s+＋]", "", self._headers.get("手合割", "").partition("#")[0]) or "平手"
        if self._rows and not _OTHER_GAME.search(handicap):
            return (BLACK, WHITE) if self._turn is None else (self._turn,)
        return (handicap, f"右{handicap}") if handicap.startswith("三枚") else (handicap,)

    def game(self, start: int | str) -> Game:
        game, *variations = self._lines
        if not (self._rows or game.texts):
            if not any(key in self._headers for key in _HEADERS):
                raise RecordError("neither a move nor a position nor a player: not a record")
            if self._like_a_move:
                raise RecordError(f"not a move: {self._like_a_move[:40]!r}")
        record = Record(_handicap(start) if isinstance(start, str) else self._diagram(start))
        record.play(game, partial(_conclusion, self._closing))
        for variation in variations:
            record.vary(variation)
        return record.game(self._headers)

    def _read_header(self, line: str, narrow: str) -> None:
        if line.startswith("|"):
            self._rows.append(line)
        elif last_move := _LAST_MOVE.match(narrow):
            self._destination = _square(last_move[1], last_move[2])
        elif turn := _TURN.fullmatch(narrow):
            self._turn = int(turn[1] in "後上")
        else:
            self._like_a_move = self._like_a_move or (line if re.match(f"(?={_DIGIT}).*{_PLACE}", line) else "")
            for each in re.split(r"\s/\s(?=[後上]手\s*[:：])", line) if ":" in narrow else ():
                key, value = re.split("[:：]", each, maxsplit=1)
                self._headers.setdefault(re.sub("手の?持ち?駒", "手の持駒", key.strip()), value.strip())

    def _diagram(self, turn: int) -> str:
        if len(self._rows) != 9:
            raise RecordError(f"a diagram of {len(self._rows)} rows")
        pieces, in_hand = dict[int, int](), dict[int, int]()
        for rank, row in enumerate(self._rows):
            cells = re.findall(r"([ vV▽△^▲]?)([・.歩香桂銀金角飛玉王と杏圭全馬龍竜])", row.split("|")[1])
            if len(cells) != 9:
                raise RecordError(f"not a row of nine squares: {row[:40]!r}")
            for file, (side, name) in zip(range(8, -1, -1), cells, strict=True):
                if name in _PIECES:
                    pieces[9 * file + rank] = _PIECES[name] + (COLOUR if side and side in "vV▽△" else 0)
        for white, keys in enumerate((("先手の持駒", "下手の持駒"), ("後手の持駒", "上手の持駒"))):
            held = self._headers.get(keys[0]) or self._headers.get(keys[1], "")
            for name, number in re.findall(r"([歩香桂銀金角飛])([一二三四五六七八九十]+|\d*)", held.translate(_NARROW)):
                if not number.isdecimal() and (number or "一") not in KANJI:
                    raise RecordError(f"{number} is no number of pieces in hand")
                many = int(number) if number.isdecimal() else KANJI.index(number or "一")
                in_hand[COLOUR * white + _PIECES[name]] = many
        return sfen_of(pieces, in_hand, turn)

    def _read_numbered(self, line: str, number: str, text: str | None, word: str, time: str | None) -> None:
        before, self._number = self._number, int(number[:9])
        if before is not None and self._number != before + 1:
            raise RecordError(f"move {self._number} follows move {before}")
        if text:
            self._add(_written(text), _seconds(time) if time else None)
        elif word[0] in "123456789１２３４５６７８９同":
            raise RecordError(f"not a move: {line.translate(_NARROW).strip()[:40]!r}")
        else:
            self._line.conclusion = self._line.conclusion or _ending(word)

    def _read_ki2(self, line: str) -> None:
        place = 0
        while place < len(line):
            found = _SIGNED.match(line, place)
            if found and found["move"]:
                move = _written(found["move"])
                self._add(move if move.parts["origin"] else move._replace(rest=None), None)
                place = found.end()
            elif found and (end := _ending(found["word"])) != UNKNOWN:
                self._line.conclusion = settle(end, int(found["sign"] in _SIGNS[1]))
                return
            else:
                raise RecordError(f"not a move: {line[place:].strip()[:40]!r}")

    def _add(self, move: _Move, time: float | None) -> None:
        line, number = self._line, len(self._path) + 1
        to = (self._path[-1] if self._path else self._destination) if move.to is None else move.to
        if to is None:
            raise RecordError(f"move {number}, {move.text}: the same square as which move?")
        if line.conclusion or line.error or (self._closing and self._in_game):
            if self._in_game:
                raise RecordError(f"{move.text} follows the end of the game")
            return
        self._path.append(to)
        line.relative |= move.rest is None
        line.moves.append(partial(_found, move, to, number) if move.rest is None else move.rest and to | move.rest)
        line.texts.append(move.text)
        line.times.append(time)


def _handicap(name: str) -> str:
    """The position that is called so. Of those with 得 the lower side holds what the upper side gives away."""
    name = name.replace("兩", "両")
    start = _ALL_HANDICAPS.get(name.replace("得", "落ち"), "")
    if name == "その他":
        raise RecordError("手合割 その他 (another start position) without a diagram of it")
    if not start:
        raise RecordError(f"unknown handicap {name[:20]!r}")
    if "得" in name:
        given = {letter: full - start.count(letter.lower()) for letter, full in _OF_A_SIDE.items()}
        held = (f"{many if many > 1 else ''}{letter}" for letter, many in given.items() if many)
        start = start.replace(" - ", f" {''.join(held)} ")
    return start


def candidate_of(position: ShogiPosition, text: str, previous: int | None = None) -> AnalysedMove | None:
    """A candidate of an analysis in a position to which the move `previous` led, its line as far as it is legal."""
    found, evaluation = _CANDIDATE.match(text), evaluation_of(text, BLACK)
    if found is None or evaluation is None:
        return None
    nodes, to = int(found["nodes"]) if found["nodes"] else None, None if previous is None else previous & SEVEN_BITS
    if found["line"].strip() == DECLARED:
        return AnalysedMove(evaluation, ("win",), nodes)
    moves = list[int]()
    for each in re.finditer(_MOVE, found["line"].translate(_NARROW)):
        move = _written(each[0])
        to = to if move.to is None else move.to
        if not move.rest or to is None:
            break
        moves.append(to | move.rest)
    made = position.follow(moves)
    for _ in made:
        position.pop()
    return AnalysedMove(evaluation, tuple(map(usi_of, made)), nodes)


def _drop(kind: int) -> int:
    """A drop without its square; 0 for a king or a promoted piece."""
    return (DROP + kind) << ORIGIN if kind <= GOLD else 0


def _found(move: _Move, to: int, number: int, position: ShogiPosition) -> int:
    """The move, found by the rules of relative notation; 0 where no piece can make it."""
    text, parts = move.text, move.parts
    if parts["sign"] and parts["sign"] not in _SIGNS[position.turn]:
        raise RecordError(f"move {number}, {text}, is made by the side not to move")
    kind = _PIECES[parts["piece"]]
    drop = to | _drop(kind) if _drop(kind) else 0
    if parts["act"] == "打":
        return drop
    own, squares = kind + COLOUR * position.turn, (*position.squares(), *[0] * (1 << 7))
    end = to | (PROMOTE if parts["act"] == "成" else 0)
    made = [
        each
        for each in position.legal_moves().tolist()
        if each & (PROMOTE | SEVEN_BITS) == end and squares[each >> ORIGIN & SEVEN_BITS] == own
    ]
    if not made and not parts["side"] and not parts["way"]:
        return drop
    made = _by_direction(made, kind, position.turn, parts["side"] or "", parts["way"] or "")
    if len(made) > 1:
        raise RecordError(f"move {number}, {text}, can be made by {len(made)} pieces")
    return made[0] if made else 0


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
    ending, outcome = _ending(result)
    if ending == "unknown" and outcome:
        ending = "resign" if len(position.legal_moves()) else "mate"
    return ending, outcome


def _ending(text: str) -> Conclusion:
    """How a game ended by the words for that in a text; who wins by losing is not known."""
    ending, outcome = next((conclusion for word, conclusion in ENDINGS.items() if word in text), UNKNOWN)
    if side := re.search("([先下後上])手[^先下後上]*([勝負])", text):
        outcome = "b" if (side[1] in "先下") == (side[2] == "勝") else "w"
        return "perpetual_check" if ending == "sennichite" else ending, outcome
    return UNKNOWN if "勝" in text and outcome != "+" else (ending, outcome)
