"""Processes that share work, and end with whoever started them, however that ended."""

import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process


def workers(count: int) -> ProcessPoolExecutor:
    """A pool of `count` processes, at least one."""
    # Forking would copy the locks of the caller's threads in whatever state they are.
    return ProcessPoolExecutor(max(1, count), mp_context=get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """A worker holds both ends of the pipe it waits at, so it would not notice that nobody writes to it any more."""

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()
