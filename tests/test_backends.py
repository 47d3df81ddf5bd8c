"""Every backend fulfils one contract, and says in one line what it cannot do."""

import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from pydlshogi.network.backend import Backend, BackendError, available_cores, load_backend, why_unusable
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.weights import ModelError, read_weights, recognise, write_weights
from pydlshogi.player.policy_player import PolicyPlayer
from tests.networks import PLAIN, RESNET, logits, network, planes_of_positions

ROOT = Path(__file__).resolve().parent.parent


def needs(module: str, remedy: str, mark: pytest.MarkDecorator) -> list[pytest.MarkDecorator]:
    missing = importlib.util.find_spec(module) is None
    return [mark, pytest.mark.skipif(missing, reason=f"needs {module}: {remedy}")]


WITH_OPENVINO = needs("openvino", "pip install openvino", pytest.mark.openvino)
WITH_CHAINER = needs("chainer", "bat/install_chainer.sh", pytest.mark.chainer)
WITH_TORCH = needs("torch", "pip install .[train]", pytest.mark.torch)

BACKENDS = [
    "onnx",
    pytest.param("openvino", marks=WITH_OPENVINO),
    pytest.param("chainer", marks=WITH_CHAINER),
    pytest.param("torch", marks=WITH_TORCH),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both networks, plain.npz and resnet.npz."""
    folder = tmp_path_factory.mktemp("networks")
    write_weights(folder / "plain.npz", network(PLAIN))
    write_weights(folder / "resnet.npz", network(RESNET))
    return folder


@pytest.mark.parametrize("modelfile", ["plain.npz", "resnet.npz"])
@pytest.mark.parametrize("name", BACKENDS)
def test_all_backends_give_the_same_raw_logits(name: str, modelfile: str, folder: Path) -> None:
    planes = planes_of_positions(64)
    backend: Backend = load_backend(
        name, folder / modelfile, device="cpu", precision="float32", threads=1, batch_size=16
    )
    policy, value = backend.infer(planes)
    expected_policy, expected_value = logits(read_weights(folder / modelfile), planes)
    assert policy.dtype == value.dtype == np.float32
    assert policy.shape == (64, 2187)
    assert value.shape == (64,)
    assert policy.flags.c_contiguous
    assert expected_policy.std(axis=0).mean() > 0.02
    assert expected_value.std() > 0.005
    assert np.abs(policy - expected_policy).max() < 1e-3
    assert np.abs(value - expected_value).max() < 1e-3


@pytest.mark.parametrize("name", BACKENDS)
def test_the_arrays_belong_to_the_caller(name: str, folder: Path) -> None:
    backend = load_backend(name, folder / "resnet.npz", device="cpu", threads=1, batch_size=2)
    planes = planes_of_positions(3)
    policy, value = backend.infer(planes)
    before = policy.copy(), value.copy()
    planes[:] = planes[::-1].copy()
    turned_policy, turned_value = backend.infer(planes)
    assert np.array_equal(policy, before[0])
    assert np.array_equal(value, before[1])
    assert np.allclose(turned_policy[::-1], policy, rtol=0, atol=1e-4)
    assert np.allclose(turned_value[::-1], value, rtol=0, atol=1e-4)
    one_policy, one_value = backend.infer(planes[1:2])
    assert np.allclose(one_policy[0], policy[1], rtol=0, atol=1e-4)
    assert one_value.shape == (1,)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_bad_file_is_a_line(name: str, folder: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.npz"
    cut.write_bytes((folder / "resnet.npz").read_bytes()[:5000])
    for path in (tmp_path / "none.npz", tmp_path / "none.onnx", cut):
        with pytest.raises(ModelError) as caught:
            load_backend(name, path, device="cpu")
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", BACKENDS)
def test_nothing_is_printed_and_no_other_framework_loaded(name: str, folder: Path) -> None:
    others = {
        "onnx": "torch chainer openvino",
        "openvino": "torch chainer onnxruntime openvino_telemetry",
        "chainer": "torch onnxruntime onnx openvino",
        "torch": "chainer onnxruntime onnx openvino",
    }[name]
    program = f"""
import sys
from pydlshogi.network.backend import load_backend
assert not {{"onnx", "onnxruntime", "openvino", "chainer", "torch"}} & sys.modules.keys()
import numpy
backend = load_backend({name!r}, {str(folder / "resnet.npz")!r}, device="cpu", threads=1, batch_size=2)
backend.infer(numpy.zeros((2, 104, 9, 9), numpy.float32))
assert not set({others!r}.split()) & sys.modules.keys()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "module", "message"),
    [
        (
            "auto",
            "onnxruntime",
            "ONNX Runtime is not installed here: pip install onnxruntime onnx",
        ),
        ("openvino", "openvino", "OpenVINO is not installed here: pip install openvino"),
        ("chainer", "chainer", "Chainer is not installed here: run bat/install_chainer"),
        ("torch", "torch", "PyTorch is not installed here: pip install torch"),
    ],
)
def test_a_missing_framework_names_itself(
    name: str, module: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda asked: None if asked == module else find_spec(asked))
    with pytest.raises(BackendError, match=message):
        load_backend(name, folder / "resnet.npz")


@pytest.mark.parametrize("error", [ImportError("DLL load failed\nwhile importing"), OSError(126, "module not found")])
def test_a_framework_that_does_not_load_is_a_line(
    error: Exception, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a Windows without the C++ runtime libraries."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("pydlshogi.network.onnx_backend.OnnxBackend", fail)
    with pytest.raises(BackendError, match=r"ONNX Runtime does not load: .*; pip install onnxruntime onnx") as caught:
        load_backend("onnx", folder / "resnet.npz")
    assert "\n" not in str(caught.value)


def test_words_without_a_meaning_are_refused(folder: Path) -> None:
    with pytest.raises(BackendError, match="Backend tensorflow is none of auto, onnx, openvino, chainer, torch"):
        load_backend("tensorflow", folder / "resnet.npz")
    with pytest.raises(BackendError, match="Device abacus is none of auto, cpu, gpu, tensorrt"):
        load_backend("auto", folder / "resnet.npz", device="abacus")


def test_the_description_names_framework_device_and_network(folder: Path) -> None:
    backend = load_backend("onnx", folder / "plain.npz", device="cpu", threads=2)
    assert (
        backend.description == f"ONNX Runtime {onnxruntime.__version__} on CPU, 2 threads: policy_value 12x12 float32"
    )
    all_cores = load_backend("onnx", folder / "resnet.npz", device="cpu")
    assert f"CPU, {available_cores()} thread" in all_cores.description
    assert "policy_value_resnet 3x12 float32" in all_cores.description


def test_onnx_wants_a_gpu_provider_for_a_gpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(BackendError, match=r"Device gpu: .* onnxruntime-gpu\[cuda,cudnn\] .* or onnxruntime-directml"):
        load_backend("onnx", folder / "resnet.npz", device="gpu")
    with pytest.raises(BackendError, match="Device tensorrt: "):
        load_backend("onnx", folder / "resnet.npz", device="tensorrt")
    assert " on CPU, " in load_backend("onnx", folder / "resnet.npz", device="auto").description


@pytest.mark.filterwarnings("ignore:Specified provider")
@pytest.mark.parametrize("device", ["auto", "gpu"])
def test_onnx_does_not_fall_back_to_the_cpu(device: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A runtime with CUDA but without a driver gives a session on the CPU and says so on stdout only."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    with pytest.raises(BackendError, match="CUDAExecutionProvider does not start"):
        load_backend("onnx", folder / "resnet.npz", device=device)


@pytest.mark.chainer
@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="needs a Chainer without CuPy")
@pytest.mark.skipif(importlib.util.find_spec("chainer") is None, reason="needs chainer: bat/install_chainer.sh")
def test_chainer_wants_cupy_for_a_gpu(folder: Path) -> None:
    with pytest.raises(BackendError, match=r"Device gpu: Chainer has no CuPy .*: pip install cupy-cuda12x"):
        load_backend("chainer", folder / "resnet.npz", device="gpu")


@pytest.mark.parametrize("name", [pytest.param("torch", marks=WITH_TORCH)])
def test_torch_wants_cuda_for_a_gpu(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BackendError, match="Device gpu: PyTorch sees no CUDA GPU"):
        load_backend(name, folder / "resnet.npz", device="gpu")
    assert " on CPU, " in load_backend(name, folder / "resnet.npz", device="auto").description


@pytest.mark.parametrize("name", ["onnx", pytest.param("chainer", marks=WITH_CHAINER)])
def test_half_precision_is_refused_where_there_is_none(name: str, folder: Path) -> None:
    with pytest.raises(BackendError, match="Precision half: "):
        load_backend(name, folder / "resnet.npz", device="cpu", precision="half")


@pytest.mark.parametrize(
    "name", [pytest.param("torch", marks=WITH_TORCH), pytest.param("openvino", marks=WITH_OPENVINO)]
)
def test_bfloat16_stays_close(name: str, folder: Path) -> None:
    if name == "openvino" and not importlib.import_module("pydlshogi.network.openvino_backend").has_bfloat16():
        pytest.skip("needs a CPU with AVX-512 or AVX-VNNI-INT8")
    planes = planes_of_positions(16)
    backend = load_backend(name, folder / "resnet.npz", device="cpu", precision="half", threads=1)
    policy, _ = backend.infer(planes)
    expected, _ = logits(read_weights(folder / "resnet.npz"), planes)
    assert "bfloat16" in backend.description
    assert 1e-3 < np.abs(policy - expected).max() < 0.15 * expected.std()


@pytest.mark.parametrize("name", [pytest.param("chainer", marks=WITH_CHAINER)])
@pytest.mark.parametrize("modelfile", ["plain.npz", "resnet.npz"])
def test_files_go_to_chainer_and_come_from_it(name: str, modelfile: str, folder: Path, tmp_path: Path) -> None:
    """`save_npz` and `load_npz` are the oracle: they are what the book's programs call."""
    from pydlshogi.network.chainer_compat import import_chainer
    from pydlshogi.network.policy_value import PolicyValueNetwork
    from pydlshogi.network.policy_value_resnet import PolicyValueResnet

    serializers = import_chainer().serializers
    ours = read_weights(folder / modelfile)
    architecture = recognise(ours)
    chain = PolicyValueNetwork(12) if modelfile == "plain.npz" else PolicyValueResnet(blocks=3, channels=12)
    serializers.load_npz(folder / modelfile, chain)
    serializers.save_npz(tmp_path / "theirs.npz", chain)
    theirs = read_weights(tmp_path / "theirs.npz")
    assert recognise(theirs) == architecture
    assert theirs.keys() == ours.keys()
    assert all(np.array_equal(theirs[key], ours[key]) for key in ours)


openvino_only = pytest.mark.parametrize("name", [pytest.param("openvino", marks=WITH_OPENVINO)])


@openvino_only
@pytest.mark.parametrize("amx", [True, False])
def test_auto_is_openvino_on_a_cpu_and_in_bfloat16_where_there_is_amx(
    name: str, amx: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydlshogi.network.openvino_backend.has_amx", lambda: amx)
    description = load_backend("auto", folder / "resnet.npz", device="cpu").description
    assert description == load_backend(name, folder / "resnet.npz").description
    assert description.startswith("OpenVINO ")
    assert description.endswith("policy_value_resnet 3x12 bfloat16" if amx else "policy_value_resnet 3x12 float32")


def does_not_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydlshogi.network.openvino_backend", None)


def lacks_its_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    def get_property(*_: object) -> None:
        raise RuntimeError("Exception from src/inference/src/cpp/core.cpp:182:\nCannot load its library")

    module = importlib.import_module("pydlshogi.network.openvino_backend")
    module.has_amx.cache_clear()
    monkeypatch.setattr(module, "has_bfloat16", get_property)


@openvino_only
@pytest.mark.parametrize(
    ("breaks", "reason"),
    [
        (does_not_import, "OpenVINO does not load: "),
        (lacks_its_plugin, "OpenVINO does not run on this CPU: Cannot load its library"),
    ],
)
def test_without_a_usable_openvino_auto_is_onnx(
    name: str,
    breaks: Callable[[pytest.MonkeyPatch], None],
    reason: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    breaks(monkeypatch)
    assert why_unusable("onnx") == ""
    assert why_unusable(name).startswith(reason)
    assert load_backend("auto", folder / "resnet.npz", device="cpu").description.startswith("ONNX Runtime ")
    player = PolicyPlayer()
    player.options.set("Device", "cpu")
    assert player.prepare() == [why_unusable(name)]
    assert player.prepare() == []
    player.options.set("Backend", "onnx")
    assert player.prepare() == []


@openvino_only
def test_auto_prefers_a_gpu_to_openvino(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"pydlshogi.network.{name}_backend.has_amx", lambda: True)
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    monkeypatch.setattr("pydlshogi.network.onnx_backend.OnnxBackend", lambda *_: "the GPU's")
    assert load_backend("auto", folder / "resnet.npz") == "the GPU's"
    assert load_backend("auto", folder / "resnet.npz", device="cpu") != "the GPU's"


@openvino_only
def test_openvino_is_for_cpus(name: str, folder: Path) -> None:
    with pytest.raises(BackendError, match=r"Device gpu: OpenVINO .* set Backend onnx"):
        load_backend(name, folder / "resnet.npz", device="gpu")


@openvino_only
def test_openvino_does_not_call_float32_half(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"pydlshogi.network.{name}_backend.has_bfloat16", lambda: False)
    with pytest.raises(BackendError, match="Precision half: this CPU has no bfloat16"):
        load_backend(name, folder / "resnet.npz", precision="half")


@openvino_only
def test_bfloat16_without_amx_is_not_amx(name: str) -> None:
    """What OpenVINO may use of the processor can be limited, but only before it starts."""
    program = f"from pydlshogi.network.{name}_backend import has_amx; print(has_amx())"
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


ONNX_READERS = ["onnx", pytest.param("openvino", marks=WITH_OPENVINO)]


@pytest.fixture
def graph(folder: Path) -> onnx.ModelProto:
    return onnx_model(read_weights(folder / "resnet.npz"))


@pytest.mark.parametrize("name", ONNX_READERS)
def test_an_onnx_file_is_run_as_it_is(name: str, graph: onnx.ModelProto, folder: Path, tmp_path: Path) -> None:
    planes = planes_of_positions(4)
    graph.graph.output.reverse()
    onnx.save(graph, tmp_path / "net.onnx")
    policy, value = load_backend(name, tmp_path / "net.onnx", device="cpu", threads=1).infer(planes)
    same_policy, same_value = load_backend(name, folder / "resnet.npz", device="cpu", threads=1).infer(planes)
    assert np.array_equal(policy, same_policy)
    assert np.array_equal(value, same_value)


def tensor(name: str, shape: list[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def graph_between(inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]) -> onnx.ModelProto:
    """A graph with these ends and nothing sensible between."""
    nodes = [helper.make_node("Identity", [inputs[0].name], [output.name]) for output in outputs]
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(helper.make_graph(nodes, "foreign", inputs, outputs), opset_imports=opset, ir_version=8)


PLANES = tensor("planes", ["N", 104, 9, 9])


@pytest.mark.parametrize("name", ONNX_READERS)
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            graph_between(
                [tensor("input1", ["N", 62, 9, 9]), tensor("input2", ["N", 57, 9, 9])],
                [tensor("output_policy", ["N", 62, 9, 9])],
            ),
            r"takes input1 \(float\) \['N', 62, 9, 9\].*; a network of this engine takes \[N, 104, 9, 9\]",
        ),
        (graph_between([tensor("x", [8, 104, 9, 9])], [tensor("y", [8, 104, 9, 9])]), "made for batches of exactly 8;"),
        (
            graph_between([PLANES], [tensor("y", ["N", 104, 9, 9])]),
            r"gives y \(float\) .*; a network of this engine gives \[N, 2187\] and \[N, 1\]",
        ),
    ],
)
def test_a_foreign_onnx_file_is_a_line(name: str, model: onnx.ModelProto, message: str, tmp_path: Path) -> None:
    onnx.save(model, tmp_path / "foreign.onnx")
    with pytest.raises(ModelError, match=message) as caught:
        load_backend(name, tmp_path / "foreign.onnx", device="cpu")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ONNX_READERS)
def test_a_damaged_onnx_file_is_a_line(
    name: str, graph: onnx.ModelProto, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    content = graph.SerializeToString()
    cuts = [content[:size] for size in (0, 10, 1000, len(content) // 2, len(content) - 1)]
    for damaged in [*cuts, content.replace(b"Conv", b"Co\xa5v", 1)]:
        (tmp_path / "cut.onnx").write_bytes(damaged)
        with pytest.raises(ModelError, match=r"not an ONNX file that can be loaded|cannot be run") as caught:
            load_backend(name, tmp_path / "cut.onnx", device="cpu")
        assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")
