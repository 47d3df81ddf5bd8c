"""Pools do every item once: by processes, and by the workers of a Ray cluster."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count, islice, takewhile
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pool_tasks
import psutil
import pytest
from pool_tasks import await_end

from pydlshogi.support.command_line import pool_of
from pydlshogi.support.pool import Plain, PoolError, ProcessPool, WorkerPool

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import sys
from functools import partial
from pathlib import Path
import pool_tasks
from pydlshogi.support.command_line import exit_status, pool_of

def run():
    with pool_of(1, *sys.argv[2:] or [None]) as pool:
        for _, (_, process) in pool.map(partial(pool_tasks.counted, Path(sys.argv[1])), [1, -1]):
            print(process, flush=True)

if __name__ == "__main__":
    sys.exit(exit_status("program", run, resume="the same again"))
"""
"""Its only worker never ends the second item."""
FINDING_ALL = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
"""The environment of a program that finds the package and the tasks."""
DIES = partial(os._exit, 1)


@pytest.fixture(scope="module")
def processes() -> Iterator[WorkerPool]:
    with ProcessPool(2) as pool:
        yield pool


NODE = {"object_store_memory": 80 << 20, "include_log_monitor": False}
RAY = """
ENABLE_WINDOWS_OR_OSX_CLUSTER=0 AUTH_MODE=disabled USAGE_STATS_ENABLED=0 DEDUP_LOGS_SKIP_REGEX=.
enable_worker_prestart=0 prestart_worker_first_driver=0 worker_niceness=0 worker_register_timeout_seconds=250
health_check_period_ms=500 health_check_timeout_ms=10000 health_check_failure_threshold=3
grpc_client_keepalive_time_ms=1000 grpc_client_keepalive_timeout_ms=30000
"""
"""It listens to this machine alone, starts workers when there is work, patiently, and soon misses a silent machine."""


@pytest.fixture(scope="module")
def environment() -> Iterator[Path]:
    """What Ray is to find, the tasks as well, which are no part of the code; and the folder for its files."""
    short = None if sys.platform == "win32" else "/tmp"  # the name of a socket has 103 characters at most
    folder = TemporaryDirectory("", "ray", short, ignore_cleanup_errors=True)
    with folder as name, pytest.MonkeyPatch.context() as patch:
        for setting in [*RAY.split(), f"TMPDIR={name}"]:
            patch.setenv(*f"RAY_{setting}".split("="))
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        yield Path(name)


@pytest.fixture(scope="module")
def cluster(environment: Path) -> Iterator[Any]:
    """A node of two cores; others may join it. All are on this machine."""
    pytest.importorskip("ray", reason="needs Ray: sh bat/environment.sh cluster")
    from ray.cluster_utils import Cluster

    first = {"num_cpus": 2, "include_dashboard": False, "no_monitor": True, **NODE}
    cluster = Cluster(initialize_head=True, head_node_args=first)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def cluster_workers(cluster: Any) -> Iterator[WorkerPool]:
    from pydlshogi.support.cluster import RayPool

    with RayPool(cluster.address, 0) as pool:
        yield pool


@pytest.fixture(params=["processes", "cluster_workers"])
def pool(request: pytest.FixtureRequest) -> WorkerPool:
    return request.getfixturevalue(request.param)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_each_item_is_done_once_by_workers_that_keep_the_task_until_another_comes(pool: WorkerPool, log: Path) -> None:
    for _ in range(3):
        results = list(pool.map(partial(pool_tasks.counted, log), range(20)))
        assert sorted((item, result) for item, (result, _) in results) == [(number, number) for number in range(20)]
        workers = {process for _, (_, process) in results}
        opened = log.read_text().splitlines()
        assert os.getpid() not in workers
        assert {f"open {process}" for process in workers} <= set(opened)
        assert len(opened) == len(set(opened)) <= 2
    assert list(pool.map(Plain(abs), [])) == []
    assert sorted(pool.map(Plain(abs), [-1] * 30)) == [(-1, 1)] * 30
    assert any(line.startswith("close") for line in log.read_text().splitlines())


def test_results_come_in_order_and_items_are_drawn_when_somebody_is_free(pool: WorkerPool) -> None:
    assert list(pool.in_order(pool_tasks.slowly, range(12))) == [-item for item in range(12)]
    drawn = count()
    results = pool.map(Plain(pool_tasks.positive), (next(drawn) + 1 for _ in count()))
    assert len({item for item, _ in islice(results, 20)}) == 20
    assert next(drawn) <= 20 + 2 * pool.size()


def test_a_worker_that_dies_ends_the_work_in_one_line(processes: WorkerPool, log: Path) -> None:
    with pytest.raises(PoolError, match=r"^a worker died, of too little memory perhaps$"):
        list(processes.map(Plain(partial(pool_tasks.attempt, DIES, log, 99)), range(20)))
    assert list(processes.map(Plain(abs), [-3])) == [(-3, 3)]


def test_a_cluster_does_an_item_again_whose_worker_died(cluster_workers: WorkerPool, log: Path) -> None:
    results = list(cluster_workers.map(Plain(partial(pool_tasks.attempt, DIES, log, 1)), range(20)))
    assert sorted(results) == [(item, -item) for item in range(20)]
    assert len(log.read_text().splitlines()) == 2


def test_what_a_task_raises_is_raised_here_and_a_machine_that_lacks_a_package_is_named(pool: WorkerPool) -> None:
    with pytest.raises(LookupError, match=r"^no item 0") as error:
        list(pool.map(Plain(pool_tasks.positive), [1, 2, 0, 3]))
    assert "in positive" in error.value.__notes__[0]
    with pytest.raises(LookupError, match="nothing to open"):
        list(pool.map(partial(pool_tasks.unable, "nothing to open"), [1]))
    assert list(pool.map(partial(pool_tasks.unable, ""), [-1])) == [(-1, 1)]
    with pytest.raises(PoolError, match=f"^{socket.gethostname()} lacks what the work needs: No module named 'no_such"):
        list(pool.map(Plain(pool_tasks.lacking), [1]))


@pytest.mark.long
def test_machines_may_come_and_be_killed_or_cut_off(cluster, cluster_workers, environment, log) -> None:
    last = inf
    items = takewhile(lambda item: item < last, count())
    done = []
    silenced: list[psutil.Process] = []
    # Each has a folder of its own, as machines have: there a newcomer unpacks the code in place of what is there.
    folders = [str(environment / name) for name in ("killed", "silent")]
    killed, silent = nodes = [cluster.add_node(num_cpus=1, temp_dir=folder, **NODE) for folder in folders]
    task = Plain(partial(pool_tasks.stay, log, [node.node_id for node in nodes]))
    try:
        for item, _ in cluster_workers.map(task, items):
            done.append(item)
            if last == inf and log.exists() and len(log.read_text().splitlines()) == len(nodes):
                last = len(done) + 20
                cluster.remove_node(killed, allow_graceful=False)
                raylet = psutil.Process(silent.all_processes["raylet"][0].process.pid)
                silenced += [raylet, *raylet.children(recursive=True)]
                for process in silenced:
                    process.suspend()
    finally:
        for process in silenced:
            process.kill()
    assert sorted(done) == list(range(last))


@contextmanager
def program(tmp_path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    """The program and its worker, which is busy."""
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "log"), *options]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=FINDING_ALL, start_new_session=True, **streams) as process:
        yield process, psutil.Process(int(process.stdout.readline()))


STRUCK_AT_THE_START = """
import os
import signal
from pydlshogi.support.pool import ProcessPool

if __name__ == "__mp_main__":
    os.kill(os.getpid(), signal.SIGINT)
if __name__ == "__main__":
    with ProcessPool(2) as pool:
        print(sum(pool.in_order(abs, range(10))))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C reaches the console's programs by other ways")
def test_ctrl_c_spares_a_worker_that_is_still_starting(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(STRUCK_AT_THE_START)
    command = [sys.executable, str(program)]
    ended = subprocess.run(command, env=FINDING_ALL, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "45\n", "")


ways = pytest.mark.parametrize(
    "way", [(), pytest.param(("local",), marks=pytest.mark.long)], ids=["processes", "cluster"]
)


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C reaches the console's programs by other ways")
@ways
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_is_one_line_and_ends_the_workers(way: tuple[str, ...], number: int, tmp_path: Path) -> None:
    with program(tmp_path, *way) as (process, worker):
        os.killpg(process.pid, number)
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


def test_without_ray_a_cluster_is_refused(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "pydlshogi.support.cluster", raising=False)
    with pytest.raises(PoolError, match=r"^--cluster needs Ray: .*; run `sh bat/environment.sh cluster`, on"):
        pool_of(0, "auto")


def test_a_cluster_that_does_not_answer_is_named(environment: Path) -> None:
    cluster = pytest.importorskip("pydlshogi.support.cluster", reason="needs Ray: sh bat/environment.sh cluster")
    with socket.socket() as taken:  # so that nobody else listens there
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(PoolError, match=f"^cluster {address}: no answer; "):
            cluster.RayPool(address, 0)
