"""How functions are compiled with numba: without the GIL, and kept on disk as long as no source they reach changes.

A kernel is called from Python; rules are what kernels are made of. Neither may call itself: a recursive function that
numba loads from its cache crashes the process (numba issue 6061).

Four things here come from numba's inside, and each has its comment and its figure: `_Cache`, `_RuleLibrary` with
`_RuleCompiler` and `_Rule`, `Flags.values`, and the names of the runtime. With PLAIN_NUMBA=1 all is compiled by
`numba.njit` alone, slowly and anew at each start, to the same result: what works only so, a new release of numba has
broken.
"""

import hashlib
import logging
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, Final, TypeVar, cast

import llvmlite.binding
import numba
from numba import types
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.registry import CPUDispatcher
from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

from pydlshogi.support.files import cache_folder

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE: Final = Path(__file__).resolve().parents[2]
_IN_PACKAGE: Final = PACKAGE / "__pycache__" / "kernels"
_IMPORT: Final = re.compile(
    rf"^[ \t]*(?:from|import) +({PACKAGE.name}[\w.]*)(?: +import +(\([^)]*\)|[^\n]*))?", re.MULTILINE
)
"""An import as `ruff format` writes it. To parse the sources would cost each start a third of a second."""
_NAME: Final = re.compile(r"\w+")
PLAIN: Final = os.environ.get("PLAIN_NUMBA") == "1"
_LIBRARY: Final = PACKAGE / "__init__.py"
"""It imports what programs in Python ask for, and nothing of it is compiled."""
_LONGEST_NAME: Final = "-" * 120
"""About as long as the names that numba gives its files: Windows refuses paths of more than 260 characters."""


# What a kernel is made of: numba looks at its own file alone


@cache
def imports_of(source: Path) -> frozenset[Path]:
    """The files of the package that `source` imports anywhere, those of the packages around them included."""
    imports = _IMPORT.findall(source.read_text(encoding="utf-8"))
    names = {name for module, named in imports for name in (module, *(f"{module}.{n}" for n in _NAME.findall(named)))}
    return frozenset().union(*map(_files_of, names))


@cache
def _files_of(name: str) -> frozenset[Path]:
    """The file of a module, if it is one, and those of the packages around it."""
    package, _, _ = name.rpartition(".")
    place = PACKAGE.parent.joinpath(*name.split("."))
    files = {file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()}
    return _files_of(package) | files if package else frozenset(files)


def sources_of(source: Path) -> set[Path]:
    """`source`, and all files of the package that it reaches by imports."""
    reached: set[Path] = set()
    added = {source}
    while added:
        reached |= added
        added = {imported for file in added if file != _LIBRARY for imported in imports_of(file)} - reached
    return reached


def _made_of(function: object) -> frozenset[Path | str]:
    """Its file, or what `_named_for` has put together."""
    python = cast(FunctionType, getattr(function, "py_func", function))
    return python.__dict__.get("made_of") or frozenset({Path(python.__code__.co_filename)})


@cache
def _digest(made_of: frozenset[Path | str]) -> str:
    """Of the contents of all files that these reach, and of constants."""
    sources = {source for file in made_of if isinstance(file, Path) for source in sources_of(file)}
    digest = hashlib.sha256(repr(sorted(each for each in made_of if isinstance(each, str))).encode())
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


# Where machine code is kept


@cache
def kernels_folder() -> Path | None:
    """Where machine code is kept, made if need be: in the package; else in the user's cache; None: nowhere."""
    candidates = [_IN_PACKAGE]
    try:
        candidates.append(cache_folder() / "kernels")
    except OSError as error:
        logging.getLogger(__name__).info("no cache folder: %s", error)
    for folder in candidates:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder, suffix=_LONGEST_NAME) as file:
                file.write(bytes(1 << 20))
        except OSError as error:
            logging.getLogger(__name__).info("no kernels kept in %s: %s", folder, error)
        else:
            return folder
    return None


def _folder_for(kernels: Path, function: object) -> Path:
    """Where the machine code of a kernel is kept. Raises OSError.

    A user who may not write into the package gets a copy of what the installation compiled there.
    """
    name = _digest(_made_of(function))
    folder, shared = kernels / name, _IN_PACKAGE / name
    if kernels != _IN_PACKAGE and shared.exists() and not folder.exists():
        _copy_whole(shared, folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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


_DEBUGGED: Final = "1" in (os.environ.get("NUMBA_DISABLE_JIT"), os.environ.get("NUMBA_BOUNDSCHECK"))
_KERNELS: Final = None if _DEBUGGED or PLAIN else kernels_folder()
"""What is compiled to be debugged, or plainly, is another code, and not kept."""
_CACHE_DIR: Final = threading.Lock()
"""Held while numba's setting is that of one kernel: threads may import at once."""


class _Cache(FunctionCache):
    """Of a kernel that does without numba's runtime."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """numba would get ready to compile first, which takes a quarter of a second; it does so again where it must."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def _kept(function: Function, **options: Any) -> Function:
    """Compile `function` at its first call, or load what was compiled before."""
    if _KERNELS is None:
        return cast(Function, numba.njit(**options)(function))
    try:
        folder = _folder_for(_KERNELS, function)
    except OSError as error:
        logging.getLogger(__name__).warning("%s: %s; compiled at each start", function.__qualname__, error)
        return cast(Function, numba.njit(**options)(function))
    with _CACHE_DIR:
        numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
        kernel = numba.njit(**options, cache=True)(function)
        if options == _OPTIONS:
            kernel._cache = _Cache(function)
        return cast(Function, kernel)


_kernels: dict[str, Any] = {}
"""Those made for games, by name."""

_ALLOCATING: Final[Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_OPTIONS: Final[Any] = _ALLOCATING if PLAIN else {**_ALLOCATING, "_nrt": False}
"""Without numba's runtime: it counts the references to arrays, a dozen of them at each step of a playout, and where
several threads count the same ones they wait for each other.
"""


# A function of numba's that a kernel calls may have been compiled for one that allocates, and name numba's runtime.
# numba makes these names known before it compiles; a kernel that is loaded without them crashes the process.
for _name, _address in () if PLAIN else _nrt_python.c_helpers.items():
    llvmlite.binding.add_symbol(f"NRT_{_name}", _address)


_DEFAULTS: Final = {name: option.default for name, option in Flags.options.items()}


def _values(flags: Any) -> dict[str, Any]:
    return {**_DEFAULTS, **flags._values}


# numba compares all options with all others for each operator that it meets, and asks them one by one: a tenth of the
# time that kernels take to compile.
if not PLAIN:
    Flags.values = _values  # type: ignore[method-assign]


class _RuleLibrary(JITCodeLibrary):
    """The code of a rule, which waits to be linked into kernels.

    numba would optimise each rule with all that it calls and make machine code of it, then once more in its caller, and
    so on up to the kernel: two thirds of the time that the kernels of a large game take to compile.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> "_NoMachineCode":
        return _NoMachineCode()


class _NoMachineCode:
    def set_env(self, name: str, environment: object) -> None:
        """Only machine code looks there, for Python objects."""


class _RuleCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        self.state.library = _RuleLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


class _Rule(CPUDispatcher):
    """A function without machine code of its own."""

    def get_call_template(self, arguments: Any, named: Any) -> Any:
        """numba would compile it anew for each literal that is an argument."""
        return super().get_call_template([types.unliteral(argument) for argument in arguments], named)

    def __call__(self, *arguments: Any) -> Any:
        """A call from Python: a test asks."""
        return self._kernel(*arguments)

    @cached_property
    def _kernel(self) -> Callable[..., Any]:
        return cast(Callable[..., Any], numba.njit(**_OPTIONS)(self.py_func))


def rule(function: Function, *, forceinline: bool = False) -> Function:
    """Compile `function` as a part of the kernels that call it."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    # Where it is not said, numba has it from the first caller, and inlines what an inlined function calls.
    options = _OPTIONS | {"forceinline": forceinline}
    if PLAIN:
        return cast(Function, numba.njit(**options)(function))
    options |= {"nopython": True, "no_cpython_wrapper": True}
    return cast(Function, _Rule(function, targetoptions=options, pipeline_class=_RuleCompiler))


def inlined(function: Function) -> Function:
    """Compile `function` into each kernel that calls it: handing a dozen arrays on costs more than a short body."""
    return rule(function, forceinline=True)


def compiled(function: Function) -> Function:
    """Compile `function` as a kernel at its first call, or load what was compiled before."""
    return _kept(function, **_OPTIONS)


def allocating(function: Function) -> Function:
    """The same for a kernel that makes arrays, which rules and other kernels cannot."""
    return _kept(function, **_ALLOCATING)


def reassociating(function: Function) -> Function:
    """The same for a kernel whose sums of floats may be added up in any order, several numbers at a time."""
    return _kept(function, **_ALLOCATING, fastmath={"reassoc", "nsz", "contract"})


def compiled_for(name: str, function: Function, **rules: object) -> Function:
    """The kernel `function` with the global names that it uses replaced by `rules`, for the game or encoding `name`.

    numba keeps no function that closes over others on disk, so the rules are put among its global names; and it keeps
    one function for each qualified name, so each game's kernel has its own. No helper that such a kernel calls may take
    the records of two games: their machine code would carry one name. Asked for again, the kernel is the same.
    """
    place = f"{function.__module__}.{function.__qualname__}_{name}"
    if place not in _kernels:
        _kernels[place] = compiled(_named_for(name, function, rules))
    return cast(Function, _kernels[place])


def rule_of_game(*_: object) -> Any:
    """Stands under the name of a rule in the module of a kernel: `compiled_for` puts a game's in its place."""
    raise NotImplementedError


def rule_for(name: str, function: Function, **rules: object) -> Function:
    """The rule `function` as a game's own: see `compiled_for`."""
    return rule(_named_for(name, function, rules))


def _named_for(game: str, function: Function, rules: dict[str, object]) -> Function:
    source = cast(FunctionType, function)
    copy = FunctionType(source.__code__, {**source.__globals__, **rules}, source.__name__, source.__defaults__)
    copy.__qualname__ = f"{source.__qualname__}_{game}"
    copy.__module__ = source.__module__
    parts = set(_made_of(source))
    for name, value in rules.items():
        parts |= _made_of(value) if callable(value) else {f"{name}={value!r}"}
    copy.__dict__["made_of"] = frozenset(parts)
    return cast(Function, copy)


wide: Final[Callable[[Any], int]] = types.int64  # type: ignore[assignment]
"""An integer with 64 bits, signed: numba compiles a function anew for each width that it is given."""
word: Final[Callable[[Any], int]] = types.uint64  # type: ignore[assignment]
"""An integer with 64 bits, unsigned: together with a signed one it would be a float. An index of this type costs no
question whether it counts from the end."""
