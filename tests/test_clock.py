"""The clock: how long a move may take, as a table; and that no game is lost on it, by playing two hundred moves."""

import math
import random
from collections.abc import Callable, Iterator

import pytest

from pydlshogi.player.clock import UNLIMITED, Budget, Clock, ClockSettings, Limits, allot

INF = math.inf
PLAIN = ClockSettings(network_delay=0, time_margin=0, minimum_thinking_time=0)


class Time:
    """A clock on the wall that a test turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.mark.parametrize(
    ("limits", "ply", "settings", "budget"),
    [
        # dlshogi's law: 440 s / (14 + 30 - 1) and / 14
        (Limits(btime=440_000), 1, PLAIN, Budget(1023.3, 10232.6, 10232.6, 440_000)),
        (Limits(btime=440_000), 30, PLAIN, Budget(3142.9, 31428.6, 62857.1, 440_000)),
        (Limits(btime=440_000), 200, PLAIN, Budget(3142.9, 31428.6, 62857.1, 440_000)),
        # four plies before the game is drawn
        (Limits(btime=40_000), 253, PLAIN._replace(draw_ply=256), Budget(1000, 10_000, 20_000, 40_000)),
        # a game that goes on all the same
        (Limits(btime=28_000), 300, PLAIN._replace(draw_ply=256), Budget(200, 2000, 4000, 28_000)),
        (Limits(btime=28_000), 300, PLAIN._replace(most_nodes=9), Budget(200, 2000, 4000, 28_000, 9)),
        (Limits(btime=28_000, nodes=50), 300, PLAIN._replace(most_nodes=9), Budget(200, 2000, 4000, 28_000, 50)),
        (Limits(btime=-5000, byoyomi=1000), 40, PLAIN, Budget(1000, 1000, 1000, 1000)),
        # an increment may be spent at once
        (Limits(btime=14_000, binc=500), 40, PLAIN, Budget(150, 1500, 3000, 14_500)),
        (Limits(btime=0, binc=2000), 40, PLAIN, Budget(200, 2000, 2000, 2000)),
        # a GUI took the increment off beforehand: 1700 ms are left
        (Limits(btime=-300, binc=2000), 40, PLAIN, Budget(170, 1700, 1700, 1700)),
        # byoyomi is used up, and comes on top of the clock
        (Limits(byoyomi=1000), 40, PLAIN, Budget(1000, 1000, 1000, 1000)),
        (Limits(btime=0, wtime=0, byoyomi=1000), 40, PLAIN, Budget(1000, 1000, 1000, 1000)),
        (Limits(btime=14_000, byoyomi=1000), 40, PLAIN, Budget(1000, 2000, 4000, 15_000)),
        # margins
        (Limits(byoyomi=10_000), 40, ClockSettings(), Budget(9600, 9600, 9600, 9600)),
        (Limits(byoyomi=1000), 40, ClockSettings(), Budget(750, 750, 750, 750)),
        (Limits(byoyomi=1000), 40, ClockSettings(byoyomi_margin=150), Budget(600, 600, 600, 600)),
        (Limits(btime=15_000), 40, ClockSettings(), Budget(100, 1000, 2000, 13_600)),
        (Limits(btime=1000, binc=1000), 40, ClockSettings(), Budget(100, 600, 600, 600)),
        (Limits(btime=1200), 40, ClockSettings(), Budget(100, 100, 100, 300)),
        # whole seconds: 2100 ms and the delay of 400 ms cost three
        (
            Limits(btime=1000 + 14 * 2100),
            40,
            ClockSettings(whole_seconds=True),
            Budget(260, 2600, 5200, 29_000),
        ),
        # nothing on the clock
        (Limits(btime=0, binc=0), 40, PLAIN, UNLIMITED),
        (Limits(btime=0, wtime=5000), 40, PLAIN, Budget(0, 0, 0, 0)),
        (Limits(btime=-500, wtime=-500), 40, PLAIN, Budget(0, 0, 0, 0)),
        (Limits(btime=0, wtime=0, byoyomi=0), 40, PLAIN._replace(default_nodes=300), UNLIMITED._replace(nodes=300)),
        # no clock
        (Limits(), 40, PLAIN, UNLIMITED),
        (Limits(), 40, PLAIN._replace(default_nodes=300), UNLIMITED._replace(nodes=300)),
        (Limits(nodes=50), 40, PLAIN._replace(default_nodes=300), UNLIMITED._replace(nodes=50)),
        (Limits(infinite=True), 40, PLAIN._replace(default_nodes=300, const_nodes=9), UNLIMITED),
        (Limits(movetime=1500), 40, ClockSettings(default_nodes=300), Budget(1500, 1500, 1500, 1500)),
        (Limits(movetime=-5), 40, ClockSettings(), Budget(0, 0, 0, 0)),
        (Limits(movetime=5000, byoyomi=1000), 40, PLAIN, Budget(1000, 1000, 1000, 1000)),
        (Limits(byoyomi=1000, nodes=50), 40, PLAIN, Budget(1000, 1000, 1000, 1000, 50)),
        (Limits(byoyomi=1000), 40, PLAIN._replace(const_nodes=9), UNLIMITED._replace(nodes=9)),
        # mate
        (Limits(mate=True), 40, PLAIN._replace(default_nodes=300), UNLIMITED._replace(minimum=INF)),
        (Limits(mate=True, mate_time=1000), 40, PLAIN, Budget(1000, 1000, 1000, 1000)),
        (Limits(mate=True, nodes=100), 40, PLAIN, UNLIMITED._replace(minimum=INF, nodes=100)),
    ],
)
def test_how_long(limits: Limits, ply: int, settings: ClockSettings, budget: Budget) -> None:
    assert allot(limits, 0, ply, settings) == pytest.approx(budget, abs=0.1)


def test_each_side_has_its_own_clock() -> None:
    limits = Limits(btime=14_000, wtime=28_000, binc=100, winc=200)
    assert allot(limits, 0, 40, PLAIN).optimum == 1100
    assert allot(limits, 1, 40, PLAIN).optimum == 2200


def test_minimum_optimum_extended_and_maximum_are_in_that_order() -> None:
    rng = random.Random(1)
    for _ in range(5000):
        limits = Limits(
            btime=rng.choice([None, 0, -500, rng.randrange(100_000)]),
            binc=rng.choice([None, 0, rng.randrange(10_000)]),
            byoyomi=rng.choice([None, 0, rng.randrange(10_000)]),
        )
        settings = ClockSettings(
            byoyomi_margin=rng.choice([0, 500]),
            whole_seconds=rng.random() < 0.5,
            draw_ply=rng.choice([0, 256]),
        )
        budget = allot(limits, 0, rng.randrange(1, 400), settings)
        assert 0 <= budget.minimum <= budget.optimum <= budget.extended <= budget.maximum
        if limits.timed:
            assert budget.maximum <= max(0, (limits.btime or 0) + (limits.binc or 0)) + (limits.byoyomi or 0)


def law(budget: Budget) -> Callable[[Limits], Budget]:
    return lambda _: budget


def test_stop_is_heard_before_the_search_begins(time: Time) -> None:
    clock = Clock(Limits(infinite=True), time)
    clock.stop()
    clock.govern(law(UNLIMITED))
    assert clock.expired(0)


def test_time_begins_when_the_line_is_read_not_when_the_search_does(time: Time) -> None:
    clock = Clock(Limits(byoyomi=1000), time)
    time.now += 990
    clock.govern(law(Budget(1000, 1000, 1000, 1000)))
    assert not clock.expired(1)
    time.now += 10
    assert clock.expired(1)


def test_playouts_end_a_search(time: Time) -> None:
    clock = Clock(Limits(nodes=50), time)
    clock.govern(law(UNLIMITED._replace(nodes=50)))
    assert not clock.expired(49)
    assert clock.expired(50)


def test_no_batch_is_begun_that_would_end_past_the_maximum(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.govern(law(Budget(optimum=1000, maximum=1000)), batch_latency=300)
    time.now += 700
    assert not clock.expired(1)
    time.now += 1
    assert clock.expired(1)
    assert clock.expired(0)


def test_the_optimum_is_met_as_closely_as_batches_allow_but_a_first_one_is_always_made(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.govern(law(Budget(optimum=100, maximum=5000)), batch_latency=300)
    assert not clock.expired(0)
    assert clock.expired(32)
    clock.govern(law(Budget(optimum=200, maximum=5000)), batch_latency=300)
    assert not clock.expired(32)


def test_a_slow_batch_is_remembered_at_once_and_forgotten_slowly() -> None:
    clock = Clock()
    clock.record_batch(100)
    clock.record_batch(300)
    assert clock.batch_latency == 300
    clock.record_batch(100)
    assert 280 < clock.batch_latency < 300
    for _ in range(200):
        clock.record_batch(100)
    assert clock.batch_latency == pytest.approx(100, abs=1)


def test_pondering_costs_nothing_until_the_hit(time: Time) -> None:
    clock = Clock(Limits(ponder=True, byoyomi=1000), time)
    clock.govern(lambda limits: Budget(optimum=limits.byoyomi or 0, maximum=limits.byoyomi or 0))
    time.now += 60_000
    assert clock.pondering
    assert not clock.expired(1)
    assert not clock.may_stop_early
    assert clock.playouts_left(1) == INF
    clock.hit()
    assert clock.spent() == 0
    assert clock.elapsed() == 60_000
    time.now += 999
    assert not clock.expired(1)
    time.now += 1
    assert clock.expired(1)


def test_a_hit_may_bring_its_own_times(time: Time) -> None:
    clock = Clock(Limits(ponder=True, byoyomi=1000), time)
    clock.hit(Limits(byoyomi=3000))
    clock.govern(lambda limits: Budget(optimum=limits.byoyomi or 0, maximum=limits.byoyomi or 0))
    assert clock.budget.maximum == 3000
    assert clock.limits == Limits(byoyomi=3000)


def test_a_hit_may_ask_for_analysis(time: Time) -> None:
    clock = Clock(Limits(ponder=True), time)
    clock.hit(Limits(infinite=True))
    assert clock.limits.infinite
    assert not clock.wait_until_released(0)


def test_a_hit_without_ponder_means_nothing(time: Time) -> None:
    clock = Clock(Limits(byoyomi=1000), time)
    clock.govern(law(Budget(maximum=1000)))
    time.now += 500
    clock.hit(Limits(byoyomi=9000))
    assert clock.limits == Limits(byoyomi=1000)
    assert clock.spent() == 500


def test_playouts_left_follow_the_rate(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.govern(law(Budget(optimum=1000, maximum=2000)))
    assert clock.playouts_left(0) == INF
    time.now += 250
    assert clock.playouts_left(100) == 300
    clock.govern(law(Budget(optimum=1000, maximum=2000, nodes=150)))
    assert clock.playouts_left(100) == 50
    time.now += 5000
    assert clock.playouts_left(100) == 0


def test_playouts_left_of_a_fixed_number(time: Time) -> None:
    clock = Clock(Limits(nodes=300), time)
    clock.govern(law(UNLIMITED._replace(nodes=300)))
    assert clock.playouts_left(120) == 180
    assert clock.may_stop_early


def test_nothing_stops_early_before_the_minimum(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.govern(law(Budget(minimum=100, optimum=1000, maximum=1000)))
    assert not clock.may_stop_early
    time.now += 100
    assert clock.may_stop_early


def test_a_search_is_extended_once(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.govern(law(Budget(optimum=1000, extended=2000, maximum=9000)))
    time.now += 1000
    assert clock.expired(1)
    assert clock.may_extend
    clock.extend()
    assert not clock.expired(1)
    assert not clock.may_extend
    time.now += 1000
    assert clock.expired(1)


@pytest.mark.parametrize(
    ("limits", "released", "after_hit"),
    [
        (Limits(byoyomi=1), True, True),
        (Limits(infinite=True), False, False),
        (Limits(ponder=True), False, True),
        (Limits(ponder=True, infinite=True), False, False),
    ],
)
def test_when_an_answer_may_be_given(limits: Limits, released: bool, after_hit: bool) -> None:
    clock = Clock(limits)
    assert clock.wait_until_released(0) == released
    clock.hit()
    assert clock.wait_until_released(0) == after_hit
    clock.stop()
    assert clock.wait_until_released(0)


@pytest.mark.parametrize(
    ("limits", "spent", "left"),
    [
        (Limits(btime=10_000, wtime=5000), 3000, Limits(btime=7000, wtime=2000)),
        (Limits(btime=10_000, wtime=10_000, binc=1000, winc=2000), 3000, Limits(8000, 9000, 1000, 2000)),
        (Limits(byoyomi=1000), 900, Limits(btime=0, wtime=0, byoyomi=1000)),
        (Limits(btime=500, wtime=0, byoyomi=1000), 900, Limits(btime=0, wtime=0, byoyomi=1000)),
        (Limits(), 900, Limits()),
    ],
)
def test_what_is_left_after_a_move(limits: Limits, spent: float, left: Limits) -> None:
    assert limits.after(spent) == left


STEADY = [300.0]
UNSTEADY = [300.0, 240.0, 330.0, 310.0, 255.0, 290.0, 345.0]


@pytest.mark.parametrize("latencies", [STEADY, UNSTEADY], ids=["steady", "unsteady"])
@pytest.mark.parametrize(
    ("clock_ms", "increment", "byoyomi", "least_batches"),
    [(0, 0, 1000, 400), (0, 0, 500, 200), (1000, 1000, 0, 400), (10_000, 0, 0, 25), (60_000, 0, 1000, 500)],
    ids=["byoyomi 1000", "byoyomi 500", "1 s + 1 s", "10 s sudden death", "60 s and byoyomi 1000"],
)
def test_two_hundred_moves_without_an_overrun(
    time: Time, latencies: list[float], clock_ms: int, increment: int, byoyomi: int, least_batches: int
) -> None:
    """With an evaluator that takes 300 ms a batch, and 2 ms a move for everything else."""
    settings = ClockSettings()
    left = float(clock_ms)
    batches = 0
    steps = iter_forever(latencies)
    for move in range(200):
        limits = Limits(btime=int(left), wtime=0, binc=increment, winc=increment, byoyomi=byoyomi)
        began = time.now
        clock = Clock(limits, time)
        clock.govern(lambda limits, ply=2 * move + 1: allot(limits, 0, ply, settings), latencies[0])  # type: ignore[misc]
        time.now += 1
        playouts = 0
        while not clock.expired(playouts):
            took = next(steps)
            time.now += took
            clock.record_batch(took)
            playouts += 32
            batches += 1
        time.now += 1
        spent = time.now - began
        assert spent < left + increment + byoyomi, f"move {move + 1}"
        left = max(0.0, left + increment - spent)
    assert batches >= least_batches


def iter_forever(items: list[float]) -> Iterator[float]:
    while True:
        yield from items
