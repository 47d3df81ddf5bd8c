"""A USI engine as a child process that cannot hang or outlive the match: cshogi's client behind pipes of our own.

cshogi.usi.Engine speaks the protocol well, but starts only commands without arguments, waits for ever for an engine
that is silent, spins on one that has died, and leaves stderr unread until the engine blocks. So it is given, in place
of a process, `_Pipes`: every read has a deadline, death is an exception, stderr is a file. It knows no games.
"""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any, NamedTuple

import cshogi.usi

from pydlshogi.kifu.game import MATE_EVAL

START_SECONDS = 180.0
"""How long an engine may take over `usi` and `isready`: networks are loaded and kernels compiled there."""
QUIT_SECONDS = 5.0
LINES_AHEAD = 10_000
"""Read before anybody asks; an engine that says more has to wait."""
MOST_LINES = 1_000_000
"""Of one answer."""
LONGEST_LINE = 1 << 20
"""Bytes."""

_SCORE = re.compile(r"\bscore (?:cp (-?\d+)|mate ([+-]?\d*))")
_MULTIPV = re.compile(r"\bmultipv (\d+)")
_PV = re.compile(r"\bpv (\S+)")
# Fairy-Stockfish's names contain blanks.
_OPTION = re.compile(r"option name (.+?) type ")


class EngineError(Exception):
    """An engine cannot be started or used; the text says which and why."""


class EngineDied(EngineError):
    """The process is gone."""


class EngineSilent(EngineError):
    """No answer within the deadline."""


class Candidate(NamedTuple):
    """A move an engine thinks of and what it is worth, centipawns for the side to move."""

    move: str
    cp: int


class Answer(NamedTuple):
    """What came back from one `go`."""

    bestmove: str
    cp: int | None
    """Of the last line about the best move, for the side to move; None if the engine gave no score."""
    candidates: tuple[Candidate, ...]
    """The last line of each MultiPV rank, best first."""
    milliseconds: float
    """From writing `go` to the arrival of `bestmove`."""
    lines: tuple[str, ...]
    """All that it said, `bestmove` included."""


class _Pipes:
    """The part of subprocess.Popen that cshogi's client uses, with deadlines."""

    def __init__(self, command: Sequence[str], stderr: Path) -> None:
        with stderr.open("ab") as log:
            # In a session of its own: Ctrl-C reaches the match alone, and what a launcher started dies with it.
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )
        self.stdin = self.stdout = self
        self.deadline = 0.0
        self.arrived = 0.0
        self.unanswered = 0
        """Lines since the last command."""
        self._lines: Queue[tuple[bytes, float] | None] = Queue(LINES_AHEAD)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            while line := stream.readline(LONGEST_LINE):
                self._lines.put((line, time.perf_counter()))
        self._lines.put(None)

    def readline(self) -> bytes:
        """The next line in plain ASCII; raises EngineSilent at the deadline and EngineDied at the end of the stream."""
        try:
            item = self._lines.get(timeout=max(0.0, self.deadline - time.perf_counter()))
        except Empty:
            raise EngineSilent("does not answer") from None
        if item is None:
            self._lines.put(None)
            raise EngineDied("has stopped")
        line, self.arrived = item
        self.unanswered += 1
        # An engine that never stops talking is as good as silent.
        if self.arrived > self.deadline or self.unanswered > MOST_LINES:
            raise EngineSilent("talks on and on and does not answer")
        # cshogi decodes by locale, and USI is ASCII: a stray byte in an `info string` must not end the match.
        return line.decode("utf-8", "replace").encode("ascii", "replace")

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
        except (OSError, ValueError) as error:
            raise EngineDied("has stopped") from error

    def flush(self) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise EngineDied("has stopped") from error


class UsiEngine:
    """One running engine. Every method raises EngineDied or EngineSilent when the engine does not play its part."""

    def __init__(self, command: str, stderr: Path) -> None:
        """Start `command`, split as a shell would but run by none. Raises EngineError if there is no such program."""
        self.command = command
        self.name = ""
        self._stderr = stderr
        self._ended = False
        self._declared: dict[str, str] = {}
        try:
            words = shlex.split(command, posix=os.name == "posix")
            if not words:
                raise EngineError("cannot be started: the command is empty")
            self._pipes = _Pipes(words, stderr)
        except (OSError, ValueError) as error:
            raise EngineError(f"cannot be started: {getattr(error, 'strerror', None) or error}") from error
        self._client = cshogi.usi.Engine(command, connect=False)
        self._client.proc = self._pipes

    def prepare(self, options: Mapping[str, str]) -> None:
        """`usi`, `setoption`, `isready`. Raises EngineError if the engine does not play along or lacks an option."""
        try:
            lines: list[str] = self._within(START_SECONDS, self._client.usi)
            names = [line.removeprefix("id name ").strip() for line in lines if line.startswith("id name ")]
            self.name = names[0] if names and names[0] else Path(shlex.split(self.command)[0]).stem
            declared = [match[1] for line in lines if (match := _OPTION.match(line))]
            self._declared = {name.lower(): name for name in declared}
            for name, value in options.items():
                self.set_option(name, value)
            self._within(START_SECONDS, self._client.isready)
        except (EngineDied, EngineSilent) as error:
            raise EngineError(f"{error} while starting (its stderr: {self._stderr})") from error

    def declares(self, name: str) -> bool:
        """Whether the engine has an option of this name, upper and lower case being the same."""
        return name.lower() in self._declared

    def set_option(self, name: str, value: str) -> None:
        """Raises EngineError if the engine does not declare the option: a misspelt one would spoil the match unseen."""
        if not self.declares(name):
            raise EngineError(f"has no option {name}; it has {', '.join(sorted(self._declared.values())) or 'none'}")
        self._client.setoption(self._declared[name.lower()], value)

    def new_game(self) -> None:
        """`isready`, `usinewgame`."""
        self._within(START_SECONDS, self._client.isready)
        self._client.usinewgame()

    def go(self, start: str, moves: Sequence[str], limits: Mapping[str, int], seconds: float) -> Answer:
        """Search the position; `limits` are cshogi's (btime, wtime, byoyomi, binc, winc, nodes; milliseconds).

        Raises EngineSilent when no `bestmove` comes within `seconds`.
        """
        lines: list[str] = []
        self._client.position(list(moves), sfen=start)
        began = time.perf_counter()
        bestmove, _ = self._within(seconds, lambda: self._client.go(**limits, listener=lines.append))
        candidates = _candidates(lines)
        cp = next((candidate.cp for candidate in candidates if candidate.move == bestmove), None)
        if cp is None and candidates:
            cp = candidates[0].cp
        return Answer(bestmove, cp, candidates, (self._pipes.arrived - began) * 1000, tuple(lines))

    def go_mate(self, start: str, milliseconds: int, seconds: float) -> tuple[str, float]:
        """What follows `checkmate` in the answer to `go mate`, and the milliseconds that it took.

        Raises EngineSilent when none comes within `seconds`.
        """
        self._client.position(sfen=start)
        began = time.perf_counter()
        answer = self._within(seconds, lambda: self._client.go_mate(byoyomi=milliseconds))
        return answer, (self._pipes.arrived - began) * 1000

    def game_over(self, result: str) -> None:
        """`result` is win, lose or draw. An engine that has died meanwhile is found out by the next game."""
        with contextlib.suppress(EngineDied):
            self._client.gameover(result)

    def close(self) -> None:
        """Ask the engine to quit; kill it if it does not."""
        with contextlib.suppress(EngineDied, subprocess.TimeoutExpired):
            self._pipes.write(b"quit\n")
            self._pipes.flush()
            self._pipes.process.wait(QUIT_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the process, and on POSIX whatever it started, at once. May be called from any thread and again."""
        if self._ended:
            return
        # Once only: the number of a process that is gone may be another's.
        self._ended = True
        process = self._pipes.process
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()

    def alive(self) -> bool:
        """Whether the process is still there."""
        return self._pipes.process.poll() is None

    def _within(self, seconds: float, call: Callable[[], Any]) -> Any:
        self._pipes.deadline = time.perf_counter() + seconds
        self._pipes.unanswered = 0
        return call()


def _candidates(lines: Sequence[str]) -> tuple[Candidate, ...]:
    """The last scored line of each MultiPV rank; a line without `multipv` is of rank 1."""
    ranks: dict[int, Candidate] = {}
    for line in lines:
        score, move = _SCORE.search(line), _PV.search(line)
        if not line.startswith("info") or " string " in line or score is None or move is None:
            continue
        rank = _MULTIPV.search(line)
        if score[1] is not None:
            # GPSShogi's scores of a mate are beyond every scale.
            cp = max(-MATE_EVAL, min(MATE_EVAL, int(score[1])))
        elif score[2].startswith("-"):
            cp = -MATE_EVAL + int(score[2][1:] or 0)
        else:
            cp = MATE_EVAL - int(score[2].removeprefix("+") or 0)
        ranks[int(rank[1]) if rank else 1] = Candidate(move[1], cp)
    return tuple(ranks[rank] for rank in sorted(ranks))
