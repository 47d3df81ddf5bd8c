"""The player of Othello: an engine of that game, asked as players are."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pydlshogi.engines.othello import OthelloOptions
from pydlshogi.engines.othello.clock import Clock as OthelloClock
from pydlshogi.engines.othello.clock import Effort
from pydlshogi.engines.othello.engine import DISCS, EngineError, Hint, OthelloEngine
from pydlshogi.engines.othello.player import SHIPPED_OPENINGS, AlphaBetaEngine
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import move_name
from pydlshogi.player.base_player import (
    BasePlayer,
    BestMove,
    Checkmate,
    Info,
    Loaded,
    PlayedPosition,
    PlayerError,
    Report,
)
from pydlshogi.player.clock import Clock
from pydlshogi.player.options import EngineOptions
from pydlshogi.support.files import shipped_model


class Nothing(NamedTuple):
    """What the players of one pool share."""

    remarks: Sequence[str] = ()


def alphabeta_engine(options: OthelloOptions) -> OthelloEngine:
    """The alpha-beta engine, with what ships."""
    each_table = max(1, options.hash_mb // 2)
    return AlphaBetaEngine(openings=shipped_model() / SHIPPED_OPENINGS, megabytes=each_table)


def search_engine(options: OthelloOptions, *, iago: bool) -> OthelloEngine:
    """The engine over the shared search, with what ships; `iago`: with its constants and rollouts."""
    from pydlshogi.engines.othello.search import IAGO_ROLLOUTS, Mind, SearchEngine

    return SearchEngine(Mind(iago=iago, rollouts=IAGO_ROLLOUTS if iago else 0.0, megabytes=options.hash_mb))


class OthelloPlayer(BasePlayer):
    """In an analysis it says what each move is worth, else only what the best is."""

    options: OthelloOptions

    def __init__(self, options: OthelloOptions, make: Callable[[OthelloOptions], OthelloEngine]) -> None:
        """`make`: its engine, by the options."""
        super().__init__(options)
        self._make = make
        self._engine: OthelloEngine | None = None

    def loading(self, options: EngineOptions) -> Callable[[], Loaded] | None:
        return Nothing if self._engine is None else None

    def install(self, loaded: Loaded) -> None:
        """Each player has tables of its own. Raises PlayerError."""
        engine = self._make(self.options)
        try:
            engine.prepare()
        except EngineError as error:
            raise PlayerError(str(error)) from None
        self._engine = engine

    def new_game(self) -> None:
        assert self._engine is not None
        self._engine.new_game()

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        assert isinstance(position, OthelloPosition)
        assert self._engine is not None
        limits = clock.limits
        if limits.mate:
            return Checkmate("notimplemented")
        if limits.searchmoves:
            raise PlayerError("this engine cannot be told which moves to search")
        if position.outcome() is not None:
            score = position.now.score
            report(Info(win_rate=_win_rate(score), score_cp=100 * score))
            return BestMove("resign")
        watch = _Watch(clock, self.options.level)
        lines = min(self.options.multi_pv, len(position.now.moves())) if limits.infinite else 1

        def tell(hint: Hint) -> None:
            report(watch.info(hint, lines))

        if limits.infinite:
            best = self._engine.hints(position.now, lines, watch, tell)[0]
        else:
            best = self._engine.choose(position.now, watch, tell)
            if not watch.depth:  # a registered opening, or the only move
                report(watch.info(best, lines))
        return BestMove(*map(move_name, best.line[:2]))


def _win_rate(score: float) -> float:
    """By so many discs, of proven scores too: what a move cost is the difference of two of them."""
    return 1 / (1 + math.exp(-score / DISCS))


class _Watch(OthelloClock):
    """The clock of a player as Othello's engine looks at it, and what has been found by then."""

    def __init__(self, clock: Clock, level: int) -> None:
        budget = clock.budget
        seconds = budget.optimum / 1000 if math.isfinite(budget.optimum) else None
        super().__init__(Effort(level or None, seconds, seconds, budget.nodes))
        self._clock = clock
        self._nodes = 0
        self._rank = 0
        self.depth = 0
        """Of the last that was found; 0: nothing was."""

    def expired(self) -> bool:
        return self._clock.stopped or super().expired()

    def too_late_for(self, seconds: float) -> bool:
        return super().too_late_for(seconds) or self._nodes >= self.effort.nodes

    def info(self, hint: Hint, lines: int) -> Info:
        """What an engine found: so many lines again and again, the best first."""
        self._rank = self._rank % lines + 1
        self.depth, self._nodes = hint.depth, max(self._nodes, hint.nodes)
        elapsed = self._clock.elapsed()
        if hint.score is None:
            return Info(nodes=self._nodes, time=round(elapsed), pv=tuple(map(move_name, hint.line)))
        score = hint.score
        return Info(
            depth=hint.depth,
            time=round(elapsed),
            nodes=self._nodes,
            nps=round(1000 * self._nodes / elapsed) if elapsed >= 1 else None,
            multipv=self._rank if lines > 1 else None,
            score_cp=round(100 * score),
            win_rate=_win_rate(score),
            pv=tuple(map(move_name, hint.line)),
        )
