"""Work for many workers, the processes of this machine or of a cluster: `Crew.map(task, items)`.

A task opens what its items need, a network or an engine say, and hands over the function that does one item. Every
worker opens it once. An item is begun again, elsewhere, where its worker died or gave no answer in time: doing it twice
must do no harm. So what has to last is written by whoever called `map`, or whole under a name that the item determines.
"""

import logging
import math
import pickle
import socket
import traceback
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from textwrap import shorten
from time import monotonic
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Task = Callable[[], AbstractContextManager[Callable[[Item], Result]]]
"""Called by every worker, without arguments; its context is left when the worker has no more to do. Tasks are pickled,
with all they hold (weights, say), and so are items, results and exceptions."""

ATTEMPTS: Final = 3
"""How often an item is begun before the work is given up."""
_LOOK_ROUND: Final = 5.0
"""Seconds after which a crew that hears nothing looks whether it may grow."""


class CrewError(Exception):
    """The work cannot be done; the text says in one line which and why."""


class WorkerLost(Exception):
    """A worker is gone, or as good as gone; the text says what is known of it."""


@dataclass(frozen=True)
class Plain(Generic[Item, Result]):
    """The task of a function that needs nothing opened."""

    function: Callable[[Item], Result]

    def __call__(self) -> AbstractContextManager[Callable[[Item], Result]]:
        return nullcontext(self.function)


def _of_numbered(function: Callable[[Item], Result], numbered: tuple[int, Item]) -> Result:
    return function(numbered[1])


@dataclass(eq=False)
class Errand:
    """An item that somebody has to do."""

    item: Any
    failures: int = 0

    def failed(self, lost: WorkerLost, most: int = ATTEMPTS) -> None:
        """Count one failure. Raises CrewError at the last."""
        self.failures += 1
        if self.failures >= most:  # which is less than it was where a machine has gone
            name = shorten(str(self.item), 200, placeholder=" ...")
            raise CrewError(f"{name} was given up after {most} attempts: {lost}")


class Worker(ABC):
    """A worker as its crew sees it. It owes an answer when it starts, and for whatever it is told to do."""

    owes: bool = True
    deadline: float = math.inf
    """When it is given up, by `time.monotonic`. To start, it may have to wait for a core as long as it takes."""
    task: Any = None
    """What it has opened, or is opening, as its crew hands it out."""
    errand: Errand | None = None
    """What it is doing."""

    @abstractmethod
    def tell(self, order: str, argument: Any) -> None:
        """Have it do `open` or `do` of its `Workplace`. Whether it is still there shows in its answer."""

    @abstractmethod
    def answer(self) -> tuple[Any, Exception | None]:
        """What it owes, once that is there: what was returned, or raised. Raises WorkerLost."""

    @abstractmethod
    def dismiss(self) -> None:
        """Ask it to end."""

    @abstractmethod
    def end(self) -> None:
        """Give it a moment to end; then end it."""


class Workplace:
    """A worker as it sees itself: what its task has opened, in a process of its own.

    Answers are pickled pairs: what was returned, and None; or None, and what was raised.
    """

    def __init__(self, dumps: Callable[[Any], bytes]) -> None:
        self._dumps = dumps
        self._opened = ExitStack()
        self._function: Callable[[Any], Any]

    def here(self) -> bytes:
        """The answer to being started."""
        return self._dumps((None, None))

    def open(self, task: bytes) -> bytes:
        """Open a task in place of the one before."""
        return self._answer(self._open, task)

    def do(self, item: bytes) -> bytes:
        """Do an item of the task."""
        return self._answer(self._function, item)

    def close(self) -> None:
        """Leave the task."""
        self._opened.close()

    def _open(self, task: Task[Any, Any]) -> None:
        self.close()
        self._function = self._opened.enter_context(task())

    def _answer(self, function: Callable[[Any], Any], argument: bytes) -> bytes:
        try:
            return self._dumps((function(pickle.loads(argument)), None))
        except ImportError as error:
            return self._dumps((None, CrewError(f"{socket.gethostname()} lacks what the work needs: {error}")))
        except Exception as error:
            # It is raised again where this traceback is not known.
            error.add_note(f"Raised on {socket.gethostname()}:\n{traceback.format_exc()}")
            return self._dumps((None, error))


class Crew(ABC):
    """Workers, started when there is something to do. Leaving the crew as a context ends them."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []
        self._pickled_task = b""
        self._task: Any = None

    @abstractmethod
    def size(self) -> int:
        """How many workers there may be now, at least one."""

    @abstractmethod
    def start(self) -> Worker:
        """One more worker."""

    @abstractmethod
    def wait(self, workers: Sequence[Worker], seconds: float) -> set[Worker]:
        """Those of `workers` whose answer is there, or who are gone: none only where `seconds` have passed."""

    @abstractmethod
    def dumps(self, value: Any) -> bytes:
        """Pickled."""

    @abstractmethod
    def hand_out(self, task: bytes) -> Any:
        """A pickled task as `Worker.tell` takes it."""

    @property
    def host(self) -> str:
        """The address at which its workers reach this machine."""
        return "127.0.0.1"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._part_with(self._workers.copy())

    def map(self, task: Task[Item, Result], items: Iterable[Item], deadline: float) -> Iterator[tuple[Item, Result]]:
        """Each of `items` once, with its result, in the order in which they are done.

        Items are drawn as workers become free, so there may be any number. What `task` raises is raised here. Raises
        CrewError where workers died over one item, or took more than `deadline` seconds, ATTEMPTS times; opening the
        task counts as an item. Whoever leaves before the end breaks off what is under way. A task that equals the last
        one is not opened again.
        """
        pickled = self.dumps(task)
        if pickled != self._pickled_task:
            self._pickled_task, self._task = pickled, self.hand_out(pickled)
        undrawn = (Errand(item) for item in items)
        waiting: deque[Errand] = deque()
        opening = Errand("opening the task")
        results: list[tuple[Item, Result]] = []
        try:
            while True:
                waiting.extend(islice(undrawn, max(0, self.size() - len(self._busy()) - len(waiting))))
                self._employ(waiting, deadline)
                yield from results
                results.clear()
                if not (waiting or self._busy()):
                    return
                for worker, errand, heard in self._heard(deadline):
                    if isinstance(heard, WorkerLost):
                        logging.getLogger(__name__).info("a worker is lost: %s", heard)
                        self._part_with([worker])
                        if errand:
                            errand.failed(heard)
                            waiting.appendleft(errand)
                        else:
                            # A machine that is lost takes all its workers along.
                            opening.failed(heard, ATTEMPTS * self.size())
                    elif errand:
                        results.append((errand.item, heard))
                        opening.failures = 0
        finally:
            self._part_with([worker for worker in self._workers if worker.owes and worker.task is not None])

    def in_order(self, function: Callable[[Item], Result], items: Iterable[Item], deadline: float) -> Iterator[Result]:
        """What `function` makes of each of `items`, in their order; otherwise as `map`."""
        early: dict[int, Result] = {}
        awaited = 0
        for (number, _), result in self.map(Plain(partial(_of_numbered, function)), enumerate(items), deadline):
            early[number] = result
            while awaited in early:
                yield early.pop(awaited)
                awaited += 1

    def _busy(self) -> list[Worker]:
        """Those with an item."""
        return [worker for worker in self._workers if worker.errand]

    def _employ(self, waiting: deque[Errand], deadline: float) -> None:
        """Give the errands that wait to those who have nothing to do, and have as many more get ready as are needed."""
        for worker in self._workers:
            if not waiting or worker.owes:
                continue
            if worker.task is self._task:
                worker.tell("do", self.dumps(waiting[0].item))
                worker.errand = waiting.popleft()
            else:
                worker.tell("open", self._task)
                worker.task = self._task
            worker.owes, worker.deadline = True, monotonic() + deadline
        unready = sum(worker.owes and not worker.errand for worker in self._workers)
        for _ in range(min(len(waiting) - unready, self.size() - len(self._workers))):
            self._workers.append(self.start())

    def _heard(self, deadline: float) -> Iterator[tuple[Worker, Errand | None, Any]]:
        """The next workers that answered or are lost, what they did, and its result or the loss; perhaps none.

        Raises what the task raised.
        """
        owing = [worker for worker in self._workers if worker.owes]
        patience = min(worker.deadline for worker in owing) - monotonic()
        answered = self.wait(owing, max(0.0, min(patience, _LOOK_ROUND)))
        now = monotonic()
        for worker in owing:
            if worker not in answered and worker.deadline > now:
                continue
            errand, worker.errand = worker.errand, None
            try:
                if worker not in answered:
                    raise WorkerLost(f"no answer in {deadline:g} s")
                result, error = worker.answer()
            except WorkerLost as lost:
                yield worker, errand, lost
                continue
            worker.owes = False
            if error:
                worker.task = worker.task if errand else None
                raise error
            yield worker, errand, result

    def _part_with(self, workers: Sequence[Worker]) -> None:
        for worker in workers:
            worker.dismiss()
        for worker in workers:
            worker.end()
            self._workers.remove(worker)
