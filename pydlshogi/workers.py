"""Processes that share work, and end with whoever started them, however that ended."""

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from types import TracebackType


class Workers(ProcessPoolExecutor):
    """A pool that is left by an error, or by Ctrl-C, when the tasks under way are done, not all that were given out."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown(cancel_futures=kind is not None)


def workers(count: int) -> Workers:
    """A pool of `count` processes, at least one. Ctrl-C is for whoever started them."""
    # Forking would copy the locks of the caller's threads in whatever state they are.
    return Workers(max(1, count), mp_context=get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """A worker holds both ends of the pipe it waits at, so it would not notice that nobody writes to it any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()
