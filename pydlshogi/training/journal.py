"""What is told of a run: log.jsonl, its journal, and lines for whoever watches.

The journal outlives full disks and killed processes, and fits the run after a resumption.
"""

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tqdm import tqdm

from pydlshogi.support.files import append_whole, write_whole


class Journal:
    """One JSON object a line, each with its "step". What a full disk refuses waits for the next line."""

    def __init__(self, path: Path, step: int) -> None:
        """Lines after `step` are dropped: the run that resumes there writes them again."""
        self._path = path
        self._waiting = b""
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
        kept = [line for line in lines if _step_of(line) <= step]
        write_whole(path, "".join(line + "\n" for line in kept).encode())

    def write(self, line: dict[str, Any]) -> None:
        """Append a line. Raises OSError if that is not possible now."""
        self._waiting += json.dumps(line).encode() + b"\n"
        with self._path.open("ab", buffering=0) as file:
            append_whole(file, self._waiting)
        self._waiting = b""


def say(text: str) -> None:
    """Show a line, if anybody can see it: a run of many hours outlives whoever read its output."""
    with suppress(OSError):
        tqdm.write(text)
        sys.stdout.flush()


def _step_of(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError, RecursionError):  # as when the process was killed while it wrote
        return float("inf")
