"""What a match of Dobutsu shogi needs: start positions and rules. It knows no engines, clocks or scores.

The rules are those that our engine plays by: pyffish, which knows them too, is there for tests only, and holds them
against ours in tests/test_dobutsu.py. Of the two dialects our engine reads both, Fairy-Stockfish only the second.
"""

from functools import partial
from typing import Final

from pydlshogi.games.dobutsu.position import DobutsuPosition, in_other_dialect, sfen_in_other_dialect
from pydlshogi.games.dobutsu.rules import ENEMY, LION, WAYS
from utils.arena.games import EntryReferee, GameKind
from utils.arena.referee import Verdict, other


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


def _sfen(text: str) -> str:
    """A position as Fairy-Stockfish writes it. Raises ValueError."""
    return sfen_in_other_dialect(DobutsuPosition(text).sfen())


KIND: Final = GameKind(partial(DobutsuReferee, "dobutsu"), sfen=_sfen)
