"""Fixtures every test may use."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of large real data that may lie beside a checkout; where it is absent the test is skipped."""
    path = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"needs the data folder {path}, which a fresh clone does not have")
    return path
