"""Networks in the form of dlshogi's: what cshogi makes of a position goes in, and what comes out is understood."""

import json
import lzma
import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from cshogi.dlshogi import make_input_features, make_move_label, use_nyugyoku_features
from onnx import TensorProto, helper, numpy_helper
from positions import board_of, random_positions
from thinker import Thinker

from pydlshogi.catalogue import GAMES
from pydlshogi.encoding import Encoding, planes_of, sample
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.shogi.encodings import DLSHOGI, ENCODINGS, NYUGYOKU
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.backend import Backend, BackendError
from pydlshogi.network.loading import load_backend
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.weights import write_weights
from pydlshogi.player.base_player import PlayerError
from pydlshogi.player.network_player import is_of_another
from pydlshogi.uct.batch import Batch
from tests.networks import in_parts, network, refusal_of

POSITIONS = [position.copy() for position in islice(random_positions(5, games=2), 0, None, 8)]
ENTERED = [
    "1+R+R4+B1/1K1+P+B4/2+P6/9/9/9/4p4/3p3p1/4k4 b 2G3S2N3L8P2gsnl2p 1",
    "1KG6/3+P5/1+P+P6/9/9/9/6+p2/4+p4/3gk4 w 2R2B2S3N4L4P2g2sn8p 1",
    "l+P+P+N+PGGK1/1+R+R+B+BSS+P1/1+L+N+P+P+P+P2/9/9/9/p8/9/k8 b 2G2SN2L4P3p 1",
    "4k4/9/9/9/9/9/9/9/4K4 w - 1",
]


def inputs(position: ShogiPosition, encoding: Encoding = DLSHOGI) -> list[np.ndarray]:
    """As cshogi fills them."""
    planes = [np.zeros((part, 9, 9), np.float32) for part in encoding.parts]
    use_nyugyoku_features(encoding is NYUGYOKU)
    try:
        make_input_features(board_of(position), *planes)
    finally:
        use_nyugyoku_features(False)  # else another test's arrays are too small for what cshogi writes
    return planes


def in_form(numbers: int, encoding: Encoding = DLSHOGI) -> onnx.ModelProto:
    """A small network, its value near none of the ends."""
    weights = network(architecture_for(encoding, "policy_value_resnet", 2, 16))
    return in_parts(onnx_model(weights), encoding.parts, numbers)


BOTH = pytest.mark.parametrize("encoding", [DLSHOGI, NYUGYOKU], ids=lambda encoding: encoding.name)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("real", [0, pytest.param(100_000, marks=pytest.mark.long)])
@BOTH
def test_planes_are_cshogis(encoding: Encoding, real: int, request: pytest.FixtureRequest) -> None:
    """Of real games the last positions, for in these kings enter."""

    def positions() -> Iterator[ShogiPosition]:
        with lzma.open(request.getfixturevalue("shared_data") / "games.jsonl.xz", "rt", encoding="utf-8") as games:
            for line in games:
                position, moves = ShogiPosition(), json.loads(line)["moves"].split()
                for ply, move in enumerate(moves):
                    position.push_usi(move)
                    if ply >= len(moves) - 30:
                        yield position.copy()

    chosen = [*POSITIONS, *map(ShogiPosition, ENTERED)]
    found, count = islice(positions(), real) if real else iter(chosen), 0
    while group := list(islice(found, 256)):
        packed = np.zeros((len(group), encoding.words), np.uint32)
        for words, position in zip(packed, group, strict=True):
            encoding.pack(position.states[-1], words)
        expected = np.stack([np.concatenate(inputs(position, encoding)) for position in group])
        assert np.array_equal(planes_of(encoding, packed), expected)
        count += len(group)
    assert count == (real or len(chosen))


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("foreign") / "model.onnx"
    onnx.save(in_form(TensorProto.FLOAT), path)
    return path


@pytest.mark.parametrize(("encoding", "numbers"), [(DLSHOGI, TensorProto.FLOAT), (NYUGYOKU, TensorProto.FLOAT16)])
@pytest.mark.parametrize("name", ["onnx", "winograd", pytest.param("openvino", marks=pytest.mark.openvino)])
def test_priors_and_win_rates_are_those_of_cshogis_planes_and_labels(name, encoding, numbers, tmp_path) -> None:
    model = in_form(numbers, encoding)
    onnx.save(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    dtype = np.float16 if numbers == TensorProto.FLOAT16 else np.float32
    how = {"device": "cpu", "precision": "float32", "threads": 1, "batch_size": 8}
    evaluator = NetworkEvaluator(load_backend(name, tmp_path / "model.onnx", ENCODINGS, **how))
    tolerance = 0.015 if name == "winograd" else 2e-3
    for position in POSITIONS[::2]:
        moves = position.legal_moves()
        batch = Batch(1, len(moves), encoding)
        batch.add(position, moves)
        found = evaluator.evaluate(batch)
        given = {f"input{i}": planes[None].astype(dtype) for i, planes in enumerate(inputs(position, encoding), 1)}
        policy, win_rate = session.run(["output_policy", "output_value"], given)
        logits = policy[0, [make_move_label(move, position.turn) for move in board_of(position).legal_moves]].astype(
            np.float64
        )
        priors = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(found.priors, priors, atol=tolerance)
        np.testing.assert_allclose(found.values, win_rate[0], atol=tolerance)


def loaded(net: Path, **options: object) -> Thinker:
    return Thinker(Backend="auto", Device="cpu", modelfile=net, DNN_Batch_Size=4, **options)


def test_it_is_said_in_one_line_with_its_defaults(net: Path) -> None:
    thinker = loaded(net)
    said = "model.onnx is a network in the form of dlshogi's: Eval_Coef 756, temperature 174"
    runs = "model.onnx: Winograd on CPU, 1 thread: an .onnx file of 5 layers of 16, ReLU, int16, 4 positions at once"
    assert thinker.remarks == [runs, f"{said} (there is no model.json beside model.onnx)"]
    assert thinker.go(nodes=50).move in thinker.legal_moves()


def test_what_lies_beside_it_counts(net: Path, tmp_path: Path) -> None:
    before, asked_for = loaded(net), loaded(net, temperature=40, Eval_Coef=378)
    (tmp_path / "model.json").write_text(json.dumps({"options": {"Eval_Coef": 378, "temperature": 40}}))
    thinker = loaded(Path(shutil.copy(net, tmp_path)))
    assert thinker.remarks[1:] == ["model.onnx is a network in the form of dlshogi's: Eval_Coef 378, temperature 40"]
    for each in (before, thinker, asked_for):
        each.go(nodes=1)
    assert before.last.score_cp == pytest.approx(2 * thinker.last.score_cp, abs=2)
    assert asked_for.last.score_cp == thinker.last.score_cp
    for each in (before, thinker, asked_for):
        each.set(MultiPV=600)
        each.go(nodes=200)
    visits = [[(line.pv[0], line.visits) for line in each.lines] for each in (before, thinker, asked_for)]
    assert visits[0] != visits[1] == visits[2]


@pytest.mark.parametrize("parts", [(61, 58), (62, 58), (57, 57)])
def test_other_shapes_are_one_line(parts: tuple[int, ...], tmp_path: Path) -> None:
    model = in_parts(onnx_model(network(architecture_for(DLSHOGI, "policy_value_resnet", 1, 8))), parts)
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(PlayerError) as caught:
        loaded(tmp_path / "model.onnx")
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'model.onnx'}: takes input1 (float) ['b', {parts[0]}, 9, 9] and input2")
    assert message.endswith("or 62 and 57 planes or 62 and 119 planes")
    assert "\n" not in message


CHANNELS = 24


class Exported:
    """A random network in that form, node by node; what a method gives is the name of its result."""

    def __init__(
        self, encoding=DLSHOGI, *, active="Relu", numbers=1, old=False, aside=False, dilation=1, last="Sigmoid"
    ) -> None:
        """old: as exporters of another age write it. aside: every block adds what came out of the first layer."""
        self.rng = np.random.default_rng(7)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.activation, self.numbers, self.old, self.parts = active, numbers, old, encoding.parts
        sums = [self.convolution(f"input{part}", size, 0.15) for part, size in ((1, 3), (1, 1), (2, 1))]
        x = first = self.active(self.normal(self.node("Add", self.node("Add", *sums[:2]), sums[2])))
        for _ in range(2):
            y = self.active(self.normal(self.convolution(x, 3)))
            y = self.normal(self.convolution(y, 3, dilation=dilation))
            x = self.active(self.node("Add", y, first if aside else x))
        policy = self.flat(self.convolution(x, 1, outputs=27))
        self.node("Add", policy, self.constant(0.5 * self.rng.standard_normal(2187)), to="output_policy")
        value = self.flat(self.active(self.normal(self.convolution(x, 1, outputs=27), 27)))
        value = self.active(self.linear(value, 2187, 32))
        self.node(last, self.linear(value, 32, 1), to="output_value")

    def node(self, operator: str, *given: str, to: str = "", **attributes: object) -> str:
        result = to or f"{operator}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, given, [result], **attributes))
        return result

    def constant(self, array: np.ndarray) -> str:
        if array.dtype == np.float64:
            array = array.astype(helper.tensor_dtype_to_np_dtype(self.numbers))
        tensor = numpy_helper.from_array(array, f"constant{len(self.constants)}")
        if self.old:
            return self.node("Identity", self.node("Constant", value=tensor))
        self.constants.append(tensor)
        return tensor.name

    def convolution(self, x: str, size: int, scale: float = 0.0, outputs: int = CHANNELS, dilation: int = 1) -> str:
        inputs = self.parts[int(x[-1]) - 1] if x.startswith("input") else CHANNELS
        shape = (outputs, inputs, size, size)
        kernel = self.constant(self.rng.standard_normal(shape) * (scale or (2 / np.prod(shape[1:])) ** 0.5))
        pads = [dilation * (size // 2)] * 4
        return self.node("Conv", x, kernel, strides=[1, 1], group=1, pads=pads, dilations=[dilation, dilation])

    def normal(self, x: str, channels: int = CHANNELS) -> str:
        noise = self.rng.standard_normal((4, channels))
        statistics = [1 + 0.2 * noise[0], 0.2 * noise[1], 0.2 * noise[2], np.exp(0.3 * noise[3])]
        return self.node("BatchNormalization", x, *map(self.constant, statistics), epsilon=1e-5)

    def active(self, x: str) -> str:
        if self.activation == "SiLU":
            return self.node("Mul", self.node("Sigmoid", x), x)
        return self.node(self.activation, x)

    def flat(self, x: str) -> str:
        if not self.old:
            return self.node("Flatten", x)
        batch = self.node("Gather", self.node("Shape", x), self.constant(np.array([0])))
        return self.node("Reshape", x, self.node("Concat", batch, self.constant(np.array([-1])), axis=0))

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        matrix = self.rng.standard_normal((outputs, inputs)) / inputs**0.5
        bias = self.constant(0.1 * self.rng.standard_normal(outputs))
        if self.old:
            turned = self.node("Transpose", self.constant(matrix), perm=[1, 0])
            return self.node("Add", bias, self.node("MatMul", x, turned))
        return self.node("Gemm", x, self.constant(matrix), bias, transB=1)

    def save(self, path: Path) -> Path:
        ends = [("input1", [self.parts[0], 9, 9]), ("input2", [self.parts[1], 9, 9])]
        ends += [("output_policy", [2187]), ("output_value", [1])]
        infos = [helper.make_tensor_value_info(name, self.numbers, ["batch_size", *shape]) for name, shape in ends]
        graph = helper.make_graph(self.nodes, "main_graph", infos[:2], infos[2:], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        return path


def loaded_by(name: str, path: Path) -> Backend:
    return load_backend(name, path, ENCODINGS, device="cpu", precision="float32", threads=1, batch_size=8)


@pytest.mark.parametrize(
    "form",
    [{}, {"old": True}, {"active": "SiLU"}, {"active": "SiLU", "old": True, "encoding": NYUGYOKU},
     {"numbers": TensorProto.FLOAT16, "encoding": NYUGYOKU}],
    ids=["ReLU", "old exporter", "swish", "swish, old, 119 planes", "float16, 119 planes"],
)  # fmt: skip
def test_a_tower_runs_in_integers_nearly_as_in_floats(form: dict[str, Any], tmp_path: Path) -> None:
    path = Exported(**form).save(tmp_path / "model.onnx")
    exact, ours = loaded_by("onnx", path), loaded_by("auto", path)
    activation = "swish" if "active" in form else "ReLU"
    assert ours.description == f"Winograd on CPU, 1 thread: an .onnx file of 5 layers of 24, {activation}, int16"
    assert ours.encoding is exact.encoding is form.get("encoding", DLSHOGI)
    assert ours.foreign
    batch = Batch(len(POSITIONS), 600, ours.encoding)
    for position in POSITIONS:
        batch.add(position, position.legal_moves())
    expected, found = (NetworkEvaluator(each).evaluate(batch) for each in (exact, ours))
    assert np.std(expected.values) > 0.02
    np.testing.assert_allclose(found.priors, expected.priors, atol=0.01)
    np.testing.assert_allclose(found.values, expected.values, atol=0.01)


def test_a_network_of_this_engine_is_a_tower_too(tmp_path: Path) -> None:
    weights = network(architecture_for(DLSHOGI, "policy_value_resnet", 2, 16))
    onnx.save(onnx_model(weights), tmp_path / "model.onnx")
    write_weights(tmp_path / "model.npz", weights)
    packed, one_move = sample(DLSHOGI, 4), (np.arange(5, dtype=np.int32), np.zeros(4, np.int32))
    backends = [loaded_by("auto", tmp_path / f"model.{kind}") for kind in ("onnx", "npz")]
    assert [backend.foreign for backend in backends] == [False, False]
    np.testing.assert_array_equal(*(backend.predict(packed, *one_move, 1.0)[1] for backend in backends))


NO_TOWER = "no tower of 3x3 convolutions with a policy and a value; Backend onnx runs it"


@pytest.mark.parametrize(
    "otherwise",
    [{"active": "HardSwish"}, {"active": "Tanh"}, {"aside": True}, {"dilation": 2}, {"last": "Identity"}],
    ids=str,
)
def test_another_graph_is_left_to_onnx_runtime(otherwise: dict[str, Any], tmp_path: Path) -> None:
    path = Exported(**otherwise).save(tmp_path / "model.onnx")
    backend = loaded_by("auto", path)
    assert backend.description.startswith("ONNX Runtime")
    assert backend.description.endswith(f" on CPU, 1 thread: an .onnx file ({path}: {NO_TOWER})")
    assert refusal_of(path, lambda: loaded_by("winograd", path)) == NO_TOWER


def test_a_package_that_it_needs_is_named(net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Exported(last="Identity").save(tmp_path / "other.onnx")
    remedy = "run bat/environment.sh onnx (.bat on Windows)"
    assert [is_of_another(game, str(net)) for game in GAMES.values()] == [name != "shogi" for name in GAMES]
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert loaded_by("auto", net).description.startswith("Winograd")
    with pytest.raises(BackendError) as caught:
        loaded_by("auto", path)
    assert str(caught.value) == f"{path}: {NO_TOWER}, but ONNX Runtime is not installed here: {remedy}"
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(BackendError) as caught:
        loaded_by("auto", net)
    assert str(caught.value) == f"the package onnx is not installed here: {remedy}"


@pytest.mark.parametrize("name", ["auto", "winograd"])
def test_damaged_ones_are_one_line(name: str, net: Path, tmp_path: Path) -> None:
    def refusal(content: bytes) -> str:
        path = tmp_path / "model.onnx"
        path.write_bytes(content)
        return refusal_of(path, lambda: loaded_by(name, path))

    whole = net.read_bytes()
    assert refusal(whole[: len(whole) // 2]) == "not an ONNX file, or damaged"
    model = onnx.load(net)
    model.graph.initializer[2].raw_data = np.full(len(model.graph.initializer[2].raw_data) // 4, np.nan, "f4").tobytes()
    assert refusal(model.SerializeToString()).endswith("holds values that are not finite")
    model.graph.initializer[2].raw_data = b"1234567"
    assert refusal(model.SerializeToString()) == "not an ONNX file, or damaged"
    model.graph.initializer[2].data_location = TensorProto.EXTERNAL
    assert refusal(model.SerializeToString()).startswith("some of it is in another file")
