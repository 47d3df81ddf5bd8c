"""The lines of USI as words, and back: pure functions, no state.

They take what GUIs really send: any order, any blanks, decimals, negative clocks, unknown tokens, missing parts.
"""

import math
import re
from collections import deque
from typing import Any, Final

from pydlshogi.player.base_player import HIGHEST_CP, BestMove, Checkmate, Info
from pydlshogi.player.clock import Limits

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
    """Sfen, None for the start of the game, and moves, neither looked at yet.

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
