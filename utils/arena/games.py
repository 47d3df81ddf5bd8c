"""How matches of a game are played, where they begin and what comes of them: all that differs between games.

Shogi is judged on cshogi.Board, apart from the rules that the engine plays by, so that a mistake there costs games
instead of being agreed to. Of the two dialects of Dobutsu shogi our engine reads both, Fairy-Stockfish only the second.
Without the folder of Othello the others are played all the same.
"""

import lzma
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from pydlshogi.catalogue import game_named
from pydlshogi.games.dobutsu.position import DobutsuPosition, in_other_dialect, sfen_in_other_dialect
from pydlshogi.games.dobutsu.rules import ENEMY, LION, WAYS
from pydlshogi.games.shogi.kifu.csa import to_csa
from pydlshogi.games.shogi.kifu.game import Ending, Game, Win, moves_of
from pydlshogi.games.shogi.names import USI_MOVE
from pydlshogi.games.shogi.sfen import START_SFEN, read_sfen, usi_of
from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import remedy
from pydlshogi.support.files import open_plain
from pydlshogi.support.usi_text import read_line
from utils.arena.engines import EngineProcess, GtpEngine, UsiEngine

_LONGEST_LINE: Final = 1 << 16

Colour = Literal["b", "w"]


class Verdict(NamedTuple):
    """How a game ended; no winner means a draw."""

    winner: Colour | None
    ending: str


def other(colour: Colour) -> Colour:
    """The opponent's colour."""
    return "w" if colour == "b" else "b"


class Referee:
    """One game of shogi, from the start without an sfen; drawn after `max_moves` moves unless the last one mates."""

    def __init__(self, start_sfen: str | None = None, max_moves: int = 512) -> None:
        """Raises ValueError for what is not a shogi position, OneLineError without cshogi."""
        try:
            import cshogi
        except ImportError as error:
            raise OneLineError(f"cshogi is not installed here: {remedy('match', 'cshogi')} ({error})") from error
        start = start_sfen or START_SFEN
        read_sfen(start)
        self.board: Any = cshogi.Board(start)
        self.max_moves = max_moves
        self.moves: list[str] = []
        self._checks = [bool(self.board.is_check())]
        self._seen: defaultdict[str, list[int]] = defaultdict(list)
        self._seen[self._position()].append(0)

    @property
    def turn(self) -> Colour:
        """The side to move."""
        return "w" if self.board.turn else "b"

    def play(self, move: str) -> Verdict | None:
        """Make `move` (USI) and judge; None while the game goes on. An illegal move is not made and loses."""
        mover = self.turn
        # cshogi's own parser takes promotions that the rules do not allow, such as 7g7f+.
        legal = {usi_of(candidate): candidate for candidate in self.board.legal_moves}
        if move not in legal:
            return Verdict(other(mover), "illegal_move")
        self.board.push(legal[move])
        self.moves.append(move)
        self._checks.append(bool(self.board.is_check()))
        self._seen[self._position()].append(len(self.moves))
        if not len(self.board.legal_moves):
            return Verdict(mover, "mate")
        occurrences = self._seen[self._position()]
        if len(occurrences) >= 4:
            return self._repetition(since=occurrences[-4], mover=mover)
        if len(self.moves) >= self.max_moves:
            return Verdict(None, "max_moves")
        return None

    def declare(self) -> Verdict:
        """Judge `bestmove win` by the 27-point rule."""
        if self.board.is_nyugyoku():
            return Verdict(self.turn, "declaration")
        return Verdict(other(self.turn), "false_declaration")

    def _position(self) -> str:
        """Board, side to move and hands, without the move number."""
        return str(self.board.sfen()).rsplit(" ", 1)[0]

    def _repetition(self, since: int, mover: Colour) -> Verdict:
        """Fourth occurrence of a position: a draw, or lost for the side whose every move since the first gave check."""
        checks = self._checks[since + 1 :]
        if all(checks[-1::-2]):
            return Verdict(other(mover), "perpetual_check")
        if all(checks[-2::-2]):
            return Verdict(mover, "perpetual_check")
        return Verdict(None, "sennichite")


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


class DobutsuReferee(EntryReferee):
    """One game of Dobutsu shogi from `start`, drawn after `max_moves` unless the last one wins.

    A lion that is left to be taken counts as taken: Fairy-Stockfish does not know that this is a move at all.
    """

    position: DobutsuPosition

    def written(self, move: int) -> str:
        return in_other_dialect(super().written(move))

    def verdict(self) -> Verdict | None:
        position, legal = self.position, self.position.legal_moves()
        pieces = int(position.state["pieces"])
        if not len(legal):
            return Verdict(other(self.turn), "mate")
        if any(pieces >> 4 * target & 15 == ENEMY + LION for target in (legal // WAYS).tolist()):
            return Verdict(self.turn, "mate")
        return Verdict(None, "sennichite") if position.threefold() else None


Judge: TypeAlias = Referee | EntryReferee
"""The referee of one game: its moves so far, and what another one comes to."""


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


_KEPT: Final[dict[str, Ending]] = {
    "crash": "abnormal",
    "adjudication": "resign",
    "false_declaration": "illegal_move",
    **{each: each for each in get_args(Ending)},
}
"""How records say that a game ended."""


def shogi_record(played: PlayedGame, names: tuple[str, str], event: str) -> str:
    """The game in CSA: whole seconds, none for the opening; a crash says nothing of the position."""
    winner, ending = played.verdict
    win: Win | None = None if ending == "crash" else winner or "d"
    opening = len(played.opening.moves)
    times = tuple(ms // 1000 if ply >= opening else None for ply, ms in enumerate(played.times_ms))
    start = played.opening.sfen or START_SFEN
    game = Game(
        start, moves_of(start, played.moves), win, _KEPT[ending], tuple(played.evals), times, names, event=event
    )
    return to_csa(game)


def othello_record(played: PlayedGame, names: tuple[str, str], event: str) -> str:
    """The game in GGF; a game that ended otherwise than on the board has no result."""
    from pydlshogi.games.othello.rules import parse_move
    from pydlshogi.games.othello.transcript import game_of, ggf

    game = game_of(map(parse_move, played.moves))
    return ggf(game._replace(black=names[0], white=names[1], event=event, date=f"{date.today()}")) + "\n"


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


def _dobutsu_sfen(text: str) -> str:
    """A position as Fairy-Stockfish writes it. Raises ValueError."""
    return sfen_in_other_dialect(DobutsuPosition(text).sfen())


def read_othello_openings(path: Path, plies: int | None = None) -> list[Opening]:
    """The beginnings of all games of a file of records, each cut after `plies` moves. Raises RecordError, OSError."""
    from pydlshogi.games.othello.rules import START, move_name
    from pydlshogi.games.othello.transcript import RecordError, after
    from pydlshogi.games.othello.wthor import read_games

    games = read_games(path)
    if any(game.start != START or after(START, game.moves[:plies]).over for game in games):
        raise RecordError(f"{path}: an opening is the beginning of a game from the start, and not all of it")
    return [Opening(None, tuple(map(move_name, game.moves[:plies])), "othello") for game in games]


_KINDS: Final = {
    "shogi": GameKind(Referee, shogi_record, ".csa"),
    "dobutsu": GameKind(partial(DobutsuReferee, "dobutsu"), sfen=_dobutsu_sfen),
    "othello": GameKind(
        partial(EntryReferee, "othello"),
        othello_record,
        ".ggf",
        engine=GtpEngine,
        only_times=True,
        read_openings=read_othello_openings,
    ),
}
"""Of games that differ from the others."""


def kind_of(game: str) -> GameKind:
    """How matches of a game are played. Raises UnknownGame."""
    game_named(game)
    return _KINDS.get(game) or GameKind(partial(EntryReferee, game))


def check_room(openings: Iterable[Opening], max_moves: int) -> None:
    """Raises OneLineError where nothing is left to play after an opening, in a game of `max_moves`."""
    longest = max(len(opening.moves) for opening in openings)
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
