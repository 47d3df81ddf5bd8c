"""A crew on a cluster of machines that Ray runs. Whoever imports this module imports Ray.

Code reaches the machines with every run: the package, the tools and the networks of model/, as they are where the run
is started. Python, Ray and the packages that the code imports have to be installed there.
"""

import logging
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from textwrap import shorten
from time import monotonic
from types import TracebackType
from typing import Any, Final

import ray
import ray.cloudpickle
from ray.exceptions import RayError

from pydlshogi.support.crew import Crew, CrewError, Worker, WorkerLost, Workplace

_ROOT: Final = Path(__file__).resolve().parents[2]
_CODE: Final = ("pydlshogi", "utils", "model")
_OBJECT_STORE: Final = 80 << 20
"""Bytes for tasks, and for results on their way, where Ray is started here."""
_ANSWER: Final = 10.0
"""Seconds a cluster has to answer."""
_NO_ANSWER: Final = "no answer; does it run, and has this machine joined it by `ray start --address`?"
_JOIN: Final = """
import ray, sys
try:
    ray.init(sys.argv[1], log_to_driver=False)
except Exception as error:
    sys.exit(" ".join(str(error.__cause__ or error).split()))
"""
_COMPLAINT: Final = 15.0
"""Seconds after which a crew says that it waits for a core."""
_RECOUNT: Final = 5.0
"""Seconds between looks at how large the cluster is."""
_GRACE: Final = 5.0
"""Seconds a worker has to leave its task."""


class RayCrew(Crew):
    """`count` actors with a core each; 0: one for every core that the cluster has at the time.

    `address` is HOST:PORT; "auto" for the cluster that this machine is part of; "local" for one of `count` cores that
    is started here and ends with the crew. Raises CrewError if it cannot be joined.
    """

    def __init__(self, address: str, count: int) -> None:
        super().__init__()
        self._count = count
        self._cores, self._recount = 0, -inf
        self._complain = inf
        how: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address == "local":
            how |= {"num_cpus": count, "include_dashboard": False, "object_store_memory": _OBJECT_STORE}
        else:
            other = [f"/{path.name}" for path in _ROOT.iterdir() if path.name not in _CODE]
            how |= {"runtime_env": {"working_dir": str(_ROOT), "excludes": [*other, "__pycache__"]}}
        try:
            if address != "local":
                _knock(address)
            with _ctrl_c_kept():
                ray.init(address, **how)
        except (OSError, RuntimeError, ValueError, RayError) as error:
            raise CrewError(f"cluster {address}: {_one_line(error.__cause__ or error)}") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        ray.shutdown()

    @property
    def host(self) -> str:
        return str(ray.util.get_node_ip_address())

    def size(self) -> int:
        if self._count:
            return self._count
        if monotonic() >= self._recount:
            self._cores = int(ray.cluster_resources().get("CPU", 0))
            self._recount = monotonic() + _RECOUNT
        return max(1, self._cores)

    def start(self) -> Worker:
        if self._complain == inf and not self._workers:
            self._complain = monotonic() + _COMPLAINT
        return _Actor()

    def wait(self, workers: Sequence[Worker], seconds: float) -> set[Worker]:
        by_promise = {worker.promise: worker for worker in workers if isinstance(worker, _Actor)}
        promises = list(by_promise)
        ray.wait(promises, timeout=seconds)
        kept, _ = ray.wait(promises, num_returns=len(promises), timeout=0)
        if kept:
            self._complain = inf
        elif monotonic() > self._complain:
            self._complain = inf
            logging.getLogger(__name__).warning("no core of the cluster is free yet: `ray status` shows who has them")
        return {by_promise[promise] for promise in kept}

    def dumps(self, value: Any) -> bytes:
        pickled: bytes = ray.cloudpickle.dumps(value)
        return pickled

    def hand_out(self, task: bytes) -> Any:
        """It goes to every machine once."""
        return ray.put(task)


class _Actor(Worker):
    """An actor of Ray. What it pickles may be of classes that only the program itself has."""

    def __init__(self) -> None:
        actor_class: Any = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(Workplace)
        self._actor = actor_class.remote(ray.cloudpickle.dumps)
        self.promise = self._actor.here.remote()

    def tell(self, order: str, argument: Any) -> None:
        self.promise = getattr(self._actor, order).remote(argument)

    def answer(self) -> tuple[Any, Exception | None]:
        try:
            answer: tuple[Any, Exception | None] = pickle.loads(ray.get(self.promise))
        except RayError as error:
            raise WorkerLost(_one_line(error)) from None
        return answer

    def dismiss(self) -> None:
        if not self.owes:
            self.promise = self._actor.close.remote()

    def end(self) -> None:
        if not self.owes:
            ray.wait([self.promise], timeout=_GRACE)
        ray.kill(self._actor)


def _knock(address: str) -> None:
    """Join the cluster in a process of its own: Ray itself may try for minutes, or crash. Raises ConnectionError."""
    host, _, port = address.rpartition(":")
    try:
        if host:
            socket.create_connection((host, int(port)), _ANSWER).close()
    except OSError:
        raise ConnectionError(_NO_ANSWER) from None
    try:
        subprocess.run(
            [sys.executable, "-c", _JOIN, address], capture_output=True, text=True, timeout=_ANSWER, check=True
        )
    except subprocess.CalledProcessError as error:
        if error.returncode == 1:
            raise ConnectionError(error.stderr.strip().rpartition("\n")[2]) from None
        raise ConnectionError(_NO_ANSWER) from None
    except subprocess.TimeoutExpired:
        raise ConnectionError(_NO_ANSWER) from None


@contextmanager
def _ctrl_c_kept() -> Iterator[None]:
    """Ctrl-C takes effect at the end: a Ray that is half started passes it over, or crashes when the program ends."""
    kept: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: kept.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if kept:
        signal.raise_signal(signal.SIGINT)


def _one_line(error: BaseException) -> str:
    return shorten(str(error), 400, placeholder=" ...")
