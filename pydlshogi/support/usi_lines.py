"""Games as lines of USI: what follows `position`, and in a comment line below it what was thought of the moves.

    position startpos moves 7g7f 3c3d
    # evaluations 30 -12

Evaluations are Black's, in centipawns, `-` for none.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_LINE: Final = re.compile(r"(?:position\s+)?(?:startpos\b|sfen\s|[A-Za-z1-9+]+(?:/[A-Za-z1-9+]+){2,} [bw] )")
_ENDS: Final = ("resign", "win", "draw", "rep_draw", "timeout", "break")
_EVALUATIONS: Final = re.compile(r"#\s*evaluations((?:\s+(?:-|[+-]?\d{1,9}))+)\s*")


class UsiLine(NamedTuple):
    """A game, of which nobody knows whether it is legal."""

    start: str | None
    """None: the start of the game."""
    moves: Sequence[str]
    evaluations: Sequence[int | None] = ()
    end: str = ""
    """The word behind the moves by which some programs say how the game ended."""

    def __str__(self) -> str:
        return written(self.start or "startpos", [*self.moves, *self.end.split()], self.evaluations)


def holds_usi(text: str) -> bool:
    """Whether the first line that says something is a game."""
    lines = (line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return bool(_LINE.match(next(lines, "")))


def usi_lines(text: str) -> list[UsiLine]:
    """The games of a text."""
    games: list[UsiLine] = []
    for line in text.splitlines():
        if found := _EVALUATIONS.fullmatch(line.strip()):
            evaluations = [None if word == "-" else int(word) for word in found[1].split()]
            games[-1:] = [game._replace(evaluations=evaluations) for game in games[-1:]]
        elif line.strip() and not line.startswith("#"):
            games.append(read_line(line))
    return games


def read_line(line: str) -> UsiLine:
    """The game of one line."""
    words = line.split()
    for word in ("position", "sfen"):
        if words[:1] == [word]:
            del words[0]
    word = words.pop() if words[-1:] and words[-1] in _ENDS else ""
    end = words.index("moves") if "moves" in words else len(words)
    start = " ".join(words[:end])
    return UsiLine(None if start == "startpos" else start, words[end + 1 :], end=word)


def written(start: str, moves: Sequence[str], evaluations: Sequence[int | None]) -> str:
    """A game as one line, with a second one where something was thought of it."""
    start = start if start == "startpos" else f"sfen {start}"
    text = " ".join(["position", start, *(["moves", *moves] if moves else [])]) + "\n"
    if any(each is not None for each in evaluations):
        text += " ".join(["# evaluations", *("-" if each is None else str(each) for each in evaluations)]) + "\n"
    return text
