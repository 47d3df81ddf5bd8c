"""Games of shogi as lines of USI: see `pydlshogi.support.usi_lines`."""

from pydlshogi.games.shogi.kifu.game import Game, RecordError, moves_of
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.support.usi_lines import usi_lines, written


def parse(text: str) -> list[Game]:
    """The games of shogi in a text. Raises RecordError."""
    games = []
    for number, (start, usi, evaluations) in enumerate(usi_lines(text), 1):
        sfen = start or START_SFEN
        try:
            moves = moves_of(sfen, usi)
        except ValueError as error:
            raise RecordError(f"game {number}: {error}") from error
        evals = (*evaluations[: len(moves)], *(None,) * (len(moves) - len(evaluations)))
        games.append(Game(sfen, moves, None, "unknown", evals, (None,) * len(moves)))
    return games


def to_usi(game: Game) -> str:
    """`game` as a line of USI, with its evaluations. Raises RecordError for what that cannot hold: variations."""
    if game.variations:
        raise RecordError("a line of USI cannot hold variations")
    return written(game.start_sfen, game.usi, game.evals)
