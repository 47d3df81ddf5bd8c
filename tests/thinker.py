"""Engines of shogi without a protocol: a position, a `go`, and all that is reported."""

from collections.abc import Callable, Sequence

from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.games.shogi.game import GAME as shogi
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.player.base_player import BestMove, Engine, Info, play_moves
from pydlshogi.player.clock import Clock, Limits

ALL_MOVES = 600
"""As MultiPV: every move of the root has its line."""


def options_of(**values: object) -> MCTSPlayerOptions:
    options = MCTSPlayerOptions()
    for name, value in values.items():
        assert options.set(name, str(value)) == ""
    return options


class Thinker:
    """It does what the protocol does. Without an `engine` it searches, with no network and one thread, so that it
    always thinks the same."""

    def __init__(
        self, sfen: str = START_SFEN, moves: Sequence[str] = (), engine: Engine | None = None, **options: object
    ) -> None:
        self.engine = engine or shogi.mcts(options_of(Backend="uniform", USI_Hash=16, Random_Ply=0, Threads=1))
        self.options = self.engine.options
        self.set(**options)
        self.player = self.engine.load()
        self.remarks = list(self.player.prepare())
        self.player.new_game()
        self.sfen, self.moves = sfen, tuple(moves)
        self.infos: list[Info] = []
        """What was reported since the last `go`."""

    def set(self, **options: object) -> None:
        for name, value in options.items():
            assert self.options.set(name, str(value)) == ""

    def position(self) -> PlayedPosition:
        """Under the rules that the options choose now."""
        position = self.engine.set_up(self.sfen)
        play_moves(position, self.moves)
        return position

    def legal_moves(self) -> list[str]:
        position = self.position()
        return [position.usi(move) for move in position.legal_moves().tolist()]

    def go(self, **limits: object) -> BestMove:
        """Think about the position."""
        return self.think(Clock(Limits(**limits)))  # type: ignore[arg-type]

    def think(self, clock: Clock, react: Callable[[Info], object] = lambda _: None) -> BestMove:
        """Think, and do something whenever there is something to say."""
        self.infos = []

        def report(info: Info) -> None:
            self.infos.append(info)
            react(info)

        self.remarks += self.player.prepare()
        position = self.position()
        answer = self.player.think(position, self.player.start_clock(position, clock), report)
        self.player.answered(position, clock)
        assert position.sfen() == self.position().sfen()
        return answer

    @property
    def lines(self) -> list[Info]:
        """The lines reported last, the best first."""
        said = [info for info in self.infos if info.pv]
        best = next(place for place in reversed(range(len(said))) if said[place].multipv in {None, 1})
        return said[best:]

    @property
    def last(self) -> Info:
        """The best line as it was reported last."""
        return self.lines[0]

    @property
    def visits(self) -> int:
        """Of the root, those of earlier searches included; for this all moves must have a line."""
        assert self.options.multi_pv == ALL_MOVES
        return sum(info.visits or 0 for info in self.lines)
