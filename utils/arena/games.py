"""How matches of a game are played, where they begin and what comes of them: all that differs between games."""

import lzma
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

from pydlshogi.catalogue import game_named
from pydlshogi.games.shogi.names import USI_MOVE
from pydlshogi.support import OneLineError
from pydlshogi.support.files import open_plain
from pydlshogi.support.usi_text import read_line
from utils.arena.engines import EngineProcess, UsiEngine

_LONGEST_LINE: Final = 1 << 16

Colour = Literal["b", "w"]


class Verdict(NamedTuple):
    """How a game ended; no winner means a draw."""

    winner: Colour | None
    ending: str


def other(colour: Colour) -> Colour:
    """The opponent's colour."""
    return "w" if colour == "b" else "b"


class Judge(Protocol):
    """The referee of one game: its moves so far, and what another one comes to."""

    moves: list[str]

    @property
    def turn(self) -> Colour:
        """The side to move."""

    def play(self, move: str) -> Verdict | None:
        """Make `move` and judge; None while the game goes on. An illegal move is not made and loses."""

    def declare(self) -> Verdict:
        """Judge `bestmove win`."""


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
        from utils.arena.kinds import SHOGI

        return SHOGI
    if game == "dobutsu":
        from utils.arena.kinds import DOBUTSU

        return DOBUTSU
    if game == "othello":
        from utils.arena.kinds import OTHELLO

        return OTHELLO
    game_named(game)
    return GameKind(partial(EntryReferee, game))


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
        start, moves, *_ = read_line(line)
        opening = Opening(start, tuple(moves[:plies]), game)
        try:
            # Far above what any opening reaches: the limit is the match's business.
            opening.referee(max_moves=10_000)
        except ValueError as error:
            raise OneLineError(f"{path}, line {number}: {error}") from error
        yield opening
