"""Games as they are kept on the disk, and back: whatever a file holds, what is read of it is sound."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, TypeVar, get_args

from pydlshogi.analysis_server.pool import Answer
from pydlshogi.game import GameEnd, PlayedPosition
from pydlshogi.kifu.game import Ending
from pydlshogi.player.base_player import Info, play_moves
from pydlshogi.web.played import LeftLine, Node, SetUp, TableGame, TimeControl, path_to

N = TypeVar("N", int, float)
Kept: TypeAlias = Mapping[str, Any]
"""A game as JSON has it."""
Form: TypeAlias = Any
"""Of a value: its class, the forms of all its items in a list, or a tuple of forms of which it has one."""

LONGEST_CLOCK: Final = 100_000.0
"""Seconds."""
_MOST: Final = 1e15
"""No number in a kept game is larger."""
_ABSENT: Final = type(None)
_NUMBER: Final = (int, float)
_GAME: Final[Mapping[str, Form]] = {
    **dict.fromkeys(("game", "event", "date", "place"), str),
    **dict.fromkeys(("fromFile", "tip", "at"), int),
    "sides": [str, str],
    "names": [str, str],
    "positions": list,
    "clock": ([_NUMBER, _NUMBER], _ABSENT),
    "left": ([int, int], _ABSENT),
    "start": (str, _ABSENT),
}
_POSITION: Final[Mapping[str, Form]] = {
    **dict.fromkeys(("move", "comment", "brokenOff"), (str, _ABSENT)),
    **dict.fromkeys(("parent", "evaluation", "discs"), (int, _ABSENT)),
    **dict.fromkeys(("seconds", "spent"), (int, float, _ABSENT)),
    "ended": ([str, (int, _ABSENT)], _ABSENT),
}
_LINE: Final[Mapping[str, Form]] = {
    **dict.fromkeys(("score_cp", "score_mate", "nodes", "nps", "visits"), (int, _ABSENT)),
    "win_rate": _NUMBER,
    "prior": (int, float, _ABSENT),
    "pv": list,
}


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


def checked(value: object) -> Kept:
    """What has the form of a kept game, with None for what it does not name. Whether there can be such a game is not
    looked at, nor is its review, without which it is a game still. Raises ValueError."""
    game = _of_form(value, _GAME, "review")
    if not game["positions"]:
        raise ValueError("a kept game has no position")
    return {**game, "positions": [_of_form(position, _POSITION) for position in game["positions"]]}


def _of_form(value: object, form: Mapping[str, Form], *beside: str) -> Kept:
    """What stands `beside` it is not looked at."""
    if not isinstance(value, dict) or value.keys() - form.keys() - {*beside}:
        raise ValueError("a kept game has another form")
    for name, each in form.items():
        if not _has_form(value.get(name), each):
            raise ValueError(f"{name} of a kept game has another form")
    return {name: value.get(name) for name in form}


def _has_form(value: object, form: Form) -> bool:
    """Raises ValueError for half a character."""
    if isinstance(form, tuple):
        return any(_has_form(value, each) for each in form)
    if isinstance(form, list):
        return isinstance(value, list) and len(value) == len(form) and all(map(_has_form, value, form))
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, int | float) and not abs(value) <= _MOST:
        return False
    return isinstance(value, form) and not isinstance(value, bool)


def game_of(value: object, set_up: SetUp) -> TableGame:
    """The game that was kept. Raises ValueError or PlayerError for what is none."""
    kept = checked(value)
    game = TableGame(kept["game"], kept["start"], set_up)
    game.take_sides(kept["sides"])
    game.names = kept["names"]
    game.event, game.date, game.place = kept["event"], kept["date"], kept["place"]
    if kept["clock"] is not None:
        game.clock = TimeControl(*(_within(seconds, 0, LONGEST_CLOCK) for seconds in kept["clock"]))
    first, *others = kept["positions"]
    _describe(game.tip, first)
    for position in others:
        _add(game, position)
    nodes = game.nodes
    game.from_file = _within(kept["fromFile"], 0, len(nodes))
    line = path_to(nodes[_within(kept["tip"], 0, len(nodes) - 1)])
    if kept["left"] is not None:
        tip, at = kept["left"]
        left = path_to(nodes[_within(tip, 0, len(nodes) - 1)])
        game.left = LeftLine(left, _within(at, 0, len(left) - 1))
    game.show(line, _within(kept["at"], 0, len(line) - 1))
    return game


def _add(game: TableGame, position: Kept) -> None:
    """Another position, whose parent has been added."""
    number = len(game.nodes)
    if position["parent"] is None:
        raise ValueError("a position has no parent")
    parent = game.nodes[_within(position["parent"], 0, number - 1)]
    if parent is not game.shown:
        game.show(path_to(parent))
    game.add(position["move"] or "")
    if len(game.nodes) == number:
        raise ValueError("two positions are the same")
    game.judge_tip()
    _describe(game.tip, position)


def _describe(node: Node, position: Kept) -> None:
    node.seconds, node.spent = position["seconds"], position["spent"] or 0.0
    if min(node.seconds or 0.0, node.spent) < 0:
        raise ValueError("a move took less than no time")
    node.evaluation, node.discs = position["evaluation"], position["discs"]
    node.comment = position["comment"] or ""
    node.broken_off = position["brokenOff"] or "unknown"
    if position["ended"] is not None:
        node.ended = GameEnd(*position["ended"])
        if node.ended.winner not in (0, 1, None):
            raise ValueError("there is no such end of a game")
    if node.broken_off not in get_args(Ending):
        raise ValueError("there is no such end of a game")


def kept_answer(answer: Answer) -> list[Any]:
    """Its move and its lines."""
    return [answer.move, *({name: getattr(line, name) for name in _LINE} for line in answer.lines)]


def answer_of(value: Any, position: PlayedPosition) -> Answer:
    """What was kept of one about the position. Raises ValueError, TypeError or PlayerError for what is none."""
    move, *lines = value
    infos = [Info(**{**_of_form(line, _LINE), "pv": (*line["pv"],)}) for line in lines]
    if not all(_has_form(each, str) for each in (move, *(each for info in infos for each in info.pv))):
        raise ValueError("a kept answer has another form")
    for moves in (() if move in ("win", "resign", "") else (move,), *(info.pv for info in infos)):
        play_moves(position.copy(), moves)
    if not (infos or move in ("win", "resign")) or any(not 0 <= (info.win_rate or 0) <= 1 for info in infos):
        raise ValueError("there is no such answer")
    return Answer(position.turn, tuple(infos), move)


def _within(number: N, low: float, high: float) -> N:
    if not low <= number <= high:
        raise ValueError(f"{number} is not from {low:g} to {high:g}")
    return number
