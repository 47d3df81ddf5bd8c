"""JKF records (JSON Kifu Format): text to a game, and a game to text, both with variations.

The format: https://github.com/na2hiro/Kifu-for-JS, package json-kifu-format.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS
from pydlshogi.games.shogi.kifu.csa import KINDS, NAMES, SPECIAL
from pydlshogi.games.shogi.kifu.game import (
    UNKNOWN,
    Ending,
    Game,
    Line,
    Record,
    RecordError,
    Variation,
    comment_lines,
    settle,
    sfen_of,
)
from pydlshogi.games.shogi.kifu.kif_writer import HANDICAP_NAMES, HANDICAPS
from pydlshogi.games.shogi.names import COLOUR, GOLD, HELD, ROOK
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.support.decoding import one_line

_PRESETS: Final = {
    "HIRATE": "平手", "KY": "香落ち", "KY_R": "右香落ち", "KA": "角落ち", "HI": "飛車落ち", "HIKY": "飛香落ち",
    "2": "二枚落ち", "3": "三枚落ち", "4": "四枚落ち", "5": "五枚落ち", "5_L": "左五枚落ち", "6": "六枚落ち",
    "7_L": "左七枚落ち", "7_R": "右七枚落ち", "8": "八枚落ち", "10": "十枚落ち",
}  # fmt: skip
_LONGEST: Final = 10**7
"""Seconds."""
_NEAREST: Final[tuple[Ending, ...]] = ("mate", "illegal_move", "jishogi", "interrupted")
"""What JKF has no word for is written as the first of these that says who won."""


def holds_jkf(text: str) -> bool:
    """Whether it is JSON."""
    return text.lstrip().startswith("{")


def parse(text: str) -> Game:
    """The game of a JKF text. Raises RecordError, as `kif.parse`."""
    try:
        data, reader = _without_null(json.loads(text)), _Reader()
        headers = data.get("header", {})
        if not all(isinstance(value, str) for value in headers.values()):
            raise RecordError("a header of a JKF record is no text")
        reader.read(data["moves"])
        record = Record(_start(data.get("initial", {"preset": "HIRATE"})))
        game, *variations = reader.lines
        record.play(game)
        for variation in variations:
            record.vary(variation)
        return record.game(headers)
    except RecordError:
        raise
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise RecordError("it is JSON, but no JKF record, or a damaged one") from error


def _without_null(value: Any) -> Any:
    """Null is as good as absent, in a list as {}."""
    if isinstance(value, dict):
        return {name: _without_null(each) for name, each in value.items() if each is not None}
    return [{} if each is None else _without_null(each) for each in value] if isinstance(value, list) else value


class _Reader:
    """Reads the lines of a record, each before those that leave it."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._path: list[int] = []
        """Where the moves went."""

    def read(self, moves: Sequence[dict[str, Any]], after: int = 0) -> None:
        """Read a line that leaves the one before it after that many moves."""
        line, forks = Line(after), list[tuple[int, Sequence[dict[str, Any]]]]()
        self.lines.append(line)
        del self._path[after:]
        for each in moves:
            forks += [(len(self._path), fork) for fork in each.get("forks", ())]
            if "special" in each:
                line.conclusion = SPECIAL.get(f"%{each['special']}", UNKNOWN)
            elif "move" in each:
                self._add(line, each["move"], each.get("time", {}).get("now"))
            line.notes += [(len(line.texts), f"*{comment}") for comment in each.get("comments", ())]
        for start, fork in sorted(forks, key=lambda fork: -fork[0]):
            self.read(fork, start)

    def _add(self, line: Line, written: dict[str, Any], time: Any) -> None:
        move = to = _square(written["to"]) if "to" in written else self._path[-1]
        if "from" in written:
            move |= _square(written["from"]) << ORIGIN | (PROMOTE if written.get("promote") else 0)
        else:
            kind = KINDS[written["piece"]]
            move = move | (DROP + kind) << ORIGIN if kind <= GOLD else 0
        self._path.append(to)
        line.moves.append(move)
        line.texts.append(json.dumps(written, ensure_ascii=False)[:80])
        seconds = time and 3600 * time.get("h", 0) + 60 * time.get("m", 0) + time.get("s", 0)
        if seconds and not 0 < seconds < _LONGEST:
            raise RecordError(f"a move took {seconds} s")
        line.times.append(seconds)


def _square(place: dict[str, int]) -> int:
    if not (1 <= place["x"] <= 9 and 1 <= place["y"] <= 9):
        raise RecordError(f"there is no square {place}")
    return 9 * (place["x"] - 1) + place["y"] - 1


def _start(initial: dict[str, Any]) -> str:
    preset = initial.get("preset", "OTHER")
    if preset != "OTHER":
        return HANDICAPS[_PRESETS[preset]]
    data, pieces, held = initial["data"], dict[int, int](), Counter[int]()
    for x, column in enumerate(data["board"], 1):
        for y, square in enumerate(column, 1):
            if square.get("kind"):
                pieces[_square({"x": x, "y": y})] = COLOUR * bool(square["color"]) + KINDS[square["kind"]]
    for side, hand in enumerate(data.get("hands", ())):
        for name, count in hand.items():
            held[COLOUR * bool(side) + KINDS[name]] += int(count)
    return sfen_of(pieces, held, int(bool(data.get("color", 0))))


def to_jkf(game: Game) -> str:
    """`game` as a JKF text, its evaluations in comments as ShogiHome writes them.

    Of an ending that JKF has no word for, who won is said.
    """
    handicap = HANDICAP_NAMES.get(game.start_sfen)
    preset = next((preset for preset, name in _PRESETS.items() if name == handicap), "OTHER")
    initial = {"preset": preset} | ({"data": _position(game.start_sfen)} if preset == "OTHER" else {})
    said_of = map(one_line, (*game.names, game.date, game.event, game.place))
    headers = [*zip(("先手", "後手", "開始日時", "棋戦", "場所"), said_of, strict=True), *game.headers]
    writer = _Writer(ShogiPosition(game.start_sfen))
    said = (*game.comments, *("",) * (len(game.moves) + 1 - len(game.comments)))
    known = [line[1:] for line in chain(*game.analysis[:1])]
    moves = [_with_comments({}, known + comment_lines(said, 0, "")), *writer.line(game, said[1:], game.analysis[1:])]
    turn, endings = writer.position.turn, [game.ending, *_NEAREST] if game.ending != "unknown" or game.win else []
    words = (
        word for each in endings for word, conclusion in SPECIAL.items() if settle(conclusion, turn) == (each, game.win)
    )
    moves += [{"special": word[1:]} for word in islice(words, 1)]
    writer.path = writer.last = moves
    for variation in game.variations:
        writer.fork(variation)
    record = {"header": {key: value for key, value in headers if value}, "initial": initial, "moves": moves}
    return json.dumps(record, ensure_ascii=False) + "\n"


class _Writer:
    """Writes the line of a game, then the variations one after the other."""

    def __init__(self, position: ShogiPosition) -> None:
        self.position = position
        self.path: list[dict[str, Any]] = []
        """How the moves before the next variation are written, and the start before them."""
        self.last: list[dict[str, Any]] = []
        """The line that it ends with."""
        self._spent: list[float] = []
        """By each move on the board, what its side has spent by then."""

    def line(
        self, line: Game | Variation, said: Sequence[str], analysis: Sequence[Sequence[str]]
    ) -> Iterator[dict[str, Any]]:
        plies = zip(line.moves, line.evals, line.times, said, strict=True)
        for number, (move, evaluation, time, comment) in enumerate(plies):
            written: dict[str, Any] = {"move": self._move(move)}
            self._spent.append((self._spent[-2] if len(self._spent) > 1 else 0) + (time or 0))
            if time is not None:
                written["time"] = {"now": _time(time), "total": _time(self._spent[-1])}
            self.position.push(move)
            lines = [f"#評価値={evaluation}"] * (evaluation is not None)
            lines += [text[1:] for text in chain(*analysis[number : number + 1])]
            yield _with_comments(written, lines + comment_lines([comment], 0, ""))

    def fork(self, variation: Variation) -> None:
        after = variation.after
        while len(self._spent) > after:
            self.position.pop()
            self._spent.pop()
        moves = [*self.line(variation, variation.comments, variation.analysis)]
        words = (word for word, (ending, _) in SPECIAL.items() if ending == variation.ending)
        moves += [{"special": word[1:]} for word in islice(words, 1)]
        if len(self.path) == after + 1:  # it goes on where the line before it ends
            self.last.append({})
            self.path = [*self.path, self.last[-1]]
        self.path[after + 1].setdefault("forks", []).append(moves)
        self.path, self.last = [*self.path[: after + 1], *moves], moves

    def _move(self, move: int) -> dict[str, Any]:
        position, origin, to = self.position, move >> ORIGIN & SEVEN_BITS, move & SEVEN_BITS
        written: dict[str, Any] = {"color": position.turn, "to": _place(to)}
        if origin > DROP:
            return written | {"piece": NAMES[origin - DROP]}
        squares = [piece % COLOUR for piece in position.squares()]
        piece = squares[origin]
        written |= {"from": _place(origin), "piece": NAMES[piece]}
        if squares[to]:
            written["capture"] = NAMES[squares[to]]
        if self._spent and position.last_move() & SEVEN_BITS == to:
            written["same"] = True
        camp = (6, 7, 8) if position.turn else (0, 1, 2)
        if piece <= ROOK and (origin % 9 in camp or to % 9 in camp):
            written["promote"] = bool(move & PROMOTE)
        return written


def _with_comments(written: dict[str, Any], lines: list[str]) -> dict[str, Any]:
    return written | ({"comments": lines} if lines else {})


def _place(square: int) -> dict[str, int]:
    return {"x": square // 9 + 1, "y": square % 9 + 1}


def _time(seconds: float) -> dict[str, float]:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    return {"h": hours, "m": minutes, "s": rest}


def _position(sfen: str) -> dict[str, Any]:
    position = ShogiPosition(sfen)
    pieces = position.squares()
    squares = [{"kind": NAMES[piece % COLOUR], "color": piece // COLOUR} if piece else {} for piece in pieces]
    return {
        "color": position.turn,
        "board": [squares[start : start + 9] for start in range(0, 81, 9)],
        "hands": [{NAMES[kind]: hand.get(kind, 0) for kind in HELD} for hand in position.hands()],
    }
