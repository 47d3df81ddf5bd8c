"""Games of shogi as lines of USI: see `pydlshogi.support.usi_lines`."""

from typing import Final

from pydlshogi.games.shogi.kifu.game import UNKNOWN, Conclusion, Game, RecordError, settle
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import START_SFEN, move_of
from pydlshogi.support.usi_lines import usi_lines, written

_ENDINGS: Final[dict[str, Conclusion]] = {
    "": UNKNOWN,
    "resign": ("resign", "-"),
    "win": ("declaration", "+"),
    "draw": ("jishogi", "d"),
    "rep_draw": ("sennichite", "d"),
    "timeout": ("time_up", "-"),
    "break": ("interrupted", None),
}


def parse(text: str) -> list[Game]:
    """The games of shogi in a text. Raises RecordError at an illegal move unless it is the last and not the first."""
    games = []
    for number, (start, usi, evaluations, end) in enumerate(usi_lines(text), 1):
        sfen = start or START_SFEN
        try:
            position = ShogiPosition(sfen)
            moves = tuple(position.follow([move_of(word) for word in usi]))
            illegal = usi[len(moves) :]
            if illegal and (illegal[1:] or not move_of(illegal[0])):
                raise ValueError(f"move {len(moves) + 1}, {illegal[0]}, is not legal")
            ending, win = settle(_ENDINGS[end], position.turn, "".join(illegal), len(moves))
        except ValueError as error:
            raise RecordError(f"game {number}: {error}") from error
        evals = (*evaluations[: len(moves)], *(None,) * (len(moves) - len(evaluations)))
        games.append(Game(sfen, moves, win, ending, evals, (None,) * len(moves)))
    return games


def to_usi(game: Game) -> str:
    """`game` as a line of USI, with its evaluations. Raises RecordError for what that cannot hold: variations."""
    if game.variations:
        raise RecordError("a line of USI cannot hold variations")
    return written(game.start_sfen, game.usi, game.evals)
