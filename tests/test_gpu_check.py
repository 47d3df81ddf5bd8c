"""The check of GPUs, as far as it can be checked without one."""

import numpy as np
import pytest

from pydlshogi.features import Float32Array
from pydlshogi.network import backend as backends
from tests.networks import RESNET
from utils import gpu_check
from utils.gpu_check import Row, error_of, heading, line, rows, speed_of, usable_ways


class Constant:
    """Gives the same logits for every position."""

    description = "constant"

    def __init__(self, policy: float, value: float) -> None:
        self.policy, self.value = policy, value
        self.batches: list[int] = []

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        self.batches.append(len(planes))
        size = len(planes)
        return np.full((size, 2187), self.policy, np.float32), np.full(size, self.value, np.float32)


def test_the_largest_error_counts() -> None:
    planes = np.zeros((3, 104, 9, 9), np.float32)
    expected = Constant(1.0, -1.0).infer(planes)
    assert error_of(Constant(1.0, -1.0), planes, expected) == 0.0
    assert error_of(Constant(1.25, -1.0), planes, expected) == 0.25
    assert error_of(Constant(1.0, -3.0), planes, expected) == 2.0
    assert error_of(Constant(1.0, np.nan), planes, expected) == np.inf


def test_speed_counts_positions() -> None:
    backend = Constant(0.0, 0.0)
    assert speed_of(backend, np.zeros((8, 104, 9, 9), np.float32), seconds=0.0) > 0
    assert backend.batches == [8] * 5


def test_a_table_on_the_cpu() -> None:
    ways, _ = usable_ways("cpu")
    assert ("onnx", "float32") in ways
    assert ("onnx", "half") not in ways
    (row,) = rows(RESNET, "cpu", [("onnx", "float32")], (1, 3), seconds=0.0)
    assert row.agrees
    assert len(row.speeds) == 2
    assert heading((1, 3)).splitlines()[0].count("|") == line(row).count("|") == 5


def test_a_backend_that_is_wrong_is_marked() -> None:
    assert "WRONG" in line(Row("onnx", 0.5, False, (1.0,)))
    assert "WRONG" not in line(Row("onnx", 1e-5, True, (1.0,)))


def test_without_a_gpu_it_says_so_in_one_line_and_exits_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(name: str, *_: object, **__: object) -> None:
        raise backends.BackendError(f"no {name} for a GPU")

    monkeypatch.setattr(gpu_check, "load_backend", refused)
    monkeypatch.setattr("sys.argv", ["gpu_check"])
    assert gpu_check.main() == 2
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert "No backend can use a GPU here. chainer: no chainer for a GPU; onnx: no onnx" in out
