"""The engine that searches as AlphaZero and AlphaGo did; an OthelloEngine over the shared search."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from pydlshogi.engines.othello.clock import Clock, Effort
from pydlshogi.engines.othello.endgame import Solver
from pydlshogi.engines.othello.engine import DISCS, EngineError, Hint, Report, unheard
from pydlshogi.engines.othello.patterns import load_weights
from pydlshogi.engines.othello.player import ENDING, SHIPPED_WEIGHTS, solvable
from pydlshogi.engines.othello.policy import SHIPPED_POLICY, Tables, load_policy
from pydlshogi.engines.othello.rollouts import load_rollouts
from pydlshogi.engines.othello.tables import TableEvaluator, TableRollouts
from pydlshogi.evaluator import Cached, Mixed, NetworkEvaluator
from pydlshogi.games.othello.encodings import OTHELLO
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import RULES, START, Position
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import BackendError
from pydlshogi.network.loading import load_backend
from pydlshogi.support.files import shipped_model
from pydlshogi.uct.batch import Batch, Evaluator
from pydlshogi.uct.puct import DEFAULT_PUCT, Puct
from pydlshogi.uct.root import Root
from pydlshogi.uct.search import stored_search
from pydlshogi.uct.uct_node import NONE

NAME: Final = "pydlshogi search"
SHIPPED_ROLLOUTS: Final = "othello_rollouts.npz"
IAGO: Final = Puct(
    c_init=0.5,
    c_base=1e12,
    c_init_root=0.5,
    c_base_root=1e12,
    unvisited=0.5,
    u_offset=0.01,
    prior_bonus=0.1,
    expand_at=15,
)
"""IaGo's constants. Its values are -1 to 1 and its c is 1: that is 0.5 where they are 0 to 1."""
IAGO_ROLLOUTS: Final = 0.5
"""Their share in the values of IaGo: its lambda."""
_MOST_DISCS: Final = 64.0
_BATCH: Final = 128
_CACHED: Final = 1 << 17
"""Positions of which it is remembered what a network said."""
_LEVEL_PLAYOUTS: Final = 32
"""Playouts of level 0; each level doubles them."""
_HIGHEST_LEVEL: Final = 25
"""No machine gets any further in a game's time."""
_BEFORE_SOLVING: Final = 256
"""Playouts, so that there is an answer if the solver is stopped."""
_AHEAD: Final = 4
"""Plies from one root to the next, passes among them, within which the tree is kept."""


class Mind(NamedTuple):
    """What the engine thinks with."""

    network: Path | None = None
    """A network's file; None: the tables that come with the package."""
    iago: bool = False
    """Constants of the search as in IaGo, not as in AlphaZero."""
    rollouts: float = 0.0
    """Share of rollouts in the values."""
    playouts: int | None = None
    """For a move; None: as many as there is time for."""
    megabytes: int = 256
    """For the tree."""


class SearchEngine:
    """Plays by Monte Carlo tree search; an OthelloEngine."""

    def __init__(self, mind: Mind) -> None:
        self.name = f"{NAME} IaGo" if mind.iago else NAME
        self._mind = mind

    def prepare(self) -> None:
        """Get ready to play. Raises EngineError."""
        mind = self._mind
        puct = IAGO._replace(evaluate_anew=mind.rollouts > 0) if mind.iago else DEFAULT_PUCT
        self._evaluator = evaluator_of(mind)
        try:
            settings = OthelloPosition().settings
            self._search = stored_search(RULES, settings, self._evaluator.encoding, mind.megabytes, puct)
        except MemoryError as error:
            raise EngineError(f"there is no room for a tree of {mind.megabytes} MiB") from error
        self._batch = Batch(_BATCH, RULES.most_moves, self._evaluator.encoding)
        self._root = Root(self._search)
        self._solver = Solver()
        self._ply = 1
        # What is compiled the first time, and else read from the cache, is so here, not in the first move.
        for position, level in ((START, 1), (START.play(START.moves()[0]), 1), (ENDING, 6)):
            self.hints(position, 1, Clock(Effort(level=level)), unheard)
        _ = self._root.value
        self.new_game()

    def new_game(self) -> None:
        """What comes next is another game."""
        self._search.clear()
        self._ply = 1

    def choose(self, position: Position, clock: Clock, report: Report) -> Hint:
        """The move to play in `position`, in which there is one."""
        moves = position.moves()
        if len(moves) == 1:
            return Hint(moves[0], None, (moves[0],))
        return self._think(position, 1, clock, report)[0]

    def hints(self, position: Position, most: int, clock: Clock, report: Report) -> list[Hint]:
        """The best moves of `position`, in which there is one, the best first: `most`, or as many as there are."""
        return self._think(position, most, clock, report)

    def _think(self, position: Position, most: int, clock: Clock, report: Report) -> list[Hint]:
        level = clock.effort.level
        wanted = math.inf if level is None else _LEVEL_PLAYOUTS * 2 ** min(level, _HIGHEST_LEVEL)
        wanted = min(wanted, clock.effort.nodes, self._mind.playouts or math.inf)
        solve = self._mind.playouts is None and solvable(position.empties, clock)
        next_report = 1

        def stopped() -> bool:
            nonlocal next_report
            if clock.too_late_for(0) or self._search.playouts >= wanted or self._root.plies is not None:
                return True
            if self._search.playouts >= next_report:
                next_report = 2 * self._search.playouts
                for hint in self._hints(most):
                    report(hint)
            return False

        self._look(position, _BEFORE_SOLVING if solve else wanted, stopped)
        hints = self._solved(position, most, clock.expired) if solve else self._hints(most)
        for hint in hints:
            report(hint)
        return hints

    def _look(self, position: Position, playouts: float, stopped: Callable[[], bool]) -> None:
        """Search from `position`, which has a move, until there are so many playouts or it is stopped.

        The tree is kept where the position is known. The root is evaluated in any case.
        """
        search, root = self._search, self._root
        key = OthelloPosition(position).key()
        known = (self._ply + ahead for ahead in range(_AHEAD + 1) if search.table.find(key, self._ply + ahead) != NONE)
        if (ply := next(known, None)) is None:
            self.new_game()
        else:
            self._ply = ply
        search.set_root(OthelloPosition(position, self._ply))
        while not root.expanded or (search.playouts < playouts and not stopped()):
            most = min(_BATCH, 1 + root.visits // 8, max(1, playouts - search.playouts))
            self._batch.clear()
            leaves = search.gather(self._batch, int(most))
            search.backup(leaves, self._evaluator.evaluate(self._batch))

    def _hints(self, most: int) -> list[Hint]:
        """What the search thinks of the best moves."""
        playouts = self._search.playouts
        hints = []
        for stats in self._root.moves()[:most]:
            line = tuple(self._root.line(stats.move))
            # A proof says who wins, but not by how many discs: its 1 would be 64 of them.
            rate = self._root.win_rate(stats._replace(plies=None))
            hints.append(Hint(stats.move, _discs_of(rate), line, len(line), nodes=playouts))
        return hints

    def _solved(self, position: Position, most: int, stopped: Callable[[], bool]) -> list[Hint]:
        """The best moves with their exact scores. If the solver was stopped, what the search thinks stands for others.

        Then a move that is proven to lose comes behind those that the search thinks better.
        """
        hints: list[Hint] = []
        guesses = self._hints(RULES.most_moves)
        nodes = 0
        for number, guess in enumerate(guesses):
            # Once `most` moves are known, others matter only where they are better than the last of those.
            floor = hints[most - 1].score if len(hints) >= most else None
            child = position.play(guess.move)
            score = float(-child.score)
            line: tuple[int, ...] = (guess.move,)
            if not child.over:
                high = 64 if floor is None else -round(floor)
                solution = self._solver.solve(child, high=high, stopped=stopped) if high > -64 else None
                if solution is None:
                    if stopped():
                        best_guess = min(0.0, _score(guess))
                        holds = sum(_score(hint) >= best_guess for hint in hints)
                        hints[holds:holds] = guesses[number:]
                        break
                    continue
                nodes += solution.nodes
                score, line = float(-solution.score), (guess.move, solution.move)
            hints.append(Hint(guess.move, score, line, position.empties, exact=True, nodes=nodes))
            hints.sort(key=_score, reverse=True)
        return [hint._replace(nodes=nodes) for hint in hints[:most]]


def _score(hint: Hint) -> float:
    return hint.score or 0.0


def _discs_of(rate: float) -> float:
    """A win rate in discs."""
    if not 0 < rate < 1:
        return _MOST_DISCS * (2 * rate - 1)
    return max(-_MOST_DISCS, min(_MOST_DISCS, DISCS * math.log(rate / (1 - rate))))


def evaluator_of(mind: Mind) -> Evaluator:
    """What judges positions. Raises EngineError."""
    models = shipped_model()
    try:
        if mind.network is None:
            policy, scales = load_policy(models / SHIPPED_POLICY)
            evaluator: Evaluator = TableEvaluator(Tables(policy, scales, load_weights(models / SHIPPED_WEIGHTS)))
        else:
            backend = load_backend("auto", mind.network, [OTHELLO], threads=1, batch_size=_BATCH)
            evaluator = Cached(NetworkEvaluator(backend), _CACHED)
        if not mind.rollouts:
            return evaluator
        return Mixed(evaluator, TableRollouts(load_rollouts(models / SHIPPED_ROLLOUTS)), mind.rollouts)
    except OSError as error:
        raise EngineError(f"{error.filename}: {error.strerror}") from error
    except (ValueError, ModelError, BackendError) as error:
        raise EngineError(str(error)) from error
