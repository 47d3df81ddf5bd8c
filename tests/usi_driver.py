"""Talks to an engine as a GUI would, in this process or over pipes. Nothing here sleeps: it waits for lines."""

import contextlib
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import BasePlayer, BestMove, Checkmate, Engine, Report
from pydlshogi.player.clock import Clock
from pydlshogi.usi.usi import Usi

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 200.0
"""Seconds after which what does not come fails a test, on a machine however slow."""


class Conversation:
    """One engine and all it has said."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._settled = 0

    def hear(self) -> str | None:
        """The next line; None when the engine has ended."""
        line = self._heard.get(timeout=PATIENCE)
        if line is not None:
            self.said.append(line)
        return line

    def until(self, *starts: str) -> list[str]:
        """What is said from now on, up to the first line that begins with one of `starts`."""
        lines: list[str] = []
        while True:
            try:
                line = self.hear()
            except queue.Empty:
                raise AssertionError(f"no {starts} after {lines[-20:]}") from None
            if line is None:
                raise AssertionError(f"the engine ended before {starts}; it said {lines[-20:]}")
            lines.append(line)
            if line.startswith(starts):
                return lines

    def ask(self, line: str, *starts: str) -> list[str]:
        """Send one line and wait for its answer."""
        self.send(line)
        return self.until(*starts)

    def go(self, line: str = "go") -> list[str]:
        """What a search says, to its answer."""
        return self.ask(line, "bestmove", "checkmate")

    def settle(self) -> list[str]:
        """What is said until everything sent before has been obeyed, and the searches it started are over."""
        self._settled += 1
        name = f"settled{self._settled}"
        return self.ask(f"getoption {name}", f"info string Error! there is no option {name}")[:-1]

    def start(self) -> "Conversation":
        """Get to `readyok`."""
        self.ask("usi", "usiok")
        self.ask("isready", "readyok")
        return self

    def rest(self) -> list[str]:
        """What is said until the engine ends."""
        lines: list[str] = []
        while (line := self.hear()) is not None:
            lines.append(line)
        return lines


class InProcess(Conversation):
    """`serve` in a thread of this process."""

    def __init__(self, engine: Engine, keep_alive: float = PATIENCE) -> None:
        super().__init__()
        self._engine = engine._replace(load=lambda: self._overheard(engine.load()))
        self._thoughts = threading.Semaphore(0)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._keep_alive = keep_alive
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _overheard(self, player: BasePlayer) -> BasePlayer:
        """The player, which notes when it has come to a result."""
        think = player.think

        def noted(position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
            try:
                return think(position, clock, report)
            finally:
                self._thoughts.release()

        player.think = noted  # type: ignore[method-assign]
        return player

    def wait_for_thought(self) -> None:
        """Until the player has come to a result, said or not."""
        assert self._thoughts.acquire(timeout=PATIENCE)

    def _serve(self) -> None:
        usi = Usi(self._engine, self._heard.put, keep_alive=self._keep_alive)
        try:
            usi.run(self._sent())
        finally:
            usi.close()
            self._heard.put(None)

    def _sent(self) -> Iterator[str]:
        while (line := self._lines.get()) is not None:
            yield line

    def send(self, *lines: str) -> None:
        for line in lines:
            self._lines.put(line)

    def end_input(self) -> None:
        self._lines.put(None)

    def close(self) -> None:
        self.end_input()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


class OverPipes(Conversation):
    """An engine process."""

    def __init__(self, command: Sequence[str], state: Path, environment: Mapping[str, str] | None = None) -> None:
        """`state`: the folder the engine may take for the user's state."""
        super().__init__()
        self.state = state
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ
            | {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(state), "LOCALAPPDATA": str(state)}
            | dict(environment or {}),
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(ValueError):  # closed by the test
            for line in self.process.stdout:
                self._heard.put(line.decode("ascii").rstrip("\n"))
        self._heard.put(None)

    def send(self, *lines: str) -> None:
        self.send_bytes("".join(f"{line}\n" for line in lines).encode())

    def send_bytes(self, data: bytes) -> None:
        """In one write, as it is."""
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def end(self) -> tuple[int, bytes]:
        """Wait for the process to end: its exit status and what it wrote to stderr."""
        status = self.process.wait(PATIENCE)
        return status, self.process.stderr.read()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
