"""How kernels are compiled with numba: without the GIL, cached on disk, and never stopped by what the disk holds."""

import logging
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class _ForgivingCache(FunctionCache):
    """numba's cache of machine code, in which a broken file is a missing one and a full disk only costs time."""

    def load_overload(self, signature: Any, context: Any) -> Any:
        try:
            return super().load_overload(signature, context)
        except Exception as error:  # unpickling a damaged file may raise anything
            logging.getLogger(__name__).warning("numba cache of %s: %r; compiled anew", self._name, error)
            self.flush()
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        try:
            super().save_overload(signature, code)
        except OSError as error:
            logging.getLogger(__name__).warning("numba cache of %s: %r; not kept", self._name, error)


def inlined(function: Kernel) -> Kernel:
    """Compile `function` into each kernel that calls it: handing a dozen arrays on costs more than a short body."""
    return cast(Kernel, numba.njit(forceinline=True)(function))


def compiled(function: Kernel) -> Kernel:
    """Compile `function` at its first call and cache the machine code beside the source.

    The function may not call itself: a recursive function that numba loads from its cache crashes the
    process (numba issue 6061).
    """
    kernel: Any = numba.njit(nogil=True)(function)
    kernel._cache = _ForgivingCache(function)  # what numba.njit(cache=True) does, with its own cache
    return cast(Kernel, kernel)
