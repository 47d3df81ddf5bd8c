"""Lines that a program is sent, read ahead by a thread, so that a later one can interrupt what an earlier one began."""

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import NamedTuple


class Line(NamedTuple):
    """A line, and whether a later one has asked to stop thinking about it."""

    text: str
    interrupted: threading.Event


class Inbox:
    """Iterates over the lines that came in."""

    def __init__(self, lines: Iterable[str], interrupts: Callable[[str], bool]) -> None:
        """`interrupts` says of a line whether it ends the thinking that the lines before it asked for."""
        self._queue: SimpleQueue[Line | None] = SimpleQueue()
        threading.Thread(target=self._read, args=(lines, interrupts), name="inbox", daemon=True).start()

    def __iter__(self) -> Iterator[Line]:
        return iter(self._queue.get, None)

    def _read(self, lines: Iterable[str], interrupts: Callable[[str], bool]) -> None:
        interrupted = threading.Event()
        try:
            for text in lines:
                if interrupts(text):
                    interrupted.set()
                    interrupted = threading.Event()
                self._queue.put(Line(text, interrupted))
        finally:
            self._queue.put(None)
