"""A GTP engine (Go Text Protocol), for Othello. It knows no games."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from utils.arena.engine_process import START_SECONDS, EngineAnswer, EngineDied, EngineError, EngineProcess, EngineSilent


class CommandRefused(EngineError):
    """The engine's answer is an error; the text is the engine's."""


class GtpEngine(EngineProcess):
    """One running engine."""

    def __init__(self, command: str, stderr: Path) -> None:
        super().__init__(command, stderr)
        self._commands: frozenset[str] = frozenset()
        self._known: list[str] = []
        """The moves of the game as far as the engine has heard of them."""
        self._timed = False
        """Whether it knows the time for this game."""

    def prepare(self, options: Mapping[str, str]) -> None:
        """`list_commands`, `name`. Raises EngineError if the engine does not play along; options it has none."""
        for name, value in options.items():
            self.set_option(name, value)
        try:
            self._commands = frozenset(self._ask("list_commands", START_SECONDS).split())
            self.name = self._ask("name", START_SECONDS) or self.name
        except (EngineDied, EngineSilent, CommandRefused) as error:
            raise self._not_started(error) from error

    def new_game(self) -> None:
        """`clear_board`."""
        self._ask("clear_board", START_SECONDS)
        self._known, self._timed = [], False

    def go(self, start: str, moves: Sequence[str], limits: Mapping[str, int], seconds: float) -> EngineAnswer:
        """`genmove`, after the moves that the engine has not heard of. What it refuses is its answer, which loses.

        There is one `start` only, and `limits` are main time and byoyomi.
        """
        began = time.perf_counter()
        try:
            if self._known != list(moves[: len(self._known)]):
                self.new_game()
            for ply in range(len(self._known), len(moves)):
                try:
                    self._ask(f"play {_colour(ply)} {moves[ply]}", START_SECONDS)
                except CommandRefused:
                    if moves[ply] != "pass":  # GRhino takes it for granted
                        raise
                self._known.append(moves[ply])
            self._tell_time(limits, _colour(len(moves)))
            began = time.perf_counter()
            answer = self._ask(f"genmove {_colour(len(moves))}", seconds).lower()
            self._known.append(answer)
        except CommandRefused as error:
            answer = f"? {error}"
        return EngineAnswer(answer, None, {}, (self.arrived - began) * 1000, (answer,))

    def game_over(self, _result: str) -> None:
        """GTP does not say."""

    def _tell_time(self, limits: Mapping[str, int], colour: str) -> None:
        """`time_settings` once a game, `time_left` while there is main time, if the engine knows the commands."""
        main, byoyomi = limits[f"{colour}time"] / 1000, limits["byoyomi"] / 1000
        if not self._timed and "time_settings" in self._commands:
            self._ask(f"time_settings {main:g} {byoyomi:g} {int(byoyomi > 0)}", START_SECONDS)
        elif main and "time_left" in self._commands:
            self._ask(f"time_left {colour} {main:g} 0", START_SECONDS)
        self._timed = True

    def _ask(self, command: str, seconds: float) -> str:
        """What the engine answers. Raises CommandRefused, EngineDied, EngineSilent."""
        self.say(command)
        self.allow(seconds)
        lines: list[str] = []
        # Empty lines before an answer mean nothing; one ends it.
        while (line := self.line()) or not lines:
            if line:
                lines.append(line)
        status, answer = lines[0][0], "\n".join(lines)[1:].strip()
        if status != "=":
            raise CommandRefused(answer.removeprefix("?").strip() or "no reason given")
        return answer


def _colour(ply: int) -> str:
    """Who plays the move of this number, the first being 0. Passes are moves."""
    return "w" if ply % 2 else "b"
