"""The game on the board as it is kept: its moves, its players, its clock, how it ended. It knows no engine."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pydlshogi.engines.games import GameEnd
from pydlshogi.read_kifu import Ending


class TimeControl(NamedTuple):
    """What each side has, in seconds."""

    main: float
    """For the whole game."""
    byoyomi: float
    """For each move once that is used up."""


@dataclass
class TableGame:
    """A game. Its fields are what is written on the disk."""

    game: str = "shogi"
    start: str | None = None
    """None: the usual start."""
    moves: list[str] = field(default_factory=list)
    at: int = 0
    """So many of the moves have been made on the board that is shown."""
    sides: list[str] = field(default_factory=lambda: ["", "easy"])
    """Black and White: an opponent of the game, "" a person."""
    ended: Sequence[Any] | None = None
    """Reason and winner, as in GameEnd, where the moves alone do not say how the game ended."""
    names: list[str] = field(default_factory=lambda: ["", ""])
    times: list[float | None] = field(default_factory=list)
    """Seconds that each move took; None: nobody knows."""
    clock: Sequence[float] | None = None
    """Main time and byoyomi."""
    evals: list[int | None] = field(default_factory=list)
    """What a record says of its moves, in centipawns from Black's view; it says nothing of those beyond."""
    comments: list[str] = field(default_factory=list)
    """What a record says of the positions after so many moves; it says nothing of those beyond."""
    result: int | None = None
    """By how many discs Black won, as a record of Othello says."""
    broken_off: Ending = "unknown"
    """How a record says that the game ended, where that ends nothing here: it can be played on."""
    event: str = ""
    date: str = ""
    place: str = ""
    opened: list[str] | None = None
    """The moves of the file that it comes from, if it does."""
    left: dict[str, Any] | None = None
    """The game that was left to try other moves, where one was: what `_line` names of it."""
    beside: bool = False
    """It was such a try, and nobody has played on since."""

    def check(self) -> None:
        """Raises TypeError or ValueError for values that cannot be; whether the moves are legal is not looked at."""
        if len(self.times) != len(self.moves):
            raise ValueError("a time for each move is wanted")
        if len(self.evals) > len(self.moves):
            raise ValueError("there are more evaluations than moves")
        if len(self.comments) > 1 + len(self.moves):
            raise ValueError("there are more comments than positions")
        if not 0 <= self.at <= len(self.moves):
            raise ValueError("the board shows more moves than there are")
        if self.ended is not None:
            GameEnd(*self.ended)
        if self.clock is not None and not all(0 <= seconds < 1e6 for seconds in TimeControl(*self.clock)):
            raise ValueError("no such clock")
        if self.left is not None:
            replace(self, left=None, **self.left).check()

    def so_far(self) -> "TableGame":
        """Another game, with the moves that have been made on the board."""
        return TableGame(self.game, self.start, self.moves[: self.at], self.at, times=[None] * self.at)

    def cut(self, plies: int) -> None:
        """Only so many moves remain."""
        del self.moves[plies:], self.times[plies:], self.evals[plies:], self.comments[plies + 1 :]
        self.at = plies
        self.ended = self.result = None
        self.broken_off = "unknown"

    def play(self, move: str, seconds: float | None) -> None:
        """Another move, at the end."""
        self.moves.append(move)
        self.times.append(seconds)
        self.broken_off, self.beside = "unknown", False
        self.at = len(self.moves)

    def line(self) -> "TableGame":
        """The same game without the one that was left, and no file's; it stays as it is when this one changes."""
        return replace(self, left=None, opened=None, beside=True, **self._line())

    def leave(self) -> None:
        """Remember the game as it is, unless another is remembered already: other moves are tried from here on."""
        if self.left is None:
            self.left = self._line()

    def _line(self) -> dict[str, Any]:
        names = ("moves", "times", "evals", "comments", "at", "ended", "result", "broken_off")
        return {name: list(value) if isinstance(value := vars(self)[name], list) else value for name in names}

    def come_back(self) -> None:
        """Take up the game that was left."""
        assert self.left is not None
        for name, value in self.left.items():
            setattr(self, name, value)
        self.left = None

    def main_left(self, first: int) -> list[float]:
        """Seconds of main time that Black and White have left; `first` made the first move. There is a clock."""
        assert self.clock is not None
        clock = TimeControl(*self.clock)
        left = [clock.main, clock.main]
        for ply, seconds in enumerate(self.times):
            side = (first + ply) % 2
            left[side] = max(0.0, left[side] - (seconds or 0.0))
        return left
