"""The players of shogi: those of `pydlshogi.player` with its rules, its mates and its books."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.dfpn import prepare
from pydlshogi.games.shogi.encodings import MOVES
from pydlshogi.games.shogi.engine.book import OpenedBook, OwnBook
from pydlshogi.games.shogi.engine.book_files import BookError
from pydlshogi.games.shogi.engine.checkmate import CheckmateSolver
from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.games.shogi.engine.scout import MateScout
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.rules import RULES
from pydlshogi.games.shogi.sparse import ALL_ENCODINGS
from pydlshogi.player.base_player import HIGHEST_CP, BestMove, Checkmate, Info, Loaded, Report
from pydlshogi.player.clock import Clock
from pydlshogi.player.latency import Latency
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.player.network_player import NetworkPlayer
from pydlshogi.player.options import EngineOptions
from pydlshogi.player.reflex_player import PolicyPlayer, Search1Player
from pydlshogi.support.arrays import Records
from pydlshogi.uct.batch import Evaluator


class ShogiPlayer(NetworkPlayer):
    """What every player of shogi knows."""

    rules = RULES
    encodings = ALL_ENCODINGS
    moves_encoding = MOVES
    shipped = "pydlshogi.npz"

    def start(self) -> ShogiPosition:
        return ShogiPosition()

    def answer_at_once(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | None:
        assert isinstance(position, ShogiPosition)
        if not position.declares():
            return None
        won = Info(depth=1, time=round(clock.elapsed()), nodes=0, score_cp=HIGHEST_CP, string="win by declaration")
        report(won)
        return BestMove("win")


class ShogiPolicyPlayer(ShogiPlayer, PolicyPlayer):
    """It plays the network's first choice."""


class ShogiSearch1Player(ShogiPlayer, Search1Player):
    """It looks one move ahead."""


class NetworkAndBook(NamedTuple):
    """What was loaded; None: that had not changed."""

    network: Loaded | None
    opened: OpenedBook | None

    @property
    def remarks(self) -> Sequence[str]:
        return [*(self.network.remarks if self.network else ()), *(self.opened.remarks if self.opened else ())]


class ShogiMCTSPlayer(ShogiPlayer, MCTSPlayer):
    """It searches, with mates beside the search and a book before it."""

    options: MCTSPlayerOptions

    def __init__(self, options: MCTSPlayerOptions) -> None:
        super().__init__(options)
        self.scout = MateScout()
        self._book = OwnBook()
        self._checkmate = CheckmateSolver()

    def loading(self, options: EngineOptions) -> Callable[[], Loaded] | None:
        assert isinstance(options, MCTSPlayerOptions)
        load_network = super().loading(options)
        open_book = self._book.opening(options.book_file if options.own_book else "")
        if load_network is None and open_book is None:
            return None
        return lambda: NetworkAndBook(load_network and load_network(), open_book and open_book())

    def install(self, loaded: Loaded) -> None:
        assert isinstance(loaded, NetworkAndBook)
        if loaded.network is not None:
            super().install(loaded.network)
        if loaded.opened is not None:
            self._book.use(loaded.opened)

    def warmed_up(self, evaluator: Evaluator, batch_size: int) -> Latency:
        prepare()
        return super().warmed_up(evaluator, batch_size)

    def rule_settings(self, position: PlayedPosition) -> Records:
        assert isinstance(position, ShogiPosition)
        settings = position.settings
        settings["mate_plies"] = max(1, self.overlooking(int(self.options.mate_leaf_search)))
        return settings

    def scout_plies(self) -> int:
        return self.overlooking(self.options.mate_root_search)

    def scout_nodes(self) -> int:
        return self.options.mate_search_nodes

    def solve(self, position: PlayedPosition, clock: Clock) -> Checkmate:
        return self._checkmate.solve(position.sfen(), clock)

    def answer_at_once(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | None:
        return super().answer_at_once(position, clock, report) or self._from_book(position, clock, report)

    def _from_book(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | None:
        """The book's move, reported; None if the book has none or is not to be used."""
        assert isinstance(position, ShogiPosition)
        if self.options.consideration_mode:
            return None
        try:
            choice = self._book.consult(position, clock.limits, self.options, self.rng)
        except BookError as error:
            report(Info(string=f"Error! {error}"))
            return None
        if choice is None:
            return None
        entry, line = choice
        report(
            Info(
                depth=entry.depth or len(line),
                time=round(clock.elapsed()),
                nodes=0,
                multipv=1 if self.options.multi_pv > 1 else None,
                score_cp=entry.value,
                pv=line,
                string="from the book",
            )
        )
        return BestMove(*line[:2])
