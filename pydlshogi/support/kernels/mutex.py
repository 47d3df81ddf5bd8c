"""A lock that kernels take themselves, without the GIL: Python's own, by the functions that it is made of."""

import ctypes
import weakref
from typing import Any, Final

from numba import types

from pydlshogi.support.kernels.compiled import compiled, rule

_acquire: Final[Any] = types.ExternalFunction(
    "PyThread_acquire_lock_timed", types.int32(types.intp, types.longlong, types.int32)
)
_release: Final[Any] = types.ExternalFunction("PyThread_release_lock", types.void(types.intp))
_TRIES: Final = 8000
"""Before a thread goes to sleep: to wake takes it longer than others mostly hold a lock."""
_NAP: Final = 100
"""Microseconds. A thread that slept until it is woken would always find the lock taken again by one that is awake."""


@rule
def _take(lock: int) -> None:
    while True:
        for _ in range(_TRIES):
            if _acquire(lock, 0, 0):
                return
        if _acquire(lock, _NAP, 0):
            return


@rule
def hold(mutex: tuple[int, int]) -> None:
    """Wait for the lock, and take it for long work, which passes it on now and then."""
    _take(mutex[0])


@rule
def hold_soon(mutex: tuple[int, int]) -> None:
    """Take the lock for short work: as soon as the thread that has it for long work passes it on."""
    lock, door = mutex
    _take(door)
    _take(lock)
    _release(door)


@rule
def release(mutex: tuple[int, int]) -> None:
    """Give the lock back."""
    _release(mutex[0])


@rule
def pass_on(mutex: tuple[int, int]) -> None:
    """Let a thread with short work have the lock meanwhile, if one waits at the door."""
    lock, door = mutex
    if not _acquire(door, 0, 0):
        _release(lock)
        _take(door)
        _take(lock)
    _release(door)


@compiled
def _hold_soon(mutex: tuple[int, int]) -> None:
    hold_soon(mutex)


@compiled
def _give_back(mutex: tuple[int, int]) -> None:
    release(mutex)


_new: Final = ctypes.pythonapi.PyThread_allocate_lock
_new.restype = ctypes.c_void_p
_free: Final = ctypes.pythonapi.PyThread_free_lock
_free.argtypes = (ctypes.c_void_p,)


def _new_lock() -> int:
    address = _new()
    if address is None:
        raise MemoryError("no lock")
    return int(address)


class Mutex:
    """A lock for the threads of one process; inside `with` the calling thread has it. It is not reentrant."""

    def __init__(self) -> None:
        """Raises MemoryError."""
        self.addresses: Final = (_new_lock(), _new_lock())
        """As kernels take it: those of the lock and of its door, where short work waits."""
        for address in self.addresses:
            weakref.finalize(self, _free, address).atexit = False

    def __enter__(self) -> None:
        _hold_soon(self.addresses)

    def __exit__(self, *_: object) -> None:
        _give_back(self.addresses)
