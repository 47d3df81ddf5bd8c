"""Every backend fulfils one contract, and says in one line what it cannot do."""

import importlib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from pydlshogi.encoding import Encoding, planes_of
from pydlshogi.network.architecture import ModelError, architecture_for
from pydlshogi.network.backend import Backend, BackendError
from pydlshogi.network.loading import load_backend
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.weights import architecture_of, read_weights, write_weights
from pydlshogi.support.pool import available_cores
from tests.networks import (
    ENCODINGS,
    NARROW,
    ODD_LABELS,
    PLAIN,
    RESNET,
    SQUARE,
    all_labels,
    legal_labels,
    logits,
    network,
    packed_positions,
    refusal_of,
    softmax,
)

ROOT = Path(__file__).resolve().parent.parent


def needs(module: str, remedy: str, mark: pytest.MarkDecorator) -> list[pytest.MarkDecorator]:
    missing = find_spec(module) is None
    return [mark, pytest.mark.skipif(missing, reason=f"needs {module}: {remedy}")]


WITH_OPENVINO = needs("openvino", "pip install openvino", pytest.mark.openvino)
WITH_CHAINER = needs("chainer", "bat/install_chainer.sh", pytest.mark.chainer)
WITH_TORCH = needs("torch", "pip install .[train]", pytest.mark.torch)
WITHOUT_CUPY = pytest.mark.skipif(find_spec("cupy") is not None, reason="needs a Chainer without CuPy")

BACKENDS = [
    "winograd",
    "onnx",
    pytest.param("openvino", marks=WITH_OPENVINO),
    pytest.param("chainer", marks=WITH_CHAINER),
    pytest.param("torch", marks=WITH_TORCH),
]


NETWORKS = {
    "plain.npz": (PLAIN, SQUARE),
    "resnet.npz": (RESNET, SQUARE),
    "narrow.npz": (architecture_for(NARROW, "policy_value_resnet", 2, 8), NARROW),
    "odd_labels.npz": (architecture_for(ODD_LABELS, "policy_value", 12, 8), ODD_LABELS),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with NETWORKS."""
    folder = tmp_path_factory.mktemp("networks")
    for name, (architecture, _) in NETWORKS.items():
        write_weights(folder / name, network(architecture))
    return folder


@pytest.fixture
def graph(folder: Path) -> onnx.ModelProto:
    return onnx_model(read_weights(folder / "resnet.npz"))


def load(name: str, modelfile: Path, **how: Any) -> Backend:
    return load_backend(name, modelfile, ENCODINGS, **how)


def expected_prediction(
    modelfile: Path, encoding: Encoding, packed: np.ndarray, firsts: np.ndarray, labels: np.ndarray, temperature: float
) -> tuple[np.ndarray, np.ndarray]:
    """Priors and win rates from the logits of the oracle, position by position."""
    policy, value = logits(read_weights(modelfile), planes_of(encoding, packed))
    priors = [softmax(policy[i, labels[first:stop]] / temperature) for i, (first, stop) in enumerate(pairwise(firsts))]
    return np.concatenate(priors), 1 / (1 + np.exp(-value))


@pytest.mark.parametrize("modelfile", NETWORKS)
@pytest.mark.parametrize("name", BACKENDS)
def test_all_backends_predict_alike(name: str, modelfile: str, folder: Path) -> None:
    """More positions than were announced, and fewer; labels may go on behind the last position's."""
    _, encoding = NETWORKS[modelfile]
    backend = load(name, folder / modelfile, device="cpu", precision="float32", threads=1, batch_size=4)
    assert backend.encoding is encoding
    rounding = 200 if name == "winograd" else 1
    for choose, count, temperature in ((legal_labels, 9, 1.0), (legal_labels, 3, 0.7), (all_labels, 64, 1.0)):
        packed, (firsts, labels) = packed_positions(encoding, count), choose(encoding, count)
        priors, values = backend.predict(packed, firsts, np.append(labels, np.int32(1 << 30)), temperature)
        assert priors.dtype == values.dtype == np.float32
        expected = expected_prediction(folder / modelfile, encoding, packed, firsts, labels, temperature)
        np.testing.assert_allclose(priors, expected[0], rtol=1e-3 * rounding, atol=1e-6 * rounding)
        np.testing.assert_allclose(values, expected[1], rtol=1e-4 * rounding)
    assert np.log(expected[0]).reshape(64, -1).std(axis=0).mean() > 0.02
    assert expected[1].std() > 0.001


@pytest.mark.parametrize("name", BACKENDS)
def test_threads_that_ask_at_once_get_their_own_answers(name: str, folder: Path) -> None:
    """Two streams, and four threads with different batches."""
    path, how = folder / "resnet.npz", {"device": "cpu", "precision": "float32", "batch_size": 8}
    backend = load(name, path, threads=2, streams=2, **how)
    assert backend.streams == 2
    assert "CPU, 2 streams of 1 thread: " in backend.description
    firsts, labels = legal_labels(SQUARE, 8)
    batches = [packed_positions(SQUARE, 8, seed) for seed in range(4)]
    alone = load(name, path, threads=1, **how)
    expected = [alone.predict(packed, firsts, labels, 1.0) for packed in batches]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            found = pool.map(lambda packed: backend.predict(packed, firsts, labels, 1.0), batches)
            for mine, others in zip(found, expected, strict=True):
                np.testing.assert_allclose(mine[0], others[0], rtol=1e-4, atol=1e-7)
                np.testing.assert_allclose(mine[1], others[1], rtol=1e-5)


@pytest.mark.parametrize("modelfile", NETWORKS)
@pytest.mark.parametrize("name", [pytest.param("torch", marks=WITH_TORCH)])
def test_what_runs_on_a_gpu_predicts_alike_on_the_cpu(name: str, modelfile: str, folder: Path) -> None:
    """The network and the softmax as tensors, as in CUDA graphs: filled up with positions and labels."""
    import torch

    module = importlib.import_module(f"pydlshogi.network.{name}_backend")
    path, (_, encoding) = folder / modelfile, NETWORKS[modelfile]
    packed, (firsts, labels) = packed_positions(encoding, 6), legal_labels(encoding, 6)
    planes = planes_of(encoding, np.concatenate([packed, packed[:2]])).astype(np.uint8)
    filled_up = np.append(firsts, [firsts[-1]] * 2).astype(np.int32), np.append(labels, [0, 0]).astype(np.int32)
    predictor = module.Predictor(module.network(read_weights(path)), torch.float32)
    with torch.no_grad():
        priors, values = predictor(*map(torch.from_numpy, (planes, *filled_up)), torch.tensor([1 / 0.8]))
    expected = expected_prediction(path, encoding, packed, firsts, labels, 0.8)
    np.testing.assert_allclose(priors[: len(labels)], expected[0], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(values[:6], expected[1], rtol=1e-4)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_bad_file_is_a_line(name: str, folder: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.npz"
    cut.write_bytes((folder / "resnet.npz").read_bytes()[:5000])
    for path in (tmp_path / "none.npz", tmp_path / "none.onnx", cut):
        with pytest.raises(ModelError) as caught:
            load(name, path, device="cpu")
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", BACKENDS)
def test_nothing_is_printed_and_no_other_framework_loaded(name: str, folder: Path) -> None:
    others = {
        "winograd": "torch chainer onnxruntime onnx openvino",
        "onnx": "torch chainer openvino",
        "openvino": "torch chainer onnxruntime openvino_telemetry",
        "chainer": "torch onnxruntime onnx openvino",
        "torch": "chainer onnxruntime onnx openvino",
    }[name]
    program = f"""
import sys
from pydlshogi.network.loading import load_backend
from tests.networks import ENCODINGS, SQUARE, legal_labels, packed_positions
assert not {{"onnx", "onnxruntime", "openvino", "chainer", "torch"}} & sys.modules.keys()
backend = load_backend({name!r}, {str(folder / "resnet.npz")!r}, ENCODINGS, device="cpu", threads=1, batch_size=2)
backend.predict(packed_positions(SQUARE, 2), *legal_labels(SQUARE, 2), 1.0)
assert not set({others!r}.split()) & sys.modules.keys()
"""
    plain = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}  # where OpenVINO names bfloat16 and cannot compile it
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=plain, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "module", "message"),
    [
        ("onnx", "onnxruntime", "ONNX Runtime is not installed here: run bat/environment.sh onnx"),
        ("openvino", "openvino", "OpenVINO is not installed here: run bat/environment.sh openvino"),
        ("chainer", "chainer", "Chainer is not installed here: run bat/install_chainer"),
        ("torch", "torch", "PyTorch is not installed here: run bat/environment.sh train"),
    ],
)
def test_a_missing_framework_names_itself(name: str, module: str, message: str, folder: Path, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda asked: None if asked == module else find_spec(asked))
    with pytest.raises(BackendError, match=message):
        load(name, folder / "resnet.npz")


@pytest.mark.parametrize("error", [ImportError("DLL load failed\nwhile importing"), OSError(126, "module not found")])
def test_a_framework_that_does_not_load_is_a_line(error: Exception, folder: Path, monkeypatch) -> None:
    """As on a Windows without the C++ runtime libraries."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("pydlshogi.network.onnx_backend.onnx_backend", fail)
    with pytest.raises(BackendError, match=r"ONNX Runtime does not load: .*; run bat/environment.sh onnx") as caught:
        load("onnx", folder / "resnet.npz")
    assert "\n" not in str(caught.value)


def test_a_backend_describes_itself_and_refuses_words_without_a_meaning(folder: Path) -> None:
    description = load("onnx", folder / "plain.npz", device="cpu", threads=2).description
    assert description == f"ONNX Runtime {onnxruntime.__version__} on CPU, 2 threads: policy_value 12x12 float32"
    all_cores = load("onnx", folder / "resnet.npz", device="cpu").description
    assert f"CPU, {available_cores()} thread" in all_cores
    assert "policy_value_resnet 3x12 float32" in all_cores
    with pytest.raises(BackendError, match="Backend tensorflow is none of auto, winograd, onnx, openvino, chainer,"):
        load("tensorflow", folder / "resnet.npz")
    with pytest.raises(BackendError, match="Device abacus is none of auto, cpu, gpu, tensorrt"):
        load("auto", folder / "resnet.npz", device="abacus")


def test_onnx_needs_a_gpu_provider_for_a_gpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(BackendError, match=r"Device gpu: .* onnxruntime-gpu\[cuda,cudnn\] .* or onnxruntime-directml"):
        load("onnx", folder / "resnet.npz", device="gpu")
    with pytest.raises(BackendError, match="Device tensorrt: "):
        load("onnx", folder / "resnet.npz", device="tensorrt")
    assert " on CPU, " in load("onnx", folder / "resnet.npz", device="auto").description


@pytest.mark.filterwarnings("ignore:Specified provider")
@pytest.mark.parametrize("device", ["auto", "gpu"])
def test_onnx_does_not_fall_back_to_the_cpu(device: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A runtime with CUDA but without a driver gives a session on the CPU and says so on stdout only."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    with pytest.raises(BackendError, match="CUDAExecutionProvider does not start"):
        load("onnx", folder / "resnet.npz", device=device)


@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        ("winograd", {"precision": "half"}, "Precision half: Backend winograd computes in integers"),
        ("winograd", {"device": "gpu"}, "Device gpu: Backend winograd runs on the CPU"),
        ("onnx", {"device": "cpu", "precision": "half"}, "Precision half: "),
        pytest.param("chainer", {"device": "cpu", "precision": "half"}, "Precision half: ", marks=WITH_CHAINER),
        pytest.param("chainer", {"device": "gpu"}, "Chainer has no CuPy .*", marks=[*WITH_CHAINER, WITHOUT_CUPY]),
        pytest.param("openvino", {"device": "gpu"}, "Device gpu: OpenVINO .* set Backend onnx", marks=WITH_OPENVINO),
        pytest.param("torch", {"device": "gpu"}, "Device gpu: PyTorch sees no CUDA GPU", marks=WITH_TORCH),
    ],
)
def test_what_a_backend_does_not_do_is_a_line(name: str, how, message: str, folder: Path, monkeypatch) -> None:
    if name == "torch":
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(BackendError, match=message):
        load(name, folder / "resnet.npz", **how)


@pytest.mark.parametrize(
    "name", [pytest.param("torch", marks=WITH_TORCH), pytest.param("openvino", marks=WITH_OPENVINO)]
)
def test_bfloat16_stays_close(name: str, folder: Path) -> None:
    if name == "openvino" and not importlib.import_module("pydlshogi.network.openvino_backend").has_bfloat16():
        pytest.skip("needs a CPU with AVX-512 or AVX-VNNI-INT8")
    given = packed_positions(SQUARE, 16), *all_labels(SQUARE, 16), 1.0
    backend = load(name, folder / "resnet.npz", device="cpu", precision="half", threads=1)
    policy = np.log(backend.predict(*given)[0])
    expected = np.log(expected_prediction(folder / "resnet.npz", SQUARE, *given)[0])
    assert "bfloat16" in backend.description
    assert 1e-3 < np.abs(policy - expected).max() < 0.2 * expected.std()


@pytest.mark.parametrize("name", [pytest.param("chainer", marks=WITH_CHAINER)])
@pytest.mark.parametrize("modelfile", ["plain.npz", "resnet.npz"])
def test_files_go_to_chainer_and_come_from_it(name: str, modelfile: str, folder: Path, tmp_path: Path) -> None:
    """`save_npz` and `load_npz` are the oracle: they are what the book's programs call."""
    from pydlshogi.network.chainer_backend import PolicyValueChain, import_chainer

    serializers = import_chainer().serializers
    ours = read_weights(folder / modelfile)
    architecture = architecture_of(ours)
    chain = PolicyValueChain(PLAIN if modelfile == "plain.npz" else RESNET)
    serializers.load_npz(folder / modelfile, chain)
    serializers.save_npz(tmp_path / "theirs.npz", chain)
    theirs = read_weights(tmp_path / "theirs.npz")
    assert architecture_of(theirs) == architecture
    assert theirs.keys() == ours.keys()
    assert all(np.array_equal(theirs[key], ours[key]) for key in ours)


def test_auto_is_integers_on_a_cpu_and_onnx_where_it_has_a_gpu(folder, graph, tmp_path, monkeypatch) -> None:
    onnx.save(graph, tmp_path / "net.onnx")
    described = [load("auto", path, threads=1).description for path in (folder / "resnet.npz", tmp_path / "net.onnx")]
    assert described[0] == "Winograd on CPU, 1 thread: policy_value_resnet 3x12 int16"
    assert described[1] == "Winograd on CPU, 1 thread: an .onnx file of 7 layers of 12, ReLU, int16"
    monkeypatch.setattr("pydlshogi.network.loading._onnx_sees_gpu", lambda: True)
    monkeypatch.setattr("pydlshogi.network.onnx_backend.onnx_backend", lambda *_: "the GPU's")
    assert load("auto", folder / "resnet.npz") == "the GPU's"
    assert load("auto", folder / "resnet.npz", device="cpu") != "the GPU's"
    if find_spec("torch"):
        monkeypatch.setattr("pydlshogi.network.torch_backend.has_gpu", lambda device: device != "cpu")
        monkeypatch.setattr("pydlshogi.network.torch_backend.torch_backend", lambda *_: "PyTorch's")
        assert load("auto", folder / "resnet.npz") == "the GPU's", "there is no driver"
        monkeypatch.setattr("pydlshogi.network.loading._has_nvidia_driver", lambda: True)
        paths = [folder / "resnet.npz", tmp_path / "net.onnx"]
        assert [load("auto", path) for path in paths] == ["PyTorch's", "the GPU's"]
        assert load("auto", folder / "resnet.npz", device="cpu") not in {"PyTorch's", "the GPU's"}


ONNX_READERS = ["onnx", pytest.param("openvino", marks=WITH_OPENVINO)]


@pytest.mark.parametrize("name", ONNX_READERS)
def test_an_onnx_file_is_run_as_it_is(name: str, graph: onnx.ModelProto, folder: Path, tmp_path: Path) -> None:
    given = packed_positions(SQUARE, 4), *legal_labels(SQUARE, 4), 1.0
    graph.graph.output.reverse()
    onnx.save(graph, tmp_path / "net.onnx")
    found, same = (
        load(name, path, device="cpu", threads=1).predict(*given)
        for path in (tmp_path / "net.onnx", folder / "resnet.npz")
    )
    assert all(map(np.array_equal, found, same))


def tensor(name: str, shape: list[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def refusal(name: str, path: Path) -> str:
    return refusal_of(path, lambda: load(name, path, device="cpu"))


LOGITS = [tensor("policy", ["N", 2187]), tensor("value", ["N", 1])]
TAKES = "takes x (float) ['N', 104, 9]; a network of this engine takes [N, planes, height, width] or 62 and 42 planes"
GIVES = "gives y (float) ['N', 104, 9, 9]; a network of this engine gives [N, labels] and [N, 1]"
OURS = "104 planes of 9 x 9 and 2187 labels or 14 planes of 4 x 3 and 132 labels or 3 planes of 8 x 8 and 65 labels"


@pytest.mark.parametrize("name", ONNX_READERS)
@pytest.mark.parametrize(
    ("planes", "outputs", "message"),
    [
        (["N", 104, 9], LOGITS, TAKES),
        ([8, 104, 9, 9], LOGITS, "made for batches of exactly 8; export it with a free batch size"),
        (["N", 104, 9, 9], [tensor("y", ["N", 104, 9, 9])], GIVES),
        (["N", 46, 9, 9], LOGITS, f"a network of 46 planes of 9 x 9 and 2187 labels, not of {OURS}"),
    ],
)
def test_a_foreign_onnx_file_is_a_line(name: str, planes, outputs, message: str, tmp_path: Path) -> None:
    """Its graph has nothing sensible between its ends."""
    nodes = [helper.make_node("Identity", ["x"], [output.name]) for output in outputs]
    graph = helper.make_graph(nodes, "foreign", [tensor("x", planes)], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "foreign.onnx")
    assert refusal(name, tmp_path / "foreign.onnx") == message


@pytest.mark.parametrize("name", ONNX_READERS)
def test_no_other_file_is_read_for_an_onnx_file(name: str, graph: onnx.ModelProto, tmp_path: Path) -> None:
    onnx.save(graph, tmp_path / "net.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    assert refusal(name, tmp_path / "net.onnx") == "some of it is in another file; export it with all weights inside"


@pytest.mark.parametrize("name", ONNX_READERS)
def test_a_damaged_onnx_file_is_a_line(name: str, graph: onnx.ModelProto, tmp_path: Path, capfd) -> None:
    content = graph.SerializeToString()
    cuts = [content[:size] for size in (0, 10, 1000, len(content) // 2, len(content) - 1)]
    graph.graph.input[0].type.tensor_type.elem_type = 99
    for damaged in [*cuts, content.replace(b"Conv", b"Co\xa5v", 1), graph.SerializeToString()]:
        (tmp_path / "cut.onnx").write_bytes(damaged)
        said = refusal(name, tmp_path / "cut.onnx")
        assert re.match("not an ONNX file|takes nothing|gives nothing|cannot be run", said)
    assert capfd.readouterr() == ("", "")
