"""How lines are said: one at a time, and of each search nothing after its answer."""

import logging
import threading
from collections.abc import Callable

from pydlshogi.player.base_player import BestMove, Checkmate, Info, PlayerError
from pydlshogi.usi.notation import answer_line, info_line, string_line

log = logging.getLogger(__package__)


class Output:
    """Where lines are said: one at a time, in plain ASCII, and none after `close`."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.lock = threading.RLock()
        self._write = write
        self._closed = False

    def say(self, line: str) -> None:
        line = " ".join(line.encode("ascii", "backslashreplace").decode().splitlines())
        with self.lock:
            if not self._closed:
                log.debug("< %s", line)
                self._write(line)

    def remark(self, text: str) -> None:
        """Say free text."""
        self.say(string_line(text))

    def blame(self, error: Exception) -> None:
        """Say what is wrong: what the user can repair, or else a defect, whose traceback goes to the log."""
        if isinstance(error, PlayerError):
            self.remark(f"Error! {error}")
        else:
            log.error("a defect, please report it", exc_info=error)
            self.remark(f"Error! {type(error).__name__}: {error} (the log says more)")

    def close(self) -> None:
        # Without the lock: whoever holds it may be waiting for a GUI that no longer reads.
        self._closed = True


class Voice:
    """What one search says: lines of `info` until its answer, and then nothing more."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._answered = False
        self._last = ""
        self._main_line = ""
        self._main_move = ""

    def report(self, info: Info) -> None:
        """Say it, unless the answer has been given. May be called by any thread."""
        with self._output.lock:
            if self._answered:
                return
            if info.string:
                self._say(string_line(info.string))
            if line := info_line(info):
                self._say(line)
                if info.pv and info.multipv in {None, 1}:
                    self._main_line, self._main_move = line, info.pv[0]

    def answer(self, answer: BestMove | Checkmate) -> None:
        """Say the answer, right after the line of rank 1 that begins with its move."""
        with self._output.lock:
            self._answered = True
            if isinstance(answer, BestMove) and answer.move == self._main_move and self._last != self._main_line:
                self._say(self._main_line)
            self._say(answer_line(answer))

    def _say(self, line: str) -> None:
        self._last = line
        self._output.say(line)
