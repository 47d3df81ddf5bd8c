"""Mates beside a search: at its root, after the move it prefers, and at the positions along its best line.

df-pn sees the long forced mates that a search by visits is slow to see. What is found at the root ends the search; what
is found further on is told to the search, which then avoids or plays it. It knows boards of its own and the root of
the search, and neither clocks nor networks.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.mate import Line, find_mate, shorter_mates
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.player.scout import Scout
from pydlshogi.uct.root import Root

_PROOF_NODES: Final = 1000
"""Enough for `find_mate` to prove every mate that the rules see."""
_FIRST_LOOK: Final = 500
"""Nodes. Each further look at a position has four times as many, up to the last, because it begins anew."""
_LAST_LOOK_AT_ONCE: Final = 8000
"""As many are spent on the root before the search begins: of the mates in games five in six are found with them."""
_AT_ONCE_PER_MILLISECOND: Final = 30
"""More where there is time: less than a tenth of it."""
_LAST_LOOK: Final = 64_000
"""It holds the GIL for a sixth of a second, and `stop` may have to wait for so long."""
_SHORTENING_NODES: Final = 10_000
"""As many may go into the proofs, which are the slower half."""

_NEAR: Final = 2
"""The root and the position after the best move are looked at with _NEAR_RANK times the nodes that others get."""
_NEAR_RANK: Final = 4
_FARTHEST: Final = 12
"""Plies from the root."""
_LEAST_SAVINGS: Final = 2000
"""To follow the line costs as much as some hundred nodes, so it is not done for less."""

_NODES_PER_MILLISECOND: Final = 50
"""A look of so many ends within a millisecond even on a slow machine, the proof of what it finds included."""


class MateScout(Scout):
    """That of shogi."""

    def __init__(self) -> None:
        self._mates: dict[int, Line] = {}
        self._next_looks: dict[int, int] = {}
        self._position: ShogiPosition
        self._plies = 0
        self._savings = 0.0
        self._price = math.inf

    def forget(self) -> None:
        self._mates.clear()
        self._next_looks.clear()

    def begin(self, position: PlayedPosition, plies: int) -> None:
        assert isinstance(position, ShogiPosition)
        if plies != self._plies:
            self._next_looks.clear()
        self._position = position.copy()
        self._plies = plies
        self._savings = 0.0
        self._price = _LEAST_SAVINGS if plies else math.inf
        if self._mates:
            self._forget_what_may_repeat()

    def _forget_what_may_repeat(self) -> None:
        """Forget mates found before that may lead through a position that the game has been through since.

        Those through a position with a mate are longer than that one. So what is left of a mate that is being played,
        ever shorter, is kept.
        """
        passed, shortest = self._position.copy(), math.inf
        for _ in passed.board.history:
            passed.pop()
            if mate := self._mates.get(passed.board.zobrist_hash()):
                shortest = min(shortest, len(mate))
        for key in [key for key, line in self._mates.items() if len(line) >= shortest]:
            del self._mates[key]
            self._next_looks.pop(key, None)

    def mate_at(self, position: ShogiPosition) -> Line:
        """The mate found for the side to move, since `forget`; (): none, or none before the game is drawn.

        With a mate come those after all its evasions: once found it is carried through.
        """
        mate = self._mates.get(position.board.zobrist_hash(), ())
        return mate if len(mate) <= self._plies_left(position) else ()

    def solution(self) -> Sequence[int]:
        return self.mate_at(self._position)

    def look_at_root(self, time_left: Callable[[], float]) -> None:
        """The first looks, and if they find a mate a few for a shorter one."""
        while 0 < (nodes := self._next_look()) <= min(_affordable(time_left), _at_once(time_left)):
            self._look(nodes)
        self._shorten(time_left)

    def look_between(self, root: Root, nodes: float, time_left: Callable[[], float]) -> None:
        if nodes and root.expanded:
            self.look_after(root, root.leader()[0], time_left)
            self._look_along(root, nodes, time_left)

    def look_after(self, root: Root, move: int | None, time_left: Callable[[], float]) -> None:
        """The first look at the position after `move`: whether to play it is to be mated.

        A mate that is known already, from a search before, is told to this one.
        """
        if move is None:
            return
        self._position.push(move)
        if self._next_look() == _FIRST_LOOK <= _affordable(time_left):
            self._look(_FIRST_LOOK)
        mate = self.mate_at(self._position)
        self._position.pop()
        if mate:
            root.prove([move], len(mate))

    def _look_along(self, root: Root, nodes: float, time_left: Callable[[], float]) -> None:
        """Save `nodes` up, and when they are enough spend them on the positions that have had the fewest.

        Where nothing is worth a look they are lost.
        """
        self._savings += nodes
        if self._savings < self._price:
            return
        line = root.line(root.moves()[0].move)[:_FARTHEST]
        looks = self._next_looks_along(root, line)
        while True:
            most = _affordable(time_left)
            costs = [look if 0 < look <= most else math.inf for look in looks]
            costs[:_NEAR] = [cost / _NEAR_RANK for cost in costs[:_NEAR]]
            ply = costs.index(min(costs))
            self._price = max(_LEAST_SAVINGS, looks[ply])
            if costs[ply] == math.inf:
                self._savings = 0.0
                return
            if looks[ply] > self._savings:
                return
            self._savings -= looks[ply]
            for move in line[:ply]:
                self._position.push(move)
            found = self._look(looks[ply])
            looks[ply] = self._next_look()
            for _ in line[:ply]:
                self._position.pop()
            if found:
                break
        if ply:
            root.prove(line[:ply], len(found))
        else:
            self._shorten(time_left)

    def completed(self, line: Sequence[int], plies: int) -> tuple[list[int], bool]:
        """`line`, proven to end within `plies`, with the moves that have no nodes; and whether it ends in mate.

        They are a mate that was found here, or that was a verdict on the position where the nodes end. Without one the
        line may end in a declaration.
        """
        position = self._position.copy()
        for played, move in enumerate(line, 1):
            position.push(move)
            left = plies - played
            mate = self.mate_at(position)
            if not mate and played == len(line):
                mate = find_mate(position.board, left, _PROOF_NODES).line
            if mate and len(mate) <= left:
                return [*line[:played], *mate], True
        return list(line), not len(position.legal_moves())

    def _next_looks_along(self, root: Root, line: list[int]) -> list[int]:
        """The next look at the root and at each position of `line`. The search is told of mates known there."""
        looks = [self._next_look()]
        for played, move in enumerate(line, 1):
            self._position.push(move)
            looks.append(self._next_look())
            if mate := self.mate_at(self._position):
                root.prove(line[:played], len(mate))
        for _ in line:
            self._position.pop()
        return looks

    def _next_look(self) -> int:
        if not self._plies or self.mate_at(self._position):
            return 0
        return self._next_looks.get(self._position.board.zobrist_hash(), _FIRST_LOOK)

    def _look(self, nodes: int) -> Line:
        board = self._position.board
        finding = find_mate(board, self._plies_left(self._position), nodes)
        self._mates.update(finding.lines)
        settled = finding.refuted or nodes == _LAST_LOOK
        self._next_looks[board.zobrist_hash()] = 0 if settled else min(4 * nodes, _LAST_LOOK)
        return finding.line

    def _shorten(self, time_left: Callable[[], float]) -> None:
        """Look for shorter mates than the one at the root."""
        findings = shorter_mates(self._position.board, self.mate_at(self._position), _SHORTENING_NODES)
        while _affordable(time_left) >= 2 * _SHORTENING_NODES and (finding := next(findings, None)):
            self._mates.update(finding.lines)

    def _plies_left(self, position: ShogiPosition) -> int:
        """How long a mate may be at `position`: it must come before the game is drawn."""
        draw_ply = position.draw_ply
        return min(self._plies, draw_ply - position.ply() + 1) if draw_ply else self._plies


def _at_once(time_left: Callable[[], float]) -> float:
    """Without a clock the looks between the batches come soon enough."""
    left = time_left()
    return _LAST_LOOK_AT_ONCE if left == math.inf else max(_LAST_LOOK_AT_ONCE, _AT_ONCE_PER_MILLISECOND * left)


def _affordable(time_left: Callable[[], float]) -> float:
    return time_left() * _NODES_PER_MILLISECOND
