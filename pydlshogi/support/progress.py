"""What takes long says what it is, for those who wait."""

from collections.abc import Iterator
from contextlib import contextmanager

_steps: list[str] = []


@contextmanager
def step(what: str) -> Iterator[None]:
    """Inside, `what` is under way in this process: such as "loading net.npz"."""
    _steps.append(what)
    try:
        yield
    finally:
        _steps.remove(what)


def under_way() -> str:
    """What was begun last and goes on; "" where nothing does that says so."""
    return "".join(_steps[-1:])
