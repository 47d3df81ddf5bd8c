"""What a match of Othello needs: start positions, rules, records. It knows no engines, clocks or scores."""

from datetime import date
from pathlib import Path

from pydlshogi.games.othello.ggf import ggf
from pydlshogi.games.othello.records import read_games
from pydlshogi.games.othello.rules import START, move_name, parse_move
from pydlshogi.games.othello.transcript import RecordError, after, game_of
from utils.arena.openings import Opening, OpeningError
from utils.arena.play_game import PlayedGame
from utils.arena.referee import Colour, Verdict, other


class OthelloReferee:
    """One game of Othello. A pass is a move, which whoever must pass has to make."""

    def __init__(self) -> None:
        self.moves: list[str] = []
        self._position = START

    @property
    def turn(self) -> Colour:
        """Who is to move."""
        return "b" if self._position.black_to_move else "w"

    def play(self, move: str) -> Verdict | None:
        """Make `move` and judge; None while the game goes on. An illegal move is not made and loses."""
        try:
            parsed = parse_move(move)
            self._position = self._position.play(parsed)
        except ValueError:
            return Verdict(other(self.turn), "illegal_move")
        self.moves.append(move_name(parsed))  # a pass has several names
        if not self._position.over:
            return None
        score = self._position.score
        return Verdict(None if score == 0 else self.turn if score > 0 else other(self.turn), "count")

    def declare(self) -> Verdict:
        """Nobody wins by saying so."""
        return Verdict(other(self.turn), "false_declaration")


class OthelloOpening(Opening):
    """Moves from the start position of Othello; it has no other."""

    __slots__ = ()

    def begun(self, _max_moves: int) -> OthelloReferee:
        """The game before these moves, which ends by itself."""
        return OthelloReferee()


def read_othello_openings(path: Path, plies: int | None = None) -> list[OthelloOpening]:
    """The beginnings of all games of a file of records, each cut after `plies` moves. Raises OpeningError."""
    try:
        games = read_games(path)
    except (RecordError, OSError) as error:
        raise OpeningError(str(error) if isinstance(error, RecordError) else f"{path}: {error.strerror}") from error
    if any(game.start != START or after(START, game.moves[:plies]).over for game in games):
        raise OpeningError(f"{path}: an opening is the beginning of a game from the start, and not all of it")
    return [OthelloOpening(None, tuple(map(move_name, game.moves[:plies]))) for game in games]


def othello_record(played: PlayedGame, names: tuple[str, str], event: str) -> str:
    """The game in GGF; a game that ended otherwise than on the board has no result."""
    game = game_of(map(parse_move, played.moves))
    return ggf(game._replace(black=names[0], white=names[1], event=event, date=f"{date.today()}")) + "\n"
