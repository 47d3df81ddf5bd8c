"""Tasks that the tests give to pools, importable wherever a worker is; and the end of such processes."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil


def note(log: Path, line: str) -> int:
    """Add a line; returns how many there are then."""
    with log.open("a+") as file:
        file.write(f"{line}\n")
        file.flush()
        file.seek(0)
        return len(file.readlines())


@contextmanager
def counted(log: Path) -> Iterator[Callable[[int], tuple[int, int]]]:
    """An item, and the number of the process. One below 0 is never done. Openings and endings are noted."""

    def do(item: int) -> tuple[int, int]:
        if item < 0:
            time.sleep(3600)
        return item, os.getpid()

    note(log, f"open {os.getpid()}")
    try:
        yield do
    finally:
        note(log, f"close {os.getpid()}")


@contextmanager
def unable(words: str) -> Iterator[Callable[[int], int]]:
    """Cannot be opened."""
    if words:
        raise LookupError(words)
    yield abs


def lacking(item: int) -> int:
    """Needs a package that is nowhere."""
    import no_such_package

    return int(no_such_package.do(item))


def slowly(item: int) -> int:
    """The even ones take longer."""
    time.sleep(0.05 * (item % 2 == 0))
    return -item


def positive(item: int) -> int:
    """The item; raises LookupError for one below 1."""
    if item < 1:
        raise LookupError(f"no item {item}")
    return item


def attempt(lost: Callable[[], None], log: Path, most: int, item: int) -> int:
    """The worker that does item 3 is `lost`, `most` times; the attempts are noted."""
    if item == 3 and note(log, f"attempt of {os.getpid()}") <= most:
        lost()
    return -item


def stay(log: Path, nodes: list[str], item: int) -> str:
    """Where in a Ray cluster this is. On one of `nodes` it notes so, and stays there."""
    import ray

    here: str = ray.get_runtime_context().get_node_id()
    if here in nodes:
        note(log, f"item {item}")
        time.sleep(3600)
    time.sleep(0.1)  # or there are more items than a busy core can do beside starting a machine
    return here


def await_end(process: psutil.Process) -> None:
    """Wait until it has ended. Where it is an orphan, as in a container, nobody may ever reap what is left of it."""
    with suppress(psutil.NoSuchProcess):
        while process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
