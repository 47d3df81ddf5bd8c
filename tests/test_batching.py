"""What is measured of a network, with devices whose speed is a formula."""

from pathlib import Path

import numpy as np
import pytest

from pydlshogi.files import cache_folder
from pydlshogi.player import batching, network_player
from pydlshogi.player.batching import LONGEST, best_batch_size, choose, fastest
from pydlshogi.player.network_player import NetworkPlayer
from pydlshogi.player.policy_player import PolicyPlayer


class Device:
    """A backend that takes `start` seconds and `each` more for every position, on a clock of its own."""

    def __init__(self, start: float, each: float) -> None:
        self.description = f"device {start} {each}"
        self.on_gpu = False
        self.start = start
        self.each = each
        self.time = 0.0
        self.batches = 0

    def infer(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.time += self.start + self.each * len(planes)
        self.batches += 1
        return np.zeros((len(planes), 2187), np.float32), np.zeros(len(planes), np.float32)

    def now(self) -> float:
        return self.time


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    file = tmp_path / "network.npz"
    file.write_bytes(b"weights")
    return file


def test_choose_by_hand() -> None:
    """100/s, 160/s, 190/s, 200/s: 190 is 95 % of the best."""
    assert choose({1: 1 / 100, 2: 2 / 160, 4: 4 / 190, 8: 8 / 200}) == 4


def test_no_batch_takes_too_long_but_the_smallest_is_always_allowed() -> None:
    assert choose({1: 0.04, 2: 0.06}) == 1
    assert choose({1: 2.0, 2: 2.1}) == 1


@pytest.mark.parametrize(
    ("start", "each", "expected"),
    [
        (0.0, 0.0004, 1),  # a CPU: twice the work, twice the time
        (0.0004, 0.0004, 8),  # 8 positions in 3.6 ms are 90.3 % of the speed of 64 in 26 ms
        (0.001, 0.00001, 512),  # a GPU
        (1.0, 1.0, 1),  # hopeless
    ],
)
def test_measured(model: Path, start: float, each: float, expected: int) -> None:
    device = Device(start, each)
    size = best_batch_size(device, model, device.now)
    assert size == expected
    assert size == 1 or start + size * each <= LONGEST


def test_measured_once_per_network_and_device(model: Path) -> None:
    device = Device(0.001, 0.0001)
    size = best_batch_size(device, model, device.now)
    measured = device.batches
    assert best_batch_size(device, model, device.now) == size
    assert device.batches == measured
    model.write_bytes(b"other weights")
    best_batch_size(device, model, device.now)
    assert device.batches > measured


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"a": "b"}', "[" * 100_000], ids=range(5))
def test_a_damaged_file_of_answers_is_measured_anew(model: Path, damage: str) -> None:
    device = Device(0.0004, 0.0004)
    best_batch_size(device, model, device.now)
    (file,) = model.parent.rglob("measured.json")
    file.write_text(damage)
    assert best_batch_size(device, model, device.now) == 8


def test_no_place_for_the_answers_is_no_reason_to_stop(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (model.parent / "cache").write_text("a file where the folder should be")
    device = Device(0.0004, 0.0004)
    assert best_batch_size(device, model, device.now) == 8
    without_a_home(monkeypatch)
    assert best_batch_size(device, model, device.now) == 8


def test_the_cache_of_a_user_without_a_home_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    without_a_home(monkeypatch)
    with pytest.raises(FileNotFoundError, match="the user has no home"):
        cache_folder()


def without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", home)


@pytest.mark.parametrize(
    ("speedups", "best"),
    [((), 0), ((1.2,), 0), ((0.5,), 0), ((4.0,), 1), ((2.0, 4.0), 2), ((4.0, 2.0), 1), ((1.2, 1.4), 0)],
)
def test_a_quantised_network_must_be_clearly_faster(model: Path, speedups: tuple[float, ...], best: int) -> None:
    devices = [Device(0.0, 0.001 / speedup) for speedup in (1.0, *speedups)]
    clock = lambda: sum(device.time for device in devices)  # noqa: E731
    assert fastest(devices[0], devices[1:], model, clock) is devices[best]
    measured = [device.batches for device in devices]
    assert fastest(devices[0], devices[1:], model, clock) is devices[best]
    assert [device.batches for device in devices] == measured


def test_a_program_that_runs_for_a_while_does_not_decide(model: Path) -> None:
    """The machine is ten times slower for four batches, as many as one network was once measured with at a stretch."""
    devices: list[Device] = []

    class Disturbed(Device):
        def infer(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            self.time += 9 * self.each * len(planes) if sum(device.batches for device in devices) < 4 else 0.0
            return super().infer(planes)

    devices += [Disturbed(0.0, 0.001), Disturbed(0.0, 0.001 / 1.2)]
    clock = lambda: sum(device.time for device in devices)  # noqa: E731
    assert fastest(devices[0], devices[1:], model, clock) is devices[0]


@pytest.mark.parametrize(
    ("options", "loaded"),
    [
        ({}, ["auto npz", "onnx int8", "openvino int8"]),
        ({"Backend": "onnx"}, ["onnx npz", "onnx int8"]),
        ({"Backend": "openvino"}, ["openvino npz", "openvino int8"]),
        ({"Backend": "torch"}, ["torch npz"]),
        ({"Precision": "float32"}, ["auto npz"]),
        ({"modelfile": "other.npz"}, ["auto other"]),
    ],
)
def test_what_the_player_chooses_from(
    options: dict[str, str], loaded: list[str], model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last one loaded is the fastest; every framework is there."""
    names = {"pydlshogi.npz": "npz", "pydlshogi.int8.onnx": "int8", "other.npz": "other"}
    for name in names:
        (model.parent / name).write_bytes(b"")
    seen = []

    def load(_: NetworkPlayer, name: str, modelfile: Path) -> Device:
        seen.append(f"{name} {names[modelfile.name]}")
        return Device(0.0, 0.001)

    monkeypatch.setattr(NetworkPlayer, "_load", load)
    monkeypatch.setattr(network_player, "shipped_model", lambda: model.parent)
    monkeypatch.setattr("pydlshogi.network.backend.why_unusable", lambda _: "")
    monkeypatch.setattr(batching, "fastest", lambda exact, quantised, _: quantised[-1])
    player = PolicyPlayer()
    for name, value in options.items():
        player.options.set(name, value)
    modelfile, _ = player._choose_network()
    assert seen == loaded
    assert names[modelfile.name] == loaded[-1].split()[1]
