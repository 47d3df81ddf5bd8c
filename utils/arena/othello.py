"""What a match of Othello needs: start positions, records, a protocol without scores."""

from datetime import date
from functools import partial
from pathlib import Path
from typing import Final

from pydlshogi.games.othello.ggf import ggf
from pydlshogi.games.othello.records import read_games
from pydlshogi.games.othello.rules import START, move_name, parse_move
from pydlshogi.games.othello.transcript import RecordError, after, game_of
from utils.arena.games import EntryReferee, GameKind, Opening, PlayedGame
from utils.arena.gtp_engine import GtpEngine


def read_othello_openings(path: Path, plies: int | None = None) -> list[Opening]:
    """The beginnings of all games of a file of records, each cut after `plies` moves. Raises RecordError, OSError."""
    games = read_games(path)
    if any(game.start != START or after(START, game.moves[:plies]).over for game in games):
        raise RecordError(f"{path}: an opening is the beginning of a game from the start, and not all of it")
    return [Opening(None, tuple(map(move_name, game.moves[:plies])), "othello") for game in games]


def othello_record(played: PlayedGame, names: tuple[str, str], event: str) -> str:
    """The game in GGF; a game that ended otherwise than on the board has no result."""
    game = game_of(map(parse_move, played.moves))
    return ggf(game._replace(black=names[0], white=names[1], event=event, date=f"{date.today()}")) + "\n"


KIND: Final = GameKind(
    partial(EntryReferee, "othello"),
    othello_record,
    ".ggf",
    engine=GtpEngine,
    only_times=True,
    read_openings=read_othello_openings,
)
