"""Fixtures every test may use."""

import signal
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> None:
    """A shell starts what it puts in the background with SIGINT ignored, and every program started from there too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of large real data that may lie beside a checkout; where it is absent the test is skipped."""
    path = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"needs the data folder {path}, which a fresh clone does not have")
    return path
