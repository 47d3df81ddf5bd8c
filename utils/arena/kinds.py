"""What is special to matches of shogi, Dobutsu shogi and Othello: referees, records, start positions.

Shogi is judged on cshogi.Board, apart from the rules that the engine plays by, so that a mistake there costs games
instead of being agreed to. Pyffish, which knows Dobutsu shogi too, is there for tests only, and holds our rules against
its own in tests/test_dobutsu.py; of the two dialects our engine reads both, Fairy-Stockfish only the second.
Without the folder of Othello the others are played all the same.
"""

from collections import defaultdict
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

from pydlshogi.games.dobutsu.position import DobutsuPosition, in_other_dialect, sfen_in_other_dialect
from pydlshogi.games.dobutsu.rules import ENEMY, LION, WAYS
from pydlshogi.games.shogi.kifu.csa import to_csa
from pydlshogi.games.shogi.kifu.game import Ending, Game, Win, moves_of
from pydlshogi.games.shogi.sfen import START_SFEN, read_sfen, usi_of
from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import remedy
from utils.arena.engines import GtpEngine
from utils.arena.games import Colour, EntryReferee, GameKind, Opening, PlayedGame, Verdict, other

_KEPT: Final[dict[str, Ending]] = {
    "crash": "abnormal",
    "adjudication": "resign",
    "false_declaration": "illegal_move",
    **{each: each for each in get_args(Ending)},
}
"""How records say that a game ended."""


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


SHOGI: Final = GameKind(Referee, shogi_record, ".csa")


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


def _dobutsu_sfen(text: str) -> str:
    """A position as Fairy-Stockfish writes it. Raises ValueError."""
    return sfen_in_other_dialect(DobutsuPosition(text).sfen())


DOBUTSU: Final = GameKind(partial(DobutsuReferee, "dobutsu"), sfen=_dobutsu_sfen)


def read_othello_openings(path: Path, plies: int | None = None) -> list[Opening]:
    """The beginnings of all games of a file of records, each cut after `plies` moves. Raises RecordError, OSError."""
    from pydlshogi.games.othello.records import read_games
    from pydlshogi.games.othello.rules import START, move_name
    from pydlshogi.games.othello.transcript import RecordError, after

    games = read_games(path)
    if any(game.start != START or after(START, game.moves[:plies]).over for game in games):
        raise RecordError(f"{path}: an opening is the beginning of a game from the start, and not all of it")
    return [Opening(None, tuple(map(move_name, game.moves[:plies])), "othello") for game in games]


def othello_record(played: PlayedGame, names: tuple[str, str], event: str) -> str:
    """The game in GGF; a game that ended otherwise than on the board has no result."""
    from pydlshogi.games.othello.ggf import ggf
    from pydlshogi.games.othello.rules import parse_move
    from pydlshogi.games.othello.transcript import game_of

    game = game_of(map(parse_move, played.moves))
    return ggf(game._replace(black=names[0], white=names[1], event=event, date=f"{date.today()}")) + "\n"


OTHELLO: Final = GameKind(
    partial(EntryReferee, "othello"),
    othello_record,
    ".ggf",
    engine=GtpEngine,
    only_times=True,
    read_openings=read_othello_openings,
)
