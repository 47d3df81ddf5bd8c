"""The answer to `go mate`: looks of a few milliseconds each, until the position is proven or time is up.

It knows mates and clocks, and no search by visits and no network.
"""

from typing import Final

from pydlshogi.games.shogi.dfpn import Line, MateSearch, Verdict
from pydlshogi.games.shogi.sfen import read_sfen, usi_of
from pydlshogi.player.base_player import Checkmate
from pydlshogi.player.clock import Clock

_MEGABYTES: Final = 128
_LOOK: Final = 1000
"""Nodes after which the clock is asked again whether to stop."""
_SHORTENING_NODES: Final = 20_000
"""Nodes, or as many as the mate took, if that is more."""


class CheckmateSolver:
    """Solves one problem at a time, and remembers them."""

    def __init__(self) -> None:
        self._search: MateSearch | None = None

    def solve(self, sfen: str, clock: Clock) -> Checkmate:
        """The shortest mate found for the side to move of the position `sfen`; nomate only where it is refuted.

        Repetitions count from this position on: what was played before is not part of the problem. `clock` ends it,
        and so do as many nodes as its budget has.
        """
        search = self._search = self._search or MateSearch(_MEGABYTES)
        (states, _), begun = read_sfen(sfen), search.nodes

        def over() -> bool:
            budget = clock.budget
            spent = search.nodes - begun
            return clock.stopped or clock.spent() >= budget.maximum or spent >= budget.nodes

        line: Line = ()
        while not line:
            verdict = Verdict.CUT if over() else search.look(states, _LOOK)
            if verdict == Verdict.NO_MATE:
                return Checkmate("nomate")
            if verdict == Verdict.CUT:
                return Checkmate("timeout")
            if verdict == Verdict.MATE:
                line = search.line(states, _LOOK)
        nodes = max(_SHORTENING_NODES, search.nodes - begun)
        for shorter in search.shorter(states, line, nodes, _LOOK):
            line = shorter or line
            if over():
                break
        return Checkmate("mate", tuple(map(usi_of, line)))
