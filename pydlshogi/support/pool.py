"""A pool of workers, which are processes of this machine or of a cluster: `WorkerPool.map(task, items, deadline)`.

A task opens what its items need, a network or an engine say, and hands over the function that does one item. A worker
keeps a task open until it gets another one. An item is tried again where its worker died or took too long: so it must
do no harm to do an item twice.
"""

import faulthandler
import pickle
import socket
import traceback
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import Any, Final, Generic, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Task = Callable[[], AbstractContextManager[Callable[[Item], Result]]]
"""Called by every worker. Tasks are pickled, with all they hold, and so are items, results and errors."""
Outcome = tuple[Any, Exception | None]
"""What an item returned, or what it raised."""

ATTEMPTS: Final = 3
"""How often an item is tried."""
_POLL_SECONDS: Final = 2.0
"""Between looks whether the pool has grown."""
_STDERR: Final = 2


class PoolError(Exception):
    """The work cannot be done; the message is one line."""


class WorkerLost(Exception):
    """A worker died; the message says what is known of it."""


@dataclass(frozen=True)
class Plain(Generic[Item, Result]):
    """The task of a function that needs nothing opened."""

    function: Callable[[Item], Result]

    def __call__(self) -> AbstractContextManager[Callable[[Item], Result]]:
        return nullcontext(self.function)


@dataclass
class _WorkItem:
    item: Any
    attempts: int = 0


class WorkerPool(ABC):
    """Workers start when there is something to do, and end when the pool is left as a context."""

    @abstractmethod
    def size(self) -> int:
        """How many workers there may be now, at least one."""

    @abstractmethod
    def dumps(self, value: Any) -> bytes:
        """`value`, pickled for a worker."""

    @abstractmethod
    def submit(self, task: bytes, item: bytes, deadline: float) -> Future[Outcome]:
        """Have a free worker call `work` with these arguments."""

    @abstractmethod
    def outcome(self, future: Future[Outcome]) -> Outcome:
        """Of a future that is done. Raises WorkerLost."""

    @abstractmethod
    def abandon(self, futures: Collection[Future[Outcome]]) -> None:
        """Break these off."""

    @abstractmethod
    def close(self) -> None:
        """End all workers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def map(self, task: Task[Item, Result], items: Iterable[Item], deadline: float) -> Iterator[tuple[Item, Result]]:
        """Each of `items` once, with its result, in the order in which they are done.

        Items are taken when a worker is free, so there may be any number. What `task` raises is raised here. PoolError:
        a worker died over an item, or took more than `deadline` seconds to open the task and do it, ATTEMPTS times.
        To leave before the end breaks off what is under way.
        """
        pickled, rest = self.dumps(task), iter(items)
        again: deque[_WorkItem] = deque()
        pending: dict[Future[Outcome], _WorkItem] = {}
        try:
            while True:
                while len(pending) < self.size():
                    work_item = again.popleft() if again else next(map(_WorkItem, rest), None)
                    if work_item is None:
                        break
                    pending[self.submit(pickled, self.dumps(work_item.item), deadline)] = work_item
                if not pending:
                    return
                for future in wait(pending, _POLL_SECONDS, FIRST_COMPLETED).done:
                    work_item = pending.pop(future)
                    try:
                        result, error = self.outcome(future)
                    except WorkerLost as lost:
                        work_item.attempts += 1
                        if work_item.attempts == ATTEMPTS:
                            name = shorten(str(work_item.item), 200, placeholder=" ...")
                            limit = f"an item may take {deadline:g} s"
                            raise PoolError(f"{name} was given up after {ATTEMPTS} attempts: {lost}; {limit}") from None
                        again.append(work_item)
                        continue
                    if error:
                        raise error
                    yield work_item.item, result
        finally:
            self.abandon(pending)

    def in_order(self, function: Callable[[Item], Result], items: Iterable[Item], deadline: float) -> Iterator[Result]:
        """What `function` makes of each of `items`, in their order; otherwise as `map`."""
        early: dict[int, Result] = {}
        awaited = 0
        for (number, _), result in self.map(Plain(partial(_of_numbered, function)), enumerate(items), deadline):
            early[number] = result
            while awaited in early:
                yield early.pop(awaited)
                awaited += 1


def _of_numbered(function: Callable[[Item], Result], numbered: tuple[int, Item]) -> Result:
    return function(numbered[1])


class _Opened:
    """The task that this worker has open."""

    def __init__(self) -> None:
        self.task = b""
        self.function: Callable[[Any], Any]
        self.stack = ExitStack()

    def open(self, task: bytes) -> None:
        if task != self.task:
            self.close()
            self.function = self.stack.enter_context(pickle.loads(task)())
            self.task = task

    def close(self) -> None:
        self.task = b""
        self.stack.close()


_opened: Final = _Opened()


def work(task: bytes, item: bytes, deadline: float) -> Outcome:
    """In a worker: do an item of a task. After `deadline` seconds the process ends and shows where it was."""
    faulthandler.dump_traceback_later(deadline, exit=True, file=_STDERR)
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
    finally:
        faulthandler.cancel_dump_traceback_later()


def close_task() -> None:
    """In a worker: close the task that is open."""
    _opened.close()
