"""How matches of a game are played, where they begin and what comes of them: all that differs between games."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydlshogi.catalogue import game_named
from utils.arena.engine_process import EngineProcess
from utils.arena.referee import Colour, Referee, Verdict, other
from utils.arena.usi_engine import UsiEngine


class EntryReferee:
    """One game by the rules of an entry, which our engine plays by too; drawn after `max_moves`."""

    def __init__(self, game: str, start: str | None, max_moves: int) -> None:
        """Raises ValueError for what is not a position."""
        self.moves: list[str] = []
        self.position, self._max_moves = game_named(game).position(start), max_moves

    @property
    def turn(self) -> Colour:
        return "w" if self.position.turn else "b"

    def play(self, move: str) -> Verdict | None:
        try:
            legal = self.position.move_from_usi(move)
        except ValueError:
            return Verdict(other(self.turn), "illegal_move")
        self.moves.append(self.written(legal))
        self.position.push(legal)
        return self.verdict() or (Verdict(None, "max_moves") if len(self.moves) >= self._max_moves else None)

    def written(self, move: int) -> str:
        """A move of the position, for records and engines."""
        return self.position.usi(move)

    def verdict(self) -> Verdict | None:
        """How the rules have ended the game."""
        ending = self.position.ending()
        return ending and Verdict(None if ending.winner is None else "w" if ending.winner else "b", ending.reason)

    def declare(self) -> Verdict:
        if self.position.declares():
            return Verdict(self.turn, "declaration")
        return Verdict(other(self.turn), "false_declaration")


Judge = Referee | EntryReferee
"""The referee of one game, whatever is played."""


class Opening(NamedTuple):
    """A position as USI's `position` command names it, and as records need it."""

    sfen: str | None
    """None: the standard start position."""
    moves: tuple[str, ...]
    game: str = "shogi"

    @property
    def start(self) -> str:
        """What follows `position` and precedes `moves`."""
        return "startpos" if self.sfen is None else f"sfen {kind_of(self.game).sfen(self.sfen)}"

    def referee(self, max_moves: int) -> Judge:
        """The game after these moves. Raises ValueError if they are illegal or end it."""
        referee = kind_of(self.game).referee(self.sfen, max_moves)
        for move in self.moves:
            verdict = referee.play(move)
            if verdict is not None:
                raise ValueError(f"{verdict.ending} at {move}")
        return referee


STANDARD = Opening(None, ())


class Overrun(NamedTuple):
    """A move that took too long."""

    ply: int
    """Number of the move, the first of the game being 1."""
    colour: Colour
    milliseconds: int


@dataclass
class PlayedGame:
    """A finished game. `evals` and `times_ms` have one entry per move; None and 0 for those of the opening."""

    opening: Opening
    verdict: Verdict
    moves: list[str]
    evals: list[int | None] = field(default_factory=list)
    """Centipawns from Black's view."""
    times_ms: list[int] = field(default_factory=list)
    overruns: list[Overrun] = field(default_factory=list)
    answer: str | None = None
    """The answer that ended the game without becoming a move: an illegal move, resign, win."""


def usi_record(played: PlayedGame, names: tuple[str, str], event: str) -> str:
    """The game as a line of USI, below one that says who played and how it ended; the board opens it."""
    winner, ending = played.verdict
    result = {"b": "Black wins", "w": "White wins", None: "draw"}[winner]
    game = " ".join([played.opening.start, "moves", *played.moves])
    return f"# {event}: {names[0]} (Black) against {names[1]} (White), {result}: {ending}\n{game}\n"


class GameKind(NamedTuple):
    """What is special to matches of a game."""

    referee: Callable[[str | None, int], Judge]
    """(start, most moves) -> the referee of one game. Raises ValueError for what is not a position."""
    record: Callable[[PlayedGame, tuple[str, str], str], str] = usi_record
    """(game, names of Black and White, event): the text of a record."""
    suffix: str = ".txt"
    """Of its file."""
    engine: Callable[[str, Path], EngineProcess] = UsiEngine
    """(command, file for its stderr): an engine in the game's protocol. Raises EngineError."""
    only_times: bool = False
    """Engines know neither nodes nor increments, and do not say what a move is worth."""
    sfen: Callable[[str], str] = str
    """A position as other engines read it."""
    read_openings: Callable[[Path, int | None], Sequence[Opening]] | None = None
    """(file, most plies); None: one a line, as USI has them. Raises OneLineError."""


def kind_of(game: str) -> GameKind:
    """How matches of a game are played. Raises UnknownGame."""
    if game == "shogi":
        from utils.arena.shogi import KIND as SHOGI

        return SHOGI
    if game == "dobutsu":
        from utils.arena.dobutsu import KIND as DOBUTSU

        return DOBUTSU
    if game == "othello":
        from utils.arena.othello import KIND as OTHELLO

        return OTHELLO
    game_named(game)
    return GameKind(partial(EntryReferee, game))
