"""Record files to games, whatever their format and encoding; and lists of such files.

Games come back as `Game` (see `kifu/game.py`). Knows nothing of networks: `training/records.py` makes training
positions.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Final

from pydlshogi.games.shogi.kifu import formats
from pydlshogi.games.shogi.kifu.game import Game, RecordError
from pydlshogi.player.base_player import PlayerError, play_moves
from pydlshogi.support import OneLineError
from pydlshogi.support.decoding import decode
from pydlshogi.support.files import read_plain
from pydlshogi.support.pool import ProcessPool
from pydlshogi.support.usi_text import holds_usi, usi_lines

_LARGEST_FILE: Final = 1 << 26
"""Bytes. Collections of a hundred thousand games are kept in more files than one."""
_LONGEST_LINE: Final = 1 << 20
_FILES_PER_TASK: Final = 16


class KifuError(OneLineError):
    """A record file that cannot be read. Its text is one line: the file and the reason."""

    def __init__(self, path: str | PathLike[str], reason: str) -> None:
        super().__init__(str(path), reason)
        self.path = Path(path)
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def read(path: str | PathLike[str]) -> list[Game]:
    """The games of one record file, as many as it holds.

    Raises KifuError where the file cannot be opened, is no record, or breaks the rules of its format or of shogi.
    """
    try:
        data = read_plain(Path(path), _LARGEST_FILE)
    except OSError as error:
        raise KifuError(path, error.strerror or str(error)) from error
    return parse(data, path)


def parse(data: bytes, path: str | PathLike[str]) -> list[Game]:
    """The games of a record file that holds `data`. Raises KifuError."""
    text = decode(data)
    try:
        if not text or text.isspace():
            raise RecordError("empty")
        for number, line in enumerate(text.split("\n") if len(text) > _LONGEST_LINE else (), 1):
            if len(line) > _LONGEST_LINE:
                raise RecordError(f"line {number} is longer than any of a record")
        return formats.parse(text)
    except RecordError as error:
        raise KifuError(path, _of_another_game(data, text) or str(error)) from error


def _of_another_game(data: bytes, text: str) -> str:
    """What to do with a record of another game; "": it is none."""
    from pydlshogi.catalogue import GAMES  # which imports this one

    lines = usi_lines(text) if holds_usi(text) else []
    for game in [game for game in GAMES.values() if game.name != "shogi"]:
        with suppress(PlayerError, ValueError):  # it is not one of this game
            for line in lines:
                play_moves(game.position(line.start), line.moves)
            if lines or (game.files and game.files.opened(data, text)):
                return f"a game of {game.name}, not of shogi: the board opens it, `python -m pydlshogi.web`"
    return ""


def read_games(path: str | PathLike[str]) -> list[Game]:
    """As `read`; raises KifuError for a problem too: nobody played it, so nothing is learned from it."""
    games = read(path)
    if any(game.is_problem for game in games):
        raise KifuError(path, "a king is missing: a problem, not a game")
    return games


def read_list(path: str | PathLike[str]) -> Iterator[Path]:
    """The record files that a list names, one a line, relative to the list; empty lines are skipped.

    Raises KifuError where the list cannot be read; whether the files exist is not checked.
    """
    try:
        text = read_plain(Path(path), _LARGEST_FILE).decode("utf-8-sig")
    except OSError as error:
        raise KifuError(path, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise KifuError(path, "not a list of files in UTF-8") from error
    if "\0" in text:
        raise KifuError(path, "not a list of files: no name has a zero byte")
    folder = Path(path).parent
    return (folder / line.strip() for line in text.splitlines() if line.strip())


def read_many(paths: Iterable[Path], processes: int = 1) -> Iterator[tuple[Path, list[Game] | KifuError]]:
    """Each path with its games, or with the reason it has none, in the order given; read by `processes` processes."""
    paths = list(paths)
    if processes <= 1:
        yield from zip(paths, map(_games_or_error, paths), strict=True)
        return
    parts = [paths[start : start + _FILES_PER_TASK] for start in range(0, len(paths), _FILES_PER_TASK)]
    with ProcessPool(processes) as pool:
        read_parts = pool.in_order(_games_or_errors, parts)
        yield from zip(paths, chain.from_iterable(read_parts), strict=True)


def _games_or_errors(paths: Sequence[Path]) -> list[list[Game] | KifuError]:
    return [_games_or_error(path) for path in paths]


def _games_or_error(path: Path) -> list[Game] | KifuError:
    try:
        return read_games(path)
    except KifuError as error:
        return error
