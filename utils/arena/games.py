"""The games that matches are played of: what one needs that another has differently."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import cshogi

from pydlshogi.games.catalogue import resolved
from pydlshogi.kifu.csa import to_csa
from pydlshogi.kifu.game import Ending, Game, Win
from utils.arena.dobutsu import DobutsuOpening, dobutsu_record, read_dobutsu_openings
from utils.arena.engine_process import EngineProcess
from utils.arena.gtp_engine import GtpEngine
from utils.arena.openings import Opening, read_openings
from utils.arena.othello import OthelloOpening, othello_record, read_othello_openings
from utils.arena.play_game import PlayedGame
from utils.arena.usi_engine import UsiEngine


class GameKind(NamedTuple):
    """A game."""

    engine: Callable[[str, Path], EngineProcess]
    """(command, file for its stderr): an engine in the game's protocol. Raises EngineError."""
    opening: Callable[[str | None, tuple[str, ...]], Opening]
    """(start, moves), without a start the game's own."""
    read_openings: Callable[[Path, int | None], Sequence[Opening]]
    """(file, most plies). Raises OpeningError."""
    record: Callable[[PlayedGame, tuple[str, str], str], str]
    """(game, names of Black and White, event): the text of a record."""
    suffix: str
    """Of its file."""
    limits: tuple[str, ...]
    """What engines can be limited by: "time", "fischer", "nodes"."""
    tells_scores: bool = True
    """Whether engines say with a move what it is worth."""


def shogi_record(played: PlayedGame, names: tuple[str, str], event: str) -> str:
    """The game in CSA: whole seconds, none for the opening; a crash says nothing of the position."""
    winner, ending = played.verdict
    win: Win | None = winner or "d"
    kept: Ending
    if ending == "crash":
        win, kept = None, "abnormal"
    elif ending == "adjudication":
        kept = "resign"
    elif ending == "false_declaration":
        kept = "illegal_move"
    else:
        assert ending != "count"  # nothing is counted in shogi
        kept = ending
    opening = len(played.opening.moves)
    times = tuple(ms // 1000 if ply >= opening else None for ply, ms in enumerate(played.times_ms))
    game = Game(
        played.opening.sfen or cshogi.STARTING_SFEN,
        tuple(played.moves),
        win,
        kept,
        tuple(played.evals),
        times,
        names,
        event=event,
    )
    return to_csa(game)


GAMES = {
    "shogi": GameKind(UsiEngine, Opening, read_openings, shogi_record, ".csa", ("time", "fischer", "nodes")),
    "dobutsu": GameKind(
        UsiEngine, DobutsuOpening, read_dobutsu_openings, dobutsu_record, ".txt", ("time", "fischer", "nodes")
    ),
    "othello": GameKind(GtpEngine, OthelloOpening, read_othello_openings, othello_record, ".ggf", ("time",), False),
}


def kind_of(game: str) -> GameKind:
    """One of GAMES, or anybody's as `MODULE:NAME`. Raises UnknownGame."""
    return GAMES[game] if game in GAMES else resolved(game, GAMES)
