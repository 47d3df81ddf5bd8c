"""Games as they are kept on the disk, and back."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from pydlshogi.analysis_server.pool import Answer
from pydlshogi.game import GameEnd
from pydlshogi.player.base_player import Info
from pydlshogi.web.played import LeftLine, Node, SetUp, TableGame, TimeControl, path_to

Kept: TypeAlias = Mapping[str, Any]
"""A game as JSON has it."""
_OF_LINE: Final = ("score_cp", "score_mate", "nodes", "nps", "visits", "win_rate", "prior", "pv")
"""What is kept of an `Info`."""


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
        "spent": node.spent or None,
    }
    return {name: value for name, value in said.items() if value not in (None, "", "unknown") or name == "parent"}


def game_of(kept: Kept, set_up: SetUp) -> TableGame:
    """The game that was kept. Raises ValueError or PlayerError where it is not offered any more, or has other rules."""
    game = TableGame(kept["game"], kept.get("start"), set_up)
    game.take_sides(kept["sides"])
    game.names = kept["names"]
    game.event, game.date, game.place = kept["event"], kept["date"], kept["place"]
    if kept["clock"]:
        game.clock = TimeControl(*kept["clock"])
    first, *others = kept["positions"]
    _describe(game.tip, first)
    for position in others:
        parent = game.nodes[position["parent"]]
        if parent is not game.shown:
            game.show(path_to(parent))
        game.add(position["move"])
        game.judge_tip()
        _describe(game.tip, position)
    game.from_file = kept["fromFile"]
    if kept["left"]:
        tip, at = kept["left"]
        game.left = LeftLine(path_to(game.nodes[tip]), at)
    game.show(path_to(game.nodes[kept["tip"]]), kept["at"])
    return game


def _describe(node: Node, position: Kept) -> None:
    node.seconds, node.spent = position.get("seconds"), position.get("spent", 0.0)
    node.evaluation, node.discs = position.get("evaluation"), position.get("discs")
    node.comment = position.get("comment", "")
    node.ended = GameEnd(*position["ended"]) if "ended" in position else None
    node.broken_off = position.get("brokenOff", "unknown")


def kept_answer(answer: Answer) -> list[Any]:
    """Its move and its lines."""
    return [answer.move, *({name: getattr(line, name) for name in _OF_LINE} for line in answer.lines)]


def answer_of(value: Any, turn: int) -> Answer:
    """What was kept of one about a position in which 0 Black or 1 White moves."""
    move, *lines = value
    return Answer(turn, tuple(Info(**{**line, "pv": (*line["pv"],)}) for line in lines), move)
