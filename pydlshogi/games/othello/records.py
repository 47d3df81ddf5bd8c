"""Files of games, whatever their format: WTHOR, GGF or transcripts, a line each."""

from os import PathLike
from pathlib import Path

from pydlshogi.games.othello.ggf import holds_ggf, parse_ggf
from pydlshogi.games.othello.rules import START
from pydlshogi.games.othello.transcript import RecordError, Transcript, parse_transcripts
from pydlshogi.games.othello.wthor import LARGEST_FILE, games_of, read_wthor
from pydlshogi.support.files import read_plain


def parse_games(text: str) -> list[Transcript]:
    """The games of a text, GGF or transcripts. Raises RecordError."""
    return list(parse_ggf(text) if holds_ggf(text) else parse_transcripts(text))


def read_games(path: str | PathLike[str]) -> list[Transcript]:
    """The games of a file, every move of them legal. Raises RecordError, which names the file; OSError."""
    try:
        if Path(path).suffix.lower() == ".wtb":
            header, rows = read_wthor(path)
            games = list(games_of(rows, int(header["year"])))
        else:
            text = read_plain(Path(path), LARGEST_FILE).decode("utf-8-sig", "replace")
            games = parse_games(text)
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from error
    if not games:
        raise RecordError(f"{path}: it holds no game")
    return games


def read_from_start(path: str | PathLike[str]) -> list[Transcript]:
    """The games of a file, all from the start of Othello. Raises RecordError, which names the file; OSError."""
    games = read_games(path)
    if any(game.start != START for game in games):
        raise RecordError(f"{path}: not all of its games begin at the start")
    return games
