"""What a run says: log.jsonl, its journal, and lines for those who watch.

The journal is there whole or not at all, and fits the run after a resumption.
"""

import json
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from tqdm import tqdm

from pydlshogi.support.decoding import parse_json
from pydlshogi.support.files import write_whole

EVERY: Final = 10.0
"""Seconds between two lines of a heartbeat."""


class Journal:
    """One JSON object a line, each with its "step"."""

    def __init__(self, path: Path, step: int) -> None:
        """Lines after `step` are dropped: the run that resumes there writes them again."""
        self._path = path
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
        self._content = "".join(f"{line}\n" for line in lines if _step_of(line) <= step)
        write_whole(path, self._content.encode())

    def write(self, line: dict[str, Any]) -> None:
        """Add a line. Raises OSError."""
        self._content += json.dumps(line) + "\n"
        write_whole(self._path, self._content.encode())


def say(text: str) -> None:
    """Show a line, if anybody can see it: a run of many hours outlives its terminal."""
    with suppress(OSError):
        tqdm.write(text)
        sys.stdout.flush()


class Heartbeat:
    """Inside, what is under way is said every ten seconds: on the bar, or in lines where there is no terminal."""

    def __init__(self, now: str, bar: "tqdm[Any] | None" = None) -> None:
        self.now = now
        """What is under way."""
        self._bar, self._ended = bar, threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def _beat(self) -> None:
        while not self._ended.wait(EVERY):
            if self._bar is not None and not self._bar.disable:
                self._bar.set_postfix_str(self.now)
            elif not sys.stderr.isatty():
                say(self.now)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def _step_of(line: str) -> float:
    try:
        return float(parse_json(line)["step"])
    except (ValueError, KeyError, TypeError):  # as when the process was killed while it wrote
        return float("inf")
