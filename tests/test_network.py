"""Weight files: what is read and written, what is refused and in which words; and the ONNX graph made of them."""

import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from pydlshogi.encoding import planes_of
from pydlshogi.network.architecture import Architecture, ModelError, architecture_for, parameter_shapes, recognise
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.weights import Weights, architecture_of, read_network, read_weights, write_weights
from tests.networks import (
    ENCODINGS,
    NARROW,
    ODD_LABELS,
    PLAIN,
    RESNET,
    SQUARE,
    encoding_of,
    logits,
    network,
    packed_positions,
    random_weights,
    refusal_of,
)

SMALL = [architecture_for(NARROW, "policy_value_resnet", 1, 8), architecture_for(ODD_LABELS, "policy_value", 12, 8)]
ALL = pytest.mark.parametrize("architecture", [PLAIN, RESNET, *SMALL], ids=lambda size: f"{size} {size.ends}")


@pytest.fixture(scope="module")
def small() -> Weights:
    return random_weights(architecture_for(SQUARE, "policy_value_resnet", 1, 4), seed=1)


def refusal(path: Path) -> str:
    return refusal_of(path, lambda: read_weights(path))


def test_the_arrays_are_those_of_the_book() -> None:
    book = parameter_shapes(architecture_for(SQUARE, "policy_value", 12, 192))
    known = {"l1/W": (192, 104, 3, 3), "l12/b": (192,), "l13/W": (27, 192, 1, 1), "l13_bias/b": (2187,)}
    assert book.items() >= (known | {"l14_v/W": (256, 2187)}).items()
    assert len(book) == 12 * 2 + 2 + 3 * 2
    resnet = parameter_shapes(architecture_for(SQUARE, "policy_value_resnet", 4, 192))
    assert len(resnet) == 2 + 4 * 2 * (1 + 5) + 2 + 2 + 5 + 2 * 2
    known = {"b4/conv2/W": (192, 192, 3, 3), "value1_bn/avg_var": (27,), "value3/W": (1, 256)}
    assert resnet.items() >= known.items()


def test_a_network_finds_the_encoding_it_is_for(tmp_path: Path) -> None:
    turned, fewer_labels = encoding_of(14, 3, 4, 132), encoding_of(14, 4, 3, 120)
    for encoding in (*ENCODINGS, turned, fewer_labels):
        write_weights(tmp_path / "net.npz", random_weights(architecture_for(encoding, "policy_value_resnet", 1, 4), 0))
        _, architecture, found = read_network(tmp_path / "net.npz", (*ENCODINGS, turned, fewer_labels))
        assert found is encoding
        assert architecture.ends.suit(encoding)
    with pytest.raises(ModelError) as caught:
        read_network(tmp_path / "net.npz", (SQUARE, NARROW))
    assert str(caught.value) == (
        f"{tmp_path / 'net.npz'}: a network of 14 planes of 4 x 3 and 120 labels, not of "
        "104 planes of 9 x 9 and 2187 labels or 14 planes of 4 x 3 and 132 labels"
    )


@ALL
def test_what_is_written_is_read_again(architecture: Architecture, tmp_path: Path) -> None:
    weights = random_weights(architecture, seed=3)
    write_weights(tmp_path / "net.npz", weights)
    again = read_weights(tmp_path / "net.npz")
    assert architecture_of(again) == architecture
    assert again.keys() == weights.keys()
    for name, array in weights.items():
        assert again[name].dtype == array.dtype
        assert np.array_equal(again[name], array)


@pytest.mark.parametrize("content", [b"", b"\0", b"text\n" * 100, b"PK\x03\x04", b"\x93NUMPY\x01\0", b"\x80\x04."])
def test_files_of_another_kind(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "net.npz").write_bytes(content)
    assert refusal(tmp_path / "net.npz") == "not an .npz archive, or damaged"


def test_a_zip_of_other_files_and_what_is_no_file(tmp_path: Path) -> None:
    """PyTorch's checkpoints are such."""
    assert refusal(tmp_path / "none.npz") == "No such file or directory"
    assert refusal(tmp_path) == "Is a directory"
    with zipfile.ZipFile(tmp_path / "net.pth", "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}q\x00.")
    remedy = "dlshogi's convert_model_to_onnx makes an .onnx of its weights"
    assert refusal(tmp_path / "net.pth") == f"networks are .npz or .onnx files; {remedy}"
    (tmp_path / "net.pth").rename(tmp_path / "net.npz")
    assert refusal(tmp_path / "net.npz") == "not an .npz archive of a network"


def test_what_is_no_network() -> None:
    shapes = parameter_shapes(architecture_for(SQUARE, "policy_value_resnet", 40, 512))
    assert recognise(shapes).channels == 512
    with pytest.raises(ModelError, match=r"^303,322,260 weights are too many$"):
        recognise(parameter_shapes(architecture_for(SQUARE, "policy_value_resnet", 64, 512)))


def test_damaged_files_are_refused_or_intact(small: Weights, tmp_path: Path) -> None:
    """A flipped bit in a name, a size or a checksum raises all kinds of errors in zipfile and numpy; one reaches us."""
    generator = np.random.default_rng(5)
    write_weights(tmp_path / "net.npz", small)
    content = (tmp_path / "net.npz").read_bytes()
    directory = content.index(b"PK\x01\x02")
    positions = [*range(60), *generator.integers(0, len(content), 20), *generator.integers(directory, len(content), 60)]
    refused = 0
    for position in positions:
        damaged = bytearray(content)
        damaged[position] ^= 1 << generator.integers(8)
        (tmp_path / "net.npz").write_bytes(damaged)
        try:
            weights = read_weights(tmp_path / "net.npz")
        except ModelError:
            refused += 1
        else:
            assert all(np.array_equal(weights[name], small[name]) for name in small)
    assert refused > len(positions) // 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"l1/W": None}, "none of the policy-value networks"),
        ({"value2/b": None}, "array value2/b is missing"),
        ({"b1/bn2/N": None}, "array b1/bn2/N is missing"),
        ({"b3/conv1/W": np.zeros((4, 4, 3, 3))}, "array b2/conv1/W is missing"),
        ({"l2/W": np.zeros(3)}, "array l2/W belongs to no network like this"),
        ({"l1/W": np.zeros((5, 104, 3, 3))}, "array l1/b has shape (4,), not (5,)"),
        ({"policy_bias/b": np.zeros(1496)}, "array policy_bias/b has shape (1496,), not (1323,)"),
        ({"l1/b": np.array([1, np.nan, 1, 1])}, "array l1/b holds values that are not finite in float32"),
        ({"l1/b": np.array(["a", "b", "c", "d"])}, "array l1/b holds <U1, not numbers"),
        ({"l1/W": np.array([{}], object)}, "not an .npz archive, or damaged"),  # it is not unpickled
    ],
)
def test_archives_of_something_else(changes, message: str, small: Weights, tmp_path: Path) -> None:
    arrays = {name: array for name, array in (small | changes).items() if array is not None}
    np.savez(tmp_path / "net.npz", **arrays)
    assert refusal(tmp_path / "net.npz") == message


def test_only_networks_are_written(small: Weights, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="array value3/b is missing"):
        write_weights(tmp_path / "net.npz", {name: small[name] for name in small if name != "value3/b"})
    with pytest.raises(ModelError, match="array l1/b holds values that are not finite in float16"):
        write_weights(tmp_path / "net.npz", small | {"l1/b": np.full(4, 1e6, np.float32)}, half=True)
    assert list(tmp_path.iterdir()) == []


@ALL
def test_the_graph_takes_any_batch_and_gives_raw_logits(architecture: Architecture) -> None:
    weights = network(architecture)
    model = onnx_model(weights)
    onnx.checker.check_model(model, full_check=True)
    assert "BatchNormalization" not in {node.op_type for node in model.graph.node}
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (encoding,) = (each for each in ENCODINGS if architecture.ends.suit(each))
    for size in (1, 5):
        planes = planes_of(encoding, packed_positions(encoding, size))
        policy, value = session.run(["policy", "value"], {"planes": planes})
        expected_policy, expected_value = logits(weights, planes)
        assert np.allclose(policy, expected_policy, rtol=0, atol=1e-3)
        assert value.shape == (size, 1)
        assert np.allclose(value[:, 0], expected_value, rtol=0, atol=1e-3)


@pytest.mark.parametrize("architecture", [PLAIN, RESNET], ids=str)
def test_the_graph_in_half_precision_takes_bytes_and_stays_close(architecture: Architecture) -> None:
    weights = network(architecture)
    planes = planes_of(SQUARE, packed_positions(SQUARE, 8))
    session = onnxruntime.InferenceSession(onnx_model(weights, half=True).SerializeToString())
    policy, value = session.run(["policy", "value"], {"planes": planes.astype(np.uint8)})
    expected_policy, expected_value = logits(weights, planes)
    assert policy.dtype == value.dtype == np.float32
    assert np.abs(policy - expected_policy).max() < 0.01 * expected_policy.std() + 0.02
    assert np.allclose(value[:, 0], expected_value, rtol=0, atol=0.02)
