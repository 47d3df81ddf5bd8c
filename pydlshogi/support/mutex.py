"""A lock that kernels take themselves, without the GIL: Python's own, by the functions that it is made of."""

import ctypes
import weakref
from types import TracebackType
from typing import Any, Final

from numba import types

from pydlshogi.support.compiled import rule

_acquire: Final[Any] = types.ExternalFunction("PyThread_acquire_lock", types.int32(types.intp, types.int32))
_release: Final[Any] = types.ExternalFunction("PyThread_release_lock", types.void(types.intp))
_AT_ONCE, _SOME_TIME = 0, 1
_TRIES: Final = 8000
"""Before a thread goes to sleep: to wake takes it longer than others mostly hold a lock."""


@rule
def hold(mutex: int) -> None:
    """Wait for the lock, and take it."""
    for _ in range(_TRIES):
        if _acquire(mutex, _AT_ONCE):
            return
    _acquire(mutex, _SOME_TIME)


@rule
def release(mutex: int) -> None:
    """Give the lock back."""
    _release(mutex)


@rule
def pass_on(mutex: int) -> None:
    """Let another thread have the lock meanwhile, if one waits."""
    _release(mutex)
    hold(mutex)


_python: Final = ctypes.CDLL(ctypes.pythonapi._name, handle=ctypes.pythonapi._handle)
"""Python's functions, called without the GIL: who waits for a lock must not keep its holder from going on."""
_python.PyThread_allocate_lock.restype = ctypes.c_void_p
_python.PyThread_acquire_lock.argtypes = ctypes.c_void_p, ctypes.c_int
_python.PyThread_release_lock.argtypes = _python.PyThread_free_lock.argtypes = (ctypes.c_void_p,)


class Mutex:
    """A lock for the threads of one process; inside `with` the calling thread has it. It is not reentrant."""

    def __init__(self) -> None:
        """Raises MemoryError."""
        address = _python.PyThread_allocate_lock()
        if address is None:
            raise MemoryError("no lock")
        self.address: Final = int(address)
        """As kernels take it."""
        weakref.finalize(self, _python.PyThread_free_lock, self.address).atexit = False

    def __enter__(self) -> None:
        _python.PyThread_acquire_lock(self.address, _SOME_TIME)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _python.PyThread_release_lock(self.address)
