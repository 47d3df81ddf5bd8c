"""A player is asked what it thinks of a position: its move, and of all that it reports the lines that count.

The player thinks in the thread that asks, and so lines on the way come by a callback. The USI protocol alone does not
use this: a GUI reads every line.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import BasePlayer, BestMove, Info, moves_named
from pydlshogi.player.clock import Clock
from pydlshogi.player.options import SearchOptions

Lines: TypeAlias = tuple[Info, ...]
"""The lines by rank, the best first."""


class Thought(NamedTuple):
    """The answer of a player."""

    clock: Clock
    """The clock of the search that it comes from."""
    move: str
    """A legal move, "resign" or "win"."""
    ponder: str | None = None
    """The expected reply."""
    lines: Lines = ()
    """The first begins with the move, unless that ends the game."""


def ask(
    player: BasePlayer,
    position: PlayedPosition,
    clock: Clock,
    lines: int = 1,
    hear: Callable[[Lines], None] = lambda _: None,
) -> Thought:
    """Let a prepared player think until `clock` stops it or its answer is found. `lines`: how many moves it reports.

    A line counts that has moves, or that judges the position. Rank 1 begins a set of lines. `hear` gets a set once it
    has `lines` of them, or as many as there are moves. The last set, which may be shorter, belongs to the answer.

    >>> from pydlshogi.catalogue import GAMES, engine_named
    >>> from pydlshogi.player.clock import Limits
    >>> engine = engine_named(next(iter(GAMES)))
    >>> engine.options.set("Backend", "hash")  # it needs no network
    ''
    >>> player = engine.load()
    >>> _ = player.prepare()
    >>> thought = ask(player, engine.set_up(None), Clock(Limits(nodes=50)), lines=2)
    >>> len(thought.lines), thought.move == thought.lines[0].pv[0]
    (2, True)
    """
    if isinstance(player.options, SearchOptions):
        player.options.multi_pv = lines
    most = min(lines, len(moves_named(position, clock.limits.searchmoves) or position.legal_moves()))
    said: dict[int, Info] = {}

    def report(info: Info) -> None:
        if not info.pv and info.win_rate is None:
            return
        if (rank := info.multipv or 1) == 1:
            said.clear()
        said[rank] = info
        if len(said) == most:
            hear(tuple(said.values()))

    answer = player.search(position, clock, report)
    assert isinstance(answer, BestMove)  # `go mate` is for the USI protocol alone
    counts = answer.move in {"resign", "win", *said.get(1, Info()).pv[:1]}
    return Thought(clock, answer.move, answer.ponder, tuple(said.values()) if counts else ())
