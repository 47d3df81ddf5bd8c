"""What a player asks of somebody who looks for forced wins beside the search."""

from collections.abc import Callable, Sequence
from typing import Any

from pydlshogi.player.base_player import Checkmate, Part
from pydlshogi.player.clock import Clock
from pydlshogi.uct.root import Root


class Scout(Part[Any, Any]):
    """Looks at the root and along the best line, a bounded bit at a time, and tells the search what it proves.

    This one never looks. `time_left()` is how many milliseconds there are: no look is begun that might not end within
    them.
    """

    def plies_of(self, options: Any) -> int:
        """Plies of the longest win that is looked for under these options; 0: none."""
        return 0

    def nodes_of(self, options: Any) -> int:
        """What may be spent after each batch under these options."""
        return 0

    def solve(self, position: Any, clock: Clock) -> Checkmate:
        """The answer to `go mate`."""
        return Checkmate("notimplemented")

    def forget(self) -> None:
        """Forget all that was found."""

    def begin(self, position: Any, plies: int) -> None:
        """`position` is the root from now on; wins within so many plies are looked for, 0: none."""
        self._position = position.copy()

    def look_at_root(self, time_left: Callable[[], float]) -> None:
        """The first looks, before the search begins."""

    def look_between(self, root: Root, nodes: float, time_left: Callable[[], float]) -> None:
        """Looks between two batches of the search, at the price of about so many nodes."""

    def look_after(self, root: Root, move: int | None, time_left: Callable[[], float]) -> None:
        """A look at the position after `move`, if it was never looked at: may it be played?"""

    def solution(self) -> Sequence[int]:
        """The moves of a forced win at the root; empty where none is known."""
        return ()

    def completed(self, line: Sequence[int], plies: int) -> tuple[list[int], bool]:
        """A proven line of `plies`, with what the search did not need to see; and whether it ends in mate."""
        position = self._position.copy()
        for move in line:
            position.push(move)
        for move in position.legal_moves().tolist() if len(line) < plies else ():
            position.push(move)
            if not len(position.legal_moves()):
                return [*line, move], True
            position.pop()
        return list(line), True
