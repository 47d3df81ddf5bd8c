"""Fixtures every test may use."""

import signal
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def signals_are_heard() -> None:
    """What a shell puts in the background is started with SIGINT ignored, what nohup starts with SIGHUP."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of large real data that may lie beside a checkout; where it is absent the test is skipped."""
    path = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"needs the data folder {path}, which a fresh clone does not have")
    return path
