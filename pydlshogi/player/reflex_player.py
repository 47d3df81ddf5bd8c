"""Players without a tree, as in the first chapters of the python-dlshogi book.

`by_policy` rates a move as the policy of the network does, `by_value` by how the network likes the position after it.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import BestMove, Checkmate, Info, Report, moves_named
from pydlshogi.player.choice import SeededRng
from pydlshogi.player.clock import Clock
from pydlshogi.player.lines import centipawns
from pydlshogi.player.mcts_options import ReflexOptions
from pydlshogi.player.network_player import Network, NetworkPlayer


class Rated(NamedTuple):
    """What a player thinks of one move."""

    move: str
    rate: float
    """0 to 1: the more the better."""
    logit: float
    """What temperature divides."""
    win_rate: float
    """0 to 1, to be shown as the score."""


Rating: TypeAlias = Callable[[Network, PlayedPosition, ReflexOptions], list[Rated]]
"""One rating for every legal move of a position, of which there is at least one."""


class ReflexPlayer(NetworkPlayer):
    """Rates the legal moves and plays one of them, and asks no clock: it is done at once."""

    options: ReflexOptions

    def __init__(self, options: ReflexOptions, network: Network, rate: Rating) -> None:
        super().__init__(options, network)
        self._rate = rate
        self._rng = SeededRng()
        self._rng.begin(options.seed)

    def new_game(self) -> None:
        super().new_game()
        self._rng.begin(self.options.seed)

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        if clock.limits.mate:
            return Checkmate("notimplemented")
        self._rng.begin_if_changed(self.options.seed)
        if answer := self.advice(position, clock, report):
            return answer
        ratings = self._rate(self.network, position, self.options)
        for rated in ratings:
            report(Info(string=f"{rated.move:5} : {rated.rate:.5f}"))
        searched = {position.usi(move) for move in moves_named(position, clock.limits.searchmoves)}
        chosen = self._choose([each for each in ratings if each.move in searched] or ratings)
        report(
            Info(
                depth=1,
                time=round(clock.elapsed()),
                nodes=len(ratings),
                score_cp=centipawns(chosen.win_rate, self.eval_coef),
                win_rate=chosen.win_rate,
                pv=(chosen.move,),
            )
        )
        return BestMove(chosen.move)

    def _choose(self, ratings: list[Rated]) -> Rated:
        """The best, or one sampled with a probability proportional to exp(logit / temperature)."""
        best = max(ratings, key=lambda each: each.logit)
        if not self.options.temperature:
            return best
        sharpness = 100 / self.options.temperature
        weights = [math.exp((each.logit - best.logit) * sharpness) for each in ratings]
        return self._rng.choices(ratings, weights)[0]


def by_policy(network: Network, position: PlayedPosition, _: ReflexOptions) -> list[Rated]:
    """Rate each move by its probability in the policy."""
    moves = position.legal_moves()
    priors, value = network.evaluate(position, moves)
    return [
        Rated(position.usi(move), prior, math.log(max(prior, 1e-7)), value)
        for move, prior in zip(moves.tolist(), priors.tolist(), strict=True)
    ]


def by_value(network: Network, position: PlayedPosition, options: ReflexOptions) -> list[Rated]:
    """Rate each move by the value of the position after it, seen from this side."""
    moves = position.legal_moves().tolist()
    win_rates: list[float] = []
    for first in range(0, len(moves), options.batch_size):
        win_rates += _win_rates_after(network, position, moves[first : first + options.batch_size])
    return [
        Rated(position.usi(move), win_rate, logit(win_rate), win_rate)
        for move, win_rate in zip(moves, win_rates, strict=True)
    ]


def _win_rates_after(network: Network, position: PlayedPosition, moves: list[int]) -> list[float]:
    """This side's win rate after each move: by the rules where they decide, else by the network, in one batch."""
    position = position.copy()
    batch = network.new_batch(len(moves))
    decided: dict[int, float] = {}
    for move in moves:
        position.push(move)
        replies = position.legal_moves()
        outcome = position.outcome()
        if not len(replies):
            decided[move] = 1.0
        elif outcome is not None:
            decided[move] = 1.0 - outcome.value
        else:
            batch.add(position, replies)
        position.pop()
    values = iter(network.loaded.evaluator.evaluate(batch).values.tolist() if len(batch) else ())
    return [decided[move] if move in decided else 1.0 - next(values) for move in moves]


def logit(p: float) -> float:
    """ln(p / (1 - p)), finite also for the certain and the impossible."""
    p = min(max(p, 1e-7), 1 - 1e-7)
    return math.log(p / (1 - p))
