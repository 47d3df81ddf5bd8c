"""Engines that think of nothing, for tests of what lies around an engine."""

import threading

from pydlshogi.engines.othello.clock import Clock
from pydlshogi.engines.othello.engine import Hint, Report
from pydlshogi.games.othello.rules import Position


class LowestSquare:
    """Plays the legal move that comes first, and thinks that a square is worth its number in discs."""

    name = "lowest"

    def __init__(self) -> None:
        self.clocks: list[Clock] = []
        """Those of all questions."""
        self.games = 0

    def prepare(self) -> None:
        """There is nothing to do."""

    def new_game(self) -> None:
        self.games += 1

    def choose(self, position: Position, clock: Clock, report: Report) -> Hint:
        return self.hints(position, 1, clock, report)[0]

    def hints(self, position: Position, most: int, clock: Clock, report: Report) -> list[Hint]:
        self.clocks.append(clock)
        hints = [Hint(move, float(move), (move,), depth=3, nodes=7) for move in position.moves()[:most]]
        for hint in hints:
            report(hint)
        return hints


class Waiting(LowestSquare):
    """Answers when it is told to stop, and not before."""

    name = "waiting"

    def __init__(self) -> None:
        super().__init__()
        self.thinking = threading.Event()

    def hints(self, position: Position, most: int, clock: Clock, report: Report) -> list[Hint]:
        self.thinking.set()
        assert clock._stopped.wait(60), "nobody stopped it"
        return super().hints(position, most, clock, report)


class Broken(LowestSquare):
    """Fails to think."""

    name = "broken"

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error or RuntimeError("no idea\nat all")

    def hints(self, position: Position, most: int, clock: Clock, report: Report) -> list[Hint]:
        raise self.error
