"""The engines, as the table asks them: answers come with its lock held. It knows no game on the board."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Final, TypeAlias

from pydlshogi.analysis_server.pool import Answer, Pool, Question, Replay, Task
from pydlshogi.catalogue import GAMES
from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import Info, KnownMove, PlayerError
from pydlshogi.player.clock import Limits

LINES: Final = 5
"""Candidates shown, unless people want another number."""
RECORDS_SCALE: Final = 600
"""Centipawns, or hundredths of a disc, that make 73 % of winning in records, as ShogiHome draws them."""

Hear: TypeAlias = Callable[[Answer], None]


def win_rate_of(evaluation: int) -> float:
    """What an evaluation of a record is worth."""
    worth = evaluation / RECORDS_SCALE
    return 1 / (1 + math.exp(-worth)) if abs(worth) < 20 else float(worth > 0)


def _in_records(info: Info) -> Info:
    """The same as a record can hold it, so that what is saved comes back with the same numbers."""
    if info.score_mate or info.win_rate is None or not 0 < info.win_rate < 1:
        return info
    points = round(RECORDS_SCALE * math.log(info.win_rate / (1 - info.win_rate)))
    return replace(info, score_cp=points, win_rate=win_rate_of(points))


class Engines:
    """The pool behind a lock."""

    def __init__(self, pool: Pool, lock: RLock) -> None:
        self._pool = pool
        self._lock = lock

    def ask(self, question: Question, hear: Hear) -> Task:
        """`hear` is called with the lock held, and no more once the question is withdrawn. The caller holds it too."""

        def tell(answer: Answer) -> None:
            answer = replace(answer, lines=tuple(map(_in_records, answer.lines)))
            with self._lock:
                if not task.cancelled.is_set():
                    hear(answer)

        task = self._pool.ask(question, tell)
        return task

    def withdraw(self, task: Task) -> None:
        self._pool.cancel(task)

    def set_up(self, game: str, start: str | None) -> PlayedPosition:
        """The first position of a game, under the rules of the engine that analyses. Raises PlayerError."""
        return Replay().position(self._pool.engine_for(Question(game)), start, (), 0)

    def network(self, game: str) -> str:
        """The file of the network of the engine that analyses; "" where that has none."""
        modelfile = getattr(self._pool.engine_for(Question(game)).options, "modelfile", "")
        if modelfile:
            from pydlshogi.player.network_player import is_of_another  # which imports much

            modelfile = "" if is_of_another(GAMES[game], modelfile) else modelfile
        return Path(modelfile or GAMES[game].network).name

    def known_moves(self, game: str, position: PlayedPosition) -> tuple[Sequence[KnownMove], str]:
        """What the books of the engine that analyses know of a position, and what was wrong with them."""
        try:
            return self._pool.engine_for(Question(game)).known_moves(position), ""
        except PlayerError as error:
            return (), str(error)


class ShownSearch:
    """The search of the position shown: one question at a time."""

    def __init__(self, engines: Engines) -> None:
        self.engines = engines
        self.watched = False
        """People want to see what is thought of whatever position is shown."""
        self.lines = LINES
        """Candidates that they want to see."""
        self._task: Task | None = None

    @property
    def thinks(self) -> bool:
        return self._task is not None

    def ask(self, question: Question, hear: Hear) -> None:
        """In place of what was asked before."""
        self.stop()
        self._task = self.engines.ask(question, hear)

    def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            self.engines.withdraw(task)


class Preparing:
    """The engines of a game are loaded before they are wanted: the one that analyses, and others that play."""

    def __init__(self, engines: Engines, tell: Callable[[], None]) -> None:
        """`tell` is called where it begins and ends."""
        self._engines = engines
        self._tell = tell
        self._tasks: dict[Question, Task] = {}

    @property
    def lasts(self) -> bool:
        """Whether one has to wait for an engine."""
        return bool(self._tasks)

    def begin(self, game: str, sides: Sequence[str]) -> None:
        """For a game between these opponents, "" a person."""
        self.end()
        analyses, opponents = next(iter(GAMES[game].engines)), GAMES[game].opponents
        others = {side for side in sides if side and opponents[side].engine != analyses}
        playing = [Question(game, opponent=name, clock=Limits(movetime=1)) for name in sorted(others)]
        for question in (Question(game, visits=1), *playing):
            self._tasks[question] = self._engines.ask(question, partial(self._heard, question))
        self._tell()

    def end(self) -> None:
        """One need not wait any longer."""
        tasks, self._tasks = self._tasks, {}
        for task in tasks.values():
            self._engines.withdraw(task)
        if tasks:
            self._tell()

    def _heard(self, question: Question, answer: Answer) -> None:
        if answer.final:
            del self._tasks[question]
            if not self._tasks:
                self._tell()
