"""pydlshogi: a shogi engine that searches with PUCT and judges positions with a policy-value network."""

import sys
from types import TracebackType

__version__ = "0.2.0"


def _say_stopped(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    print(f"{sys.argv[0]}: stopped", file=sys.stderr)
    sys.exit(130)


# So it is while Python looks for the program of `python -m`: its imports take seconds in which Ctrl-C may come.
if sys.argv[:1] == ["-m"]:
    sys.excepthook = _say_stopped
