"""MCTSPlayer with an evaluator that takes 300 ms a batch loses no game on time. The clock on the wall is the test's."""

import os
import subprocess
import sys
from typing import Final

import pytest
from thinker import Thinker
from usi_driver import ROOT

from pydlshogi.evaluator import UniformEvaluator
from pydlshogi.player import thinking
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.latency import Latency
from pydlshogi.uct.batch import Batch, Evaluations


class SlowEvaluator(UniformEvaluator):
    """Thinks of every batch for 300 ms, whatever its size, and of the next for `held_up` more."""

    now = held_up = 0.0
    """Milliseconds of the clock on the wall, which pass when somebody says so."""
    batches = 0

    def evaluate(self, batch: Batch) -> Evaluations:
        self.now += 300 + self.held_up
        self.held_up = 0.0
        self.batches += 1
        return super().evaluate(batch)


class SlowThinker(Thinker):
    """It asks a slow evaluator, and its time is that of the wall."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # A mate found would cost no batch.
        super().__init__(Random_Ply=9, Random_Seed=1, USI_Hash=1, Mate_Root_Search=0)
        self.evaluator = SlowEvaluator()
        monkeypatch.setattr(thinking, "milliseconds", self.now)
        network = self.player.network
        network.install(network.loaded._replace(evaluator=self.evaluator))
        self.batch_size = network.loaded.batch_size
        self.player.latency = Latency(300, 300)  # as `prepare` would have measured it

    def now(self) -> float:
        return self.evaluator.now

    def answer(self, limits: Limits) -> str:
        return self.think(Clock(limits, self.now)).move


@pytest.mark.parametrize(
    ("clock_ms", "increment", "byoyomi", "least_batches"),
    [(0, 0, 1000, 400), (0, 0, 500, 200), (1000, 1000, 0, 400), (10_000, 0, 0, 25)],
    ids=["byoyomi 1000", "byoyomi 500", "1 s + 1 s", "10 s sudden death"],
)
def test_two_hundred_moves_without_an_overrun(monkeypatch, clock_ms, increment, byoyomi, least_batches) -> None:
    slow = SlowThinker(monkeypatch)
    left = float(clock_ms)
    for number in range(200):
        began = slow.now()
        move = slow.answer(Limits(btime=int(left), wtime=int(left), binc=increment, winc=increment, byoyomi=byoyomi))
        slow.evaluator.now += 2
        spent = slow.now() - began
        assert spent < left + increment + byoyomi, f"move {number + 1}"
        left = max(0.0, left + increment - spent)
        if move in slow.legal_moves() and len(slow.moves) < 60:
            slow.moves = (*slow.moves, move)
        else:
            slow.player.new_game()
            slow.moves = ()
    assert slow.evaluator.batches >= least_batches


def test_a_batch_held_up_for_longer_than_a_move_may_take_spoils_that_move_only(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowThinker(monkeypatch)
    batches = []
    for moves, held_up in (((), 5000.0), (("1g1f", "9c9d"), 0.0), (("1g1f", "9c9d", "1f1e", "9d9e"), 0.0)):
        slow.evaluator.held_up = held_up
        before = slow.evaluator.batches
        slow.moves = moves
        slow.answer(Limits(byoyomi=1000))
        batches.append(slow.evaluator.batches - before)
    assert batches == [1, 2, 2]


def test_a_move_too_short_for_a_full_batch_still_gets_an_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowThinker(monkeypatch)
    slow.player.latency = Latency(70, 300, slow.batch_size)
    slow.evaluator.held_up = -230.0
    slow.answer(Limits(byoyomi=100))
    assert (slow.evaluator.batches, slow.now()) == (1, 70)


KERNELS: Final = """
import gc
from numba.core.dispatcher import Dispatcher

def signatures():
    return {id(each): (each, len(each.signatures)) for each in gc.get_objects() if isinstance(each, Dispatcher)}

def act(player, game):
    before = signatures()
    game(player)
    print("late:", *(each for key, (each, count) in signatures().items() if before.get(key) != (each, count)))
"""


def late_kernels(code: str) -> str:
    """What `code` prints in a process that has loaded no kernel before."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    command = [sys.executable, "-c", KERNELS + code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_no_kernel_is_left_to_be_compiled_in_a_game() -> None:
    code = """
from pydlshogi.games.shogi.game import GAME as shogi
from test_mate import MATES
from thinker import Thinker

def play(thinker):
    for sfen in (thinker.sfen, MATES[3][0]):
        thinker.sfen, thinker.moves = sfen, ()
        for _ in range(4):
            thinker.go(nodes=300, searchmoves=tuple(thinker.legal_moves()[:20]))
            answer = thinker.go(nodes=2000)
            if answer.move not in thinker.legal_moves() or not answer.ponder:
                break
            thinker.moves += (answer.move, answer.ponder)
        thinker.player.new_game()

for make, game in (
    (lambda: Thinker(Backend="hash", USI_Hash=1, MultiPV=600), play),
    (lambda: Thinker(engine=shogi.policy(), Backend="hash"), Thinker.go),
    (lambda: Thinker(engine=shogi.search1(), Backend="hash"), Thinker.go),
):
    act(make(), game)
"""
    assert late_kernels(code) == "late:\n" * 3


@pytest.mark.parametrize("engine", ["othello.alphabeta()", "othello.mcts()", "othello.iago()"])
def test_no_kernel_is_left_to_be_loaded_in_a_game_of_othello(engine: str) -> None:
    code = f"""
from pydlshogi.games.othello.game import GAME as othello
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.player.ask import ask
from pydlshogi.player.clock import Clock, Limits

def play(player):
    position = OthelloPosition()
    while len(position.legal_moves()):
        ask(player, position, Clock(Limits(infinite=True, nodes=300)), lines=60)
        answer = ask(player, position, Clock(Limits(movetime=30)))
        position.push(position.move_from_usi(answer.move))

player = ({engine}).load()
player.prepare()
act(player, play)
"""
    assert late_kernels(code) == "late:\n"


@pytest.mark.parametrize("engine", ["othello.alphabeta()", "othello.mcts()", "othello.iago()", "shogi.mcts()"])
def test_what_is_compiled_is_so_by_the_loader_while_stop_is_answered(engine: str) -> None:
    code = f"""
from pydlshogi.games.othello.game import GAME as othello
from pydlshogi.games.shogi.game import GAME as shogi

player = ({engine}).load()
loaded = player.loading(player.options)()
act(player, lambda player: player.install(loaded))
"""
    assert late_kernels(code) == "late:\n"
