"""Networks in the form of dlshogi's: what cshogi makes of a position goes in, and what comes out is understood."""

import json
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from cshogi.dlshogi import make_input_features, make_move_label
from networks import in_parts, network
from onnx import TensorProto
from positions import random_positions
from thinker import Thinker

from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.shogi.encodings import BOOK, DLSHOGI
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.loading import load_backend
from pydlshogi.network.onnx_export import onnx_model
from pydlshogi.network.onnx_quantise import quantised_model
from pydlshogi.player.base_player import PlayerError
from pydlshogi.uct.batch import Batch

PARTS = (62, 57)
POSITIONS = [position.copy() for position in islice(random_positions(5, games=2), 0, None, 8)]


def inputs(position: ShogiPosition) -> list[np.ndarray]:
    """As cshogi fills them."""
    planes = [np.zeros((part, 9, 9), np.float32) for part in PARTS]
    make_input_features(position.board, *planes)
    return planes


def in_form(numbers: int) -> onnx.ModelProto:
    """A small network, its value near none of the ends."""
    weights = network(architecture_for(DLSHOGI, "policy_value_resnet", 2, 16))
    if numbers == TensorProto.INT8:
        planes = np.stack([np.concatenate(inputs(position)) for position in POSITIONS])
        return in_parts(quantised_model(weights, planes), PARTS)
    return in_parts(onnx_model(weights), PARTS, numbers)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("foreign") / "model.onnx"
    onnx.save(in_form(TensorProto.FLOAT), path)
    return path


@pytest.mark.parametrize("numbers", [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT8])
@pytest.mark.parametrize("name", ["onnx", pytest.param("openvino", marks=pytest.mark.openvino)])
def test_priors_and_win_rates_are_those_of_cshogis_planes_and_labels(name: str, numbers: int, tmp_path: Path) -> None:
    model = in_form(numbers)
    onnx.save(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    dtype = np.float16 if numbers == TensorProto.FLOAT16 else np.float32
    evaluator = NetworkEvaluator(
        load_backend(
            name, tmp_path / "model.onnx", (BOOK, DLSHOGI), device="cpu", precision="float32", threads=1, batch_size=8
        )
    )
    tolerance = 0.08 if numbers == TensorProto.INT8 else 2e-3
    for position in POSITIONS:
        moves = position.legal_moves()
        batch = Batch(1, len(moves), DLSHOGI)
        batch.add(position, moves)
        found = evaluator.evaluate(batch)
        given = {f"input{i}": planes[None].astype(dtype) for i, planes in enumerate(inputs(position), 1)}
        policy, win_rate = session.run(["output_policy", "output_value"], given)
        logits = policy[0, [make_move_label(move, position.turn) for move in moves.tolist()]].astype(np.float64)
        priors = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(found.priors, priors, atol=tolerance)
        np.testing.assert_allclose(found.values, win_rate[0], atol=tolerance)


def loaded(net: Path, **options: object) -> Thinker:
    return Thinker(Backend="onnx", modelfile=net, DNN_Batch_Size=4, **options)


def test_it_is_told_in_one_line_with_its_defaults(net: Path) -> None:
    thinker = loaded(net)
    assert thinker.remarks == [
        "model.onnx is a network in the form of dlshogi's: Eval_Coef 756, temperature 174 "
        "(there is no model.json beside model.onnx)"
    ]
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
    assert re.fullmatch(
        r"model\.onnx is a network in the form of dlshogi's: Eval_Coef 378, temperature 174 "
        r"\(\S+/model\.json holds no temperature from 1 to 10000\)",
        line,
    )


@pytest.mark.parametrize("parts", [(61, 58), (62, 58), (57, 57)])
def test_other_shapes_are_one_line(parts: tuple[int, ...], tmp_path: Path) -> None:
    model = in_parts(onnx_model(network(architecture_for(DLSHOGI, "policy_value_resnet", 1, 8))), parts)
    onnx.save(model, tmp_path / "model.onnx")
    with pytest.raises(PlayerError) as caught:
        loaded(tmp_path / "model.onnx")
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'model.onnx'}: takes input1 (float) ['b', {parts[0]}, 9, 9] and input2")
    assert message.endswith("or 62 and 57 planes")
    assert "\n" not in message
