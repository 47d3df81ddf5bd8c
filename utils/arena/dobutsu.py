"""What a match of Dobutsu shogi needs: start positions, rules, records. It knows no engines, clocks or scores.

The rules are those that our engine plays by: pyffish, which knows them too, is there for tests only, and holds them
against ours in tests/test_dobutsu.py. Of the two dialects our engine reads both, Fairy-Stockfish only the second.
"""

from functools import partial
from typing import Final

from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.dobutsu.rules import ENEMY, LION, WAYS
from pydlshogi.games.dobutsu.sfen import START_SFEN, in_other_dialect, sfen_in_other_dialect
from utils.arena.openings import Opening, read_openings
from utils.arena.play_game import PlayedGame
from utils.arena.referee import Colour, Verdict, other


class DobutsuReferee:
    """One game of Dobutsu shogi from `start_sfen`, drawn after `max_moves` moves unless the last one wins.

    A lion that is left to be taken counts as taken: Fairy-Stockfish does not know that this is a move at all.
    """

    def __init__(self, start_sfen: str = START_SFEN, max_moves: int = 512) -> None:
        """Raises ValueError for what is not a position."""
        self.max_moves = max_moves
        self.moves: list[str] = []
        """With drops as Fairy-Stockfish writes them; `play` takes both dialects."""
        self._position = DobutsuPosition(start_sfen)

    @property
    def turn(self) -> Colour:
        """Who is to move."""
        return "w" if self._position.turn else "b"

    def play(self, move: str) -> Verdict | None:
        """Make `move` and judge; None while the game goes on. An illegal move is not made and loses."""
        mover, position = self.turn, self._position
        try:
            legal = position.move_from_usi(move)
        except ValueError:
            return Verdict(other(mover), "illegal_move")
        self.moves.append(in_other_dialect(position.usi(legal)))
        position.push(legal)
        if not len(position.legal_moves()):
            return Verdict(mover, "mate")
        if self._lion_can_be_taken():
            return Verdict(other(mover), "mate")
        if position.threefold():
            return Verdict(None, "sennichite")
        if len(self.moves) >= self.max_moves:
            return Verdict(None, "max_moves")
        return None

    def declare(self) -> Verdict:
        """Nobody wins by saying so."""
        return Verdict(other(self.turn), "false_declaration")

    def _lion_can_be_taken(self) -> bool:
        pieces = int(self._position.state["pieces"])
        targets = (self._position.legal_moves() // WAYS).tolist()
        return any(pieces >> 4 * target & 15 == ENEMY + LION for target in targets)


class DobutsuOpening(Opening):
    """A position of Dobutsu shogi and moves from there."""

    __slots__ = ()

    @property
    def start(self) -> str:
        """What follows `position` and precedes `moves`, as Fairy-Stockfish writes it."""
        return "startpos" if self.sfen is None else f"sfen {sfen_in_other_dialect(DobutsuPosition(self.sfen).sfen())}"

    def begun(self, max_moves: int) -> DobutsuReferee:
        """The game before these moves. Raises ValueError for what is not a position."""
        return DobutsuReferee(self.sfen or START_SFEN, max_moves)


read_dobutsu_openings: Final = partial(read_openings, kind=DobutsuOpening)


def dobutsu_record(played: PlayedGame, names: tuple[str, str], event: str) -> str:
    """The game as a line of USI, below one that says who played and how it ended; the board opens it."""
    winner, ending = played.verdict
    result = {"b": "Black wins", "w": "White wins", None: "draw"}[winner]
    game = " ".join([played.opening.start, "moves", *played.moves])
    return f"# {event}: {names[0]} (Black) against {names[1]} (White), {result}: {ending}\n{game}\n"
