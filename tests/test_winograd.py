"""Networks in integers: the kernels equal a slow, plain version bit for bit, on every processor, and the network in
floats but for a little."""

import os
import pickle
import platform
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

import llvmlite.binding
import numpy as np
import pytest

from pydlshogi.catalogue import game_named
from pydlshogi.encoding import Encoding, planes_of, sample
from pydlshogi.network import winograd_backend
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.backend import Backend
from pydlshogi.network.integers import ROOM, B, Layer, Tower, largest_values, tables_of, tower_of
from pydlshogi.network.loading import load_backend
from pydlshogi.network.weights import read_largest, read_weights, write_weights
from pydlshogi.network.winograd_backend import WinogradBackend
from pydlshogi.support.files import shipped_model
from tests.networks import (
    NARROW,
    ODD_LABELS,
    all_labels,
    encoding_of,
    logits,
    packed_positions,
    random_weights,
    refusal_of,
)
from tests.slow_winograd import SlowNetwork

ROOT = Path(__file__).resolve().parent.parent
NINE = encoding_of(20, 9, 9, 5 * 81, fulls=4)

NETWORKS = {
    "16 channels": (NINE, "policy_value_resnet", 2, 16),
    "48 channels": (NINE, "policy_value_resnet", 1, 48),
    "96 channels": (NINE, "policy_value_resnet", 1, 96),
    "no whole vector": (NINE, "policy_value_resnet", 1, 5),
    "one and a half": (NINE, "policy_value_resnet", 1, 24),
    "no block": (NINE, "policy_value_resnet", 0, 16),
    "plain": (NINE, "policy_value", 12, 16),
    "dense": (NARROW, "policy_value_dense", 2, 40),
    "8x8": (ODD_LABELS, "policy_value_resnet", 2, 16),
    "4x3": (NARROW, "policy_value_resnet", 2, 20),
}


@cache
def tower(name: str) -> tuple[Tower, np.ndarray, Encoding]:
    """A random network, and the largest values of its maps."""
    encoding, kind, depth, channels = NETWORKS[name]
    built = tower_of(random_weights(architecture_for(encoding, kind, depth, channels), seed=7))
    return built, largest_values(built, planes_of(encoding, packed_positions(encoding, 32, seed=1))), encoding


def both(tower: Tower, largest: np.ndarray, encoding: Encoding, streams: int = 1) -> tuple[Backend, SlowNetwork]:
    """The kernels, and what they should say."""
    net = tables_of(tower, largest, encoding.height, encoding.width)
    return WinogradBackend(net, encoding, "", streams), SlowNetwork(net, encoding)


def some_labels(encoding: Encoding, count: int) -> tuple[np.ndarray, np.ndarray]:
    """`firsts` and `labels` of positions: all labels, none, one, and a few."""
    counts = np.resize([encoding.labels, 0, 1, 7], count)
    generator = np.random.default_rng(3)
    labels = [generator.permutation(encoding.labels)[:size] for size in counts]
    return np.cumsum([0, *counts], dtype=np.int32), np.concatenate(labels).astype(np.int32)


def same_bits(found: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray]) -> None:
    for mine, others in zip(found, expected, strict=True):
        assert mine.dtype == others.dtype == np.float32
        np.testing.assert_array_equal(mine.view(np.int32), others.view(np.int32))


@pytest.mark.parametrize("name", NETWORKS)
def test_the_kernels_are_the_definition_in_every_batch(name: str) -> None:
    """Larger batches come first: what they leave behind must not be seen."""
    fast, slow = both(*tower(name))
    encoding = slow.encoding
    most = 64 if slow.channels == 16 else 16
    packed, (firsts, labels) = packed_positions(encoding, most), some_labels(encoding, most)
    priors, values = slow.predict(packed, firsts, labels, 0.7)
    assert (np.log(priors[: encoding.labels]).std() > 0.1, values.std() > 0.001) == (True, True)
    for size in (64, 16, 5, 4, 3, 2, 1):
        if size <= most:
            found = fast.predict(packed[:size], firsts[: size + 1], labels, 0.7)
            same_bits(found, (priors[: firsts[size]], values[:size]))


CPU = "winograd", "onnx"


@pytest.mark.parametrize(("name", "game"), [("pydlshogi", "shogi"), ("othello", "othello"), ("dobutsu", "dobutsu")])
def test_the_shipped_networks_say_what_they_say_in_floats(name: str, game: str) -> None:
    """The policy's logits, and win rates, are apart by less than a hundredth on average."""
    path, encodings = shipped_model() / f"{name}.npz", game_named(game).encodings
    integers, floats = (load_backend(each, path, encodings, device="cpu") for each in CPU)
    packed = sample(integers.encoding, 128)
    given = packed, *all_labels(integers.encoding, len(packed)), 1.0
    (priors, values), (exact_priors, exact_values) = integers.predict(*given), floats.predict(*given)
    priors, exact = priors.reshape(128, -1), exact_priors.reshape(128, -1)
    assert np.mean(priors.argmax(1) == exact.argmax(1)) > 0.98
    assert np.abs(priors - exact).sum(1).mean() < 0.01
    assert np.abs(values - exact_values).mean() < 0.002
    assert np.abs(values - exact_values).max() < 0.02


@pytest.mark.parametrize("name", sorted({*NETWORKS} - {"dense"}))
def test_random_networks_stay_close_to_their_logits(name: str) -> None:
    whole, largest, encoding = tower(name)
    weights = random_weights(architecture_for(encoding, *NETWORKS[name][1:]), seed=7)
    packed = packed_positions(encoding, 8)
    priors, values = both(whole, largest, encoding)[0].predict(packed, *all_labels(encoding, 8), 1.0)
    policy, value = logits(weights, planes_of(encoding, packed))
    found, exact = np.log(priors).reshape(8, -1), policy[:, : encoding.labels]
    errors = found - found.mean(1, keepdims=True) - exact + exact.mean(1, keepdims=True)
    assert np.abs(errors).mean() < 0.01 * exact.std()
    assert np.abs(np.log(values / (1 - values)) - value).mean() < 0.02


def signed(generator: np.random.Generator, outputs: int, inputs: int, *size: int) -> Layer:
    """The same weights for all inputs, so that their products add up."""
    return Layer(np.repeat(generator.normal(0, 0.2, (outputs, 1, *size)), inputs, axis=1), np.zeros(outputs))


PEAKS = encoding_of(5, 9, 9, 3 * 81, fulls=2)


@pytest.fixture
def peaks() -> tuple[Tower, np.ndarray]:
    """All maps behind the first layer are the first plane, at its largest; the second and third push sums of the first
    layer out of 16 bits, up and down, and the others, which are full, go down by more than half of them."""
    generator = np.random.default_rng(9)
    first = np.zeros((32, 5, 3, 3))
    first[:, 0, 1, 1] = 1
    first[:, 1], first[:, 2], first[:, 3:, 1, 1] = 4.4, -4.4, -2.5
    policy, layers = signed(generator, 3, 32, 1, 1), [signed(generator, 32, 32, 3, 3) for _ in range(2)]
    value = signed(generator, 16, 32, 1, 1), signed(generator, 20, 16 * 81), signed(generator, 1, 20)
    bias = generator.standard_normal(3 * 81)
    return Tower(False, Layer(first, np.zeros(32)), layers, True, policy, bias, value), np.full(5, 1 / ROOM)


def peak_positions() -> np.ndarray:
    """Packed positions of PEAKS: for each number that the transform makes of a tile the tile that makes it largest, and
    least; then all planes, each plane, and some of all."""
    signs = np.sign(np.einsum("ia,jb->ijab", B, B)).reshape(25, 5, 5)
    planes = np.zeros((50 + 1 + 5 + 20, 5, 9, 9), bool)
    planes[:25, 0, 2:7, 2:7], planes[25:50, 0, 2:7, 2:7] = signs > 0, signs < 0
    planes[50] = True
    planes[range(51, 56), range(5)] = True
    planes[56:] = np.random.default_rng(2).random((20, 5, 9, 9)) < 0.6
    bits = np.zeros((len(planes), 32 * PEAKS.words), bool)
    bits[:, : 3 * 81] = planes[:, :3].reshape(len(planes), -1)
    bits[:, 3 * 81 : 3 * 81 + 2] = planes[:, 3:, 0, 0]
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint32)


def test_nothing_overflows(peaks: tuple[Tower, np.ndarray]) -> None:
    packed, most = peak_positions(), 1 << 31
    fast, slow = both(*peaks, PEAKS)
    given = packed, *all_labels(PEAKS, len(packed)), 30.0
    same_bits(fast.predict(*given), slow.predict(*given))
    assert 0.95 * most < slow.largest < most


CPU_HAS = llvmlite.binding.get_host_cpu_features()
X86_64 = platform.machine() in ("x86_64", "AMD64")
LIKE_ZEN_4 = bool(CPU_HAS.get("avx512vnni") and CPU_HAS.get("avx512bf16"))


def said() -> str:
    """A digest of all that three networks say."""
    digest = sha256()
    for name in ("96 channels", "plain", "dense"):
        fast, slow = both(*tower(name))
        given = packed_positions(slow.encoding, 9), *some_labels(slow.encoding, 9), 0.7
        for answer in fast.predict(*given):
            digest.update(answer.tobytes())
    return digest.hexdigest()


COMPILED = """
import numba, pickle, re, sys
from pydlshogi.network import winograd_backend
from pydlshogi.support.kernels.compiled import _OPTIONS
from tests.test_winograd import said
kernel = numba.njit(**_OPTIONS)(winograd_backend._run.py_func)
kernel.compile(pickle.loads(bytes.fromhex(sys.argv[1])))
(assembly,) = kernel.inspect_asm().values()
loops = [loop for loop in re.split(r"^\\S+:", assembly, flags=re.MULTILINE) if "prefetcht0" in loop]
print(*(len(re.findall(r"\\tINSTRUCTION\\t", loop)) for loop in loops))
winograd_backend._run = kernel
if RUNS:
    print(said())
"""


@pytest.mark.skipif(not (X86_64 and CPU_HAS.get("avx2")), reason="needs an x86-64 with AVX2")
@pytest.mark.parametrize(
    ("cpu", "features", "runs", "instruction", "in_loops"),
    [
        ("x86-64", "", True, "pmaddwd", {6 * 4, 3 * 4}),
        ("haswell", "", True, "vpmaddwd", {6 * 2, 3 * 2}),
        ("znver4", "+avx512bw", LIKE_ZEN_4, "vpdpwssd", {9 * 2, 3 * 2}),
    ],
)
def test_on_every_processor_it_says_the_same_by_its_instructions(cpu, features, runs, instruction, in_loops) -> None:
    """The loops that ask for weights ahead multiply many rows, or three, with 16 outputs in 4 or 2 registers, or with
    32 in 2."""
    environment = {**os.environ, "NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features, "PYTHONPATH": str(ROOT)}
    program = COMPILED.replace("INSTRUCTION", instruction).replace("RUNS", str(runs))
    answer = said()
    # The child is given the types: what makes the arguments is compiled too, perhaps for a processor that is not here.
    types_of_arguments, *_ = winograd_backend._run.signatures
    command = [sys.executable, "-c", program, pickle.dumps(types_of_arguments).hex()]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    counts, *answers = done.stdout.splitlines()
    assert ({*map(int, counts.split())}, answers) == (in_loops, runs * [answer])


@pytest.fixture
def net(tmp_path: Path) -> Path:
    write_weights(tmp_path / "net.npz", WEIGHTS)
    return tmp_path / "net.npz"


WEIGHTS = random_weights(architecture_for(NARROW, "policy_value_resnet", 1, 8), seed=2)
MAPS = 5


def refusal(path: Path) -> str:
    return refusal_of(path, lambda: load_backend("auto", path, [NARROW], device="cpu"))


@pytest.mark.parametrize("name", "l1/W b1/bn1/gamma b1/bn2/beta policy/W policy_bias/b value2/W value3/W".split())
def test_weights_that_integers_cannot_hold_are_a_line(name: str, net: Path) -> None:
    """They are as large as that beside the largest values, which are said to be 1."""
    write_weights(net, {**WEIGHTS, name: 1e7 * WEIGHTS[name]}, largest=np.ones(MAPS, np.float32))
    said = "its weights are too large for integers, beside the largest values of its maps; Backend onnx runs it"
    assert refusal(net) == said
    assert load_backend("onnx", net, [NARROW], device="cpu").description.startswith("ONNX Runtime ")


WRONG = "does not hold the largest values of 5 maps"
NOT_FINITE = "holds values that are not finite in float32"


@pytest.mark.parametrize(
    ("largest", "said"),
    [
        *((np.ones(shape), WRONG) for shape in (4, 1 << 20, (5, 1), ())),
        *((np.array(5 * [value]), WRONG) for value in ("1", 1, True)),
        *((np.array([1, 1, value, 1, 1], float), WRONG) for value in (0, -1)),
        *((np.array([1, 1, value, 1, 1], float), NOT_FINITE) for value in (np.nan, np.inf, 1e300)),
    ],
)
def test_damaged_largest_values_are_a_line(largest: np.ndarray, said: str, net: Path) -> None:
    np.savez(net, **WEIGHTS, largest=largest)
    assert refusal(net) == f"array largest {said}"


def test_largest_values_come_with_a_network_or_are_found(net: Path) -> None:
    assert read_largest(net, MAPS) is None
    found = load_backend("auto", net, [NARROW], device="cpu")
    given = packed_positions(NARROW, 4), *all_labels(NARROW, 4), 1.0
    brought = largest_values(tower_of(WEIGHTS), planes_of(NARROW, packed_positions(NARROW, 99)))
    write_weights(net, WEIGHTS, largest=brought)
    assert np.array_equal(read_largest(net, MAPS), brought)
    assert read_weights(net).keys() == WEIGHTS.keys()
    answers = load_backend("auto", net, [NARROW], device="cpu").predict(*given)
    same_bits(answers, both(tower_of(WEIGHTS), brought, NARROW)[1].predict(*given))
    assert not np.array_equal(answers[0], found.predict(*given)[0])
    np.testing.assert_allclose(answers[0], found.predict(*given)[0], rtol=0.05)


def test_a_map_may_be_empty(net: Path) -> None:
    """Of the value's hidden layer, here: what is found can be written, and read."""
    weights = {**WEIGHTS, "value2/b": WEIGHTS["value2/b"] - 100}
    found = largest_values(tower_of(weights), planes_of(NARROW, packed_positions(NARROW, 9)))
    write_weights(net, weights, largest=found)
    given = packed_positions(NARROW, 9), *all_labels(NARROW, 9), 1.0
    _, values = load_backend("auto", net, [NARROW], device="cpu").predict(*given)
    np.testing.assert_allclose(values, 1 / (1 + np.exp(-WEIGHTS["value3/b"])).repeat(9), rtol=1e-5)
