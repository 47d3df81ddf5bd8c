"""Processes that share work, and end with the process that started them, however that ended."""

import atexit
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from types import FrameType
from typing import Any, Final

from pydlshogi.support.pool import Outcome, WorkerLost, WorkerPool, close_task, work

_GRACE: Final = 5.0
"""Seconds a process has to end by itself."""
_REMINDERS: Final = 20
"""How often it is asked to meanwhile."""


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def end_when_nobody_listens(descriptor: int) -> None:
    """End the process as soon as nobody reads the pipe any more: a search would keep a core busy for days.

    Windows cannot be asked who reads a pipe: there the search ends first.
    """

    def wait() -> None:
        if sys.platform != "win32":
            poll = select.poll()
            poll.register(descriptor, 0)
            poll.poll()
            os._exit(1)

    threading.Thread(target=wait, name="listener", daemon=True).start()


class ProcessPool(WorkerPool):
    """Processes of this machine, `count` at most."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._workers: list[_Worker] = []

    def size(self) -> int:
        return self._count

    def dumps(self, value: Any) -> bytes:
        return pickle.dumps(value)

    def submit(self, task: bytes, item: bytes, deadline: float) -> Future[Outcome]:
        worker = next((worker for worker in self._workers if worker.idle()), None)
        if worker is None:
            worker = _Worker()
            self._workers.append(worker)
        worker.submit(_work, task, item, deadline)
        return worker.future

    def outcome(self, future: Future[Outcome]) -> Outcome:
        try:
            return future.result()
        except BrokenProcessPool:
            (worker,) = (worker for worker in self._workers if worker.future is future)
            self._end([worker])
            raise WorkerLost(f"process {worker.process.pid} ended with {worker.process.exitcode}") from None

    def abandon(self, futures: Collection[Future[Outcome]]) -> None:
        self._end([worker for worker in self._workers if worker.future in futures])

    def close(self) -> None:
        self._end(self._workers.copy())

    def _end(self, workers: Collection["_Worker"]) -> None:
        for worker in workers:
            worker.dismiss()
        for worker in workers:
            worker.end()
            self._workers.remove(worker)


class _Worker:
    """An executor of a single process: in one of several, the death of a process takes all others along."""

    def __init__(self) -> None:
        # Forking would copy the locks of the caller's threads in whatever state they are.
        self.executor = ProcessPoolExecutor(1, get_context("spawn"), _begin)
        before = active_children()
        with _ctrl_c_held_back():
            self.submit(close_task)
        (self.process,) = (child for child in active_children() if child not in before)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function there."""
        self.future: Future[Any] = Future()  # Ctrl-C may come when the work is handed over and its future is not
        try:
            self.future = self.executor.submit(function, *arguments)
        except BrokenProcessPool as error:  # it died while it had nothing to do
            self.future.set_exception(error)

    def idle(self) -> bool:
        """Whether it waits for work."""
        return self.future.done() and not isinstance(self.future.exception(), BrokenProcessPool)

    def dismiss(self) -> None:
        """Ask it to close its task and to end."""
        self._asked_to_end = not self.idle()
        if self._asked_to_end:
            self.process.terminate()
        self._closing = threading.Thread(target=self.executor.shutdown, daemon=True)
        self._closing.start()

    def end(self) -> None:
        """Give it a moment to end; then end it."""
        # A signal that comes as Python is about to wait does not end the waiting; the next one does.
        for _ in range(_REMINDERS):
            self.process.join(_GRACE / _REMINDERS)
            if self._asked_to_end:
                self.process.terminate()
        self.process.kill()
        self.process.join()
        self._closing.join(_GRACE)  # at the end of the program, Python would write to a pipe that this thread closes


_leaving: Final = threading.Event()


def _work(task: bytes, item: bytes, deadline: float) -> Outcome:
    try:
        # Where the signal comes while a result is sent back, the executor swallows the exception.
        if not _leaving.is_set():
            return work(task, item, deadline)
    except SystemExit:  # an executor's process would go on
        pass
    close_task()
    os._exit(0)


def _begin() -> None:
    """Ctrl-C is for the process that started this one. However it ends, short of being killed, its task is closed."""
    atexit.register(close_task)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, name="end with parent", daemon=True).start()


def _leave(number: int, frame: FrameType | None) -> None:
    if not _leaving.is_set():
        _leaving.set()
        raise SystemExit(number)


def _end_with_parent() -> None:
    """A worker holds both ends of the pipe it waits at, so it would not notice that nobody writes to it any more."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """A process that starts meanwhile never hears of Ctrl-C: it inherits what is blocked. Windows knows no such way."""
    if sys.platform == "win32":
        yield
        return
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
