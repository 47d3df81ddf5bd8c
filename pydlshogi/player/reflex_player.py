"""Players that look at every legal move once and choose, as in the first chapters of the python-dlshogi book.

What they share: the choice, the best or one drawn by temperature, and how it is said. How a move is judged is left to
PolicyPlayer and Search1Player.
"""

import math
import random
from abc import abstractmethod
from typing import NamedTuple

from pydlshogi.player.base_player import BestMove, Checkmate, Clock, Info, Limits, Report
from pydlshogi.player.network_player import NetworkOptions, NetworkPlayer, centipawns
from pydlshogi.player.options import Spin


class ReflexOptions(NetworkOptions):
    """What a reflex player lets the user decide."""

    temperature = Spin("temperature", 0, 0, 10000, help="0: the best move; else, in percent, how freely it is drawn")
    seed = Spin("Random_Seed", 0, 0, 2**31 - 1, help="of the drawn moves; 0: another one in every game")


class Judgement(NamedTuple):
    """What a player thinks of one move."""

    move: str
    rate: float
    """0 to 1: the more the better."""
    logit: float
    """What temperature divides."""
    win_rate: float
    """0 to 1, to be shown as the score."""


class ReflexPlayer(NetworkPlayer):
    """Judges the legal moves and plays one of them, whatever the clock says: it is done before it could ask."""

    options: ReflexOptions

    def __init__(self, options: ReflexOptions | None = None) -> None:
        super().__init__(options or ReflexOptions())
        self._random = random.Random()

    def new_game(self) -> None:
        self._random.seed(self.options.seed or None)

    @abstractmethod
    def judge(self) -> list[Judgement]:
        """One judgement for every legal move of the current position, of which there is at least one."""

    def think(self, limits: Limits, clock: Clock, report: Report) -> BestMove | Checkmate:
        if limits.mate:
            return Checkmate("notimplemented")
        if not len(self.game.legal_moves()):
            return BestMove("resign")
        if self.game.declares():
            report(Info(depth=1, time=round(clock.elapsed()), nodes=0, score_mate=1, string="win by declaration"))
            return BestMove("win")
        judgements = self.judge()
        for judgement in judgements:
            report(Info(string=f"{judgement.move:5} : {judgement.rate:.5f}"))
        chosen = self._choose([each for each in judgements if each.move in limits.searchmoves] or judgements)
        report(
            Info(
                depth=1,
                time=round(clock.elapsed()),
                nodes=len(judgements),
                score_cp=centipawns(chosen.win_rate, self.eval_coef),
                pv=(chosen.move,),
            )
        )
        return BestMove(chosen.move)

    def _choose(self, judgements: list[Judgement]) -> Judgement:
        """The best, or one drawn with a probability proportional to exp(logit / temperature)."""
        best = max(judgements, key=lambda each: each.logit)
        if not self.options.temperature:
            return best
        sharpness = 100 / self.options.temperature
        weights = [math.exp((each.logit - best.logit) * sharpness) for each in judgements]
        return self._random.choices(judgements, weights)[0]


def logit(p: float) -> float:
    """ln(p / (1 - p)), finite also for the certain and the impossible."""
    p = min(max(p, 1e-7), 1 - 1e-7)
    return math.log(p / (1 - p))
