"""The lines of USI as words and back, which is pure functions; and `Output`, which says lines one at a time.

What is read may be what GUIs really send: any order, any blanks, decimals, negative clocks, unknown tokens, missing
parts.
"""

import logging
import math
import re
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from pydlshogi.player.base_player import HIGHEST_CP, BestMove, Checkmate, Info, PlayerError
from pydlshogi.player.clock import Limits

log = logging.getLogger(__package__)

_LARGEST: Final = 2**53
_SETOPTION: Final = re.compile(r"(?:name\s+)?(?P<name>.*?)(?:(?<!\s)\s+value(?:\s+(?P<value>.*))?)?", re.DOTALL)
_NUMBERS: Final = ("btime", "wtime", "binc", "winc", "byoyomi", "movetime", "nodes")
_NUMBER_AFTER: Final = {**{word: word for word in _NUMBERS}, "rtime": "movetime"}
_WORDS: Final = {*_NUMBER_AFTER, "mate", "searchmoves", "infinite", "ponder"}


def _number(token: str) -> int | None:
    try:
        number = float(token)
    except ValueError:
        return None
    if math.isnan(number):
        return None
    return int(max(-_LARGEST, min(_LARGEST, number)))


def parse_go(text: str) -> Limits:
    """What follows `go` or `ponderhit`. Tokens that mean nothing are skipped."""
    given: dict[str, Any] = {}
    searchmoves: list[str] = []
    tokens = deque(text.split())
    while tokens:
        token = tokens.popleft()
        number = _number(tokens[0]) if tokens else None
        if token in _NUMBER_AFTER:
            if number is not None:
                given[_NUMBER_AFTER[token]] = number
                tokens.popleft()
        elif token == "mate":
            given["mate"] = True
            if number is not None:
                given["mate_time"] = number
            if number is not None or (tokens and tokens[0] == "infinite"):
                tokens.popleft()
        elif token == "searchmoves":
            while tokens and tokens[0] not in _WORDS:
                searchmoves.append(tokens.popleft())
        elif token in {"infinite", "ponder"}:
            given[token] = True
    if given.get("nodes", 1) <= 0:
        del given["nodes"]
    return Limits(**given, searchmoves=tuple(searchmoves))


def parse_position(text: str) -> tuple[str | None, tuple[str, ...]]:
    """Sfen, None for the start of the game, and moves; neither is checked yet.

    `startpos`, `sfen ...` or a bare sfen, then perhaps `moves ...`, perhaps with none after it.
    """
    tokens = text.split()
    cut = tokens.index("moves") if "moves" in tokens else len(tokens)
    start, moves = tokens[:cut], tokens[cut + 1 :]
    if start[:1] == ["startpos"]:
        return None, tuple(moves)
    return " ".join(start[start[:1] == ["sfen"] :]), tuple(moves)


def parse_setoption(text: str) -> tuple[str, str]:
    """Name and value. The value is the rest of the line, blanks and all; without one it is empty."""
    match = _SETOPTION.fullmatch(text.strip())
    assert match is not None  # every text matches
    return match["name"].strip(), (match["value"] or "").strip()


def info_line(info: Info) -> str:
    """One `info` line: only the documented tokens, with `pv` last; "" when there is nothing to say but a string."""
    tokens = ["info"]
    for name in ("depth", "seldepth", "multipv"):
        if (value := getattr(info, name)) is not None:
            tokens += [name, str(value)]
    if info.score_mate:
        tokens += ["score", "mate", str(info.score_mate)]
    elif info.score_cp is not None:
        tokens += ["score", "cp", str(max(-HIGHEST_CP, min(HIGHEST_CP, info.score_cp)))]
    for name in ("nodes", "nps", "hashfull", "time"):
        if (value := getattr(info, name)) is not None:
            tokens += [name, str(value)]
    if info.pv:
        tokens += ["pv", *info.pv]
    return " ".join(tokens) if len(tokens) > 1 else ""


def string_line(text: str) -> str:
    """Free text as an `info string` line."""
    return f"info string {text}"


def answer_line(answer: BestMove | Checkmate) -> str:
    """The one line that ends a `go`."""
    if isinstance(answer, Checkmate):
        return " ".join(("checkmate", *answer.moves)) if answer.result == "mate" else f"checkmate {answer.result}"
    return f"bestmove {answer.move}" + (f" ponder {answer.ponder}" if answer.ponder else "")


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
        # Without the lock: the thread that holds it may be waiting for a GUI that no longer reads.
        self._closed = True


class SearchOutput:
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
