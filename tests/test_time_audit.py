"""MCTSPlayer with an evaluator that takes 300 ms a batch loses no game on time. The clock on the wall is the test's."""

import re
import subprocess
import sys

import cshogi
import pytest

from pydlshogi import evaluator
from pydlshogi.evaluator import UniformEvaluator
from pydlshogi.player import mcts_player, network_player
from pydlshogi.player.base_player import BestMove
from pydlshogi.player.clock import Clock, Latency, Limits
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.uct.search import Evaluations, Requests


class Wall:
    """Milliseconds that pass when somebody says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class SlowEvaluator(UniformEvaluator):
    """Thinks of every batch for 300 ms, whatever its size, and of the next for `held_up` more."""

    def __init__(self, wall: Wall) -> None:
        self.wall = wall
        self.batches = 0
        self.held_up = 0.0

    def evaluate(self, requests: Requests) -> Evaluations:
        self.wall.now += 300 + self.held_up
        self.held_up = 0.0
        self.batches += 1
        return super().evaluate(requests)


def slow_player(wall: Wall) -> tuple[MCTSPlayer, SlowEvaluator]:
    """A player, and what it asks."""
    player = MCTSPlayer()
    player.options.set("Backend", "uniform")
    player.options.set("USI_Hash", "1")
    player.options.set("Random_Seed", "1")
    player.options.set("Mate_Root_Search", "0")  # a mate found would cost no batch
    player.prepare()
    player.new_game()
    player.evaluator = slow = SlowEvaluator(wall)
    player.latency = Latency(300, 300)  # as `prepare` would have measured it
    return player, slow


@pytest.mark.parametrize(
    ("clock_ms", "increment", "byoyomi", "least_batches"),
    [(0, 0, 1000, 400), (0, 0, 500, 200), (1000, 1000, 0, 400), (10_000, 0, 0, 25)],
    ids=["byoyomi 1000", "byoyomi 500", "1 s + 1 s", "10 s sudden death"],
)
def test_two_hundred_moves_without_an_overrun(
    monkeypatch: pytest.MonkeyPatch, clock_ms: int, increment: int, byoyomi: int, least_batches: int
) -> None:
    wall = Wall()
    player, evaluator = slow_player(wall)
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


def test_a_batch_held_up_for_longer_than_a_move_may_take_spoils_that_move_only(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall()
    player, evaluator = slow_player(wall)
    monkeypatch.setattr(mcts_player, "milliseconds", wall)
    limits = Limits(byoyomi=1000)
    batches = []
    for moves, held_up in (((), 5000.0), (("1g1f", "9c9d"), 0.0), (("1g1f", "9c9d", "1f1e", "9d9e"), 0.0)):
        evaluator.held_up = held_up
        before = evaluator.batches
        player.position(cshogi.STARTING_SFEN, moves)
        player.think(limits, player.start_clock(limits, Clock(limits, wall)), lambda _: None)
        batches.append(evaluator.batches - before)
    assert batches == [1, 2, 2]


def test_after_batches_that_no_move_has_time_for_the_next_moves_dare_again(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall()
    player, evaluator = slow_player(wall)
    monkeypatch.setattr(mcts_player, "milliseconds", wall)
    limits = Limits(byoyomi=1000)
    asked = []
    for move in range(20):
        player.new_game()
        evaluator.held_up = 5000.0 if move < 2 else 0.0
        before = evaluator.batches
        player.position(cshogi.STARTING_SFEN, ())
        player.think(limits, player.start_clock(limits, Clock(limits, wall)), lambda _: None)
        asked.append(evaluator.batches - before)
    assert asked[2] == 0
    assert asked[-1] == 2


def test_a_move_too_short_for_a_full_batch_still_gets_an_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall()
    player, evaluator = slow_player(wall)
    player.latency = Latency(70, 300, player.batch_size)
    evaluator.held_up = -230.0
    monkeypatch.setattr(mcts_player, "milliseconds", wall)
    limits = Limits(byoyomi=100)
    player.think(limits, player.start_clock(limits, Clock(limits, wall)), lambda _: None)
    assert evaluator.batches == 1
    assert wall.now == 70


def test_what_is_compiled_while_loading_does_not_count_as_the_price_of_a_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wall = Wall()
    compiling = iter([5000.0, 3000.0])

    class Compiles(SlowEvaluator):
        def evaluate(self, requests: Requests) -> Evaluations:
            self.held_up = next(compiling, 0.0)
            return super().evaluate(requests)

    monkeypatch.setattr(network_player, "milliseconds", wall)
    monkeypatch.setattr(evaluator, "UniformEvaluator", lambda: Compiles(wall))
    player = MCTSPlayer()
    player.options.set("Backend", "uniform")
    player.prepare()
    assert (player.latency.of(1), player.latency.of(player.batch_size)) == (300, 300)


def test_no_kernel_of_the_search_is_left_to_be_compiled_in_a_game() -> None:
    code = """
from numba.core.dispatcher import Dispatcher
from pydlshogi.player.mcts_player import MCTSPlayer
from pydlshogi.uct import search, uct_node

MCTSPlayer().prepare()
names = {**vars(search), **vars(uct_node)}
kernels = [name for name, what in names.items() if isinstance(what, Dispatcher) and what.stats.cache_path]
missing = [name for name in kernels if not names[name].signatures]
print("kernels", len(kernels), "missing", *missing)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"kernels \d+ missing\n", done.stdout)
