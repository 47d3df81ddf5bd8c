"""MCTSPlayer with an evaluator that takes 300 ms a batch loses no game on time. The clock on the wall is the test's."""

import cshogi
import pytest

from pydlshogi.evaluator import UniformEvaluator
from pydlshogi.player import mcts_player
from pydlshogi.player.base_player import BestMove
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.uct.search import Evaluations, Requests


class Wall:
    """Milliseconds that pass when somebody says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class SlowEvaluator(UniformEvaluator):
    """Thinks of every batch for 300 ms, whatever its size."""

    def __init__(self, wall: Wall) -> None:
        self.wall = wall
        self.batches = 0

    def evaluate(self, requests: Requests) -> Evaluations:
        self.wall.now += 300
        self.batches += 1
        return super().evaluate(requests)


@pytest.mark.parametrize(
    ("clock_ms", "increment", "byoyomi", "least_batches"),
    [(0, 0, 1000, 400), (0, 0, 500, 200), (1000, 1000, 0, 400), (10_000, 0, 0, 25)],
    ids=["byoyomi 1000", "byoyomi 500", "1 s + 1 s", "10 s sudden death"],
)
def test_two_hundred_moves_without_an_overrun(
    monkeypatch: pytest.MonkeyPatch, clock_ms: int, increment: int, byoyomi: int, least_batches: int
) -> None:
    wall = Wall()
    player = MCTSPlayer()
    player.options.set("Backend", "uniform")
    player.options.set("USI_Hash", "1")
    player.options.set("Random_Seed", "1")
    player.options.set("Mate_Root_Search", "0")  # a mate found would cost no batch
    player.prepare()
    player.evaluator = evaluator = SlowEvaluator(wall)
    player.batch_latency = 300  # as `prepare` would have measured it
    monkeypatch.setattr(mcts_player, "milliseconds", wall)

    left = float(clock_ms)
    moves: list[str] = []
    for number in range(200):
        board = cshogi.Board()
        for move in moves:
            board.push_usi(move)
        began = wall.now
        limits = Limits(btime=int(left), wtime=int(left), binc=increment, winc=increment, byoyomi=byoyomi)
        clock = Clock(limits, wall)
        player.position(cshogi.STARTING_SFEN, moves)
        answer = player.think(limits, player.start_clock(limits, clock), lambda _: None)
        wall.now += 2
        spent = wall.now - began
        assert spent < left + increment + byoyomi, f"move {number + 1}"
        left = max(0.0, left + increment - spent)
        assert isinstance(answer, BestMove)
        if board.move_from_usi(answer.move) and len(moves) < 60:
            moves.append(answer.move)
        else:
            player.new_game()
            moves = []
    assert evaluator.batches >= least_batches
