"""Lines that a program is sent, read ahead by a thread, so that a later one can interrupt what an earlier one began."""

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import NamedTuple


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
