"""What a search has found, as text: its lines as `Info`, its candidates as a table."""

import math
from collections.abc import Iterator, Sequence

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import HIGHEST_CP, Info
from pydlshogi.player.choice import lcb_move
from pydlshogi.player.thinking import MateSearcher
from pydlshogi.uct.root import MoveStats, Root
from pydlshogi.uct.search import Search


def centipawns(win_rate: float, eval_coef: float) -> int:
    """A win rate p, 0 to 1, as centipawns: `eval_coef` x ln(p / (1 - p)), within HIGHEST_CP either way.

    >>> centipawns(0.75, eval_coef=600)
    659
    """
    if not 0.0 < win_rate < 1.0:
        return HIGHEST_CP if win_rate >= 1.0 else -HIGHEST_CP
    return max(-HIGHEST_CP, min(HIGHEST_CP, round(-math.log(1 / win_rate - 1) * eval_coef)))


def usi_line(position: PlayedPosition, moves: Sequence[int]) -> tuple[str, ...]:
    """Moves that follow each other, as they are written."""
    position = position.copy()
    line = []
    for move in moves:
        line.append(position.usi(move))
        position.push(move)
    return tuple(line)


class SearchLines:
    """The lines of one search."""

    def __init__(self, position: PlayedPosition, search: Search, mate_searcher: MateSearcher, eval_coef: float) -> None:
        self._position = position
        self._search = search
        self._root = Root(search)
        self._mate_searcher = mate_searcher
        self._eval_coef = eval_coef

    def of(self, move: MoveStats) -> tuple[str, ...]:
        """The expected line after `move`; where a mate is proven, up to the mate."""
        return usi_line(self._position, self._line(move)[0])

    def infos(self, elapsed: float, multi_pv: int, chosen: MoveStats | None = None) -> Iterator[Info]:
        """The `multi_pv` best lines, `elapsed` milliseconds after `go`: first `chosen`, or what would be chosen now."""
        moves = self._root.moves()
        first = chosen or lcb_move(moves)
        moves = [first, *(move for move in moves if move.move != first.move)]
        for rank, move in enumerate(moves[:multi_pv], 1):
            yield self._info(move, rank if multi_pv > 1 else None, elapsed)

    def _info(self, move: MoveStats, rank: int | None, elapsed: float) -> Info:
        search = self._search
        moves, visits, mates = self._line(move)
        line = usi_line(self._position, moves)
        win_rate = self._root.win_rate(move)
        mate = move.plies if move.plies and mates else None
        return Info(
            depth=len(line),
            seldepth=max(len(line), search.deepest),
            time=round(elapsed),
            nodes=search.playouts,
            nps=round(1000 * search.playouts / elapsed) if elapsed >= 1 else None,
            hashfull=round(1000 * search.table.fullness),
            multipv=rank,
            score_cp=None if mate else centipawns(win_rate, self._eval_coef),
            score_mate=mate,
            win_rate=win_rate,
            visits=move.visits,
            prior=move.prior,
            pv=line,
            pv_visits=visits,
        )

    def _line(self, move: MoveStats) -> tuple[Sequence[int], tuple[int, ...], bool]:
        """The expected line after `move`; the visits of each of its moves, 0 for those that the tree lacks; and whether
        it is proven to end in mate."""
        known = [(move.move, move.visits), *self._root.continuation(move.move)]
        line, mates = [each for each, _ in known], False
        if move.plies:
            line, mates = self._mate_searcher.completed(line, abs(move.plies))
        padded = known + [(-1, 0)] * (len(line) - len(known))
        visits = (visits if here == there else 0 for (here, visits), there in zip(padded, line, strict=False))
        return line, tuple(visits), mates


def candidates(position: PlayedPosition, moves: Sequence[MoveStats]) -> Iterator[str]:
    """The table of candidates as the python-dlshogi book prints it, a line for each."""
    for number, move in enumerate(moves):
        yield (
            f"{number:3}:{position.usi(move.move):5} move_count:{move.visits:4} "
            f"nn_rate:{move.prior:.5f} win_rate:{0.0 if math.isnan(move.value) else move.value:.5f}"
        )
