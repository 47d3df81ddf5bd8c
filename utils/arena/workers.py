"""Threads that play a match, each with two engine processes of its own. They write no files and count nothing."""

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from random import Random

from utils.arena.engine_process import EngineError, EngineProcess
from utils.arena.games import GAMES
from utils.arena.openings import Opening
from utils.arena.play_game import Played, play_game, random_opening
from utils.arena.store import SIDES, MatchError, Settings, Side, Store, opening_of

Keep = Callable[[int, Side, Mapping[Side, str], Played], bool]
"""Takes a finished game (its number, who was Black, names, what happened); says whether the match is decided by it."""


class Stopped(Exception):
    """The match has ended while a worker was busy; not an error."""


class Workers:
    """Threads that play pairs of games and hand each finished game to `keep`, one at a time."""

    def __init__(self, settings: Settings, openings: Sequence[Opening], store: Store, games: int, keep: Keep) -> None:
        self._settings, self._openings, self._keep, self._out = settings, openings, keep, store.out
        self._kind = GAMES[settings.game]
        self._done = dict(store.games)
        self._news: SimpleQueue[Exception | None] = SimpleQueue()
        self._todo = iter([first for first in range(1, games, 2) if not {first, first + 1} <= store.games.keys()])
        self._lock = threading.Lock()
        self._engines: list[EngineProcess] = []
        self._stopped = False
        self._threads: list[threading.Thread] = []

    def run(self, count: int) -> None:
        """Play with `count` threads until all is played or decided. However it ends, no thread and no engine is left.

        Raises whatever ended a thread: MatchError if an engine cannot be used or a game not be kept.
        """
        try:
            for number in range(1, count + 1):
                thread = threading.Thread(target=self._work, args=(number,))
                thread.start()
                self._threads.append(thread)
            for _ in self._threads:
                match self._news.get():
                    case Stopped():
                        return
                    case Exception() as error:
                        raise error
        finally:
            self._stop()

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            engines = list(self._engines)
        for engine in engines:
            engine.kill()
        for thread in self._threads:
            thread.join()

    def _work(self, number: int) -> None:
        seats: dict[Side, EngineProcess] = {}
        news: Exception | None = None
        try:
            while (first := self._next()) is not None:
                self._pair(first, number, seats)
            for engine in seats.values():
                engine.close()
        except Exception as error:
            # Whatever ends a thread is the main thread's to judge.
            news = error
        self._news.put(news)

    def _next(self) -> int | None:
        with self._lock:
            return None if self._stopped else next(self._todo, None)

    def _pair(self, first: int, worker: int, seats: dict[Side, EngineProcess]) -> None:
        """The games `first` (A is Black) and `first` + 1 (B is Black) that are not finished yet."""
        opening: Opening | None = None
        for number in (first, first + 1):
            if number in self._done:
                opening = opening_of(self._done[number], self._kind)
        for number, black in zip((first, first + 1), SIDES, strict=True):
            if number in self._done:
                continue
            for side in SIDES:
                self._seat(side, worker, seats)
            if opening is None:
                opening = self._opening(first, seats["A"])
            white: Side = "B" if black == "A" else "A"
            contestants = self._settings.contestant
            played = play_game(
                {"b": seats[black], "w": seats[white]},
                {"b": contestants(black).limit, "w": contestants(white).limit},
                opening,
                self._settings.rules,
            )
            names = {side: seats[side].name for side in SIDES}
            with self._lock:
                # An engine that is killed at the end of the match seems to have crashed.
                if self._stopped:
                    raise Stopped
                if self._keep(number, black, names, played):
                    self._stopped = True
                    raise Stopped

    def _opening(self, first: int, engine: EngineProcess) -> Opening:
        settings = self._settings
        opening = self._openings[first // 2 % len(self._openings)]
        if settings.random_plies == 0:
            return opening
        rng = Random(f"{settings.seed} {first}")
        try:
            return random_opening(
                engine, opening, settings.random_plies, settings.random_nodes, settings.random_margin, rng
            )
        except EngineError as error:
            raise self._failure("A", error) from error

    def _seat(self, side: Side, worker: int, seats: dict[Side, EngineProcess]) -> None:
        """Have an engine of `side` ready for a new game; one that died in the last game is started again."""
        contestant = self._settings.contestant(side)
        try:
            if side in seats and seats[side].alive():
                with contextlib.suppress(EngineError):
                    seats[side].new_game()
                    return
                seats[side].kill()
            with self._lock:
                if self._stopped:
                    raise Stopped
                engine = self._kind.engine(contestant.command, self._out / f"stderr-{side}-{worker}.log")
                self._engines.append(engine)
            seats[side] = engine
            engine.prepare(contestant.options)
            engine.new_game()
        except EngineError as error:
            raise self._failure(side, error) from error

    def _failure(self, side: Side, error: EngineError) -> Exception:
        if self._stopped:
            return Stopped()
        return MatchError(f"engine {side} `{self._settings.contestant(side).command}` {error}")
