"""Start positions for matches: read from files, one a line, every one checked. It knows no engines."""

import lzma
from collections.abc import Iterable
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from pydlshogi.games.shogi.names import USI_MOVE
from pydlshogi.support.errors import OneLineError
from pydlshogi.support.files import open_plain
from pydlshogi.support.usi_lines import read_line
from utils.arena.games import Opening, kind_of

_LONGEST_LINE: Final = 1 << 16


def check_room(openings: Iterable[Opening], max_moves: int, random_plies: int = 0) -> None:
    """Raises OneLineError where nothing is left to play after an opening, in a game of `max_moves`."""
    longest = max(len(opening.moves) for opening in openings) + random_plies
    if longest >= max_moves:
        raise OneLineError(f"--max-moves {max_moves} leaves nothing to play after openings of {longest} moves")


def read_openings(path: Path, plies: int | None = None, game: str = "shogi") -> list[Opening]:
    """All openings of a file, each cut after `plies` moves.

    Some games have files of their own. In others it is a text file, plain or .xz, of which a line is
    `startpos [moves ...]` or `[sfen] BOARD SIDE HANDS [NUMBER] [moves ...]`, either with or without the word `position`
    before it. Empty lines, comments (#) and lines with a single move (an opening book's answer to the position above)
    are passed over. Raises OneLineError.
    """
    if (read := kind_of(game).read_openings) is not None:
        return list(read(path, plies))
    try:
        with open_plain(path) as file, lzma.open(file) if path.suffix == ".xz" else file as content:
            text = TextIOWrapper(content, encoding="utf-8")
            openings = list(_parse(path, iter(partial(text.readline, _LONGEST_LINE), ""), plies, game))
    except (OSError, UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
        raise OneLineError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if not openings:
        raise OneLineError(f"{path} holds no opening")
    return openings


def _parse(path: Path, lines: Iterable[str], plies: int | None, game: str) -> Iterable[Opening]:
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#") or (len(words) == 1 and USI_MOVE.fullmatch(words[0])):
            continue
        start, moves, _ = read_line(line)
        opening = Opening(start, tuple(moves[:plies]), game)
        try:
            # Far above what any opening reaches: the limit is the match's business.
            opening.referee(max_moves=10_000)
        except ValueError as error:
            raise OneLineError(f"{path}, line {number}: {error}") from error
        yield opening
