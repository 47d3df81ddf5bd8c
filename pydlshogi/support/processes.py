"""Processes that share work, and end with whoever started them, however that ended."""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any, Final

from pydlshogi.support.crew import Crew, Worker, WorkerLost, Workplace

_GRACE: Final = 5.0
"""Seconds a process has to end by itself."""


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ProcessCrew(Crew):
    """Processes of this machine, `count` at most."""

    def __init__(self, count: int) -> None:
        super().__init__()
        # Windows waits for no more than 63 things, and Python before 3.13 for no more than Windows does.
        self._count = min(count, 60) if sys.platform == "win32" else count

    def size(self) -> int:
        return self._count

    def start(self) -> Worker:
        return _Process()

    def wait(self, workers: Sequence[Worker], seconds: float) -> set[Worker]:
        by_connection: dict[Any, Worker] = {
            worker.connection: worker for worker in workers if isinstance(worker, _Process)
        }
        return {by_connection[ready] for ready in wait(by_connection, seconds)}

    def dumps(self, value: Any) -> bytes:
        return pickle.dumps(value)

    def hand_out(self, task: bytes) -> bytes:
        return task


class _Process(Worker):
    """A process that reads orders from a pipe, and writes answers. Ctrl-C is for whoever started it."""

    def __init__(self) -> None:
        # Forking would copy the locks of the caller's threads in whatever state they are.
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,))
        with _ctrl_c_held_back():
            self._process.start()
        theirs.close()

    def tell(self, order: str, argument: bytes) -> None:
        with suppress(OSError):
            self.connection.send((order, argument))

    def answer(self) -> tuple[Any, Exception | None]:
        try:
            answer: tuple[Any, Exception | None] = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            self._process.join(_GRACE)
            raise WorkerLost(f"process {self._process.pid} ended with {self._process.exitcode}") from None
        return answer

    def dismiss(self) -> None:
        self._process.terminate()

    def end(self) -> None:
        self._process.join(_GRACE)
        self._process.kill()
        self._process.join()
        self.connection.close()


def _work(connection: Connection) -> None:
    _end_with_parent()
    signal.signal(signal.SIGTERM, _leave)
    with closing(Workplace(pickle.dumps)) as place, suppress(EOFError, OSError):
        connection.send_bytes(place.here())
        while True:
            order, argument = connection.recv()
            connection.send_bytes({"open": place.open, "do": place.do}[order](argument))


def _leave(number: int, frame: FrameType | None) -> None:
    """What the task has opened is closed on the way out."""
    raise SystemExit(number)


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
