"""A crew of threads of this process, for work that other processes do while they wait."""

import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from pydlshogi.support.crew import Crew, Worker, Workplace


class ThreadCrew(Crew):
    """`count` threads. Their tasks have to bear being closed while an item is under way: that has to end it."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._answered: SimpleQueue[Worker] = SimpleQueue()

    def size(self) -> int:
        return self._count

    def start(self) -> Worker:
        return _Thread(self._answered.put)

    def wait(self, workers: Sequence[Worker], seconds: float) -> set[Worker]:
        answered: set[Worker] = set()
        with suppress(Empty):
            answered.add(self._answered.get(timeout=seconds))
            while True:
                answered.add(self._answered.get_nowait())
        return answered.intersection(workers)

    def dumps(self, value: Any) -> bytes:
        return pickle.dumps(value)

    def hand_out(self, task: bytes) -> bytes:
        return task


class _Thread(Worker):
    """A thread that reads orders from a queue, and rings when it has an answer."""

    def __init__(self, ring: Callable[[Worker], None]) -> None:
        self._ring = ring
        self._orders: SimpleQueue[tuple[str, bytes] | None] = SimpleQueue()
        self._place = Workplace(pickle.dumps)
        self._answer = b""
        self._thread = Thread(target=self._work)
        self._thread.start()

    def tell(self, order: str, argument: bytes) -> None:
        self._orders.put((order, argument))

    def answer(self) -> tuple[Any, Exception | None]:
        answer: tuple[Any, Exception | None] = pickle.loads(self._answer)
        return answer

    def dismiss(self) -> None:
        self._orders.put(None)
        if self.owes:
            self._place.close()

    def end(self) -> None:
        self._thread.join()

    def _work(self) -> None:
        self._answer = self._place.here()
        self._ring(self)
        while order := self._orders.get():
            name, argument = order
            self._answer = {"open": self._place.open, "do": self._place.do}[name](argument)
            self._ring(self)
        self._place.close()
