"""A game of Othello as records know it, and as one line: its moves one after the other, `f5d6c3`.

Before them may stand the position that they begin from, as collections for Edax and Egaroucid and the GGS have it, and
the numbers that PlayOK writes; behind a position, a comment.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pydlshogi.games.othello.rules import PASS, START, Position, move_name, parse_move, position_of
from pydlshogi.support import OneLineError

_MOVE: Final = re.compile(r"(?:\d{1,2}\.+\s*)?([a-h][1-8]|pass|pa|ps|--)\s*", re.IGNORECASE)
_MOVES: Final = re.compile(rf"(?:{_MOVE.pattern})*(?!\S)", re.IGNORECASE)
_POSITION: Final = re.compile(r"(?:8\s+)?((?:[XOBW01*.-]\s*){64}[XOBW01*])(?:\s+|\Z)", re.IGNORECASE)
_WRAPPED: Final = re.compile(r"\n\s*(?=(?!1\.)\d{1,2}\.)")
_BEHIND: Final = re.compile(r"(?:[;%#].*|\s[\d/]+-[\d/]+\s*)$|^\[.*", re.MULTILINE)
"""Comments, the result, and what PlayOK writes above a game."""


class RecordError(OneLineError, ValueError):
    """A text, or a file, that is no sound record of a game; the message says why, in one line."""


class Transcript(NamedTuple):
    """One game, every move of it legal."""

    moves: tuple[int, ...] = ()
    """Passes among them."""
    start: Position = START
    result: int | None = None
    """By how many discs Black won, as the record says. None: it says nothing, and the game is not over."""
    black: str = ""
    white: str = ""
    event: str = ""
    date: str = ""
    ending: str = ""
    """ "resignation" or "time", where the game ended so."""
    headers: tuple[tuple[str, str], ...] = ()
    """What else a GGF says of the game, by its names."""

    @property
    def end(self) -> Position:
        """The position after all moves."""
        return after(self.start, self.moves)


def after(position: Position, moves: Iterable[int]) -> Position:
    """The position that `moves` lead to. Raises IllegalMove."""
    for move in moves:
        position = position.play(move)
    return position


def game_of(moves: Iterable[int], start: Position = START) -> Transcript:
    """The game of these moves, with the passes that records leave out; its result, if they end it.

    Raises RecordError that names the move that cannot be played.
    """
    played = []
    position = start
    for move in moves:
        legal = position.moves()
        if legal == [PASS] and move != PASS:
            played.append(PASS)
            position = position.play(PASS)
            legal = position.moves()
        if move not in legal:
            raise RecordError(f"move {len(played) + 1}, {move_name(move)}, cannot be played")
        played.append(move)
        position = position.play(move)
    return Transcript(tuple(played), start, result=position.lead if position.over else None)


def holds_transcript(text: str) -> bool:
    """Whether the first line that says something is a game."""
    line = next((line for _, line in _lines(text)), "")
    return bool(line and (_MOVES.fullmatch(line) or _POSITION.match(line)))


def parse_transcript(text: str) -> Transcript:
    """The game of a transcript. Small or capital letters, with passes or without, with blanks or without.

    Raises RecordError.
    """
    moves = []
    where, start, text = 0, START, text.strip()
    if position := _POSITION.match(text):
        start = position_of(position[1])
        found = _MOVES.match(text, position.end())
        text = found[0] if found else ""
    while where < len(text):
        found = _MOVE.match(text, where)
        if found is None:
            raise RecordError(f"{text[where : where + 8]!r} is no move")
        moves.append(parse_move(found[1]))
        where = found.end()
    return game_of(moves, start)


def transcript(moves: Iterable[int]) -> str:
    """The moves as one line; passes, which go without saying, are left out."""
    return "".join(move_name(move) for move in moves if move != PASS)


def parse_transcripts(text: str) -> Iterator[Transcript]:
    """The games of a text, one a line; empty lines and comments (#) are passed over. Raises RecordError."""
    for number, line in _lines(text):
        try:
            yield parse_transcript(line)
        except RecordError as error:
            raise RecordError(f"line {number}: {error}") from error


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are games, and their numbers; one that PlayOK numbers goes on to its end."""
    for number, line in enumerate(_WRAPPED.sub(" ", _BEHIND.sub("", text)).splitlines(), 1):
        if line := line.strip():
            yield number, line
