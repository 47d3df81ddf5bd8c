"""A lock that kernels take themselves, without the GIL: Python's own, by the functions that it is made of."""

import ctypes
import weakref
from types import TracebackType
from typing import Any, Final

from numba import types

from pydlshogi.support.compiled import compiled, rule

_acquire: Final[Any] = types.ExternalFunction(
    "PyThread_acquire_lock_timed", types.int32(types.intp, types.longlong, types.int32)
)
_release: Final[Any] = types.ExternalFunction("PyThread_release_lock", types.void(types.intp))
_TRIES: Final = 8000
"""Before a thread goes to sleep: to wake takes it longer than others mostly hold a lock."""
_NAP: Final = 100
"""Microseconds. A thread that slept until it is woken would always find the lock taken again by one that is awake."""


@rule
def hold(mutex: int) -> None:
    """Wait for the lock, and take it."""
    while True:
        for _ in range(_TRIES):
            if _acquire(mutex, 0, 0):
                return
        if _acquire(mutex, _NAP, 0):
            return


@rule
def release(mutex: int) -> None:
    """Give the lock back."""
    _release(mutex)


@rule
def pass_on(mutex: int) -> None:
    """Let another thread have the lock meanwhile, if one waits."""
    _release(mutex)
    hold(mutex)


@compiled
def _hold(mutex: int) -> None:
    hold(mutex)


@compiled
def _give_back(mutex: int) -> None:
    release(mutex)


_new: Final = ctypes.pythonapi.PyThread_allocate_lock
_new.restype = ctypes.c_void_p
_free: Final = ctypes.pythonapi.PyThread_free_lock
_free.argtypes = (ctypes.c_void_p,)


class Mutex:
    """A lock for the threads of one process; inside `with` the calling thread has it. It is not reentrant."""

    def __init__(self) -> None:
        """Raises MemoryError."""
        address = _new()
        if address is None:
            raise MemoryError("no lock")
        self.address: Final = int(address)
        """As kernels take it."""
        weakref.finalize(self, _free, self.address).atexit = False

    def __enter__(self) -> None:
        _hold(self.address)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _give_back(self.address)
