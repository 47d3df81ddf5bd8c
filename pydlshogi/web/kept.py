"""Games as they are kept on the disk, and back: whatever a file holds, what is read of it is sound."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, get_args

from pydlshogi.engines.games import GameEnd
from pydlshogi.read_kifu import Ending
from pydlshogi.web.played import Left, Node, SetUp, TableGame, TimeControl, path_to
from pydlshogi.web.records import ENDINGS, RECORDED

Kept: TypeAlias = Mapping[str, Any]
"""A game as JSON has it."""

LONGEST_CLOCK: Final = 100_000.0
"""Seconds."""
_ENDINGS: Final = {*ENDINGS.values(), RECORDED}
_SECONDS: Final = 1e9
_NUMBER: Final = 1 << 31


def kept(game: TableGame) -> Kept:
    """The game with all its variations. Positions are numbered as they were added; each but the first has a parent."""
    numbers = {node: number for number, node in enumerate(game.nodes)}
    return {
        "game": game.game,
        "start": game.start,
        "sides": [*game.sides],
        "names": [*game.names],
        "clock": game.clock,
        "event": game.event,
        "date": game.date,
        "place": game.place,
        "fromFile": game.from_file,
        "positions": [_kept_position(node, numbers) for node in game.nodes],
        "tip": numbers[game.tip],
        "at": game.at,
        "left": game.left and [numbers[game.left.line[-1]], game.left.at],
    }


def _kept_position(node: Node, numbers: Mapping[Node, int]) -> Kept:
    """What is known of it."""
    said = {
        "parent": None if node.parent is None else numbers[node.parent],
        "move": node.move,
        "seconds": node.seconds,
        "evaluation": node.evaluation,
        "comment": node.comment,
        "ended": node.ended,
        "brokenOff": node.broken_off,
        "discs": node.discs,
        "spent": node.spent,
    }
    return {name: value for name, value in said.items() if value not in (None, "", "unknown", 0.0) or name == "parent"}


def game_of(kept: object, set_up: SetUp) -> TableGame:
    """The game that was kept. Raises ValueError or PlayerError for what is none."""
    known = _object(kept)
    start, clock, left = known.get("start"), known.get("clock"), known.get("left")
    game = TableGame(_text(known.get("game")), None if start is None else _text(start), set_up)
    game.take_sides(known.get("sides"))
    game.names = [_text(name) for name in _list(known.get("names"), 2)]
    game.event, game.date, game.place = (_text(known.get(name)) for name in ("event", "date", "place"))
    if clock is not None:
        game.clock = TimeControl(*(_number(seconds, 0, LONGEST_CLOCK) for seconds in _list(clock, 2)))
    first, *others = _list(known.get("positions"))
    _describe(game.tip, _object(first), game.game)
    for position in others:
        _add(game, _object(position))
    nodes = game.nodes
    game.from_file = _whole(known.get("fromFile"), 0, len(nodes))
    line = path_to(nodes[_whole(known.get("tip"), 0, len(nodes) - 1)])
    if left is not None:
        tip, at = _list(left, 2)
        left_line = path_to(nodes[_whole(tip, 0, len(nodes) - 1)])
        game.left = Left(left_line, _whole(at, 0, len(left_line) - 1))
    game.show(line, _whole(known.get("at"), 0, len(line) - 1))
    return game


def _add(game: TableGame, position: Kept) -> None:
    """Another position, whose parent has been added."""
    number = len(game.nodes)
    parent = game.nodes[_whole(position.get("parent"), 0, number - 1)]
    if parent is not game.shown:
        game.show(path_to(parent))
    game.add(_text(position.get("move")))
    if len(game.nodes) == number:
        raise ValueError("two positions are the same")
    game.judge_tip()
    _describe(game.tip, position, game.game)


def _describe(node: Node, position: Kept, game: str) -> None:
    def number(name: str, low: float, high: float) -> float | None:
        return _number(position[name], low, high) if name in position else None

    def whole(name: str) -> int | None:
        return _whole(position[name], -_NUMBER, _NUMBER) if name in position else None

    node.seconds = number("seconds", 0, _SECONDS)
    node.spent = number("spent", 0, _SECONDS) or 0.0
    node.evaluation, node.discs = whole("evaluation"), whole("discs")
    node.comment = _text(position.get("comment", ""))
    node.broken_off = _one_of(position.get("brokenOff", "unknown"), get_args(Ending))
    if "ended" in position:
        reason, winner = _list(position["ended"], 2)
        reasons = _ENDINGS - ({RECORDED} if game == "shogi" else set())
        node.ended = GameEnd(_one_of(reason, reasons), None if winner is None else _whole(winner, 0, 1))


def _object(value: object) -> Kept:
    if not isinstance(value, dict):
        raise ValueError("an object is missing")
    return value


def _list(value: object, length: int | None = None) -> Sequence[Any]:
    """`length`: None for at least one."""
    if not isinstance(value, list) or not value or (length is not None and len(value) != length):
        raise ValueError("a list is missing")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is missing")
    value.encode()  # raises ValueError for half a character
    return value


def _one_of(value: object, values: Any) -> Any:
    text = _text(value)
    if text not in values:
        raise ValueError(f"{text} is not known here"[:80])
    return text


def _number(value: object, low: float, high: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"a number from {low:g} to {high:g} is missing")
    return float(value)


def _whole(value: object, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"a whole number from {low} to {high} is missing")
    return value
