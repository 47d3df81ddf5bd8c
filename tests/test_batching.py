"""What is measured of a network, with devices whose speed is a formula."""

from pathlib import Path

import numpy as np
import pytest

from pydlshogi.network.backend import Resources
from pydlshogi.player import network_player
from pydlshogi.player.network_player import LONGEST, SIZES, best_batch_size
from tests.networks import SQUARE


def test_on_a_gpu_what_is_measured_is_laid_out_before() -> None:
    unmeasured, given = (Resources("auto", "auto", 1, 1, size) for size in (0, 40))
    assert unmeasured.largest_batch(on_gpu=True) == SIZES[-1] > unmeasured.largest_batch(on_gpu=False)
    assert given.largest_batch(on_gpu=True) == given.largest_batch(on_gpu=False) == 40


class Device:
    """A backend that takes `start` seconds and `each` more for every position, on the clock of all of them."""

    time, encoding, on_gpu, batch_size, foreign, streams = 0.0, SQUARE, True, 0, False, 1

    def __init__(self, start: float, each: float) -> None:
        self.description = f"device {start} {each}"
        self.start, self.each = start, each
        self.batches = self.largest = 0  # of all batches

    def predict(
        self, packed: np.ndarray, firsts: np.ndarray, labels: np.ndarray, temperature: float
    ) -> tuple[np.ndarray, np.ndarray]:
        assert packed.shape == (len(firsts) - 1, SQUARE.words)
        assert len(labels) == firsts[-1]
        Device.time += self.start + self.each * len(packed)
        self.batches += 1
        self.largest = max(self.largest, len(packed))
        return np.zeros(len(labels), np.float32), np.zeros(len(packed), np.float32)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(network_player, "perf_counter", lambda: Device.time)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    file = tmp_path / "network.npz"
    file.write_bytes(b"weights")
    return file


@pytest.mark.parametrize(
    ("start", "each", "expected"),
    [
        (0.0, 0.0004, 1),  # a CPU: twice the work, twice the time
        (0.0004, 0.0004, 4),  # 4 positions in 2 ms are 81 % of the speed of 64 in 26 ms
        (0.001, 0.00001, 256),  # a GPU
        (1.0, 1.0, 1),  # hopeless
    ],
)
def test_measured(model: Path, start: float, each: float, expected: int) -> None:
    device = Device(start, each)
    size = best_batch_size(device, model)
    assert size == expected
    assert size == 1 or start + size * each <= LONGEST
    assert device.largest <= 64 or start + device.largest * each < 1  # of what takes too long the smallest alone


def test_measured_once_per_network_and_device(model: Path) -> None:
    device = Device(0.001, 0.0001)
    size = best_batch_size(device, model)
    measured = device.batches
    assert best_batch_size(device, model) == size
    assert device.batches == measured
    model.write_bytes(b"other weights")
    best_batch_size(device, model)
    assert device.batches > measured


def test_a_damaged_answer_is_measured_anew(model: Path) -> None:
    device = Device(0.0004, 0.0004)
    best_batch_size(device, model)
    (file,) = model.parent.rglob("measured/*")
    file.write_bytes(file.read_bytes()[:-3])
    assert best_batch_size(device, model) == 4
