"""GGF, the format of the Generic Game Server and of NBoard: `(;GM[Othello]PB[...]BO[8 ...]B[f5]W[d6/1.00/2];)`."""

import re
from collections.abc import Iterator
from typing import Final

from pydlshogi.games.othello.rules import PASS, move_name, parse_move, position_of
from pydlshogi.games.othello.transcript import RecordError, Transcript, game_of
from pydlshogi.support.decoding import one_line

# In a move a bracket is one that was left open; elsewhere, in a name say, it is a letter.
_PROPERTY: Final = re.compile(r"\s*([A-Za-z]+)\[([^][]*|(?<=[A-Za-z]{2}\[)[^]]*)\]\s*")
_RESULT: Final = re.compile(r"([+-]?(?:[0-5]?\d|6[0-4])(?!\d)(?:\.\d*)?)(?::([rt]))?")
_ENDINGS: Final = {"r": "resignation", "t": "time"}
_FLAGS: Final = {ending: f":{flag}" for flag, ending in _ENDINGS.items()}
_KNOWN: Final = ("GM", "PC", "DT", "PB", "PW", "RE", "TY", "BO", "B", "W")
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
    board = game.start.diagram().replace("X", "*")
    squares, side = board.split()
    properties = [
        ("GM", "Othello"),
        ("PC", game.event),
        ("DT", game.date),
        ("PB", game.black),
        ("PW", game.white),
        ("RE", "?" if game.result is None else f"{game.result:+d}{_FLAGS.get(game.ending, '')}"),
        *game.headers,
        ("TY", "8"),
        ("BO", f"8 {squares} {side}"),
    ]
    turn = game.start.black_to_move
    for move in game.moves:
        properties.append(("B" if turn else "W", "PA" if move == PASS else move_name(move).upper()))
        turn = not turn
    return f"(;{''.join(f'{name}[{_plain(value)}]' for name, value in properties)};)"


def _plain(value: str) -> str:
    """A value as GGF can hold it: it knows no way to write a closing bracket, nor a line's end."""
    return " ".join(one_line(value).replace("[", "(").replace("]", ")").split())


def _properties(text: str, where: int) -> tuple[list[tuple[str, str]], int]:
    """Names and values from `where` to the end of a game, and the place of that end."""
    properties = []
    while found := _PROPERTY.match(text, where):
        properties.append((found[1].upper(), found[2]))
        where = found.end()
    if not text.startswith(";)", where):
        raise RecordError(f"{text[where : where + 12]!r} is no property")
    return properties, where


def _game(properties: list[tuple[str, str]]) -> Transcript:
    values = dict(properties)
    moves = [(name, parse_move(value.split("/")[0].strip())) for name, value in properties if name in ("B", "W")]
    if values.get("GM", "Othello").lower() != "othello":
        raise RecordError(f"a game of {values['GM']}")
    size, _, diagram = values.get("BO", "").strip().partition(" ")
    if size != "8":
        raise RecordError(f"a board of {size}, not 8" if size else "it has no board (BO)")
    start = position_of(diagram)
    game = game_of([move for _, move in moves], start)
    turns = [start.black_to_move ^ bool(ply % 2) for ply, move in enumerate(game.moves) if move != PASS]
    for colour, black in zip((colour for colour, move in moves if move != PASS), turns, strict=True):
        if (colour == "B") != black:
            raise RecordError(f"{'White' if colour == 'W' else 'Black'} moves out of turn")
    result = _RESULT.match(values.get("RE", ""))
    return game._replace(
        result=game.result if result is None else round(float(result[1])),
        ending=_ENDINGS.get(result[2], "") if result else "",
        black=values.get("PB", ""),
        white=values.get("PW", ""),
        event=values.get("PC", ""),
        date=values.get("DT", ""),
        headers=tuple((name, _plain(value)) for name, value in values.items() if name not in _KNOWN),
    )
