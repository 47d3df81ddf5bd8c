"""Pools do every item once, whatever becomes of their workers: processes, and those of a Ray cluster."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from math import inf
from pathlib import Path
from typing import Any

import pool_tasks
import psutil
import pytest
from processes import await_end

from pydlshogi.support.command_line import pool_of
from pydlshogi.support.pool import ATTEMPTS, Plain, PoolError, WorkerPool
from pydlshogi.support.processes import ProcessPool

ROOT = Path(__file__).resolve().parent.parent
PATIENT = 250.0
"""Seconds that nothing here takes."""

PROGRAM = """
import sys
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
import pool_tasks
from pydlshogi.support.command_line import add_pool_options, exit_status, pool_of

def run():
    parser = ArgumentParser()
    add_pool_options(parser)
    options = parser.parse_args(sys.argv[2:])
    with pool_of(options.workers, options.cluster) as pool:
        for _, (_, process) in pool.map(partial(pool_tasks.counted, Path(sys.argv[1])), [1, -1], 1000.0):
            print(process, flush=True)

if __name__ == "__main__":
    sys.exit(exit_status("program", run, resume="the same again"))
"""
"""Its only worker never ends the second item."""


def finding_all() -> dict[str, str]:
    """The environment of a program that finds the package and the tasks."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}


@pytest.fixture(scope="session")
def processes() -> Iterator[WorkerPool]:
    with ProcessPool(2) as pool:
        yield pool


@pytest.fixture(scope="session")
def environment() -> Iterator[pytest.MonkeyPatch]:
    """What Ray is to find: it listens to this machine alone, and finds the tasks, which are no part of the code."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "USAGE_STATS_ENABLED": "0"}.items():
            patch.setenv(f"RAY_{name}", value)
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        yield patch


@pytest.fixture(scope="session")
def cluster(environment: pytest.MonkeyPatch) -> Iterator[Any]:
    """A node of two cores; others may join it. All are on this machine."""
    pytest.importorskip("ray", reason="needs Ray: sh bat/environment.sh cluster")
    from ray.cluster_utils import Cluster

    lean = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": 80 << 20, **lean})
    try:
        yield cluster
    finally:
        cluster.shutdown()


@pytest.fixture(scope="session")
def cluster_workers(cluster: Any) -> Iterator[WorkerPool]:
    from pydlshogi.support.cluster import RayPool

    with RayPool(cluster.address, 0) as pool:
        yield pool


@pytest.fixture(params=["processes", "cluster_workers"])
def pool(request: pytest.FixtureRequest) -> WorkerPool:
    pool: WorkerPool = request.getfixturevalue(request.param)
    return pool


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_every_item_is_done_once_by_workers_that_open_the_task_once(pool: WorkerPool, log: Path) -> None:
    results = list(pool.map(partial(pool_tasks.counted, log), range(50), PATIENT))
    assert sorted((item, result) for item, (result, _) in results) == [(number, number) for number in range(50)]
    workers = {process for _, (_, process) in results}
    opened = [line for line in log.read_text().splitlines() if line.startswith("open")]
    assert os.getpid() not in workers
    assert {f"open {process}" for process in workers} <= set(opened)
    assert len(opened) == len(set(opened)) <= 2


def test_a_task_stays_open_until_another_comes(pool: WorkerPool, log: Path) -> None:
    for _ in range(3):
        assert len(list(pool.map(partial(pool_tasks.counted, log), range(9), PATIENT))) == 9
    opened = log.read_text().splitlines()
    assert len(opened) == len(set(opened)) <= 2
    assert list(pool.map(Plain(abs), [], PATIENT)) == []
    assert sorted(pool.map(Plain(abs), [-1] * 30, PATIENT)) == [(-1, 1)] * 30
    assert any(line.startswith("close") for line in log.read_text().splitlines())


def test_results_come_in_order_and_items_are_drawn_when_somebody_is_free(pool: WorkerPool) -> None:
    assert list(pool.in_order(pool_tasks.slowly, range(12), PATIENT)) == [-item for item in range(12)]
    drawn = count()
    results = pool.map(Plain(pool_tasks.positive), (next(drawn) + 1 for _ in count()), PATIENT)
    assert len({item for item, _ in islice(results, 20)}) == 20
    assert next(drawn) <= 20 + 2 * pool.size()


def test_a_killed_worker_costs_a_repetition_and_one_that_hangs_is_replaced(pool: WorkerPool, log: Path) -> None:
    results = list(pool.map(Plain(partial(pool_tasks.die, log, 1)), range(20), PATIENT))
    assert sorted(results) == [(item, -item) for item in range(20)]
    assert len(log.read_text().splitlines()) == 2
    results = list(pool.map(Plain(partial(pool_tasks.hang, log, 1)), range(20), 6.0))
    assert sorted(results) == [(item, -item) for item in range(20)]
    assert len(log.read_text().splitlines()) > 1


def test_an_item_that_kills_or_hangs_is_given_up(processes: WorkerPool, log: Path) -> None:
    with pytest.raises(PoolError, match=f"^3 was given up after {ATTEMPTS} attempts: ") as error:
        list(processes.map(Plain(partial(pool_tasks.die, log, 99)), range(20), PATIENT))
    assert "\n" not in str(error.value)
    assert len(log.read_text().splitlines()) == ATTEMPTS
    assert list(processes.map(Plain(abs), [-3], PATIENT)) == [(-3, 3)]
    with pytest.raises(PoolError, match=f"3 was given up after {ATTEMPTS} attempts: .*; an item may take 0.1 s"):
        list(processes.map(Plain(partial(pool_tasks.hang, log, 99)), [3], 0.1))


def test_what_a_task_raises_is_raised_here(pool: WorkerPool) -> None:
    with pytest.raises(LookupError, match=r"^no item 0") as error:
        list(pool.map(Plain(pool_tasks.positive), [1, 2, 0, 3], PATIENT))
    assert "in positive" in error.value.__notes__[0]
    with pytest.raises(LookupError, match="nothing to open"):
        list(pool.map(partial(pool_tasks.unable, "nothing to open"), [1], PATIENT))
    assert list(pool.map(partial(pool_tasks.unable, ""), [-1], PATIENT)) == [(-1, 1)]


def test_a_machine_that_lacks_a_package_is_named(pool: WorkerPool) -> None:
    with pytest.raises(PoolError, match=f"^{socket.gethostname()} lacks what the work needs: No module named 'no_such"):
        list(pool.map(Plain(pool_tasks.lacking), [1], PATIENT))


def test_a_machine_may_come_and_be_lost(cluster: Any, cluster_workers: WorkerPool, log: Path) -> None:
    drawn: list[int] = []
    last = inf

    def items() -> Iterator[int]:
        while len(drawn) < last:
            drawn.append(len(drawn))
            yield drawn[-1]

    done = []
    newcomer = cluster.add_node(num_cpus=1, object_store_memory=80 << 20, include_log_monitor=False)
    for item, _ in cluster_workers.map(Plain(partial(pool_tasks.stay, log, newcomer.node_id)), items(), PATIENT):
        done.append(item)
        if last == inf and log.exists():
            cluster.remove_node(newcomer)
            last = len(drawn) + 50
    assert sorted(done) == drawn


@contextmanager
def program(tmp_path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    """The program and its worker, which is busy."""
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "log"), "--workers", "1", *options]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=finding_all(), start_new_session=True, **streams) as process:
        assert process.stdout is not None
        yield process, psutil.Process(int(process.stdout.readline()))


STRUCK_AT_THE_START = """
import os
import signal
from pydlshogi.support.processes import ProcessPool

if __name__ == "__mp_main__":
    os.kill(os.getpid(), signal.SIGINT)
if __name__ == "__main__":
    with ProcessPool(2) as pool:
        print(sum(pool.in_order(abs, range(10), 60)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C reaches the console's programs by other ways")
def test_ctrl_c_spares_a_worker_that_is_still_starting(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(STRUCK_AT_THE_START)
    command = [sys.executable, str(program)]
    ended = subprocess.run(command, env=finding_all(), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "45\n", "")


ways = pytest.mark.parametrize(
    "way", [(), pytest.param(("--cluster", "local"), marks=pytest.mark.long)], ids=["processes", "cluster"]
)


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C reaches the console's programs by other ways")
@ways
def test_ctrl_c_is_one_line_and_ends_the_workers(way: tuple[str, ...], tmp_path: Path) -> None:
    with program(tmp_path, *way) as (process, worker):
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said) == (130, "program: stopped; the same again\n")
    await_end(worker)
    if not way:
        assert (tmp_path / "log").read_text() == f"open {worker.pid}\nclose {worker.pid}\n"


@ways
def test_no_worker_outlives_a_killed_program(way: tuple[str, ...], tmp_path: Path) -> None:
    with program(tmp_path, *way) as (process, worker):
        process.kill()
    await_end(worker)


def test_without_ray_a_cluster_is_refused(environment: pytest.MonkeyPatch) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "ray", None)
        patch.delitem(sys.modules, "pydlshogi.support.cluster", raising=False)
        with pytest.raises(PoolError, match=r"^--cluster needs Ray: .*; run `sh bat/environment.sh cluster`, on"):
            pool_of(0, "auto")


def test_a_cluster_that_does_not_answer_is_named(environment: pytest.MonkeyPatch) -> None:
    cluster = pytest.importorskip("pydlshogi.support.cluster", reason="needs Ray: sh bat/environment.sh cluster")
    with socket.create_server(("127.0.0.1", 0)) as left:
        address = f"127.0.0.1:{left.getsockname()[1]}"
    with pytest.raises(PoolError, match=f"^cluster {address}: no answer; "):
        cluster.RayPool(address, 0)
