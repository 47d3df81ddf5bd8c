"""Files of games, whatever their format: WTHOR, GGF or transcripts, a line each."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pydlshogi.games.othello.ggf import holds_ggf, parse_ggf
from pydlshogi.games.othello.transcript import RecordError, Transcript, parse_transcripts
from pydlshogi.games.othello.wthor import GAME, LARGEST_FILE, Games, games_of, read_wthor, rows_of
from pydlshogi.support.files import read_plain


def parse_games(text: str) -> list[Transcript]:
    """The games of a text, GGF or transcripts. Raises RecordError."""
    return list(parse_ggf(text) if holds_ggf(text) else parse_transcripts(text))


@contextmanager
def _naming(path: str | PathLike[str]) -> Iterator[None]:
    """Errors of what happens inside name the file."""
    try:
        yield
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from error


def read_games(path: str | PathLike[str]) -> list[Transcript]:
    """The games of a file, every move of them legal. Raises RecordError, which names the file; OSError."""
    with _naming(path):
        if Path(path).suffix.lower() == ".wtb":
            header, rows = read_wthor(path)
            games = list(games_of(rows, int(header["year"])))
        else:
            games = _read_text(Path(path))
        if not games:
            raise RecordError("it holds no game")
        return games


def _read_text(path: Path) -> list[Transcript]:
    return parse_games(read_plain(path, LARGEST_FILE).decode("utf-8-sig", "replace"))


class Archive(NamedTuple):
    """The games of several files, as WTHOR has them."""

    games: Games
    depths: npt.NDArray[np.uint8]
    """uint8 [games]: with how many empty squares play is perfect that leads to `theoretical`."""


def read_archive(paths: Iterable[Path]) -> Archive:
    """The games of several files of any format, all from the start of Othello and with a result.

    Raises RecordError, which names the file; OSError.
    """
    games, depths = [np.zeros(0, GAME)], [np.zeros(0, np.uint8)]
    for path in paths:
        depth = 0
        with _naming(path):
            if path.suffix.lower() == ".wtb":
                header, rows = read_wthor(path)
                depth = header["depth"]
            else:
                rows = rows_of(_read_text(path))
        games.append(rows)
        depths.append(np.full(len(rows), depth, np.uint8))
    return Archive(np.concatenate(games), np.concatenate(depths))
