"""One way to compile a kernel with numba: cached on disk, without the GIL, types kept for the checker."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def inlined(function: Kernel) -> Kernel:
    """Compile `function` into each kernel that calls it: handing a dozen arrays on costs more than a short body."""
    return cast(Kernel, numba.njit(forceinline=True)(function))


def compiled(function: Kernel) -> Kernel:
    """Compile `function` at its first call and cache the machine code beside the source.

    The function may not call itself: a recursive function that numba loads from its cache crashes the
    process (numba issue 6061).
    """
    return cast(Kernel, numba.njit(cache=True, nogil=True)(function))
