"""The check of GPUs, as far as it can be checked without one."""

import numpy as np

from pydlshogi.games.shogi.encodings import BOOK
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.backend import BackendError
from pydlshogi.player.batching import some_batch
from pydlshogi.support.arrays import Float32Array
from utils import gpu_check
from utils.gpu_check import error_of

SMALL = architecture_for(BOOK, "policy_value_resnet", 1, 8)


class Constant:
    """Gives the same numbers for every position."""

    description = "constant"
    encoding = BOOK
    on_gpu = False
    foreign = False
    streams = 1

    def __init__(self, policy: float, value: float, prior: float = 0.5) -> None:
        self.policy, self.value, self.prior = policy, value, prior
        self.batches: list[int] = []

    def infer(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        return np.full((len(planes), 2187), self.policy, np.float32), np.full(len(planes), self.value, np.float32)

    def predict(
        self, packed: np.ndarray, *_: np.ndarray, temperature: float = 1.0
    ) -> tuple[Float32Array, Float32Array]:
        self.batches.append(len(packed))
        return np.full(len(packed), self.prior, np.float32), np.zeros(len(packed), np.float32)


def test_the_largest_error_counts() -> None:
    packed = some_batch(BOOK, 3)[0]
    reference = Constant(1.0, -1.0)
    assert error_of(Constant(1.0, -1.0), reference, packed) == 0.0
    assert error_of(Constant(1.25, -1.0), reference, packed) == 0.25
    assert error_of(Constant(1.0, -3.0), reference, packed) == 2.0
    assert error_of(Constant(1.0, -1.0, prior=1.0), reference, packed) == 0.5
    assert error_of(Constant(1.0, np.nan), reference, packed) == np.inf


def test_without_a_gpu_it_says_so_measures_the_cpu_and_exits_with_2(monkeypatch, capsys) -> None:
    load = gpu_check.load_backend

    def without_gpu(name: str, *given: object, device: str = "cpu", **how: object) -> object:
        if device != "cpu" or name == "chainer":
            raise BackendError(f"no {name} for it")
        return load(name, *given, device=device, **how)

    monkeypatch.setattr(gpu_check, "load_backend", without_gpu)
    monkeypatch.setattr(gpu_check, "NETWORKS", (SMALL,))
    monkeypatch.setattr(gpu_check, "CPU_BATCH_SIZES", (2,))
    monkeypatch.setattr("sys.argv", ["gpu_check"])
    assert gpu_check.main() == 2
    out = capsys.readouterr().out
    assert out.startswith("No backend can use a GPU here. chainer: no chainer for it; onnx: no onnx for it; torch: no")
    assert "ONNX Runtime" in out
    assert "Not measured: chainer: no chainer for it." in out
