"""What a match of shogi needs: the referee that knows cshogi alone, and records in CSA."""

from typing import Final, get_args

import cshogi

from pydlshogi.games.shogi.kifu.csa import to_csa
from pydlshogi.games.shogi.kifu.game import Ending, Game, Win, moves_of
from utils.arena.games import GameKind, PlayedGame
from utils.arena.referee import Referee

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
    start = played.opening.sfen or cshogi.STARTING_SFEN
    game = Game(
        start, moves_of(start, played.moves), win, _KEPT[ending], tuple(played.evals), times, names, event=event
    )
    return to_csa(game)


KIND: Final = GameKind(Referee, shogi_record, ".csa")
