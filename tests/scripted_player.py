"""A player without a search, for tests of the protocol: it keeps every promise of a player in the simplest way.

One playout takes at least a millisecond of waiting. Run as a program, it is a USI engine.
"""

import threading
from collections.abc import Iterator

from pydlshogi.player.base_player import BasePlayer, BestMove, Checkmate, Clock, Info, Limits, PlayerError, Report
from pydlshogi.player.clock import ClockSettings
from pydlshogi.player.options import Button, Combo, SearchOptions, Spin, String


class ScriptedOptions(SearchOptions):
    playout = Spin("playout", 5, 1, 1000, help="playouts for a `go` without limits")
    words = String("Words", "", help="anything")
    colour = Combo("Colour", "red", ("red", "green"), help="a choice")
    press = Button("Press", help="a button")
    load = Combo("Load", "quick", ("quick", "refused", "endless", "defect"), help="how `isready` goes")


class ScriptedPlayer(BasePlayer):
    name = "scripted"
    options: ScriptedOptions

    def __init__(self) -> None:
        super().__init__(ScriptedOptions())
        self.loads = 0

    def clock_settings(self) -> ClockSettings:
        return self.options.clock_settings(default_nodes=self.options.playout)

    def prepare(self) -> list[str]:
        match self.options.load:
            case "refused":
                raise PlayerError("modelfile: no such file")
            case "endless":
                threading.Event().wait()
            case "defect":
                raise RuntimeError("a defect\nof two lines")
        self.loads += 1
        return []

    def think(self, limits: Limits, clock: Clock, report: Report) -> BestMove | Checkmate:
        moves = self.legal_moves()
        if limits.mate:
            return self._mate(clock)
        if not moves:
            return BestMove("resign")
        if self.game.board.is_nyugyoku():
            report(Info(depth=1, time=0, nodes=0, score_mate=1, string="win by declaration"))
            return BestMove("win")
        moves = [move for move in moves if move in limits.searchmoves] or moves
        playouts = 0
        while len(moves) > 1 and not clock.expired(playouts):
            playouts += 1
            if playouts == 1:
                self._report(moves, playouts, clock, report)
            clock.wait(1)
        self._report(moves, playouts, clock, report)
        return BestMove(moves[0], self._reply(moves[0]))

    def evaluate(self) -> Iterator[str]:
        yield "value 0.5"

    def _report(self, moves: list[str], playouts: int, clock: Clock, report: Report) -> None:
        for rank in range(min(self.options.multi_pv, len(moves)), 0, -1):
            report(
                Info(
                    depth=1,
                    time=int(clock.elapsed()),
                    nodes=playouts,
                    nps=0,
                    hashfull=0,
                    multipv=rank if self.options.multi_pv > 1 else None,
                    score_cp=100 - rank,
                    pv=(moves[rank - 1],),
                )
            )

    def _reply(self, move: str) -> str | None:
        game = self.game
        game.push_usi(move)
        replies = self.legal_moves()
        game.pop()
        return replies[0] if replies else None

    def _mate(self, clock: Clock) -> Checkmate:
        game = self.game
        for move in self.legal_moves():
            game.push_usi(move)
            mated = game.board.is_check() and not self.legal_moves()
            game.pop()
            if mated:
                return Checkmate("mate", (move,))
        if not self.legal_moves():
            return Checkmate("nomate")
        playouts = 0
        while not clock.expired(playouts):
            playouts += 1
            clock.wait(1)
        return Checkmate("timeout")


if __name__ == "__main__":
    from pydlshogi.usi.usi import run

    run(ScriptedPlayer)
