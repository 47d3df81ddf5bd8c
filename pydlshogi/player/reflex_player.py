"""Players that look at every legal move once and choose, as in the first chapters of the python-dlshogi book.

`PolicyPlayer` plays what the policy of the network recommends, `Search1Player` the move after which the network likes
its position best.
"""

import math
from abc import abstractmethod
from typing import NamedTuple

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import BestMove, Checkmate, Info, Report, moves_named
from pydlshogi.player.choice import SeededRng
from pydlshogi.player.clock import Clock
from pydlshogi.player.lines import centipawns
from pydlshogi.player.mcts_options import ReflexOptions, Search1Options
from pydlshogi.player.network_player import NetworkPlayer
from pydlshogi.uct.batch import Batch


class Rated(NamedTuple):
    """What a player thinks of one move."""

    move: str
    rate: float
    """0 to 1: the more the better."""
    logit: float
    """What temperature divides."""
    win_rate: float
    """0 to 1, to be shown as the score."""


class ReflexPlayer(NetworkPlayer):
    """Rates the legal moves and plays one of them, whatever the clock says: it is done before it could ask."""

    options: ReflexOptions

    def __init__(self, options: ReflexOptions) -> None:
        super().__init__(options)
        self._rng = SeededRng()
        self._rng.begin(options.seed)

    def new_game(self) -> None:
        self._rng.begin(self.options.seed)

    @abstractmethod
    def rate(self, position: PlayedPosition) -> list[Rated]:
        """One rating for every legal move of the position, of which there is at least one."""

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        if clock.limits.mate:
            return Checkmate("notimplemented")
        if not len(position.legal_moves()):
            return BestMove("resign")
        self._rng.heed(self.options.seed)
        if answer := self.answer_at_once(position, clock, report):
            return answer
        ratings = self.rate(position)
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


class PolicyPlayer(ReflexPlayer):
    """Rates a move by its probability in the policy."""

    def rate(self, position: PlayedPosition) -> list[Rated]:
        moves = position.legal_moves()
        priors, value = self.priors_and_value(position, moves)
        return [
            Rated(position.usi(move), prior, math.log(max(prior, 1e-7)), value)
            for move, prior in zip(moves.tolist(), priors.tolist(), strict=True)
        ]


class Search1Player(ReflexPlayer):
    """Rates a move by the value of the position after it, seen from this side."""

    options: Search1Options

    def rate(self, position: PlayedPosition) -> list[Rated]:
        moves = position.legal_moves().tolist()
        win_rates: list[float] = []
        for first in range(0, len(moves), self.options.batch_size):
            win_rates += self._win_rates_after(position, moves[first : first + self.options.batch_size])
        return [
            Rated(position.usi(move), win_rate, logit(win_rate), win_rate)
            for move, win_rate in zip(moves, win_rates, strict=True)
        ]

    def _win_rates_after(self, position: PlayedPosition, moves: list[int]) -> list[float]:
        """This side's win rate after each move: by the rules where they decide, else by the network, in one batch."""
        position = position.copy()
        batch = Batch(len(moves), self.rules.most_moves, self.evaluator.encoding)
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
        values = iter(self.evaluator.evaluate(batch).values.tolist() if len(batch) else ())
        return [decided[move] if move in decided else 1.0 - next(values) for move in moves]


def logit(p: float) -> float:
    """ln(p / (1 - p)), finite also for the certain and the impossible."""
    p = min(max(p, 1e-7), 1 - 1e-7)
    return math.log(p / (1 - p))
