"""An engine that is asked one question after the other, and the lines that ask it.

Lines are read ahead by a thread, so that a later one can interrupt what an earlier one began.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Final, NamedTuple

from pydlshogi.games.othello.engine.options import OthelloOptions
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.player.ask import Lines, Thought, ask
from pydlshogi.player.base_player import Engine, Info
from pydlshogi.player.clock import Clock, Limits

DEFAULT_LEVEL: Final = 10
HIGHEST_LEVEL: Final = 60


class LoadedEngine:
    """An engine, ready to play."""

    def __init__(self, engine: Engine, level: int = 0, limits: Limits | None = None) -> None:
        """`level`: its option Level while no clock runs, 0: what the option says, or the default; `limits`: what a move
        may cost then. Raises PlayerError."""
        assert isinstance(engine.options, OthelloOptions)
        self.name = engine.name
        self._options = engine.options
        self._player = engine.load()
        self._player.prepare()
        self._level = level or (0 if limits else engine.options.level or DEFAULT_LEVEL)
        self._limits = limits or Limits()

    def new_game(self) -> None:
        """What comes next is another game."""
        self._player.new_game()

    def set_level(self, level: int) -> None:
        """Let a move cost what the level says. Raises ValueError."""
        if not 1 <= level <= HIGHEST_LEVEL:
            raise ValueError(f"a depth of {level}; it is 1 to {HIGHEST_LEVEL}")
        self._level, self._limits = level, Limits()

    def ask(
        self,
        position: OthelloPosition,
        limits: Limits | None = None,
        *,
        lines: int = 1,
        stopped: threading.Event | None = None,
        hear: Callable[[Lines], None] = lambda _: None,
    ) -> Thought:
        """What to play in `position`, in which there is a move. `limits`: of the clock that runs, or of an analysis.

        A ValueError or LookupError of the engine becomes a RuntimeError: those would mean that the question is wrong.
        """
        self._options.level = 0 if limits and limits.in_time else min(self._level, type(self._options).level.maximum)
        clock = Clock(limits or self._limits, stopped=stopped)
        try:
            thought = ask(self._player, position, clock, lines, hear)
        except (ValueError, LookupError) as error:
            raise RuntimeError(repr(error)) from error
        self._player.answered(position, clock)
        return thought


class Line(NamedTuple):
    """A line, and whether a later one has asked to stop thinking about it."""

    text: str
    interrupted: threading.Event


def read_ahead(lines: Iterable[str], interrupts: Callable[[str], bool]) -> Iterator[Line]:
    """The lines; `interrupts` says of one whether it ends the thinking that the lines before it asked for."""
    queue: SimpleQueue[Line | None] = SimpleQueue()

    def read() -> None:
        interrupted = threading.Event()
        try:
            for text in lines:
                if interrupts(text):
                    interrupted.set()
                    interrupted = threading.Event()
                queue.put(Line(text, interrupted))
        finally:
            queue.put(None)

    threading.Thread(target=read, name="inbox", daemon=True).start()
    return iter(queue.get, None)


def discs_of(info: Info) -> float | None:
    """By how many discs the side to move will win; None: that was not said."""
    return None if info.score_cp is None else max(-64.0, min(64.0, info.score_cp / 100))
