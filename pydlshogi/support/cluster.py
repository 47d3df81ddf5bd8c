"""A pool of workers on a cluster of machines that Ray runs. To import this module is to import Ray.

Code reaches the machines with every run: the package, the tools and the networks of model/, as they are where the run
is started. Python, Ray and the packages that the code imports have to be installed there.
"""

import logging
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, Final

import ray
import ray.cloudpickle
from ray.exceptions import RayError

from pydlshogi.support.pool import Outcome, PoolError, WorkerPool, work

_ROOT: Final = Path(__file__).resolve().parents[2]
_CODE: Final = ("pydlshogi", "utils", "model")
_OBJECT_STORE: Final = 80 << 20
"""Bytes for tasks, and for results on their way, where Ray is started here."""
_RETRIES: Final = 2
"""How often an item is done again whose machine was lost."""
_ANSWER: Final = 10.0
"""Seconds a cluster has to answer."""
_RECOUNT: Final = 5.0
"""Seconds between looks at how large the cluster is."""


class RayPool(WorkerPool):
    """`count` workers with a core each; 0: one for every core that the cluster has at the time.

    `address` is HOST:PORT; "auto" for the cluster that this machine is part of; "local" for one of `count` cores that
    is started here and ends with the pool. Raises PoolError if it cannot be joined.
    """

    def __init__(self, address: str, count: int) -> None:
        self._count = count
        self._cores, self._recount = 0, -inf
        self._task, self._task_everywhere = b"", None
        self._references: dict[Future[Outcome], Any] = {}
        """Of what is under way."""
        how: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address == "local":
            how |= {"num_cpus": count, "include_dashboard": False, "object_store_memory": _OBJECT_STORE}
        else:
            other = [f"/{path.name}" for path in _ROOT.iterdir() if path.name not in _CODE]
            how |= {"runtime_env": {"working_dir": str(_ROOT), "excludes": [*other, "__pycache__"]}}
        try:
            _knock(address)
            with _ctrl_c_kept():
                ray.init(address, **how)
        except (OSError, RuntimeError, ValueError, RayError) as error:
            raise PoolError(f"cluster {address}: {_one_line(error.__cause__ or error)}") from error
        self._work: Any = ray.remote(num_cpus=1, max_retries=_RETRIES, scheduling_strategy="SPREAD")(work)
        if ray.available_resources().get("CPU", 0) < 1:
            logging.getLogger(__name__).warning("no core of the cluster is free yet: `ray status` shows who has them")

    def size(self) -> int:
        if self._count:
            return self._count
        if monotonic() >= self._recount:
            self._cores = int(ray.cluster_resources().get("CPU", 0))
            self._recount = monotonic() + _RECOUNT
        return max(1, self._cores)

    def dumps(self, value: Any) -> bytes:
        pickled: bytes = ray.cloudpickle.dumps(value)  # it may be of classes that only the program itself has
        return pickled

    def submit(self, task: bytes, item: bytes) -> Future[Outcome]:
        if task != self._task:
            self._task, self._task_everywhere = task, ray.put(task)  # it goes to every machine once
        reference = self._work.remote(self._task_everywhere, item)
        future: Future[Outcome] = reference.future()
        self._references[future] = reference
        return future

    def outcome(self, future: Future[Outcome]) -> Outcome:
        del self._references[future]
        try:
            return future.result()
        except RayError as error:
            raise PoolError(_one_line(getattr(error, "cause", error))) from None

    def break_off(self) -> None:
        for reference in self._references.values():
            ray.cancel(reference)
        self._references = {}

    def close(self) -> None:
        ray.shutdown()


def _knock(address: str) -> None:
    """Where nobody listens Ray itself would try for minutes. Raises ConnectionError."""
    host, _, port = address.rpartition(":")
    try:
        if host:
            socket.create_connection((host, int(port)), _ANSWER).close()
    except OSError:
        raise ConnectionError("no answer; does it run there?") from None


@contextmanager
def _ctrl_c_kept() -> Iterator[None]:
    """Ctrl-C and SIGTERM take effect at the end: a Ray that is half started passes them over, or crashes when the
    program ends. What is done then is what was to be done before: Ray sees to SIGTERM in its own way."""
    kept: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda number, frame: kept.append(number)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for struck in kept[:1]:
        signal.raise_signal(struck)


def _one_line(error: BaseException) -> str:
    """What it says. Ray quotes whole tracebacks, so of a long text both ends are left."""
    said = " ".join(str(error).split())
    return said if len(said) <= 400 else f"{said[:200]} ... {said[-200:]}"
