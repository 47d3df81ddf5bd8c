"""Engines as child processes that cannot hang or outlive the match, and the two protocols they speak: USI and GTP.

Every read has a deadline, death is an exception, stderr is a file. They know no games.
"""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import NamedTuple

from pydlshogi.analysis import MATE_EVAL
from pydlshogi.support import OneLineError

START_SECONDS = 180.0
"""How long an engine may take to get ready: networks are loaded and kernels compiled there."""
QUIT_SECONDS = 2.0
"""Two engines, one after the other, are done within the grace that a pool gives its processes."""
LINES_AHEAD = 10_000
"""Read before anybody asks; an engine that says more has to wait."""
LONGEST_LINE = 1 << 20
"""Bytes."""

_SCORE = re.compile(r"\bscore (?:cp (-?\d+)|mate ([+-]?\d*))")
_MULTIPV = re.compile(r"\bmultipv (\d+)")
_PV = re.compile(r"\bpv (\S+)")
# Fairy-Stockfish's names contain blanks.
_OPTION = re.compile(r"option name (.+?) type ")
_NO_OPTION = "No_Such_Option"
_DEBUG = "DebugMessage"


class EngineError(OneLineError):
    """An engine cannot be started or used; the text says which and why."""


class EngineDied(EngineError):
    """The process is gone."""


class EngineSilent(EngineError):
    """No answer within the deadline. The engine is killed by then: it would not quit either."""


def command_line(words: Sequence[str]) -> str:
    """The line that starts a program with arguments, as `EngineProcess` takes it."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


class EngineAnswer(NamedTuple):
    """What came back from one `go`."""

    bestmove: str
    cp: int | None
    """Of the last line about the best move, for the side to move; None if the engine gave no score."""
    milliseconds: float
    """From writing `go` to the arrival of `bestmove`."""
    lines: tuple[str, ...]
    """All that it said, `bestmove` included."""


class EngineProcess(ABC):
    """One running engine, whose pipes have deadlines. Every method raises EngineDied or EngineSilent when the engine
    does not play its part."""

    def __init__(self, command: str, stderr: Path) -> None:
        """Start `command`, split as a shell would but run by none. Raises EngineError if there is no such program."""
        self.name = command
        """Or what it calls itself, once prepared."""
        self._stderr = stderr
        try:
            if not command.strip():
                raise EngineError("cannot be started: the command is empty")
            with stderr.open("ab") as log:
                self.process = subprocess.Popen(
                    # A program for Windows splits the line that it is given by itself.
                    command if os.name == "nt" else shlex.split(command),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    # Ctrl-C reaches the match alone; in a session of its own what a launcher started dies with it, too.
                    start_new_session=True,
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )
        except (OSError, ValueError) as error:
            raise EngineError(f"cannot be started: {getattr(error, 'strerror', None) or error}") from error
        self.arrived = 0.0
        """When the last line did."""
        self._said = ""
        """The last line that was not empty."""
        self._deadline, self._ended = 0.0, False
        self._lines: Queue[tuple[bytes, float] | None] = Queue(LINES_AHEAD)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            while line := stream.readline(LONGEST_LINE):
                self._lines.put((line, time.perf_counter()))
        self._lines.put(None)

    def say(self, command: str) -> None:
        """Write a line. Raises EngineDied."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{command}\n".encode())
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise EngineDied("has stopped") from error

    def allow(self, seconds: float) -> None:
        """A deadline for the next answer."""
        self._deadline = time.perf_counter() + seconds

    def line(self) -> str:
        """The next line. Raises EngineSilent at the deadline, when the process is killed, and EngineDied at the end of
        the stream."""
        try:
            item = self._lines.get(timeout=max(0.0, self._deadline - time.perf_counter()))
        except Empty:
            self.kill()
            raise EngineSilent("does not answer") from None
        if item is None:
            self._lines.put(None)
            raise EngineDied("has stopped")
        line, self.arrived = item
        # An engine that never stops talking is as good as silent.
        if self.arrived > self._deadline:
            self.kill()
            raise EngineSilent("talks on and on and does not answer")
        # Protocols are ASCII: a stray byte in a remark must not end the match.
        text = line.decode("utf-8", "replace").strip()
        self._said = text or self._said
        return text

    def ask(self, command: str, end: str, seconds: float) -> list[str]:
        """What is said to a command, of which the last line begins with `end`. Raises as `line` does."""
        self.say(command)
        self.allow(seconds)
        lines = [self.line()]
        while not lines[-1].startswith(end):
            lines.append(self.line())
        return lines

    def kill(self) -> None:
        """End the process, and on POSIX whatever it started, at once. May be called from any thread and again."""
        if self._ended:
            return
        # Once only: the number of a process that is gone may be another's.
        self._ended = True
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    @abstractmethod
    def prepare(self, options: Mapping[str, str]) -> None:
        """Get ready under these options. Raises EngineError if the engine does not play along or lacks an option."""

    @abstractmethod
    def new_game(self) -> None:
        """What follows is another game."""

    @abstractmethod
    def go(self, start: str, moves: Sequence[str], limits: Mapping[str, int], seconds: float) -> EngineAnswer:
        """The move in the position after `moves`; `limits` are cshogi's (btime, wtime, byoyomi, binc, winc, nodes;
        milliseconds). Raises EngineSilent when there is none within `seconds`.
        """

    @abstractmethod
    def game_over(self, result: str) -> None:
        """`result` is win, lose or draw. An engine that has died meanwhile is found out by the next game."""

    def close(self) -> None:
        """Ask the engine to quit; kill it if it does not."""
        with contextlib.suppress(EngineDied, subprocess.TimeoutExpired):
            self.say("quit")
            self.process.wait(QUIT_SECONDS)
        self.kill()

    def alive(self) -> bool:
        """Whether the process is still there."""
        return self.process.poll() is None

    def _not_started(self, error: EngineError) -> EngineError:
        """What to say of an engine that gave up, or was given up, before its first game."""
        said = f"; it last said `{self._said[:200]}`" if self._said else ""
        return EngineError(f"{error} while starting{said} (its stderr: {self._stderr})")


class UsiEngine(EngineProcess):
    """One running engine."""

    def __init__(self, command: str, stderr: Path) -> None:
        super().__init__(command, stderr)
        self._declared: dict[str, str] = {}

    def prepare(self, options: Mapping[str, str]) -> None:
        """`usi`, then `configure`. Raises EngineError if the engine does not play along or lacks an option."""
        try:
            lines = self.ask("usi", "usiok", START_SECONDS)
            names = [line.removeprefix("id name ").strip() for line in lines if line.startswith("id name ")]
            self.name = next(filter(None, names), self.name)
            declared = [match[1] for line in lines if (match := _OPTION.match(line))]
            self._declared = {name.lower(): name for name in declared}
            self.configure(options)
        except (EngineDied, EngineSilent) as error:
            raise self._not_started(error) from error

    def _declares(self, name: str) -> bool:
        return name.lower() in self._declared

    def configure(self, options: Mapping[str, str]) -> None:
        """`setoption`, `isready`. Raises EngineError if the engine lacks an option.

        An option that is not declared may be there all the same, for those who tune. It is taken to be there if the
        engine does not complain of it, as it does of a name that no engine has; some complain with DebugMessage only.
        """
        undeclared = [name for name in options if not self._declares(name)]
        asked = bool(undeclared) and self._declares(_DEBUG)
        if asked:
            self._set(_DEBUG, "true")
        for name, value in options.items():
            self._set(name, value)
        if undeclared:
            self._set(_NO_OPTION, "1")
        lines = self.ask("isready", "readyok", START_SECONDS)
        if asked:
            self._set(_DEBUG, "false")
        complaint = next((line for line in lines if _NO_OPTION in line), None)
        for name in undeclared:
            if complaint is None or complaint.replace(_NO_OPTION, name) in lines:
                raise self._lacks(name)

    def _set(self, name: str, value: str) -> None:
        self.say(f"setoption name {self._declared.get(name.lower(), name)} value {value}")

    def _lacks(self, option: str) -> EngineError:
        return EngineError(f"has no option {option}; it has {', '.join(sorted(self._declared.values())) or 'none'}")

    def new_game(self) -> None:
        """`isready`, `usinewgame`."""
        self.ask("isready", "readyok", START_SECONDS)
        self.say("usinewgame")

    def go(self, start: str, moves: Sequence[str], limits: Mapping[str, int], seconds: float) -> EngineAnswer:
        self.say(" ".join(["position", start, *(["moves", *moves] if moves else [])]))
        began = time.perf_counter()
        go = " ".join(["go", *(f"{name} {value}" for name, value in limits.items())])
        lines = self.ask(go, "bestmove", seconds)
        bestmove = lines[-1].removeprefix("bestmove").strip().partition(" ")[0]
        return EngineAnswer(bestmove, _worth(lines, bestmove), (self.arrived - began) * 1000, tuple(lines))

    def go_mate(self, start: str, milliseconds: int, seconds: float) -> tuple[str, float]:
        """What follows `checkmate` in the answer to `go mate`, and the milliseconds that it took.

        Raises EngineSilent when none comes within `seconds`.
        """
        self.say(f"position {start}")
        began = time.perf_counter()
        *_, answer = self.ask(f"go mate {milliseconds}", "checkmate", seconds)
        return answer.removeprefix("checkmate").strip(), (self.arrived - began) * 1000

    def game_over(self, result: str) -> None:
        with contextlib.suppress(EngineDied):
            self.say(f"gameover {result}")


def _worth(lines: Sequence[str], bestmove: str) -> int | None:
    """As `EngineAnswer.cp` has it; where no line is about the best move, of the last one of rank 1."""
    of_best = of_first = None
    for line in lines:
        score, move, multipv = _SCORE.search(line), _PV.search(line), _MULTIPV.search(line)
        if not line.startswith("info") or " string " in line or score is None or move is None:
            continue
        if score[1] is not None:
            # GPSShogi's scores of a mate are beyond every scale.
            cp = max(-MATE_EVAL, min(MATE_EVAL, int(score[1])))
        elif score[2].startswith("-"):
            cp = -MATE_EVAL + int(score[2][1:] or 0)
        else:
            cp = MATE_EVAL - int(score[2].removeprefix("+") or 0)
        if move[1] == bestmove:
            of_best = cp
        elif multipv is None or multipv[1] == "1":
            of_first = cp
    return of_first if of_best is None else of_best


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
        for name in options:
            raise EngineError(f"has no options, not {name} nor any other")
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
        return EngineAnswer(answer, None, (self.arrived - began) * 1000, (answer,))

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
