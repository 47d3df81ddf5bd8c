"""JKF records (JSON Kifu Format): text to a game, and a game to text, both with variations.

The format: https://github.com/na2hiro/Kifu-for-JS, package json-kifu-format.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from pydlshogi.games.shogi.board import DROP, ORIGIN, PROMOTE, SEVEN_BITS
from pydlshogi.games.shogi.kifu.csa import KINDS, LETTERS, NAMES, SPECIAL
from pydlshogi.games.shogi.kifu.game import (
    UNKNOWN,
    Ending,
    Game,
    Line,
    RecordError,
    Variation,
    game_with,
    settle,
    sfen_of,
)
from pydlshogi.games.shogi.kifu.kif import HANDICAPS, comment_lines, evaluation_of
from pydlshogi.games.shogi.kifu.kif_writer import HANDICAP_NAMES
from pydlshogi.games.shogi.names import GOLD, ROOK
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.zobrist import COLOUR, HELD
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
        record = _without_null(json.loads(text))
        return _Reader(record.get("header", {}), record.get("initial", {"preset": "HIRATE"}), record["moves"]).game()
    except RecordError:
        raise
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise RecordError("it is JSON, but no JKF record, or a damaged one") from error


def _without_null(value: Any) -> Any:
    """Null is as good as absent, in a list as {}."""
    if isinstance(value, dict):
        return {name: _without_null(each) for name, each in value.items() if each is not None}
    return [_without_null(each or {}) for each in value] if isinstance(value, list) else value


class _Reader:
    """Reads the lines of a record, each with those that leave it."""

    def __init__(self, header: dict[str, str], initial: dict[str, Any], moves: Sequence[dict[str, Any]]) -> None:
        if not all(isinstance(value, str) for value in header.values()):
            raise RecordError("a header of a JKF record is no text")
        self._header = header
        self._start_sfen = _start(initial)
        self._position = ShogiPosition(self._start_sfen)
        self._path: list[int] = []
        self._variations: list[Variation] = []
        first, rest = (moves[0], moves[1:]) if moves and "move" not in moves[0] else ({}, moves)
        main = Line()
        for comment in first.get("comments", ()):
            main.comments.add(0, comment)
        forks = self._read(main, rest)
        made = len(main.moves)
        if main.illegal and any("move" in each for each in rest[made + 1 :]):
            raise RecordError(f"move {made + 1}, {main.illegal}, is illegal")
        self._result = settle(main.conclusion or UNKNOWN, self._position.turn, main.illegal, made)
        self._main = main
        self._read_forks(forks)

    def game(self) -> Game:
        return game_with(self._start_sfen, self._header, self._main, self._result, *self._variations)

    def _read(self, line: Line, moves: Sequence[dict[str, Any]]) -> list[tuple[int, Sequence[dict[str, Any]]]]:
        """Read a line. Returns those that leave it, and after how many moves."""
        forks: list[tuple[int, Sequence[dict[str, Any]]]] = []
        for each in moves:
            forks += [(len(self._path), fork) for fork in each.get("forks", ())]
            if "special" in each:
                line.conclusion = SPECIAL.get(f"%{each['special']}", UNKNOWN)
            elif "move" in each and not line.illegal:
                self._make(line, each["move"], each.get("time"))
            for comment in each.get("comments", ()) if not line.illegal else ():
                evaluation = evaluation_of(f"*{comment}", mover=1 - self._position.turn) if line.evals else None
                if evaluation is None:
                    line.comments.add(len(line.moves), comment)
                else:
                    line.evals[-1] = evaluation
        return forks

    def _read_forks(self, forks: list[tuple[int, Sequence[dict[str, Any]]]]) -> None:
        for after, moves in sorted(forks, key=lambda fork: -fork[0]):
            while len(self._path) > after:
                self._position.pop()
                self._path.pop()
            line = Line(after)
            below = self._read(line, moves)
            if line.illegal:
                line.comments.add(len(line.moves), f"(move {len(self._path) + 1}, {line.illegal}, is illegal)")
            if line.moves:
                self._variations.append(line.variation())
            elif line.illegal:
                self._main.comments.add(min(after, len(self._main.moves)), line.comments[0][0])
            self._read_forks(below)

    def _make(self, line: Line, written: dict[str, Any], time: dict[str, Any] | None) -> None:
        move = _square(written["to"]) if "to" in written else self._path[-1] & SEVEN_BITS
        if "from" in written:
            move |= _square(written["from"]) << ORIGIN | (PROMOTE if written.get("promote") else 0)
        else:
            kind = KINDS[written["piece"]]
            move = move | (DROP + kind) << ORIGIN if kind <= GOLD else 0
        made = self._position.follow([move])
        if not made:
            line.illegal = json.dumps(written, ensure_ascii=False)[:80]
            return
        self._path += made
        line.moves += made
        line.evals.append(None)
        now = (time or {}).get("now")
        seconds = now and 3600 * now.get("h", 0) + 60 * now.get("m", 0) + now.get("s", 0)
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
    data, pieces, hands = initial["data"], dict[tuple[int, int], str](), Counter[str]()
    for x, column in enumerate(data["board"], 1):
        for y, square in enumerate(column, 1):
            if square.get("kind"):
                letter = LETTERS[square["kind"]]
                pieces[x, y] = letter.lower() if square["color"] else letter
    for side, hand in enumerate(data.get("hands", ())):
        for name, count in hand.items():
            hands[LETTERS[name].lower() if side else LETTERS[name]] += int(count)
    return sfen_of(pieces, hands, int(data.get("color", 0)))


def to_jkf(game: Game) -> str:
    """`game` as a JKF text, its evaluations in comments as ShogiHome writes them.

    Of an ending that JKF has no word for, who won is said.
    """
    handicap = HANDICAP_NAMES.get(game.start_sfen)
    preset = next((preset for preset, name in _PRESETS.items() if name == handicap), "OTHER")
    initial = {"preset": preset} | ({"data": _position(game.start_sfen)} if preset == "OTHER" else {})
    said_of = map(one_line, (*game.names, game.date, game.event, game.place))
    headers = zip(("先手", "後手", "開始日時", "棋戦", "場所"), said_of, strict=True)
    writer = _Writer(ShogiPosition(game.start_sfen))
    said = (*game.comments, *("",) * (len(game.moves) + 1 - len(game.comments)))
    moves = [_with_comments({}, comment_lines(said, 0, "")), *writer.line(game.moves, game.evals, game.times, said[1:])]
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
        self, moves: Sequence[int], evals: Sequence[int | None], times: Sequence[float | None], said: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        for move, evaluation, time, comment in zip(moves, evals, times, said, strict=True):
            written: dict[str, Any] = {"move": self._move(move)}
            self._spent.append((self._spent[-2] if len(self._spent) > 1 else 0) + (time or 0))
            if time is not None:
                written["time"] = {"now": _time(time), "total": _time(self._spent[-1])}
            self.position.push(move)
            lines = [f"#評価値={evaluation}"] * (evaluation is not None)
            yield _with_comments(written, lines + comment_lines([comment], 0, ""))

    def fork(self, variation: Variation) -> None:
        after = variation.after
        while len(self._spent) > after:
            self.position.pop()
            self._spent.pop()
        moves = [*self.line(variation.moves, variation.evals, variation.times, variation.comments)]
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
