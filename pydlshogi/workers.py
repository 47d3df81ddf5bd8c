"""Processes that share work, and end with whoever started them, however that ended."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from types import TracebackType
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Workers(ProcessPoolExecutor):
    """A pool that is left by an error, or by Ctrl-C, when the tasks under way are done, not all that were given out."""

    def submit(
        self, fn: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        with _ctrl_c_held_back():  # processes start here
            return super().submit(fn, *args, **kwargs)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown(cancel_futures=kind is not None)


def workers(count: int) -> Workers:
    """A pool of `count` processes, at least one. Ctrl-C is for whoever started them."""
    # Forking would copy the locks of the caller's threads in whatever state they are.
    return Workers(max(1, count), mp_context=get_context("spawn"), initializer=_end_with_parent)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """A process that starts meanwhile never hears of Ctrl-C: it inherits what is blocked. Windows knows no such way."""
    if sys.platform == "win32":
        yield
        return
    # multiprocessing's resource tracker unblocks Ctrl-C when it starts: not inside, along with the first process.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _end_with_parent() -> None:
    """A worker holds both ends of the pipe it waits at, so it would not notice that nobody writes to it any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()
