"""What a match of Dobutsu shogi needs: start positions and rules. It knows no engines, clocks or scores.

The rules are those that our engine plays by: pyffish, which knows them too, is there for tests only, and holds them
against ours in tests/test_dobutsu.py. Of the two dialects our engine reads both, Fairy-Stockfish only the second.
"""

from typing import Final

from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.dobutsu.rules import ENEMY, LION, WAYS
from pydlshogi.games.dobutsu.sfen import in_other_dialect, sfen_in_other_dialect
from utils.arena.games import GameKind
from utils.arena.referee import Colour, Verdict, other


class DobutsuReferee:
    """One game of Dobutsu shogi from `start_sfen`, drawn after `max_moves` moves unless the last one wins.

    A lion that is left to be taken counts as taken: Fairy-Stockfish does not know that this is a move at all.
    """

    def __init__(self, start_sfen: str | None = None, max_moves: int = 512) -> None:
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


def _sfen(text: str) -> str:
    """A position as Fairy-Stockfish writes it. Raises ValueError."""
    return sfen_in_other_dialect(DobutsuPosition(text).sfen())


KIND: Final = GameKind(DobutsuReferee, sfen=_sfen)
