"""pydlshogi: a shogi engine that searches with PUCT and judges positions with a policy-value network."""

import sys
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pydlshogi.support import __version__ as __version__

if TYPE_CHECKING:
    from pydlshogi.library import Answer, Engine, Game, analyse, read

__all__ = ["Answer", "Engine", "Game", "analyse", "read"]


def __getattr__(name: str) -> Any:
    """What programs in Python use is imported by who asks: an engine has to say `usiok` before numba is there."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.library"), name)


def _say_stopped(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    print(f"{sys.argv[0]}: stopped", file=sys.stderr)
    sys.exit(130)


# So it is while Python looks for the program of `python -m`: its imports take seconds in which Ctrl-C may come.
if sys.argv[:1] == ["-m"]:
    sys.excepthook = _say_stopped
