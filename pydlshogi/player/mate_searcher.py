"""What a player asks of a mate searcher: to look for forced wins beside the search."""

from collections.abc import Callable, Sequence
from typing import Any

from pydlshogi.player.base_player import Checkmate, Part
from pydlshogi.player.clock import Clock
from pydlshogi.uct.root import Root


class MateSearcher(Part[Any, Any]):
    """It looks for wins at the root and along the best line, and gives the search the proofs it finds.

    A look is a bounded search at one position; the next look there goes on where the last one ended. This class never
    looks: each game has its own. `time_left()` is how many milliseconds there are; a look begins only if it will end
    within them.
    """

    def plies_of(self, options: Any) -> int:
        """Plies of the longest win to look for under these options; 0: none."""
        return 0

    def nodes_of(self, options: Any) -> int:
        """Nodes that may be spent after each batch under these options."""
        return 0

    def solve(self, position: Any, clock: Clock) -> Checkmate:
        """The answer to `go mate`."""
        return Checkmate("notimplemented")

    def forget(self) -> None:
        """Forget all that was found."""

    def begin(self, position: Any, plies: int) -> None:
        """`position` is the root from now on; look for wins within `plies`, 0: for none."""
        self._position = position.copy()

    def look_at_root(self, time_left: Callable[[], float]) -> None:
        """Look at the root, before the search begins."""

    def look_between(self, root: Root, nodes: float, time_left: Callable[[], float]) -> None:
        """Look between two batches of the search, for about `nodes` nodes."""

    def look_after(self, root: Root, move: int | None, time_left: Callable[[], float]) -> None:
        """Look at the position after `move`, if there was no look at it yet: is `move` safe to play?"""

    def solution(self) -> Sequence[int]:
        """The moves of a forced win at the root; empty where none is known."""
        return ()

    def completed(self, line: Sequence[int], plies: int) -> tuple[list[int], bool]:
        """A line proven to end within `plies`, with the moves that have no nodes; and whether it ends in mate."""
        position = self._position.copy()
        for move in line:
            position.push(move)
        for move in position.legal_moves().tolist() if len(line) < plies else ():
            position.push(move)
            if not len(position.legal_moves()):
                return [*line, move], True
            position.pop()
        return list(line), True
