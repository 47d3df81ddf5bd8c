"""How kernels are compiled with numba: without the GIL, cached on disk, and never stopped by what the disk holds."""

import hashlib
import logging
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

SOURCES: Final = (
    "common.py",
    "compiled.py",
    "evaluator.py",
    "features.py",
    "game.py",
    "games/othello/alphabeta.py",
    "games/othello/bits.py",
    "games/othello/endgame.py",
    "games/othello/learn.py",
    "games/othello/patterns.py",
    "games/othello/rules.py",
    "games/othello/wthor.py",
    "training/batches.py",
    "uct/*.py",
)
"""The modules of the package that kernels are made of."""

_DIGEST_BYTES: Final = hashlib.sha256().digest_size


@cache
def _digest_of_sources() -> str:
    folder = Path(__file__).parent
    files = sorted(file for pattern in SOURCES for file in folder.glob(pattern))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


class _CheckedFile(IndexDataCacheFile):
    """numba's files, with each file of machine code behind its own digest: damaged code would crash the process."""

    def _save_data(self, name: str, data: object) -> None:
        code = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(code).digest() + code)

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(code).digest() != digest:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(code)


class _ForgivingCache(FunctionCache):
    """numba's cache of machine code, in which a broken file is a missing one and a full disk only costs time.

    A kernel is compiled anew when any of SOURCES has changed. numba would look at its own file alone, but other
    modules' kernels and constants are part of the machine code.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, _digest_of_sources())

    def load_overload(self, signature: Any, context: Any) -> Any:
        try:
            return super().load_overload(signature, context)
        except Exception as error:  # unpickling a damaged file may raise anything
            logging.getLogger(__name__).warning("numba cache of %s: %r; compiled anew", self._name, error)
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        try:
            super().save_overload(signature, code)
        except Exception as error:  # it reads the index first, which may be damaged
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
    try:
        kernel._cache = _ForgivingCache(function)  # what numba.njit(cache=True) does, with its own cache
    except RuntimeError as error:  # no folder that could be written to
        logging.getLogger(__name__).warning("numba cache: %s; compiled at every start", error)
    return cast(Kernel, kernel)
