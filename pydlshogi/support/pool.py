"""A pool of workers, which are processes of this machine or of a cluster: `WorkerPool.map(task, items)`.

A task opens what its items need, a network or an engine say, and hands over the function that does one item. A worker
keeps a task open until it gets another one. Workers end with the process that started them, however that ended.
"""

import atexit
import os
import pickle
import select
import signal
import socket
import sys
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from time import monotonic
from types import FrameType
from typing import Any, Final, Generic, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Task = Callable[[], AbstractContextManager[Callable[[Item], Result]]]
"""Called by every worker. Tasks are pickled, with all they hold, and so are items, results and errors."""
Outcome = tuple[Any, Exception | None]
"""What an item returned, or what it raised."""

_POLL_SECONDS: Final = 2.0
"""Between looks whether the pool has grown."""
_GRACE: Final = 5.0
"""Seconds a process has to end by itself."""
_REMIND: Final = 0.25
"""Seconds after which it is asked to once more."""


class PoolError(Exception):
    """The work cannot be done; the message is one line."""


@dataclass(frozen=True)
class Plain(Generic[Item, Result]):
    """The task of a function that needs nothing opened."""

    function: Callable[[Item], Result]

    def __call__(self) -> AbstractContextManager[Callable[[Item], Result]]:
        return nullcontext(self.function)


class WorkerPool(ABC):
    """Workers start when there is something to do, and end when the pool is left as a context."""

    @abstractmethod
    def size(self) -> int:
        """How many workers there may be now, at least one."""

    @abstractmethod
    def dumps(self, value: Any) -> bytes:
        """`value`, pickled for a worker."""

    @abstractmethod
    def submit(self, task: bytes, item: bytes) -> Future[Outcome]:
        """Have a free worker call `work` with these arguments."""

    @abstractmethod
    def outcome(self, future: Future[Outcome]) -> Outcome:
        """Of a future that is done. Raises PoolError where its worker has died."""

    @abstractmethod
    def break_off(self) -> None:
        """End what is under way, whatever has become of it."""

    @abstractmethod
    def close(self) -> None:
        """End all workers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def map(self, task: Task[Item, Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """Each of `items` once, with its result, in the order in which they are done.

        Items are taken when a worker is free, so there may be any number. What `task` raises is raised here. PoolError:
        a worker died. To leave before the end breaks off what is under way.
        """
        pickled, rest = self.dumps(task), iter(items)
        pending: dict[Future[Outcome], Item] = {}
        try:
            while True:
                for item in islice(rest, max(0, self.size() - len(pending))):
                    pending[self.submit(pickled, self.dumps(item))] = item
                if not pending:
                    return
                for future in wait(pending, _POLL_SECONDS, FIRST_COMPLETED).done:
                    result, error = self.outcome(future)
                    item = pending.pop(future)
                    if error:
                        raise error
                    yield item, result
        except BaseException:
            self.break_off()
            raise

    def in_order(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """What `function` makes of each of `items`, in their order; otherwise as `map`."""
        early: dict[int, Result] = {}
        awaited = 0
        for (number, _), result in self.map(Plain(partial(_of_numbered, function)), enumerate(items)):
            early[number] = result
            while awaited in early:
                yield early.pop(awaited)
                awaited += 1


def _of_numbered(function: Callable[[Item], Result], numbered: tuple[int, Item]) -> Result:
    return function(numbered[1])


class ProcessPool(WorkerPool):
    """Processes of this machine, `count` at most."""

    def __init__(self, count: int) -> None:
        # A worker has a core. Where it loads a network, threads of BLAS would take ten times its time, waiting.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self._count = count
        self._executor: ProcessPoolExecutor | None = None
        self._processes: set[BaseProcess] = set()

    def size(self) -> int:
        return self._count

    def dumps(self, value: Any) -> bytes:
        return pickle.dumps(value)

    def submit(self, task: bytes, item: bytes) -> Future[Outcome]:
        if self._executor is None:
            # Forking would copy the locks of the caller's threads in whatever state they are.
            self._executor = ProcessPoolExecutor(self._count, get_context("spawn"), _begin)
        before = active_children()
        with _ctrl_c_held_back():
            future = self._executor.submit(_work, task, item)
        self._processes |= {*active_children()} - {*before}
        return future

    def outcome(self, future: Future[Outcome]) -> Outcome:
        try:
            return future.result()
        except BrokenProcessPool:
            raise PoolError("a worker died, of too little memory perhaps") from None

    def break_off(self) -> None:
        end = monotonic() + _GRACE
        while (alive := [process for process in self._processes if process.is_alive()]) and monotonic() < end:
            # A signal that comes as Python is about to wait does not end the waiting; the next one does.
            for process in alive:
                process.terminate()
            alive[0].join(_REMIND)
        for process in alive:
            process.kill()
        self.close()

    def close(self) -> None:
        executor, self._executor = self._executor, None
        self._processes = set()
        if executor is not None:
            executor.shutdown()


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


# In a worker


class _Opened:
    """The task that this worker has open."""

    def __init__(self) -> None:
        self.task = b""
        self.function: Callable[[Any], Any]
        self.stack = ExitStack()
        self.closing = False

    def open(self, task: bytes) -> None:
        if task != self.task:
            self.close()
            self.closing = False
            self.function = self.stack.enter_context(pickle.loads(task)())
            self.task = task

    def close(self) -> None:
        self.task, self.closing = b"", True
        self.stack.close()


_opened: Final = _Opened()


def work(task: bytes, item: bytes) -> Outcome:
    """Do an item of a task."""
    try:
        _opened.open(task)
        return _opened.function(pickle.loads(item)), None
    except ImportError as error:
        return None, PoolError(f"{socket.gethostname()} lacks what the work needs: {error}")
    except Exception as error:
        # It is raised again where this traceback is not known.
        error.add_note(f"Raised on {socket.gethostname()}:\n{traceback.format_exc()}")
        return None, error
    except BaseException:
        _opened.close()
        raise


_leaving: Final = threading.Event()


def _work(task: bytes, item: bytes) -> Outcome:
    try:
        # Where the signal comes while a result is sent back, the executor swallows the exception.
        if not _leaving.is_set():
            return work(task, item)
    except SystemExit:  # an executor's process would go on
        pass
    _opened.close()
    os._exit(0)


def _begin() -> None:
    """Ctrl-C is for the process that started this one. However it ends, short of being killed, its task is closed."""
    atexit.register(_opened.close)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, name="end with parent", daemon=True).start()


def _leave(number: int, frame: FrameType | None) -> None:
    _leaving.set()
    if not _opened.closing:  # where the executor swallows the exception, the next signal raises another
        raise SystemExit(number)


def _end_with_parent() -> None:
    """A worker holds both ends of the pipe it waits at, so it would not notice that nobody writes to it any more."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
