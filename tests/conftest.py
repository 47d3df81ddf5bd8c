"""Fixtures every test may use."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import plain_kernels  # noqa: F401
import pytest
from hypothesis import HealthCheck, settings

from pydlshogi.catalogue import GAMES
from pydlshogi.support import command_line
from pydlshogi.support.pool import Plain, ProcessPool, WorkerPool

if TYPE_CHECKING:
    from web_board import Board

    from pydlshogi.analysis_server.pool import Pool, Question, Task, Tell

NOTHING = Plain(abs), [0]
"""For a worker to do."""

for profile, examples in (("default", 15), ("long", 1000)):
    same_everywhere, how = profile == "default", {"deadline": None, "suppress_health_check": [*HealthCheck]}
    settings.register_profile(profile, max_examples=examples, derandomize=same_everywhere, **how)
settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without the folder of a game nothing else is missed (test_hidden_game.py): its name stands in its tests'."""
    for game in {"dobutsu", "othello"} - GAMES.keys():
        for item in items:
            if game in item.nodeid.partition("::")[2]:
                item.add_marker(pytest.mark.skip(reason=f"needs the folder games/{game}"))


@pytest.fixture(scope="session", autouse=True)
def signals_are_heard() -> None:
    """What a shell puts in the background is started with SIGINT ignored, what nohup starts with SIGHUP."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def files_need_not_outlast_the_machine() -> Iterator[None]:
    """To wait for the disk takes longer than most of what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="module")
def short_reviews() -> Iterator[None]:
    """The analysis of a whole game on the board asks for a tenth of the visits."""
    with pytest.MonkeyPatch.context() as patch:
        for game in GAMES.values():
            patch.setattr(game, "judged_visits", game.judged_visits // 10)
        yield


@pytest.fixture(scope="module")
def pool() -> "Iterator[Pool]":
    """The analysis server behind boards."""
    from web_board import ROOT, SETTINGS, Pool

    made = Pool(1, SETTINGS | {"modelfile": str(ROOT / "model" / "dobutsu.npz")})  # of one game, given for all
    yield made
    made.close(cancel=True)


@pytest.fixture
def board(pool: "Pool") -> "Iterator[Board]":
    from web_board import served

    with served(pool) as made:
        yield made


@pytest.fixture
def asked(pool: "Pool", monkeypatch: pytest.MonkeyPatch) -> "list[Task]":
    """What the board asks. The test answers."""
    from pydlshogi.analysis_server.pool import Task

    made: list[Task] = []

    def ask(question: "Question", tell: "Tell") -> Task:
        made.append(Task(question, tell))
        return made[-1]

    monkeypatch.setattr(pool, "ask", ask)
    return made


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of large real data that may lie beside a checkout; where it is absent the test is skipped."""
    path = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"needs the data folder {path}, which a fresh clone does not have")
    return path


@pytest.fixture(scope="session")
def worker() -> Iterator[ProcessPool]:
    with ProcessPool(1) as pool:
        list(pool.map(*NOTHING))  # it sees the environment as it is now
        yield pool


@pytest.fixture(scope="module", autouse=True)
def lent(request: pytest.FixtureRequest) -> Iterator[None]:
    """What `lent_worker` asks for: to start takes a worker longer than most of what it is to do."""
    with pytest.MonkeyPatch.context() as patch:
        for mark in request.node.iter_markers("lent_worker"):
            for program in mark.args:
                patch.setattr(program, "pool_of", partial(pool_of, request.getfixturevalue("worker")))
        yield


@contextmanager
def pool_of(worker: ProcessPool, count: int, cluster: str | None) -> Iterator[WorkerPool]:
    """In place of command_line.pool_of: the worker that is there, unless there are to be more."""
    if count > 1:
        with command_line.pool_of(count, cluster) as pool:
            yield pool
        return
    try:
        yield worker
    finally:
        list(worker.map(*NOTHING))  # what the program had open is closed
