"""The lock that kernels take: of several threads only one has it at a time, whether it runs Python or a kernel."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import numpy as np
import pytest

from pydlshogi.support.arrays import Int64Array
from pydlshogi.support.kernels.compiled import compiled
from pydlshogi.support.kernels.mutex import Mutex, hold, hold_soon, pass_on, release

ROUNDS = 1_000_000


@compiled
def count_up(mutex: tuple[int, int], numbers: Int64Array, rounds: int) -> None:
    """Count so often, in the first number and in one of the others: without a lock some are lost."""
    hold(mutex)
    for _ in range(rounds):
        numbers[0] += 1
        numbers[1 + numbers[0] % 7] += 1
        pass_on(mutex)
    release(mutex)


@compiled
def count_often(mutex: tuple[int, int], numbers: Int64Array, rounds: int) -> None:
    """The same, taking the lock anew each time."""
    for _ in range(rounds):
        hold_soon(mutex)
        numbers[0] += 1
        numbers[1 + numbers[0] % 7] += 1
        release(mutex)


@compiled
def count_until(mutex: tuple[int, int], numbers: Int64Array, wanted: int, most: int) -> None:
    """Work, with the lock, until another thread has counted up to `wanted`, or `most` times."""
    hold(mutex)
    for _ in range(most):
        if numbers[0] >= wanted:
            break
        pass_on(mutex)
    release(mutex)


def in_python(mutex: Mutex, numbers: Int64Array, rounds: int) -> None:
    for _ in range(rounds):
        with mutex:
            numbers[0] += 1
            numbers[1 + numbers[0] % 7] += 1


@pytest.mark.parametrize("python", [0, 1, 2])
def test_what_is_done_under_the_lock_is_done_by_one_thread(python: int) -> None:
    mutex, numbers = Mutex(), np.zeros(8, np.int64)
    works: list[Callable[[], None]] = [lambda: count_up(mutex.addresses, numbers, ROUNDS)] * (2 - python)
    works += [lambda: count_often(mutex.addresses, numbers, ROUNDS)]
    works += [lambda: in_python(mutex, numbers, ROUNDS // 50)] * python
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda work: work(), works))
    expected = (3 - python) * ROUNDS + python * ROUNDS // 50
    assert [numbers[0], numbers[1:].sum()] == [expected, expected]


def test_long_work_lets_short_work_in_whenever_it_passes_the_lock_on() -> None:
    mutex, numbers = Mutex(), np.zeros(8, np.int64)
    count_often(mutex.addresses, numbers, 1)
    short = Thread(target=count_often, args=(mutex.addresses, numbers, 1000))
    short.start()
    count_until(mutex.addresses, numbers, 1001, 1000 * ROUNDS)
    assert numbers[0] == 1001
    short.join()


def test_the_lock_is_given_back_when_python_fails() -> None:
    mutex, numbers = Mutex(), np.zeros(8, np.int64)
    with pytest.raises(ZeroDivisionError), mutex:
        1 / 0  # noqa: B018
    count_up(mutex.addresses, numbers, 1)
    assert numbers[0] == 1
