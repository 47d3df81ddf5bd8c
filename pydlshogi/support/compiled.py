"""How functions are compiled with numba: without the GIL, and kept on disk as long as no source of the package changes.

A kernel is called from Python; rules are what kernels are made of. Neither may call itself: a recursive function that
numba loads from its cache crashes the process (numba issue 6061).
"""

import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np

from pydlshogi.support.files import cache_folder

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE: Final = Path(__file__).resolve().parents[1]
ROOMS_WITHOUT_KERNELS: Final = ("analysis_server", "kifu", "learning", "player", "protocols", "usi", "web")
"""Folders of the package that nothing with kernels imports."""
_LONGEST_NAME: Final = "-" * 120
"""About as long as the names that numba gives its files: Windows refuses paths of more than 260 characters."""


def _digest_of_sources() -> str:
    """numba looks at a kernel's own file alone, but the functions and constants of others are in its machine code."""
    sources = sorted(
        source for source in PACKAGE.rglob("*.py") if source.relative_to(PACKAGE).parts[0] not in ROOMS_WITHOUT_KERNELS
    )
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def kernels_folder() -> Path | None:
    """Where machine code is kept, made if need be: in the package; else in the user's cache; None: nowhere.

    A user who may not write into the package gets a copy of what the installation compiled there.
    """
    name = f"kernels-{_digest_of_sources()}"
    compiled_in_package = PACKAGE / "__pycache__" / name
    candidates = [compiled_in_package]
    try:
        candidates.append(cache_folder() / name)
    except OSError as error:
        logging.getLogger(__name__).info("no cache folder: %s", error)
    for folder in candidates:
        try:
            if folder != compiled_in_package and compiled_in_package.exists() and not folder.exists():
                _copy_whole(compiled_in_package, folder)
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder, suffix=_LONGEST_NAME) as file:
                file.write(bytes(1 << 20))
        except OSError as error:
            logging.getLogger(__name__).info("no kernels kept in %s: %s", folder, error)
        else:
            return folder
    return None


def _copy_whole(source: Path, target: Path) -> None:
    """Copy a folder so that nobody who starts at the same time sees half of it. OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as made:
        copy = shutil.copytree(source, Path(made) / target.name)
        try:
            copy.rename(target)
        except OSError:
            if not target.exists():  # else another start was faster
                raise


_KERNELS: Final = None if os.environ.get("NUMBA_DISABLE_JIT") == "1" else kernels_folder()
if _KERNELS is not None:
    numba.config.CACHE_DIR = str(_KERNELS)  # type: ignore[attr-defined]


_kernels: dict[str, Any] = {}
"""Those made for games, by name."""

_ALLOCATING: Final[Any] = {"nogil": True, "error_model": "numpy"}
_OPTIONS: Final[Any] = {**_ALLOCATING, "_nrt": False}
"""Without numba's runtime: it counts the references to arrays, a dozen of them at each step of a playout, and where
several threads count the same ones they wait for each other.
"""
_NO_WRAPPERS: Final[Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def rule(function: Function) -> Function:
    """Compile `function` as a part of the kernels that call it."""
    return cast(Function, numba.njit(**_OPTIONS)(function))


def part(function: Function) -> Function:
    """Compile `function` as a part of rules, never called from Python: without what such a call takes."""
    return cast(Function, numba.njit(**_OPTIONS, **_NO_WRAPPERS)(function))


def inlined(function: Function) -> Function:
    """Compile `function` into each kernel that calls it: handing a dozen arrays on costs more than a short body."""
    return cast(Function, numba.njit(**_OPTIONS, forceinline=True)(function))


def once(function: Function) -> Function:
    """Write `function` into the only rule that calls it before either is compiled.

    Machine code is optimised anew in every caller, its caller, and so on: large functions, one below the other, cost
    seconds each.
    """
    return cast(Function, numba.njit(**_OPTIONS, inline="always")(function))


def compiled(function: Function) -> Function:
    """Compile `function` as a kernel at its first call, or load what was compiled before."""
    return cast(Function, numba.njit(**_OPTIONS, cache=_KERNELS is not None)(function))


def allocating(function: Function) -> Function:
    """The same for a kernel that makes arrays, which rules and other kernels cannot."""
    return cast(Function, numba.njit(**_ALLOCATING, cache=_KERNELS is not None)(function))


def compiled_for(name: str, function: Function, **rules: object) -> Function:
    """The kernel `function` with the global names that it uses replaced by `rules`, for the game or encoding `name`.

    numba keeps no function that closes over others on disk, so the rules are put among its global names; and it keeps
    one function for each qualified name, so each game's kernel has its own. No helper that such a kernel calls may take
    the records of two games: their machine code would carry one name. Asked for again, the kernel is the same.
    """
    kernel = _named_for(name, function, rules)
    place = f"{kernel.__module__}.{kernel.__qualname__}"
    if place not in _kernels:
        _kernels[place] = compiled(kernel)
    return cast(Function, _kernels[place])


def rule_of_game(*_: object) -> Any:
    """Stands under the name of a rule in the module of a kernel: `compiled_for` puts a game's in its place."""
    raise NotImplementedError


def rule_for(name: str, function: Function, **rules: object) -> Function:
    """The rule `function` as a game's own: see `compiled_for`."""
    return rule(_named_for(name, function, rules))


def _named_for(name: str, function: Function, rules: dict[str, object]) -> Function:
    source = cast(FunctionType, function)
    copy = FunctionType(source.__code__, {**source.__globals__, **rules}, source.__name__, source.__defaults__)
    copy.__qualname__ = f"{source.__qualname__}_{name}"
    copy.__module__ = source.__module__
    return cast(Function, copy)


@rule
def wide(number: Any) -> int:
    """An integer with 64 bits, signed: numba compiles a function anew for each width that it is given."""
    return np.int64(number)  # type: ignore[return-value]


@rule
def word(number: Any) -> int:
    """An integer with 64 bits, unsigned: together with a signed one it would be a float."""
    return np.uint64(number)  # type: ignore[return-value]
