"""Networks in the form of dlshogi's: what cshogi makes of a position goes in, and what comes out is understood."""

import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from cshogi.dlshogi import make_input_features, make_move_label, use_nyugyoku_features
from networks import in_parts, network
from onnx import TensorProto, numpy_helper
from positions import random_positions
from thinker import Thinker

from pydlshogi.encoding import Encoding, planes_of
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.shogi.encodings import DLSHOGI, ENCODINGS, NYUGYOKU
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.loading import load_backend
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.onnx_quantise import quantised_model
from pydlshogi.player.base_player import PlayerError
from pydlshogi.uct.batch import Batch

PARTS = (62, 57)
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
        make_input_features(position.board, *planes)
    finally:
        use_nyugyoku_features(False)  # else another test's arrays are too small for what cshogi writes
    return planes


def in_form(numbers: int, encoding: Encoding = DLSHOGI) -> onnx.ModelProto:
    """A small network, its value near none of the ends."""
    weights = network(architecture_for(encoding, "policy_value_resnet", 2, 16))
    if numbers == TensorProto.INT8:
        planes = np.stack([np.concatenate(inputs(position, encoding)) for position in POSITIONS])
        return in_parts(quantised_model(weights, planes), encoding.parts)
    return in_parts(onnx_model(weights), encoding.parts, numbers)


def differing(encoding: Encoding, positions: Iterable[ShogiPosition]) -> tuple[int, int]:
    """How many positions there are, and how many are seen otherwise than cshogi sees them."""
    count = wrong = 0
    while group := list(islice(positions := iter(positions), 256)):
        packed = np.zeros((len(group), encoding.words), np.uint32)
        for words, position in zip(packed, group, strict=True):
            encoding.pack(position.states[-1], words)
        expected = np.stack([np.concatenate(inputs(position, encoding)) for position in group])
        count += len(group)
        wrong += int((planes_of(encoding, packed) != expected).any(axis=(1, 2, 3)).sum())
    return count, wrong


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
    found = islice(positions(), real) if real else chosen
    assert differing(encoding, found) == (real or len(chosen), 0)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("foreign") / "model.onnx"
    onnx.save(in_form(TensorProto.FLOAT), path)
    return path


@pytest.mark.parametrize(
    ("encoding", "numbers"),
    [(DLSHOGI, TensorProto.FLOAT), (NYUGYOKU, TensorProto.FLOAT16), (DLSHOGI, TensorProto.INT8)],
)
@pytest.mark.parametrize("name", ["onnx", pytest.param("openvino", marks=pytest.mark.openvino)])
def test_priors_and_win_rates_are_those_of_cshogis_planes_and_labels(
    name: str, encoding: Encoding, numbers: int, tmp_path: Path
) -> None:
    model = in_form(numbers, encoding)
    onnx.save(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    dtype = np.float16 if numbers == TensorProto.FLOAT16 else np.float32
    how = {"device": "cpu", "precision": "float32", "threads": 1, "batch_size": 8}
    evaluator = NetworkEvaluator(load_backend(name, tmp_path / "model.onnx", ENCODINGS, **how))
    tolerance = 0.08 if numbers == TensorProto.INT8 else 2e-3
    for position in POSITIONS[::2]:
        moves = position.legal_moves()
        batch = Batch(1, len(moves), encoding)
        batch.add(position, moves)
        found = evaluator.evaluate(batch)
        given = {f"input{i}": planes[None].astype(dtype) for i, planes in enumerate(inputs(position, encoding), 1)}
        policy, win_rate = session.run(["output_policy", "output_value"], given)
        logits = policy[0, [make_move_label(move, position.turn) for move in moves.tolist()]].astype(np.float64)
        priors = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(found.priors, priors, atol=tolerance)
        np.testing.assert_allclose(found.values, win_rate[0], atol=tolerance)


def loaded(net: Path, **options: object) -> Thinker:
    return Thinker(Backend="onnx", modelfile=net, DNN_Batch_Size=4, **options)


def test_it_is_told_in_one_line_with_its_defaults(net: Path) -> None:
    thinker = loaded(net)
    said = "model.onnx is a network in the form of dlshogi's: Eval_Coef 756, temperature 174"
    assert thinker.remarks == [f"{said} (there is no model.json beside model.onnx)"]
    assert thinker.go(nodes=50).move in thinker.legal_moves()


@pytest.fixture
def beside(net: Path) -> Callable[[object], None]:
    """Lays a .json beside the network."""
    file = net.with_suffix(".json")

    def lay(options: object) -> None:
        file.write_text(json.dumps({"options": options}))

    yield lay
    file.unlink()


def test_what_lies_beside_it_counts(net: Path, beside: Callable[[object], None]) -> None:
    before = loaded(net)
    asked_for = loaded(net, temperature=40, Eval_Coef=378)
    beside({"Eval_Coef": 378, "temperature": 40})
    thinker = loaded(net)
    assert thinker.remarks == ["model.onnx is a network in the form of dlshogi's: Eval_Coef 378, temperature 40"]
    for each in (before, thinker, asked_for):
        each.go(nodes=1)
    assert before.last.score_cp == pytest.approx(2 * thinker.last.score_cp, abs=2)
    assert asked_for.last.score_cp == thinker.last.score_cp
    for each in (before, thinker, asked_for):
        each.set(MultiPV=600)
        each.go(nodes=200)
    visits = [[(line.pv[0], line.visits) for line in each.lines] for each in (before, thinker, asked_for)]
    assert visits[0] != visits[1] == visits[2]


def test_a_part_of_it_may_be_missing(net: Path, beside: Callable[[object], None]) -> None:
    beside({"Eval_Coef": 378, "temperature": "hot"})
    (line,) = loaded(net).remarks
    said = r"model\.onnx is a network in the form of dlshogi's: Eval_Coef 378, temperature 174"
    assert re.fullmatch(rf"{said} \(\S+/model\.json holds no temperature from 1 to 10000\)", line)


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


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("numbers", [np.float32, np.float16])
def test_weights_that_are_not_finite_are_one_line(wrong: float, numbers: type, net: Path, tmp_path: Path) -> None:
    model = onnx.load(net)
    array = numpy_helper.to_array(model.graph.initializer[0]).astype(numbers)
    array.flat[3] = wrong
    model.graph.initializer.append(numpy_helper.from_array(array, "spoilt"))
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(PlayerError) as caught:
        loaded(tmp_path / "model.onnx")
    assert str(caught.value) == f"{tmp_path / 'model.onnx'}: array spoilt holds values that are not finite"
