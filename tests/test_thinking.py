"""One search under a clock: whether it goes on beyond the optimum of its time."""

from itertools import pairwise

import pytest
from test_search import Opinions, SearchOfOne, a_search
from tic_tac_toe import Letters

from pydlshogi.player.clock import Budget, Clock
from pydlshogi.player.latency import Latency, WindowedMaximum
from pydlshogi.player.thinking import MateSearcher, Thinking
from pydlshogi.uct.batch import Batch, Evaluations
from pydlshogi.uct.pipeline import Pipeline

SECOND = 1000.0
"""So much longer than a batch that no delay of the machine counts."""


class Ticking(Opinions):
    """Each batch takes a second of a clock of its own."""

    now = 0.0

    def evaluate(self, batch: Batch) -> Evaluations:
        self.now += SECOND
        return super().evaluate(batch)


def two_lines(first: float) -> tuple[SearchOfOne, dict[str, float]]:
    """R has the moves A and a, each with one line; to play A is worth `first`, to play the other one half."""
    lines = [[chr(place + number) for number in range(200)] for place in (1000, 2000)]
    graph = {here: after for line in lines for here, after in pairwise(line)}
    values = {letter: first if ply % 2 else 1 - first for ply, letter in enumerate(lines[0])}
    return a_search(Letters({"R": lines[0][0] + lines[1][0], **graph}, "R")), values


@pytest.mark.parametrize(
    ("prior", "value", "extended"),
    [
        (1 / 2, 0.5, True),  # as many visits as the other one
        (2 / 3, 0.5, True),  # 19 to 16
        (3 / 4, 0.5, False),  # 19 to 10, more than 1.5 times as many, and worth as much
        (0.97, 0.45, True),  # 19 to 1, but worth less
    ],
)
def test_it_goes_on_while_the_best_move_is_in_doubt(prior: float, value: float, extended: bool) -> None:
    search, values = two_lines(value)
    evaluator = Ticking(values, {chr(1000): prior, chr(2000): 1 - prior})
    clock = Clock(now=lambda: evaluator.now)
    optimum = 20 * SECOND
    clock.begin(lambda _: Budget(minimum=optimum, optimum=optimum, extended=optimum + SECOND, maximum=99 * SECOND))
    pipeline = Pipeline(search, evaluator, batch_size=2)
    thinking = Thinking(pipeline, MateSearcher(), clock, Latency(), WindowedMaximum(0.0))
    thinking.run(lambda: None, 99 * SECOND, lambda: 0.0, lambda: False)
    pipeline.close()
    assert clock.may_extend != extended
