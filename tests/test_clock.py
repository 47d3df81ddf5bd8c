"""The clock: how long a move may take, as a table; and that no game is lost on it, by playing the longest ones."""

import math
import random
import threading
from collections.abc import Callable

import pytest

from pydlshogi.player.allot import ClockSettings, Costs, allot
from pydlshogi.player.clock import UNLIMITED, Budget, Clock, Limits
from pydlshogi.player.latency import Latency, Overhead

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
        (Limits(btime=440_000), 20, PLAIN, Budget(1833.3, 18333.3, 18333.3, 440_000)),
        (Limits(btime=440_000), 30, PLAIN, Budget(3142.9, 31428.6, 62857.1, 440_000)),
        # a position that says it is number 0, and no ply at which games are drawn
        (Limits(btime=440_000), 0, PLAIN._replace(draw_ply=0), Budget(1000, 10_000, 10_000, 440_000)),
        # four plies before the game is drawn, three, two and one
        (Limits(btime=40_000), 253, PLAIN._replace(draw_ply=256), Budget(1000, 10_000, 20_000, 40_000)),
        (Limits(btime=28_000), 256, PLAIN._replace(draw_ply=256), Budget(2800, 28_000, 28_000, 28_000)),
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
        (Limits(btime=14_000, byoyomi=1000), 40, PLAIN, Budget(1000, 2000, 4000, 15_000)),
        (Limits(btime=14_000, binc=500, byoyomi=1000), 40, PLAIN, Budget(1500, 2500, 5000, 15_500)),
        # margins
        (Limits(byoyomi=10_000), 40, ClockSettings(), Budget(9600, 9600, 9600, 9600)),
        (Limits(byoyomi=1000), 40, ClockSettings(), Budget(750, 750, 750, 750)),
        (Limits(byoyomi=1000), 40, ClockSettings(byoyomi_margin=150), Budget(600, 600, 600, 600)),
        (Limits(byoyomi=1000), 40, ClockSettings(byoyomi_margin=1000), Budget(250, 250, 250, 250)),
        (Limits(btime=14_000, byoyomi=1000), 40, ClockSettings(byoyomi_margin=150), Budget(450, 1450, 2900, 14_450)),
        (Limits(btime=15_000), 40, ClockSettings(), Budget(100, 1000, 2000, 13_600)),
        (Limits(btime=1000, binc=1000), 40, ClockSettings(), Budget(100, 600, 600, 600)),
        (Limits(btime=1400), 40, ClockSettings(), Budget(50, 50, 100, 350)),
        (Limits(btime=15_000), 40, ClockSettings(minimum_thinking_time=500), Budget(500, 1000, 2000, 13_600)),
        # whole seconds: 2100 ms and the delay of 400 ms cost three, 2601 ms four
        (Limits(btime=1000 + 14 * 2100), 40, ClockSettings(whole_seconds=True), Budget(260, 2600, 5200, 29_000)),
        (Limits(btime=1000 + 14 * 2601), 40, ClockSettings(whole_seconds=True), Budget(360, 3600, 7200, 36_014)),
        # nothing on the clock
        (Limits(btime=0, wtime=0, byoyomi=0), 40, PLAIN._replace(default_nodes=300), UNLIMITED._replace(nodes=300)),
        # no clock
        (Limits(), 40, PLAIN, UNLIMITED),
        (Limits(), 40, PLAIN._replace(default_nodes=300), UNLIMITED._replace(nodes=300)),
        (Limits(nodes=50), 40, PLAIN._replace(default_nodes=300), UNLIMITED._replace(nodes=50)),
        (Limits(infinite=True), 40, PLAIN._replace(default_nodes=300, const_nodes=9), UNLIMITED),
        (Limits(infinite=True, movetime=0.5), 40, PLAIN, Budget(optimum=0.5, extended=0.5)),
        (Limits(movetime=1500), 40, ClockSettings(default_nodes=300), Budget(1500, 1500, 1500, 1500)),
        (Limits(movetime=5000, byoyomi=1000), 40, PLAIN, Budget(1000, 1000, 1000, 1000)),
        (Limits(byoyomi=1000, nodes=50), 40, PLAIN, Budget(1000, 1000, 1000, 1000, 50)),
        (Limits(byoyomi=1000), 40, PLAIN._replace(const_nodes=9), UNLIMITED._replace(nodes=9)),
        # mate
        (Limits(mate=True), 40, PLAIN._replace(default_nodes=300), UNLIMITED._replace(minimum=INF)),
        (Limits(mate=True, mate_time=1000), 40, PLAIN, Budget(1000, 1000, 1000, 1000)),
    ],
)
def test_how_long(limits: Limits, ply: int, settings: ClockSettings, budget: Budget) -> None:
    assert allot(limits, 0, ply, settings) == pytest.approx(budget, abs=0.1)
    assert settings.const_nodes or limits.in_time == (budget.maximum < INF)


def test_where_answers_at_once_may_use_the_clock_up_an_eighth_of_it_is_left() -> None:
    """10 ms each have been measured, which may be 2.5 times too many: 260 of 4 ms are 1040."""
    assert allot(Limits(btime=1040), 0, 40, PLAIN, Costs(10, 10, 10)).maximum == 1
    assert allot(Limits(btime=1000), 0, 40, PLAIN, Costs(10, 10, 10)).maximum == 1000 / 8
    assert allot(Limits(btime=0, wtime=9), 0, 40, PLAIN, Costs(10, 10, 10)).maximum == 0


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
        whole, draw_ply = rng.random() < 0.5, rng.choice([0, 256])
        settings = ClockSettings(byoyomi_margin=rng.choice([0, 500]), whole_seconds=whole, draw_ply=draw_ply)
        budget = allot(limits, 0, rng.randrange(1, 400), settings)
        assert 0 <= budget.minimum <= budget.optimum <= budget.extended <= budget.maximum
        if limits.timed:
            assert budget.maximum <= max(0, (limits.btime or 0) + (limits.binc or 0)) + (limits.byoyomi or 0)


def law(budget: Budget) -> Callable[[Limits], Budget]:
    return lambda _: budget


def test_it_may_be_stopped_before_the_search_begins_or_there_is_a_clock() -> None:
    stopped = threading.Event()
    clock = Clock(Limits(movetime=1000), stopped=stopped)
    assert not clock.expired(0)
    stopped.set()
    assert clock.expired(0)
    clock = Clock(Limits(infinite=True))
    clock.stop()
    clock.set_budget(law(UNLIMITED))
    assert clock.expired(0)


def test_time_begins_when_the_line_is_read_not_when_the_search_does(time: Time) -> None:
    clock = Clock(Limits(byoyomi=1000), time)
    time.now += 990
    clock.set_budget(law(Budget(1000, 1000, 1000, 1000)))
    assert not clock.expired(1)
    time.now += 10
    assert clock.expired(1)


def test_no_batch_is_begun_that_would_end_past_the_maximum(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.set_budget(law(Budget(optimum=1000, maximum=1000)))
    time.now += 700
    assert clock.room() == 300
    assert not clock.expired(1, latency=300)
    assert clock.expired(1, latency=301)
    assert clock.expired(1, latency=291, after=10)


def test_the_optimum_is_met_as_closely_as_batches_allow(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.set_budget(law(Budget(optimum=200, maximum=5000)))
    assert clock.may_stop_early  # there is no minimum
    time.now += 50
    assert clock.room() == 300
    assert not clock.expired(32, latency=300)
    time.now += 10
    assert clock.expired(32, latency=300)


def test_a_batch_takes_as_long_as_one_of_its_size_and_on_a_busy_machine_longer() -> None:
    latency = Latency(2, 16, 8)
    assert [latency.of(size) for size in (1, 2, 8, 10)] == [2, 4, 16, 20]
    for _ in range(2):
        latency.record(8, 56)  # with a slice of 4 ms three times as long: small ones have to wait too
    assert (latency.slowdown, latency.of(1), latency.of(8)) == (3, 14, 56)


@pytest.mark.parametrize(("room", "size"), [(INF, 8), (32, 8), (31.9, 7), (8, 2), (4, 1), (3.9, 8), (-5, 8)])
def test_the_largest_batch_for_half_of_the_room(room: float, size: int) -> None:
    assert Latency(2, 16, 8).fitting(room, 8) == size


def test_a_slow_batch_is_forgiven_once_and_two_until_they_are_forgotten() -> None:
    latency = Latency(100, 100)
    latency.record(1, 5000)
    assert latency.of(1) == 100
    latency.record(1, 5000)
    assert latency.of(1) == 5000
    for _ in range(16):
        latency.decay()
    assert latency.of(1) == 100


def test_pondering_costs_nothing_until_the_hit(time: Time) -> None:
    clock = Clock(Limits(ponder=True, byoyomi=1000), time)
    clock.set_budget(lambda limits: Budget(optimum=limits.byoyomi or 0, maximum=limits.byoyomi or 0))
    time.now += 60_000
    assert (clock.pondering, clock.spent()) == (True, 0)
    assert not clock.expired(1)
    assert not clock.may_stop_early
    assert clock.playouts_left(1) == INF
    clock.hit()
    assert clock.spent() == 0
    assert clock.elapsed() == 60_000
    time.now += 999.5
    assert not clock.expired(1)
    time.now += 0.5
    assert clock.expired(1)


def test_a_hit_may_bring_its_own_times_or_ask_for_analysis(time: Time) -> None:
    clock = Clock(Limits(ponder=True, byoyomi=1000), time)
    clock.hit(Limits(byoyomi=3000))
    clock.set_budget(lambda limits: Budget(optimum=limits.byoyomi or 0, maximum=limits.byoyomi or 0))
    assert (clock.budget.maximum, clock.limits) == (3000, Limits(byoyomi=3000))
    clock = Clock(Limits(ponder=True), time)
    clock.hit(Limits(infinite=True))
    assert clock.limits.infinite
    assert not clock.wait_until_released(0)


def test_a_hit_without_ponder_means_nothing(time: Time) -> None:
    clock = Clock(Limits(byoyomi=1000), time)
    clock.set_budget(law(Budget(maximum=1000)))
    time.now += 500
    clock.hit(Limits(byoyomi=9000))
    assert (clock.limits, clock.spent()) == (Limits(byoyomi=1000), 500)


def test_playouts_left_follow_the_rate(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.set_budget(law(Budget(optimum=1000, maximum=2000)))
    assert clock.playouts_left(0) == clock.playouts_left(100) == INF
    time.now += 1
    assert clock.playouts_left(100) == 99_900
    time.now += 249
    assert [clock.playouts_left(playouts) for playouts in (0, 1, 100)] == [INF, 3, 300]
    clock.set_budget(law(Budget(optimum=1000, maximum=2000, nodes=150)))
    assert clock.playouts_left(100) == 50
    time.now += 5000
    assert clock.playouts_left(100) == 0
    clock = Clock(Limits(), time)
    clock.set_budget(law(Budget(optimum=1000, nodes=50)))
    assert clock.playouts_left(100) == 0


def test_nothing_stops_early_before_the_minimum_nor_at_a_fixed_number(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.set_budget(law(Budget(minimum=100, optimum=1000, maximum=1000)))
    assert not clock.may_stop_early
    time.now += 100
    assert clock.may_stop_early
    for limits, may_stop_early in ((Limits(), True), (Limits(nodes=300), False)):
        clock = Clock(limits, time)
        clock.set_budget(law(UNLIMITED._replace(nodes=300)))
        assert (clock.playouts_left(120), clock.may_stop_early) == (180, may_stop_early)
        assert [clock.expired(299), clock.expired(300)] == [False, True]
        assert clock.playouts_left(301) == 0


def test_a_search_is_extended_once(time: Time) -> None:
    clock = Clock(Limits(), time)
    clock.set_budget(law(Budget(optimum=1000, extended=2000, maximum=9000)))
    time.now += 1000
    assert clock.expired(1)
    assert clock.may_extend
    clock.extend()
    assert not clock.expired(1)
    assert not clock.may_extend
    time.now += 1000
    assert clock.expired(1)
    clock.set_budget(law(Budget(optimum=1000, extended=2000)))
    assert not clock.may_extend  # not a second time
    clock = Clock(Limits(), time)
    clock.set_budget(law(Budget(optimum=1000, extended=1000)))
    assert not clock.may_extend


@pytest.mark.parametrize(
    ("limits", "released", "after_hit"),
    [(Limits(byoyomi=1), True, True), (Limits(infinite=True), False, False), (Limits(ponder=True), False, True),
     (Limits(ponder=True, infinite=True), False, False)],
)  # fmt: skip
def test_when_an_answer_may_be_given(limits: Limits, released: bool, after_hit: bool) -> None:
    clock = Clock(limits)
    if not limits.ponder:
        clock.wait_until_hit()  # for nothing
    assert clock.wait_until_released(1) == released
    clock.hit()
    assert clock.wait_until_released(0) == after_hit
    clock.stop()
    assert clock.wait_until_released(0)


@pytest.mark.parametrize(
    ("limits", "spent", "left"),
    [(Limits(btime=10_000, wtime=5000), 3000, Limits(btime=7000, wtime=2000)),
     (Limits(btime=10_000, wtime=10_000, binc=1000, winc=2000), 3000, Limits(8000, 9000, 1000, 2000)),
     (Limits(byoyomi=1000), 900, Limits(btime=0, wtime=0, byoyomi=1000)),
     (Limits(btime=500, wtime=500), 900, Limits(btime=-400, wtime=-400)),
     (Limits(binc=1000, winc=2000), 900, Limits(100, 1100, 1000, 2000)), (Limits(), 900, Limits())],
)  # fmt: skip
def test_what_is_left_after_a_move(limits: Limits, spent: float, left: Limits) -> None:
    assert limits.after(spent) == left


EVALUATION = 2.0
BATCH = 10.0


def long_game(
    clock_ms: int, increment: int, lost: float, *, draw_ply=0, chance=None, unit=1, lost_at_once=None
) -> list:
    """What one side thinks at each move of a game of 512 plies, or until `draw_ply`, or until its flag falls.

    A move takes all the time that it may, is extended where it may be, and ends with a batch of BATCH ms, or is one
    evaluation of EVALUATION ms. `lost`: milliseconds on the way, of each move or, with `chance`, on average. `unit`:
    milliseconds to which the GUI rounds the clock down. `lost_at_once`: of moves without an evaluation; None: as
    of the others.
    """
    time, overhead = Time(), Overhead()
    settings = ClockSettings(draw_ply=draw_ply)
    left = float(clock_ms)
    thoughts = []
    for ply in range(1, (draw_ply or 512) + 1, 2):
        limits = Limits(btime=int(left) // unit * unit, wtime=1, binc=increment, winc=0)
        overhead.asked(limits, 0, ply)
        clock = Clock(limits, time)
        slowdown = 1.0 if lost_at_once is None else 2.0
        budget = allot(limits, 0, ply, settings, Costs(overhead.mean, EVALUATION, overhead.at_once(slowdown, ply)))
        clock.set_budget(law(budget))
        if budget.maximum >= EVALUATION:
            time.now += EVALUATION
        else:
            clock.skip_thinking()
        while not clock.expired(1, BATCH) or clock.may_extend:
            if clock.expired(1, BATCH):
                clock.extend()
            else:
                time.now += max(BATCH, (clock.budget.optimum - clock.spent()) // 2)
        if not clock.skipped:
            clock.end_thinking()
        mean = lost if lost_at_once is None or clock.thought() else lost_at_once
        took = clock.spent() + (mean * 2 * chance.random() if chance else mean)
        if took + 1 > left + increment:
            break
        thoughts.append(clock.thought())
        left += increment - took
        overhead.answered(clock, ply)
    return thoughts


@pytest.mark.parametrize("lost", [0, 15, 50])
@pytest.mark.parametrize("increment", [0, 10, 50, 100])
@pytest.mark.parametrize("clock_ms", [1000, 3000, 10_000, 60_000, 300_000, 1_800_000])
def test_no_flag_falls_in_the_longest_game(clock_ms: int, increment: int, lost: int) -> None:
    """But where answers at once would let it fall too: there it is up for two fifths of the moves that those have."""
    needed = max(0.1, lost + EVALUATION - increment)
    for draw_ply, moves in ((0, 256), (320, 160)):
        possible = min(moves, clock_ms / needed)
        played = len(long_game(clock_ms, increment, lost, draw_ply=draw_ply))
        assert played >= (moves if possible == moves else 0.4 * possible)


@pytest.mark.parametrize("clock", [(10_000, 0, 15), (60_000, 0, 15), (300_000, 0, 50), (60_000, 50, 15)])
def test_nor_does_one_where_some_moves_lose_nothing_and_others_twice_as_much(clock: tuple[int, int, int]) -> None:
    for seed in range(10):
        assert len(long_game(*clock, chance=random.Random(seed))) == 256


@pytest.mark.parametrize(
    ("clock_ms", "lost", "lost_at_once"),
    [(10_000, 45, 22), (10_000, 21, 11), (60_000, 240, 110), (10_000, 36, 30), (60_000, 200, 190)],
)
def test_nor_does_one_where_who_has_thought_waits_longer(clock_ms: int, lost: int, lost_at_once: int) -> None:
    """As on a busy machine."""
    for seed in range(10):
        game = long_game(clock_ms, 0, lost, chance=random.Random(seed), lost_at_once=lost_at_once)
        assert len(game) == 256
        assert sum(game[:30]) > 0


@pytest.mark.parametrize(
    ("clock_ms", "lost", "share"),
    [(10_000, 0, 0.92), (60_000, 0, 0.98), (60_000, 15, 0.88), (300_000, 0, 0.99), (300_000, 50, 0.9)],
)
def test_the_first_sixty_moves_get_their_time(clock_ms: int, lost: int, share: float) -> None:
    """What may be needed for moves that may never come is not taken from them."""
    assert sum(long_game(clock_ms, 0, lost)[:60]) >= share * (clock_ms - 60 * lost)


@pytest.mark.parametrize("lost", [0, 15])
@pytest.mark.parametrize("clock_ms", [60_000, 300_000])
def test_a_clock_sent_in_whole_seconds_is_used_like_another(clock_ms: int, lost: int) -> None:
    exact, rounded = (long_game(clock_ms, 0, lost, unit=unit) for unit in (1, 1000))
    assert len(rounded) == 256
    assert sum(rounded[:60]) >= 0.8 * sum(exact[:60])


def test_what_is_lost_on_the_way_shows_in_the_clocks_of_the_gui(time: Time) -> None:
    overhead = Overhead()
    left = 60_000
    for ply in range(2, 202, 2):
        limits = Limits(btime=1, wtime=left, winc=100)
        overhead.asked(limits, 1, ply)
        clock = Clock(limits, time)
        time.now += 5  # before the thinking
        clock.set_budget(law(UNLIMITED))
        time.now += 200
        clock.end_thinking()
        time.now += 3  # after it
        overhead.answered(clock, ply)
        left += 100 - 208 - 12
    assert overhead.mean == pytest.approx(20, rel=0.05)


def test_what_says_nothing_of_it_is_no_loss_and_an_accident_counts_for_a_second(time: Time) -> None:
    overhead = Overhead()
    guess = overhead.mean
    overhead.answered(Clock(Limits(btime=60_000), time), 1)
    for limits, ply in [
        (Limits(btime=0, ponder=True), 3),  # the engine's own guess, perhaps
        (Limits(nodes=100), 3),
        (Limits(btime=30_000), 1),  # of another game
    ]:
        overhead.asked(limits, 0, ply)
        assert overhead.mean == guess
    overhead.asked(Limits(btime=30_000), 0, 3)
    assert overhead.mean == (guess + 1000) / 2
    overhead = Overhead()
    overhead.answered(Clock(Limits(btime=60_000), time), 1)
    overhead.asked(Limits(btime=70_000), 0, 3)  # a GUI that counts whole seconds, or a new game
    assert overhead.mean <= guess


@pytest.mark.parametrize("settled_first", [False, True])
def test_only_thinking_after_the_hit_counts_as_thought(time: Time, settled_first: bool) -> None:
    clock = Clock(Limits(ponder=True, byoyomi=1000), time)
    clock.set_budget(law(UNLIMITED))
    if settled_first:
        clock.end_thinking()
    time.now += 500
    clock.hit()
    assert clock.hit_late == settled_first
    assert not settled_first or clock.thought() == 0
    time.now += 70
    clock.end_thinking()
    time.now += 30
    assert (clock.thought(), clock.spent(), clock.answering()) == (70, 100, 30)
