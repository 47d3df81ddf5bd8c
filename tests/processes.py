"""The end of processes that are nobody's children here."""

import time
from contextlib import suppress

import psutil


def await_end(process: psutil.Process) -> None:
    """Wait until it has ended. Where it is an orphan, as in a container, nobody may ever reap what is left of it."""
    with suppress(psutil.NoSuchProcess):
        while process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
