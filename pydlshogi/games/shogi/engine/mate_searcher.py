"""Mates beside a search: at its root, after the move it prefers, and at the positions along its best line; and the
answer to `go mate`.

df-pn sees the long forced mates that a search by visits is slow to see. What is found at the root ends the search; what
is found further on goes to the search, which then avoids or plays it. It knows states, a table of what it found
since the game began, and the root of the search, and neither clocks nor networks.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from pydlshogi.games.shogi.dfpn import ENDLESS, Line, MateSearch, Verdict, prepare
from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.games.shogi.position import ShogiPosition, checked_king
from pydlshogi.games.shogi.sfen import read_sfen, usi_of
from pydlshogi.games.shogi.state import through
from pydlshogi.player.base_player import Checkmate
from pydlshogi.player.clock import Budget, Clock
from pydlshogi.player.thinking import MateSearcher
from pydlshogi.support.arrays import Records
from pydlshogi.uct.root import Root

_MEGABYTES: Final = 32
_LOOK: Final = 500
"""Nodes of a look; the next one at the position goes on where it ended,"""
_MOST: Final = 100_000
"""until this many were spent there."""
_AT_ONCE: Final = 10_000
"""As many are spent on the root before the search begins: of the mates in games five in six are found with them."""
_AT_ONCE_PER_MILLISECOND: Final = 30
"""More where there is time: less than a tenth of it."""
_SHORTENING_NODES: Final = 10_000
_PROOF_NODES: Final = 1000
"""Enough to prove every mate that the rules see, and to find again what the table has lost of a mate."""

_NEAR: Final = 2
"""The root and the position after the best move are looked at with _NEAR_RANK times the nodes that others get."""
_NEAR_RANK: Final = 4
_FARTHEST: Final = 12
"""Plies from the root."""
_LEAST_SAVINGS: Final = 2000
"""To follow the line costs as much as some hundred nodes, so it is not done for less."""

_NODES_PER_MILLISECOND: Final = 50
"""Of a look on a slow machine, the line of what it finds included."""


_PROBLEM_MEGABYTES: Final = 128
_PROBLEM_LOOK: Final = 1000
"""Nodes after which the clock is asked again whether to stop."""
_DEFENCE: Final = 20_000
"""Nodes for each reply to a check."""
_PROBLEM_SHORTENING: Final = 20_000
"""Nodes, or as many as the mate took, if that is more."""


class Compiled(NamedTuple):
    """The kernels are there."""

    remarks: Sequence[str] = ()


def _compile() -> Compiled:
    prepare()
    return Compiled()


class CheckmateSolver:
    """Solves one problem at a time, and remembers them."""

    def __init__(self) -> None:
        self._search: MateSearch | None = None

    def solve(self, sfen: str, clock: Clock) -> Checkmate:
        """The shortest mate found for the side to move of the position `sfen`; nomate only where it is refuted.

        Repetitions count from this position on: what was played before is not part of the problem. `clock` ends it,
        and so do as many nodes as its budget has.
        """
        search = self._search = self._search or MateSearch(_PROBLEM_MEGABYTES)
        (states, _), begun = read_sfen(sfen), search.nodes

        def over() -> bool:
            budget = clock.budget
            spent = search.nodes - begun
            return clock.stopped or clock.spent() >= budget.maximum or spent >= budget.nodes

        line: Line = ()
        while not line:
            verdict = Verdict.CUT if over() else search.look(states, _PROBLEM_LOOK)
            if verdict == Verdict.NO_MATE:
                return Checkmate("nomate")
            if verdict == Verdict.CUT:
                return Checkmate("timeout")
            if verdict == Verdict.MATE:
                line = search.line(states, _PROBLEM_LOOK)
        nodes = max(_PROBLEM_SHORTENING, search.nodes - begun)
        for shorter in search.shorter(states, line, nodes, _PROBLEM_LOOK):
            line = shorter or line
            if over():
                break
        return Checkmate("mate", tuple(map(usi_of, line)))

    def defence(self, position: ShogiPosition) -> tuple[str, ...]:
        """Where every move out of check leads to mate: the longest defence and the mate after it; else nothing."""
        lines = list[tuple[str, ...]]()
        for reply in position.legal_moves().tolist() if checked_king(position) else ():
            position.push(reply)
            clock = Clock()
            clock.set_budget(lambda _: Budget(nodes=_DEFENCE))
            mate = self.solve(position.sfen(), clock)
            position.pop()
            if mate.result != "mate":
                return ()
            lines.append((position.usi(reply), *mate.moves))
        return max(lines, key=len, default=())


class ShogiMateSearcher(MateSearcher):
    """That of shogi. A mate that may lead through a position played before is none."""

    def __init__(self) -> None:
        self._search: MateSearch | None = None
        self._checkmate = CheckmateSolver()
        self._compiled = False
        self._spent: Counter[bytes] = Counter()
        """Nodes of the looks at each position; _MOST: no more are of use."""
        self._trail: Records
        """The game's states, the root last."""
        self._position: ShogiPosition
        self._plies = 0
        self._savings = 0.0
        self._solution: Line = ()

    def loading(self, _: MCTSPlayerOptions) -> Callable[[], Compiled] | None:
        return None if self._compiled else _compile

    def install(self, _: Compiled) -> None:
        self._compiled = True

    def longest_win(self, options: MCTSPlayerOptions) -> int:
        return options.longest_win_seen(options.mate_root_search)

    def nodes_per_batch(self, options: MCTSPlayerOptions) -> int:
        return options.mate_search_nodes

    def solve(self, position: ShogiPosition, clock: Clock) -> Checkmate:
        return self._checkmate.solve(position.sfen(), clock)

    def forget(self) -> None:
        self._spent.clear()
        if self._search is not None:
            self._search.forget()

    def begin(self, position: ShogiPosition, plies: int) -> None:
        if plies != self._plies:
            self._spent.clear()
        self._position = position.copy()
        self._plies = plies
        self._savings = 0.0 if plies else -math.inf
        self._trail = self._position.states
        self._solution = self._mate(())

    def solution(self) -> Sequence[int]:
        return self._solution

    def look_at_root(self, time_left: Callable[[], float]) -> None:
        """The first looks, and if they find a mate a few for a shorter one."""
        left = time_left()
        # Without a clock the looks between the batches come soon enough.
        most = _AT_ONCE if left == math.inf else max(_AT_ONCE, _AT_ONCE_PER_MILLISECOND * left)
        while self._spent_on((), self._solution) < min(most, _MOST) and _affordable(time_left):
            self._look(())
        self._shorten(time_left)

    def look_between(self, root: Root, nodes: float, time_left: Callable[[], float]) -> None:
        if nodes and root.expanded:
            self.look_after(root, root.leader()[0], time_left)
            self._look_along(root, nodes, time_left)

    def look_after(self, root: Root, move: int | None, time_left: Callable[[], float]) -> None:
        """The first look at the position after `move`: whether to play it is to be mated.

        A mate that is known from an earlier search goes to this one.
        """
        if move is None:
            return
        mate = self._mate((move,))
        if not self._spent_on((move,), mate) and _affordable(time_left):
            mate = self._look((move,))
        if mate:
            root.prove([move], len(mate))

    def _look_along(self, root: Root, nodes: float, time_left: Callable[[], float]) -> None:
        """Save `nodes` up, and when they are enough spend them on the positions that have had the fewest.

        Where nothing is worth a look they are lost.
        """
        self._savings += nodes
        if self._savings < _LEAST_SAVINGS:
            return
        line = root.line(root.moves()[0].move)[:_FARTHEST]
        mates = [self._mate(line[:ply]) for ply in range(len(line) + 1)]
        spent = [float(self._spent_on(line[:ply], mate)) for ply, mate in enumerate(mates)]
        for ply, mate in enumerate(mates[1:], 1):
            if mate:
                root.prove(line[:ply], len(mate))
        while self._savings > 0 and _affordable(time_left):
            ranks = [each / _NEAR_RANK if ply < _NEAR else each for ply, each in enumerate(spent)]
            ranks = [math.inf if each >= _MOST else rank for each, rank in zip(spent, ranks, strict=True)]
            ply = ranks.index(min(ranks))
            if ranks[ply] == math.inf:
                break
            self._savings -= _LOOK
            found = self._look(line[:ply])
            spent[ply] = self._spent_on(line[:ply], found)
            if found:
                if ply:
                    root.prove(line[:ply], len(found))
                else:
                    self._shorten(time_left)
                break
        self._savings = 0.0

    def completed(self, line: Sequence[int], plies: int) -> tuple[list[int], bool]:
        """`line`, proven to end within `plies`, with the moves that have no nodes; and whether it ends in mate.

        They are a mate that was found here, or that was a verdict on the position where the nodes end. Without one the
        line may end in a declaration.
        """
        for played in range(1, len(line) + 1):
            left = plies - played
            mate = self._mate(line[:played])
            if played == len(line) and not 0 < len(mate) <= left:
                states = through(self._trail[-1:], line)[-1:]
                self._searching().look(states, _PROOF_NODES, left)
                mate = self._searching().line(states, _PROOF_NODES)
            if 0 < len(mate) <= left:
                return [*line[:played], *mate], True
        position = self._position.copy()
        for move in line:
            position.push(move)
        return list(line), not len(position.legal_moves())

    def _searching(self) -> MateSearch:
        """Its arrays are made when they are first needed."""
        self._search = self._search or MateSearch(_MEGABYTES)
        return self._search

    def _key(self, moves: Sequence[int]) -> bytes:
        state = through(self._trail[-1:], moves)[-1]
        return bytes(state["board_key"].tobytes() + state["hands"].tobytes())

    def _spent_on(self, moves: Sequence[int], mate: Line) -> int:
        """Nodes spent on the position after `moves`, whose mate is `mate`; _MOST where more are of no use."""
        return self._spent[self._key(moves)] if self._plies and not mate else _MOST

    def _look(self, moves: Sequence[int]) -> Line:
        """One more look at the position after `moves`: for any mate, or if that is too long, for a shorter one."""
        search, states, plies = self._searching(), through(self._trail[-1:], moves)[-1:], self._plies_left(moves)
        verdict = search.look(states, _LOOK, plies if search.plies(states) else ENDLESS)
        mate = self._mate(moves)
        settled = bool(mate) or verdict not in {Verdict.OPEN, Verdict.MATE}
        self._spent[self._key(moves)] += _MOST if settled else _LOOK
        if not moves:
            self._solution = mate
        return mate

    def _mate(self, moves: Sequence[int]) -> Line:
        """The mate known after `moves`; (): none, or none before the game is drawn, or it may be part of a repetition.

        With a mate come those after all its evasions: once found it is carried through.
        """
        if self._search is None or not self._plies:
            return ()
        onward = through(self._trail[-1:], moves)
        line = self._search.line(onward[-1:], _PROOF_NODES)
        if not 0 < len(line) <= self._plies_left(moves):
            return ()
        past = np.concatenate((self._trail[:-1], onward[:-1]))
        return () if self._search.may_repeat(onward[-1:], len(line), past) else line

    def _shorten(self, time_left: Callable[[], float]) -> None:
        """Look for shorter mates than the one at the root."""
        if not self._solution:
            return
        search, states = self._searching(), self._trail[-1:]
        for _ in search.shorter(states, self._solution, _SHORTENING_NODES, _LOOK):
            if not _affordable(time_left):
                break
        self._solution = self._mate(()) or self._solution

    def _plies_left(self, moves: Sequence[int]) -> int:
        """How long a mate may be after `moves`: it must come before the game is drawn."""
        draw_ply = int(self._position.settings["draw_ply"][0])
        return min(self._plies, draw_ply - self._position.ply() - len(moves) + 1) if draw_ply else self._plies


def _affordable(time_left: Callable[[], float]) -> bool:
    """Whether there is time for a look."""
    return time_left() * _NODES_PER_MILLISECOND >= _LOOK
