"""An engine as a child process that cannot hang or outlive the match.

Every read has a deadline, death is an exception, stderr is a file. What is said to the engine is up to its protocol; it
knows no games.
"""

import contextlib
import os
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

from pydlshogi.support.errors import OneLineError

START_SECONDS = 180.0
"""How long an engine may take to get ready: networks are loaded and kernels compiled there."""
QUIT_SECONDS = 2.0
"""Two engines, one after the other, are done within the grace that a pool gives its processes."""
LINES_AHEAD = 10_000
"""Read before anybody asks; an engine that says more has to wait."""
MOST_LINES = 1_000_000
"""Of one answer."""
LONGEST_LINE = 1 << 20
"""Bytes."""


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
    candidates: Mapping[str, int]
    """The moves it thinks of and what they are worth, centipawns for the side to move: the last line of each MultiPV
    rank, best first."""
    milliseconds: float
    """From writing `go` to the arrival of `bestmove`."""
    lines: tuple[str, ...]
    """All that it said, `bestmove` included."""


class Pipes:
    """A process and its pipes, with deadlines."""

    def __init__(self, command: str | Sequence[str], stderr: Path) -> None:
        with stderr.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # Ctrl-C reaches the match alone; in a session of its own what a launcher started dies with it, too.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        self.arrived = 0.0
        """When the last line did."""
        self.said = ""
        """The last line that was not empty."""
        self._deadline, self._unanswered, self._ended = 0.0, 0, False
        self._lines: Queue[tuple[bytes, float] | None] = Queue(LINES_AHEAD)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            while line := stream.readline(LONGEST_LINE):
                self._lines.put((line, time.perf_counter()))
        self._lines.put(None)

    def write(self, data: bytes) -> None:
        """Raises EngineDied."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise EngineDied("has stopped") from error

    def say(self, command: str) -> None:
        """Write a line. Raises EngineDied."""
        self.write(f"{command}\n".encode())

    def allow(self, seconds: float) -> None:
        """A deadline for the next answer."""
        self._deadline, self._unanswered = time.perf_counter() + seconds, 0

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
        self._unanswered += 1
        # An engine that never stops talking is as good as silent.
        if self.arrived > self._deadline or self._unanswered > MOST_LINES:
            self.kill()
            raise EngineSilent("talks on and on and does not answer")
        # Protocols are ASCII: a stray byte in a remark must not end the match.
        text = line.decode("utf-8", "replace").strip()
        self.said = text or self.said
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


class EngineProcess(Pipes, ABC):
    """One running engine. Every method raises EngineDied or EngineSilent when the engine does not play its part."""

    def __init__(self, command: str, stderr: Path) -> None:
        """Start `command`, split as a shell would but run by none. Raises EngineError if there is no such program."""
        self.name = command
        """Or what it calls itself, once prepared."""
        self._stderr = stderr
        try:
            if not command.strip():
                raise EngineError("cannot be started: the command is empty")
            # A program for Windows splits the line that it is given by itself.
            super().__init__(command if os.name == "nt" else shlex.split(command), stderr)
        except (OSError, ValueError) as error:
            raise EngineError(f"cannot be started: {getattr(error, 'strerror', None) or error}") from error

    @abstractmethod
    def prepare(self, options: Mapping[str, str]) -> None:
        """Get ready under these options. Raises EngineError if the engine does not play along or lacks an option."""

    def declares(self, _name: str) -> bool:
        """Whether the engine has an option of this name, upper and lower case being the same."""
        return False

    def set_option(self, name: str, _value: str) -> None:
        """Raises EngineError if the engine does not declare the option: a misspelt one would spoil the match unseen."""
        raise EngineError(f"has no options, not {name} nor any other")

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
        said = f"; it last said `{self.said[:200]}`" if self.said else ""
        return EngineError(f"{error} while starting{said} (its stderr: {self._stderr})")
