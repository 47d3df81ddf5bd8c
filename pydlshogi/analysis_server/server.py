"""The conversation of the analysis server: lines in, lines out."""

import json
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pydlshogi.analysis_server.pool import Answer, Pool, Task
from pydlshogi.analysis_server.queries import Action, Query, QueryError, answer_line, parse
from pydlshogi.analysis_server.replay import Replay
from pydlshogi.player.base_player import PlayerError
from pydlshogi.support import __version__


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
