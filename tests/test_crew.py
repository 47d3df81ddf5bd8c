"""Crews do every item once, whatever becomes of their workers: processes, Ray's actors, and threads for some work."""

import json
import os
import signal
import socket
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from math import inf
from pathlib import Path
from typing import Any

import errands
import numpy as np
import psutil
import pytest

from pydlshogi.support.command_line import add_crew_options, crew_of
from pydlshogi.support.crew import ATTEMPTS, Crew, CrewError, Plain
from pydlshogi.support.processes import ProcessCrew
from pydlshogi.support.threads import ThreadCrew

ROOT = Path(__file__).resolve().parent.parent
PATIENT = 250.0
"""Seconds that nothing here takes."""
HASTY = 1.0
"""Seconds that an item takes only where somebody hangs."""

PROGRAM = """
import sys
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
import errands
from pydlshogi.support.command_line import add_crew_options, crew_of, exit_status

def run():
    parser = ArgumentParser()
    add_crew_options(parser)
    with crew_of(parser.parse_args(sys.argv[2:])) as crew:
        for _, (_, process) in crew.map(partial(errands.counted, Path(sys.argv[1])), [1, -1], 1000.0):
            print(process, flush=True)

if __name__ == "__main__":
    sys.exit(exit_status("program", run, resume="the same again"))
"""
"""Its only worker never ends the second item."""


@pytest.fixture(scope="session")
def processes() -> Iterator[Crew]:
    with ProcessCrew(2) as crew:
        yield crew


@pytest.fixture(scope="session")
def environment() -> Iterator[pytest.MonkeyPatch]:
    """What Ray is to find: it listens to this machine alone, and finds the errands, which are no part of the code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
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
def actors(cluster: Any) -> Iterator[Crew]:
    from pydlshogi.support.cluster import RayCrew

    with RayCrew(cluster.address, 0) as crew:
        yield crew


@pytest.fixture(params=["processes", "actors"])
def crew(request: pytest.FixtureRequest) -> Crew:
    crew: Crew = request.getfixturevalue(request.param)
    return crew


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    return tmp_path / "diary"


def test_every_item_is_done_once_by_workers_that_open_the_task_once(crew: Crew, diary: Path) -> None:
    results = list(crew.map(partial(errands.counted, diary), range(50), PATIENT))
    assert sorted((item, result) for item, (result, _) in results) == [(number, number) for number in range(50)]
    workers = {process for _, (_, process) in results}
    # A worker that opens the task when all is done is dismissed, and closes it.
    opened = [line for line in diary.read_text().splitlines() if line.startswith("open")]
    assert os.getpid() not in workers
    assert {f"open {process}" for process in workers} <= set(opened)
    assert len(opened) == len(set(opened)) <= 2


def test_a_task_stays_open_until_another_comes(crew: Crew, diary: Path) -> None:
    for _ in range(3):
        assert len(list(crew.map(partial(errands.counted, diary), range(9), PATIENT))) == 9
    opened = diary.read_text().splitlines()
    assert len(opened) == len(set(opened)) <= 2
    assert list(crew.map(Plain(abs), [], PATIENT)) == []
    assert sorted(crew.map(Plain(abs), [-1] * 30, PATIENT)) == [(-1, 1)] * 30
    assert any(line.startswith("close") for line in diary.read_text().splitlines())


def test_machines_make_what_processes_make(processes: Crew, actors: Crew) -> None:
    task = partial(errands.weighed, np.linspace(0, 1, 1 << 18))
    assert dict(processes.map(task, range(20), PATIENT)) == dict(actors.map(task, range(20), PATIENT))


def test_workers_reach_this_machine_at_an_address_of_its_own(processes: Crew, actors: Crew, cluster: Any) -> None:
    assert processes.host == "127.0.0.1"
    assert actors.host == cluster.head_node.node_ip_address


def test_results_come_in_the_order_of_the_items(crew: Crew) -> None:
    assert list(crew.in_order(errands.slowly, range(12), PATIENT)) == [-item for item in range(12)]


def test_threads_do_what_processes_do(processes: Crew, diary: Path) -> None:
    with ThreadCrew(2) as threads:
        task = partial(errands.weighed, np.linspace(0, 1, 1 << 10))
        assert dict(processes.map(task, range(20), PATIENT)) == dict(threads.map(task, range(20), PATIENT))
        with pytest.raises(LookupError, match=r"^no item 0"):
            list(threads.map(Plain(errands.positive), [1, 0], PATIENT))


def test_a_thread_that_is_left_is_ended_by_what_its_task_closes() -> None:
    with ThreadCrew(2) as threads:
        for item, _ in threads.map(errands.until_closed, [1, 2, -1, 3], PATIENT):
            if item == 2:
                break
    with (
        ThreadCrew(1) as threads,
        pytest.raises(CrewError, match=r"^-1 was given up after 3 attempts: no answer in 0\.1 s"),
    ):
        list(threads.map(errands.until_closed, [-1], 0.1))


def test_items_are_drawn_when_somebody_is_free(crew: Crew) -> None:
    drawn = count()
    results = crew.map(Plain(errands.positive), (next(drawn) + 1 for _ in count()), PATIENT)
    assert len({item for item, _ in islice(results, 20)}) == 20
    assert next(drawn) <= 20 + 2 * crew.size()


def test_a_killed_worker_costs_a_repetition(crew: Crew, diary: Path) -> None:
    results = list(crew.map(Plain(partial(errands.die, diary, 1)), range(20), PATIENT))
    assert sorted(results) == [(item, -item) for item in range(20)]
    assert len(diary.read_text().splitlines()) == 2


def test_an_item_that_kills_is_given_up(processes: Crew, diary: Path) -> None:
    with pytest.raises(CrewError, match=f"^3 was given up after {ATTEMPTS} attempts: ") as error:
        list(processes.map(Plain(partial(errands.die, diary, 99)), range(20), PATIENT))
    assert "\n" not in str(error.value)
    assert len(diary.read_text().splitlines()) == ATTEMPTS
    assert list(processes.map(Plain(abs), [-3], PATIENT)) == [(-3, 3)]


def test_a_worker_that_hangs_is_replaced(crew: Crew, diary: Path) -> None:
    results = list(crew.map(Plain(partial(errands.hang, diary, 1)), range(20), HASTY))
    assert sorted(results) == [(item, -item) for item in range(20)]
    assert len(diary.read_text().splitlines()) == 2


def test_an_item_that_hangs_is_given_up(processes: Crew, diary: Path) -> None:
    with pytest.raises(CrewError, match=f"3 was given up after {ATTEMPTS} attempts: no answer in {HASTY:g} s"):
        list(processes.map(Plain(partial(errands.hang, diary, 99)), [3], HASTY))


def test_what_a_task_raises_is_raised_here(crew: Crew) -> None:
    with pytest.raises(LookupError, match=r"^no item 0") as error:
        list(crew.map(Plain(errands.positive), [1, 2, 0, 3], PATIENT))
    assert "in positive" in error.value.__notes__[0]
    with pytest.raises(LookupError, match="nothing to open"):
        list(crew.map(partial(errands.unable, "nothing to open"), [1], PATIENT))
    assert list(crew.map(partial(errands.unable, ""), [-1], PATIENT)) == [(-1, 1)]


def test_a_machine_that_lacks_a_package_is_named(crew: Crew) -> None:
    with pytest.raises(CrewError, match=f"^{socket.gethostname()} lacks what the work needs: No module named 'no_such"):
        list(crew.map(Plain(errands.lacking), [1], PATIENT))


def test_a_machine_may_come_and_be_lost(cluster: Any, actors: Crew, diary: Path) -> None:
    drawn: list[int] = []
    last = inf

    def items() -> Iterator[int]:
        while len(drawn) < last:
            drawn.append(len(drawn))
            yield drawn[-1]

    done = []
    newcomer = cluster.add_node(num_cpus=1, object_store_memory=80 << 20, include_log_monitor=False)
    for item, _ in actors.map(Plain(partial(errands.stay, diary, newcomer.node_id)), items(), PATIENT):
        done.append(item)
        if last == inf and diary.exists():
            cluster.remove_node(newcomer)
            last = len(drawn) + 50
    assert sorted(done) == drawn


@contextmanager
def program(tmp_path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    """The program and its worker, which is busy."""
    (tmp_path / "program.py").write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "diary"), "--workers", "1", *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        yield process, psutil.Process(int(process.stdout.readline()))


ways = pytest.mark.parametrize(
    "way", [(), pytest.param(("--cluster", "local"), marks=pytest.mark.long)], ids=["processes", "actors"]
)


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C reaches the console's programs by other ways")
@ways
def test_ctrl_c_is_one_line_and_ends_the_workers(way: tuple[str, ...], tmp_path: Path) -> None:
    with program(tmp_path, *way) as (process, worker):
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "program: stopped; the same again\n")
    worker.wait(timeout=60)
    if not way:
        assert (tmp_path / "diary").read_text() == f"open {worker.pid}\nclose {worker.pid}\n"


@ways
def test_no_worker_outlives_a_killed_program(way: tuple[str, ...], tmp_path: Path) -> None:
    with program(tmp_path, *way) as (process, worker):
        process.kill()
    worker.wait(timeout=60)


def test_without_ray_a_cluster_is_refused(environment: pytest.MonkeyPatch) -> None:
    parser = ArgumentParser()
    add_crew_options(parser)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "ray", None)
        patch.delitem(sys.modules, "pydlshogi.support.cluster", raising=False)
        with pytest.raises(
            CrewError, match=r"^--cluster needs Ray: .*; run `sh bat/environment.sh cluster`, on Windows"
        ):
            crew_of(parser.parse_args(["--cluster", "auto"]))


@pytest.mark.skipif(sys.platform == "win32", reason="its sockets refuse what nobody accepts")
def test_a_cluster_that_does_not_answer_is_named(
    environment: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = pytest.importorskip("pydlshogi.support.cluster", reason="needs Ray: sh bat/environment.sh cluster")
    monkeypatch.setattr(cluster, "_ANSWER", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(CrewError, match=f"^cluster {address}: no answer; "):
            cluster.RayCrew(address, 0)
    with pytest.raises(CrewError, match=f"^cluster {address}: no answer; "):
        cluster.RayCrew(address, 0)  # where nobody listens any more


def test_a_cluster_of_another_version_is_named(cluster: Any, actors: Crew) -> None:
    """As `ray start` of another machine has written it down."""
    from pydlshogi.support.cluster import RayCrew

    gcs, place = cluster.head_node.get_gcs_client(), (b"CLUSTER_METADATA", b"cluster")
    written = gcs.internal_kv_get(*place)
    other = json.loads(written) | {"ray_version": "2.0.1"}
    gcs.internal_kv_put(place[0], json.dumps(other).encode(), True, place[1])
    try:
        with pytest.raises(CrewError, match=f"^cluster {cluster.address}: Version mismatch: .* Ray: 2.0.1 ") as error:
            RayCrew(cluster.address, 0)
    finally:
        gcs.internal_kv_put(place[0], written, True, place[1])
    assert "\n" not in str(error.value)
