"""The analysis server: lines in, lines out. All but `Server` is pure functions between lines and words.

The names are those of KataGo's analysis engine where it has the thing.
"""

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeVar

from pydlshogi.analysis_server.pool import Answer, Pool, Question, Replay, Task
from pydlshogi.catalogue import GAMES
from pydlshogi.player.base_player import Info, PlayerError
from pydlshogi.player.options import SearchOptions
from pydlshogi.support import __version__
from pydlshogi.support.decoding import parse_json

MOST_LINES: Final = SearchOptions.multi_pv.maximum
ACTIONS: Final = ("query_version", "terminate", "terminate_all", "clear_cache")
"""clear_cache is for programs that know KataGo: no answer depends on the questions before."""
FIELDS: Final = {
    *("id", "game", "start", "moves", "analyzeTurns", "opponent", "maxVisits", "maxTime", "multiPV", "searchMoves"),
    *("reportDuringSearchEvery", "priority", "priorities", "includePolicy", "includePVVisits"),
}
VISITS: Final = 500
"""For a query that names neither visits nor time nor opponent."""

T = TypeVar("T")


class QueryError(ValueError):
    """A line that asks nothing that can be answered; the message is one line."""

    def __init__(self, message: str, field: str = "", query_id: str | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.query_id = query_id

    def line(self) -> dict[str, Any]:
        """The answer."""
        named = {"id": self.query_id} if self.query_id is not None else {}
        return named | ({"field": self.field} if self.field else {}) | {"error": str(self)}


@dataclass(frozen=True, slots=True)
class Query:
    """Positions of one game to be analysed."""

    id: str
    questions: tuple[Question, ...]
    visits_of_lines: bool
    """Whether the answer says how often each move of a line was visited."""
    unknown: tuple[str, ...]
    """Fields that mean nothing here."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something else that is wanted."""

    message: Mapping[str, Any]
    """The line, which the answer repeats."""
    name: str
    """One of ACTIONS."""
    target: str = ""
    """The id of the query to terminate."""
    turns: frozenset[int] = field(default_factory=frozenset)
    """Which of its turns; none: all."""


def json_object(text: bytes) -> dict[str, Any]:
    """The object that a text is in JSON. Raises QueryError."""
    try:
        found = parse_json(text)
    except ValueError as error:
        raise QueryError(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise QueryError("an object is wanted")
    return found


def parse(line: bytes) -> Query | Action:
    """What a line asks. Raises QueryError; that the moves are legal is not looked at."""
    message = json_object(line)
    if not isinstance(message.get("id"), str):
        raise QueryError("every query has an id, which is a text", "id")
    try:
        return _action(message) if "action" in message else _query(message)
    except QueryError as error:
        raise QueryError(str(error), error.field, message["id"]) from None


def _action(message: Mapping[str, Any]) -> Action:
    if unknown := message.keys() - {"id", "action", "terminateId", "turnNumbers"}:
        raise QueryError("there is no such field", sorted(unknown)[0])
    name = _one_of(message, "action", ACTIONS, "")
    if name == "terminate" and "terminateId" not in message:
        raise QueryError("it names the query to end", "terminateId")
    turns = frozenset(_list(message, "turnNumbers", int))
    return Action(message, name, _value(message, "terminateId", str, ""), turns)


def _query(message: Mapping[str, Any]) -> Query:
    game = _one_of(message, "game", tuple(GAMES), next(iter(GAMES)))
    moves = _list(message, "moves", str)
    turns = _list(message, "analyzeTurns", int) if "analyzeTurns" in message else (len(moves),)
    for turn in turns:
        if not 0 <= turn <= len(moves):
            raise QueryError(f"{turn} is none of 0 to {len(moves)}", "analyzeTurns")
    if not turns or len(set(turns)) < len(turns):
        raise QueryError("each turn is named once, and there is at least one", "analyzeTurns")
    opponent = _one_of(message, "opponent", ("", *GAMES[game].opponents), "")
    visits = _number(message, "maxVisits", 1, 2**31 - 1, whole=True)
    time = _number(message, "maxTime", 0, 1e9)
    every = _number(message, "reportDuringSearchEvery", 0, 1000)
    if visits is None and time is None:
        visits = VISITS
    question = Question(
        game=game,
        start=_value(message, "start", str, None),
        moves=moves,
        opponent=opponent,
        visits=visits,
        time=None if time is None else 1000 * time,
        lines=_number(message, "multiPV", 1, MOST_LINES, whole=True) or 1,
        searchmoves=_list(message, "searchMoves", str),
        report_every=None if every is None else 1000 * every,
        policy=_value(message, "includePolicy", bool, False),
    )
    questions = (
        replace(question, after=turn, priority=priority)
        for turn, priority in zip(turns, _priorities(message, len(turns)), strict=True)
    )
    unknown = tuple(sorted(message.keys() - FIELDS))
    return Query(message["id"], tuple(questions), _value(message, "includePVVisits", bool, False), unknown)


def _priorities(message: Mapping[str, Any], turns: int) -> Sequence[int]:
    """One for each of the turns."""
    if "priorities" not in message:
        return [_value(message, "priority", int, 0)] * turns
    priorities = _list(message, "priorities", int)
    if len(priorities) != turns or "priority" in message:
        raise QueryError("one for each turn is wanted, and no priority besides", "priorities")
    return priorities


def _value(message: Mapping[str, Any], name: str, kind: type[T], default: Any) -> Any:
    value = message.get(name, default)
    if name in message and (not isinstance(value, kind) or isinstance(value, bool) != (kind is bool)):
        raise QueryError(f"{_KINDS[kind]} is wanted", name)
    return value


_KINDS: Final[Mapping[type[Any], str]] = {bool: "true or false", str: "a text", int: "a whole number", list: "a list"}


def _one_of(message: Mapping[str, Any], name: str, names: tuple[str, ...], default: str) -> str:
    value: str = _value(message, name, str, default)
    if value not in names:
        raise QueryError(f"{value or 'nothing'} is none of {', '.join(filter(None, names))}", name)
    return value


def _list(message: Mapping[str, Any], name: str, kind: type[T]) -> tuple[T, ...]:
    values: list[Any] = _value(message, name, list, [])
    if not all(isinstance(value, kind) and not isinstance(value, bool) for value in values):
        raise QueryError(f"{_KINDS[kind]} is wanted for each", name)
    return tuple(values)


def _number(message: Mapping[str, Any], name: str, low: float, high: float, *, whole: bool = False) -> Any:
    value = message.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise QueryError(f"a number from {low:g} to {high:g} is wanted", name)
    if whole and isinstance(value, float):
        raise QueryError("a whole number is wanted", name)
    return value


def answer_line(query: Query, turn: int, answer: Answer) -> dict[str, Any]:
    """An answer. Win rates and scores are for the side to move."""
    query_id = query.id
    if answer.error:
        return {"id": query_id, "turnNumber": turn, "error": answer.error}
    line: dict[str, Any] = {"id": query_id, "turnNumber": turn, "isDuringSearch": not answer.final}
    if answer.final and not (answer.move or answer.lines):
        return line | {"noResults": True}
    line |= result(answer)
    if query.visits_of_lines:
        with_line = [info for info in answer.lines if info.pv]
        for move, info in zip(line["moveInfos"], with_line, strict=True):
            move["pvVisits"] = list(info.pv_visits)
    return line | ({} if answer.policy is None else {"policy": dict(answer.policy)})


def result(answer: Answer) -> dict[str, Any]:
    """What an answer says, in the same words for all who ask."""
    first = answer.lines[0] if answer.lines else None
    root: dict[str, Any] = {"currentPlayer": "BW"[answer.turn], "repetitions": answer.repetitions}
    if first is not None:
        root |= {"winrate": first.win_rate} | _score(first)
        root |= {"visits": first.nodes, "visitsPerSecond": first.nps, "time": (first.time or 0) / 1000}
    else:
        root |= {"winrate": {"win": 1.0, "resign": 0.0}.get(answer.move)}
    infos = [
        {"move": info.pv[0], "order": order, "visits": info.visits, "winrate": info.win_rate, "prior": info.prior}
        | _score(info)
        | {"pv": list(info.pv)}
        for order, info in enumerate(answer.lines)
        if info.pv
    ]
    return {"rootInfo": root, "moveInfos": infos} | ({"bestMove": answer.move} if answer.move else {})


def _score(info: Info) -> dict[str, int]:
    """Centipawns, or the plies to a mate, negative for the side that is mated."""
    if info.score_mate:
        return {"mate": info.score_mate}
    return {} if info.score_cp is None else {"scoreCp": info.score_cp}


class Server:
    """Queries under way, by their ids. Every query is answered, or refused, by lines that name its id."""

    def __init__(self, pool: Pool, write: Callable[[str], None]) -> None:
        """`write` says one line; it is called by one thread at a time."""
        self._pool = pool
        self._write = write
        self._writing = threading.Lock()
        self._changing = threading.Lock()
        self._tasks: dict[str, dict[int, Task]] = {}

    def hear(self, lines: Iterable[bytes]) -> None:
        """Answer these lines. What they ask may still be under way when this returns."""
        for line in lines:
            if not line.strip():
                continue
            try:
                asked = parse(line)
                if isinstance(asked, Query):
                    self._ask(asked)
                else:
                    self._act(asked)
            except QueryError as error:
                self._say(error.line())

    def _ask(self, query: Query) -> None:
        """Raises QueryError, and asks nothing then."""
        replay = Replay()
        try:
            # From the last to the first: nothing else is read meanwhile, so all moves are played once.
            for question in sorted(query.questions, key=lambda question: question.turn, reverse=True):
                engine = self._pool.engine_for(question)
                position = replay.position(engine, question.start, question.moves, question.turn)
                for move in question.searchmoves:
                    position.move_from_usi(move)
        except (PlayerError, ValueError) as error:
            raise QueryError(str(error), query_id=query.id) from None
        with self._changing:
            if query.id in self._tasks:
                raise QueryError("a query of this id is under way", "id", query.id)
            for field in query.unknown:
                self._say({"id": query.id, "field": field, "warning": "there is no such field"})
            self._tasks[query.id] = {
                question.turn: self._pool.ask(question, partial(self._tell, query, question.turn))
                for question in query.questions
            }

    def _tell(self, query: Query, turn: int, answer: Answer) -> None:
        if answer.final:
            with self._changing:
                self._tasks[query.id].pop(turn)
                if not self._tasks[query.id]:
                    del self._tasks[query.id]
        self._say(answer_line(query, turn, answer))

    def _act(self, action: Action) -> None:
        if action.name == "query_version":
            self._say({**action.message, "version": __version__, "git_hash": "<omitted>"})
            return
        with self._changing:
            of_all = [*self._tasks] if action.name == "terminate_all" else []
            wanted = [action.target] if action.name == "terminate" else of_all
            tasks = [
                task
                for query_id in wanted
                for turn, task in self._tasks.get(query_id, {}).items()
                if not action.turns or turn in action.turns
            ]
        self._say({**action.message, **({} if action.name == "clear_cache" else {"terminated": len(tasks)})})
        for task in tasks:
            self._pool.cancel(task)

    def _say(self, line: dict[str, Any]) -> None:
        with self._writing:
            try:
                self._write(json.dumps(line))
            except OSError:  # the program that asked is gone
                self._pool.give_up()
                raise
