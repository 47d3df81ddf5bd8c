"""How long a move may take: a table of cases."""

import threading

import pytest

from pydlshogi.engines.othello.clock import Clock, Effort, TimeLeft, allot


@pytest.mark.parametrize(
    ("left", "empties", "optimum", "maximum"),
    [
        (TimeLeft(0, 1, 1), 60, 0.9, 0.9),  # nothing can be saved of byoyomi
        (TimeLeft(0, 0.2, 1), 60, 0.15, 0.15),  # at most a quarter is held back
        (TimeLeft(0, 10, 5), 60, 1.9, 1.9),  # an equal share for each of its moves
        (TimeLeft(220.61, 0, 0), 60, 10.0, 20.0),  # 20 moves until 20 squares are empty, and two to solve
        (TimeLeft(220, 1, 1), 60, 11.0, 22.0),
        (TimeLeft(100.21, 0, 0), 20, 50.0, 99.9),  # less what the moves to come may lose
        (TimeLeft(1.06, 0, 0), 5, 0.5, 0.9),
        (TimeLeft(0.13, 0, 0), 2, 0.05, 0.075),
        (TimeLeft(0.3, 0, 0), 40, 0.0, 0.0),
        (TimeLeft(0, 0, 0), 30, 0.0, 0.0),
    ],
)
def test_what_a_move_may_cost(left: TimeLeft, empties: int, optimum: float, maximum: float) -> None:
    effort = allot(left, empties)
    assert effort.level is None
    assert (effort.optimum, effort.maximum) == (pytest.approx(optimum), pytest.approx(maximum))


@pytest.mark.parametrize("settings", [TimeLeft(10), TimeLeft(10, 3, 1), TimeLeft(2, 30, 4), TimeLeft(0, 0.3, 1)])
def test_whoever_keeps_to_the_maximum_never_runs_out(settings: TimeLeft) -> None:
    left = settings
    for empties in range(60, 0, -2):
        effort = allot(left, empties)
        assert effort.maximum is not None
        assert effort.maximum < left.main + left.byoyomi or not left.main + left.byoyomi
        left = left.after(effort.maximum, settings)
        assert left.main >= 0
        assert left.byoyomi >= 0


@pytest.mark.parametrize("seconds", [1.0, 3.0, 10.0, 60.0, 300.0])
def test_main_time_outlasts_moves_that_cost_more_than_the_thinking(seconds: float) -> None:
    left = seconds
    for empties in range(60, 0, -2):
        effort = allot(TimeLeft(left), empties)
        assert effort.maximum is not None
        left -= effort.maximum + 0.015
        assert left > 0


def test_what_is_left_after_a_move() -> None:
    settings = TimeLeft(10.0, 30.0, 3)
    assert settings.after(4.0, settings) == TimeLeft(6.0, 30.0, 3)
    assert settings.after(12.0, settings) == TimeLeft(0.0, 28.0, 2)
    assert TimeLeft(0.0, 28.0, 2).after(9.0, settings) == TimeLeft(0.0, 19.0, 1)
    assert TimeLeft(0.0, 19.0, 1).after(9.0, settings) == TimeLeft(0.0, 30.0, 3)
    assert TimeLeft(5.0).after(9.0, TimeLeft(5.0)) == TimeLeft(0.0)


def test_a_clock_is_asked() -> None:
    now = [100.0]
    clock = Clock(Effort(optimum=2.0, maximum=3.0), now=lambda: now[0])
    assert (clock.elapsed, clock.expired(), clock.too_late_for(1.9), clock.too_late_for(2.1)) == (
        0.0,
        False,
        False,
        True,
    )
    now[0] = 102.5
    assert (clock.elapsed, clock.expired(), clock.too_late_for(0.0)) == (2.5, False, True)
    now[0] = 103.0
    assert clock.expired()


def test_without_a_limit_only_stopping_counts() -> None:
    event = threading.Event()
    clock = Clock(Effort(), event, now=lambda: 0.0)
    assert not clock.too_late_for(1e9)
    event.set()
    assert clock.expired()
    assert clock.too_late_for(0.0)
