"""A player without a search, for tests of the protocol: it keeps every promise of a player in the simplest way.

One playout takes at least a millisecond of waiting. Run as a program, it is a USI engine.
"""

import threading
from collections.abc import Callable, Iterator

from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.player.allot import ClockSettings
from pydlshogi.player.base_player import BasePlayer, BestMove, Checkmate, Engine, Info, Loaded, PlayerError, Report
from pydlshogi.player.clock import Clock
from pydlshogi.player.options import Button, Combo, EngineOptions, Filename, SearchOptions, Spin


class ScriptedOptions(SearchOptions):
    playout = Spin("playout", 5, 1, 1000, help="playouts for a `go` without limits")
    words = Filename("Words", "", help="anything")
    press = Button("Press", help="a button")
    load = Combo("Load", "quick", ("quick", "refused", "endless", "defect"), help="how `isready` goes")

    def clock_settings(self) -> ClockSettings:
        return super().clock_settings()._replace(default_nodes=self.playout)


class ScriptedPlayer(BasePlayer):
    options: ScriptedOptions

    def __init__(self) -> None:
        super().__init__(ScriptedOptions())
        self.loads = 0

    def engine(self) -> Engine:
        return Engine(
            "scripted", self.options, lambda sfen: ShogiPosition(START_SFEN if sfen is None else sfen), lambda: self
        )

    def loading(self, options: EngineOptions) -> Callable[[], Loaded]:

        def load() -> Loaded:
            match options.load:
                case "refused":
                    raise PlayerError("modelfile: no such file")
                case "endless":
                    threading.Event().wait()
                case "defect":
                    raise RuntimeError("a defect\nof two lines")
            self.loads += 1
            return Loaded([])

        return load

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        moves = names(position)
        if clock.limits.mate:
            return self._mate(position, clock)
        if not moves:
            return BestMove("resign")
        if position.declares():
            report(Info(depth=1, time=0, nodes=0, score_mate=1, string="win by declaration"))
            return BestMove("win")
        moves = [move for move in moves if move in clock.limits.searchmoves] or moves
        playouts = 0
        while len(moves) > 1 and not clock.expired(playouts):
            playouts += 1
            if playouts == 1:
                self._report(moves, playouts, clock, report)
            clock.wait(1)
        self._report(moves, playouts, clock, report)
        after = position.copy()
        after.push_usi(moves[0])
        return BestMove(moves[0], next(iter(names(after)), None))

    def eval_lines(self, position: PlayedPosition) -> Iterator[str]:
        yield "value 0.5"

    def _report(self, moves: list[str], playouts: int, clock: Clock, report: Report) -> None:
        for rank, move in enumerate(moves[: self.options.multi_pv], 1):
            elapsed, multipv = int(clock.elapsed()), rank if self.options.multi_pv > 1 else None
            report(Info(1, None, elapsed, playouts, 0, 0, multipv, 100 - rank, pv=(move,)))

    def _mate(self, position: ShogiPosition, clock: Clock) -> Checkmate:
        for move in names(position):
            after = position.copy()
            after.push_usi(move)
            if after.check and not names(after):
                return Checkmate("mate", (move,))
        if not names(position):
            return Checkmate("nomate")
        playouts = 0
        while not clock.expired(playouts):
            playouts += 1
            clock.wait(1)
        return Checkmate("timeout")


def names(position: ShogiPosition) -> list[str]:
    """The legal moves."""
    return [position.usi(move) for move in position.legal_moves().tolist()]


if __name__ == "__main__":
    from pydlshogi.usi.usi import run

    run(ScriptedPlayer().engine())
