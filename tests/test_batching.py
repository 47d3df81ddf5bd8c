"""What is measured of a network, with devices whose speed is a formula."""

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pydlshogi.network.backend import Backend, Resources
from pydlshogi.player import batching
from pydlshogi.player.batching import LONGEST, SIZES, best_batch_size, fastest
from tests.networks import SQUARE


def test_on_a_gpu_what_is_measured_is_laid_out_before() -> None:
    unmeasured, given = (Resources("auto", "auto", 1, 1, size) for size in (0, 40))
    assert unmeasured.largest_batch(on_gpu=True) == SIZES[-1] > unmeasured.largest_batch(on_gpu=False)
    assert given.largest_batch(on_gpu=True) == given.largest_batch(on_gpu=False) == 40


class Device:
    """A backend that takes `start` seconds and `each` more for every position, on the clock of all of them."""

    time = 0.0
    encoding = SQUARE
    on_gpu = False
    foreign = False

    def __init__(self, start: float, each: float, streams: int = 1) -> None:
        self.description = f"device {start} {each} {streams}"
        self.start = start
        self.each = each
        self.streams = streams
        self.batches = 0
        self.loads = 0
        self.largest = 0
        """Of all batches."""
        self._lock = threading.Lock()

    def predict(
        self, packed: np.ndarray, firsts: np.ndarray, labels: np.ndarray, temperature: float
    ) -> tuple[np.ndarray, np.ndarray]:
        assert packed.shape == (len(firsts) - 1, SQUARE.words)
        assert len(labels) == firsts[-1]
        with self._lock:
            Device.time += self.took(len(packed)) / self.streams
            self.batches += 1
            self.largest = max(self.largest, len(packed))
        return np.zeros(len(labels), np.float32), np.zeros(len(packed), np.float32)

    def took(self, size: int) -> float:
        """Seconds for a batch, while all streams have one."""
        return self.start + self.each * size

    def infer(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(batching, "_clock", lambda _: (lambda: Device.time, 1))
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


def fastest_of(devices: Sequence[Device], model: Path) -> Backend:
    """The first is the network that is not quantised."""
    return fastest(devices[0], {device.description: partial(load, device) for device in devices[1:]}, model)


def load(device: Device) -> Device:
    device.loads += 1
    return device


@pytest.mark.parametrize(
    ("speedups", "best"),
    [((), 0), ((1.2,), 0), ((0.5,), 0), ((4.0,), 1), ((2.0, 4.0), 2), ((4.0, 2.0), 1), ((1.2, 1.3), 0)],
)
def test_a_quantised_network_must_be_clearly_faster(model: Path, speedups: tuple[float, ...], best: int) -> None:
    devices = [Device(0.0, 0.001 / speedup) for speedup in (1.0, *speedups)]
    assert fastest_of(devices, model) is devices[best]
    measured = [device.batches for device in devices]
    assert [device.loads for device in devices[1:]] == [1] * len(speedups)
    assert fastest_of(devices, model) is devices[best]
    assert [device.batches for device in devices] == measured
    assert sum(device.loads for device in devices) == len(speedups) + (best > 0)  # no more than what is the answer


@pytest.mark.parametrize(("each", "best"), [(0.0014, 1), (0.0016, 0)])
def test_streams_count_by_the_positions_of_all_of_them(model: Path, each: float, best: int) -> None:
    """Two streams at `each` seconds a position against one at 0.001 that is not quantised: 1.35 times as fast wins."""
    devices = [Device(0.0, 0.001), Device(0.0, each, streams=2)]
    assert fastest_of(devices, model) is devices[best]
    assert devices[1].batches == 2 * devices[0].batches


@pytest.mark.parametrize(("faster", "best"), [(1.1, 2), (1.3, 1)])
def test_openvino_must_make_up_for_the_waiting_of_its_threads(model: Path, faster: float, best: int) -> None:
    devices = [Device(0.0, each, streams=2) for each in (0.004, 0.001 / faster, 0.001)]
    devices[1].description = "OpenVINO"
    assert fastest_of(devices, model) is devices[best]


def test_a_program_that_runs_for_a_while_does_not_decide(model: Path) -> None:
    """The machine is ten times slower for four batches, as many as one network was once measured with at a stretch."""
    devices: list[Device] = []

    class Disturbed(Device):
        def took(self, size: int) -> float:
            return super().took(size) * (10 if sum(device.batches for device in devices) < 4 else 1)

    devices += [Disturbed(0.0, 0.001), Disturbed(0.0, 0.001 / 1.2)]
    assert fastest_of(devices, model) is devices[0]
