"""A game of Othello as records know it, and as text: as one line, its moves one after the other, `f5d6c3`; and in GGF,
the format of the Generic Game Server and of NBoard, `(;GM[Othello]PB[...]BO[8 ...]B[f5]W[d6/1.00/2];)`, or SGF (GM[2]).

Before the moves of a line may stand the position that they begin from, as collections for Edax and Egaroucid and the
GGS have it, and numbers as in PGN, whose tags name the players; behind a position, a comment.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import Any, Final, NamedTuple

from pydlshogi.games.othello.rules import PASS, START, Position, move_name, parse_move, position_of
from pydlshogi.support import OneLineError
from pydlshogi.support.decoding import one_line

_MOVE: Final = re.compile(r"(?:\d{1,2}\.+\s*)?([a-h][1-8]|pass|pa|ps|--)[\s,]*", re.IGNORECASE)
_MOVES: Final = re.compile(rf"(?:{_MOVE.pattern})*(?!\S)", re.IGNORECASE)
_POSITION: Final = re.compile(r"(?:8\s+)?((?:[XOBW01*.-]\s*){64}[XOBW01*])(?:[\s;]+|\Z)", re.IGNORECASE)
_WRAPPED: Final = re.compile(
    r"^(?:(?:(?:[XOBW01*.-][ \t]*){8}\n){8}|[ \t]*1\..*?(?=\n[ \t]*(?:\n|\[|1\.)|\Z))",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
"""What stands on several lines: the rows of a board, and a game that is numbered."""
_BEHIND: Final = re.compile(
    r"(?:;(?![ \t]*(?:[a-h][1-8][ \t]*)+$).*|[%#].*|\s(?:\{[^}]*\}\s*)?[\d/]+-[\d/]+\s*|(?<=[a-h][1-8]\s)\*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Comments, but not the moves that Edax writes behind a position, and the result."""
_TAG: Final = re.compile(r'\[(\w+)\s+"([^"]*[^"?.-][^"]*)"\]')
_FIELDS: Final = {"Black": "black", "White": "white", "Event": "event", "Site": "event", "Date": "date"}


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
    line = next((line for _, line in _lines(text) if not line.startswith("[")), "")
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
    fields = dict[str, Any]()
    for number, line in _lines(text):
        if line.startswith("["):
            if (tag := _TAG.fullmatch(line)) and tag[1] in _FIELDS:
                fields.setdefault(_FIELDS[tag[1]], tag[2])
            continue
        try:
            yield parse_transcript(line)._replace(**fields)
        except RecordError as error:
            raise RecordError(f"line {number}: {error}") from error
        fields.clear()


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are games, or tags, and their numbers; what is wrapped is one line."""
    text = _WRAPPED.sub(lambda wrapped: wrapped[0].replace("\n", " "), text)
    for number, line in enumerate(_BEHIND.sub("", text).splitlines(), 1):
        if line := line.strip():
            yield number, line


# GGF

# In a move a bracket is one that was left open; elsewhere, in a name say, it is a letter.
_PROPERTY: Final = re.compile(r"[\s;]*([A-Za-z]*)\[([^][]*|(?<=[A-Za-z]{2}\[)[^]]*)\]\s*")
_RESULT: Final = re.compile(r"([+-]?(?:[0-5]?\d|6[0-4])(?!\d)(?:\.\d*)?)(?::([rt]))?")
_ENDINGS: Final = {"r": "resignation", "t": "time"}
_FLAGS: Final = {ending: f":{flag}" for flag, ending in _ENDINGS.items()}
_KNOWN: Final = {*"GM PC DT PB PW RE TY BO B W FF AP SZ AB AW PL".split()}
_GAME: Final = re.compile(r"^(?!N[+-]|[*'{$])[^：\n]*\(;\s*[A-Za-z]+\[", re.MULTILINE)


def holds_ggf(text: str) -> bool:
    """Whether there is a game in a text, and not just an emoticon in a comment."""
    return _GAME.search(text) is not None


def parse_ggf(text: str) -> Iterator[Transcript]:
    """The games of a text, in which other things may stand between them. Raises RecordError."""
    where = text.find("(;")
    while where >= 0:
        properties, end = _properties(text, where + 2)
        try:
            game = _game(properties)
        except ValueError as error:  # also of a board or a move that is none
            raise RecordError(str(error)) from error
        yield game
        where = text.find("(;", end)


def ggf(game: Transcript) -> str:
    """The game as one line."""
    properties = [
        ("GM", "Othello"),
        ("PC", game.event),
        ("DT", game.date),
        ("PB", game.black),
        ("PW", game.white),
        ("RE", "?" if game.result is None else f"{game.result:+d}{_FLAGS.get(game.ending, '')}"),
        *game.headers,
        ("TY", "8"),
        ("BO", f"8 {game.start.diagram().replace('X', '*')}"),
    ]
    names = cycle("BW" if game.start.black_to_move else "WB")
    properties += zip(names, ("PA" if move == PASS else move_name(move).upper() for move in game.moves), strict=False)
    return f"(;{''.join(f'{name}[{_plain(value)}]' for name, value in properties)};)"


def _plain(value: str) -> str:
    """A value as GGF can hold it: it knows no way to write a closing bracket, nor a line's end."""
    return " ".join(one_line(value).replace("[", "(").replace("]", ")").split())


def _properties(text: str, where: int) -> tuple[list[tuple[str, str]], int]:
    """Names and values from `where` to the end of a game, and the place of that end."""
    properties, name = [], ""
    while found := _PROPERTY.match(text, where):
        name = found[1].upper() or name  # of a list of values all but the first are without it
        properties.append((name, found[2]))
        where = found.end()
    if not re.match(r";?\s*\)", text[where : where + 12]):
        raise RecordError(f"{text[where : where + 12]!r} is no property")
    return properties, where


def _game(properties: list[tuple[str, str]]) -> Transcript:
    values = dict(properties)
    moves = [(name, parse_move(value.split("/")[0].strip())) for name, value in properties if name in ("B", "W")]
    if values.get("GM", "Othello").lower() not in ("othello", "2"):
        raise RecordError(f"a game of {values['GM']}")
    board = f"{values.get('SZ', 8)} {_set_up(properties)}" if values.get("GM") == "2" else values.get("BO", "")
    size, _, diagram = board.strip().partition(" ")
    if size != "8":
        raise RecordError(f"a board of {size}, not 8" if size else "it has no board (BO)")
    start = position_of(diagram)
    game = game_of([move for _, move in moves], start)
    turns = [start.black_to_move ^ bool(ply % 2) for ply, move in enumerate(game.moves) if move != PASS]
    for colour, black in zip((colour for colour, move in moves if move != PASS), turns, strict=True):
        if (colour == "B") != black:
            raise RecordError(f"{'White' if colour == 'W' else 'Black'} moves out of turn")
    result = _RESULT.match(values.get("RE", "").replace("B+", "+").replace("W+", "-"))
    return game._replace(
        result=game.result if result is None else round(float(result[1])),
        ending=_ENDINGS.get(result[2], "") if result else "",
        black=values.get("PB", ""),
        white=values.get("PW", ""),
        event=values.get("PC", ""),
        date=values.get("DT", ""),
        headers=tuple((name, _plain(value)) for name, value in values.items() if name not in _KNOWN),
    )


def _set_up(properties: list[tuple[str, str]]) -> str:
    """The position that an SGF sets up: that of the start where it sets up none."""
    discs = {parse_move(value): name[1] for name, value in properties if name in ("AB", "AW")}
    squares = "".join(discs.get(square, "-") for square in range(64))
    return f"{squares} {dict(properties).get('PL', 'B')[:1]}" if discs else START.diagram()


def parse_games(text: str) -> list[Transcript]:
    """The games of a text, GGF or transcripts. Raises RecordError."""
    return list(parse_ggf(text) if holds_ggf(text) else parse_transcripts(text))
