"""Dobutsu shogi by its solution: what the search that all games share need not look for."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from pydlshogi.game import Outcome
from pydlshogi.games.dobutsu import DobutsuOptions, is_solved, solution_file
from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.dobutsu.solve import Solution
from pydlshogi.player.base_player import Adviser, BestMove, Info, PlayerError, Report, moves_named
from pydlshogi.player.clock import Clock
from pydlshogi.support import OneLineError
from pydlshogi.support.files import stamp_of

HOW_TO_SOLVE: Final = "python -m pydlshogi.games.dobutsu.solve"
_LONGEST_LINE: Final = 12
"""Moves of a line that is shown."""


class PerfectPlay(Adviser[DobutsuOptions, Any]):
    """Where there is a solution of the game, analyses are by it, and games may be played by it."""

    def loading(self, options: DobutsuOptions) -> None:
        """Raises PlayerError where there is no solution to play by."""
        if options.perfect_play:
            _solution()

    def answer(
        self, position: DobutsuPosition, clock: Clock, options: DobutsuOptions, report: Report
    ) -> BestMove | None:
        """The solution's move, where the options or an analysis ask for it."""
        # Moves are named where the opinion of the network is wanted of each.
        analysed = options.analysing(clock) and not clock.limits.searchmoves and is_solved()
        if not (options.perfect_play or analysed):
            return None
        solution = _solution()
        among = moves_named(position, clock.limits.searchmoves)
        moves = {move: ends for move, ends in solution.moves(position).items() if not among or move in among}
        if not any(ends.value == 1 for ends in moves.values()) and len(moves) < len(among or position.legal_moves()):
            return None  # the game does not get there
        best = _trickiest(solution, position, moves)
        ranked = [best, *(move for move in moves if move != best)]
        for place, move in enumerate(ranked[: options.multi_pv], 1):
            ends = moves[move]
            report(
                Info(
                    time=round(clock.elapsed()),
                    nodes=0,
                    multipv=place if options.multi_pv > 1 else None,
                    score_cp=0 if ends.value == 0.5 else None,
                    score_mate={1.0: ends.plies, 0.5: None, 0.0: -ends.plies}[ends.value],
                    win_rate=ends.value,
                    exact=True,
                    pv=_line(solution, position, move),
                )
            )
        return BestMove(*_line(solution, position, best)[:2])


def _solution() -> Solution:
    """Raises PlayerError where nobody has made it."""
    path = solution_file()
    if not path.is_file():
        raise PlayerError(f"Perfect_Play: the game has not been solved here; `{HOW_TO_SOLVE}` does so")
    return _opened(path, stamp_of(path))


@cache
def _opened(path: Path, _: tuple[int, ...]) -> Solution:
    try:
        return Solution(path)
    except (OneLineError, OSError) as error:
        raise PlayerError(f"Perfect_Play: {error}") from error


def _trickiest(solution: Solution, position: DobutsuPosition, moves: dict[int, Outcome]) -> int:
    """The best of `moves`, the best first; of those that draw the one after which most replies lose."""
    best = next(iter(moves))
    if moves[best].value != 0.5:
        return best

    def losing_replies(move: int) -> float:
        after = position.copy()
        after.push(move)
        replies = solution.moves(after).values()
        return sum(reply.value == 0 for reply in replies) / max(1, len(replies))

    return max((move for move, ends in moves.items() if ends.value == 0.5), key=losing_replies)


def _line(solution: Solution, position: DobutsuPosition, move: int) -> tuple[str, ...]:
    """A move, and what follows by the best play of both sides."""
    after, line = position.copy(), list[str]()
    while True:
        line.append(after.usi(move))
        after.push(move)
        moves = solution.moves(after)
        if not moves or len(line) == _LONGEST_LINE or after.threefold():
            return tuple(line)
        move = next(iter(moves))
