"""A network of the book's planes, turned into dlshogi's, and these in those with the last moves."""

from collections.abc import Mapping

import numpy as np
import pytest

from pydlshogi.encoding import Encoding, labels_of, planes_of
from pydlshogi.games.shogi.encodings import BOOK, DLSHOGI, HISTORY
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.training.reencoding import in_planes_of
from pydlshogi.network.architecture import ModelError, architecture_for
from pydlshogi.network.weights import Array, random_weights
from tests.random_games import random_games

torch = pytest.importorskip("torch")


def opinion(encoding: Encoding, weights: Mapping[str, Array], position: ShogiPosition) -> tuple[list[float], float]:
    """Logits of the legal moves, and the value."""
    from pydlshogi.network.torch_nets import from_npz

    state = position.states[-1]
    packed = np.zeros((1, encoding.words), np.uint32)
    encoding.pack(state, packed[0])
    with torch.no_grad():
        policy, value = from_npz(weights).eval()(torch.from_numpy(planes_of(encoding, packed)))
    labels = labels_of(encoding, state, position.legal_moves())
    return policy.flatten()[labels].tolist(), float(value)


@pytest.mark.parametrize(("kind", "depth"), [("policy_value_resnet", 2), ("policy_value", 12)])
def test_it_thinks_the_same(kind: str, depth: int) -> None:
    weights = random_weights(architecture_for(BOOK, kind, depth, 8), 5)
    turned = in_planes_of(DLSHOGI, weights)
    assert in_planes_of(BOOK, weights) is weights
    assert in_planes_of(DLSHOGI, turned) is turned
    longer = in_planes_of(HISTORY, weights)
    assert in_planes_of(DLSHOGI, longer) is longer
    for game in random_games(3, plies=120, seed=9):
        position = ShogiPosition()
        for move in game.usi:
            position.push_usi(move)
        (policy, value), (policy_turned, value_turned) = (
            opinion(BOOK, weights, position),
            opinion(DLSHOGI, turned, position),
        )
        assert value_turned == pytest.approx(value, abs=1e-5)
        assert policy_turned == pytest.approx(policy, abs=1e-5)
        policy_longer, value_longer = opinion(HISTORY, longer, position)
        assert value_longer == pytest.approx(value, abs=1e-5)
        assert policy_longer == pytest.approx(policy, abs=1e-5)


def test_planes_that_nobody_knows_how_to_fill_are_not_filled() -> None:
    weights = random_weights(architecture_for(BOOK, "policy_value_resnet", 1, 8), 5)
    assert in_planes_of(DLSHOGI._replace(name="another"), weights) is weights


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(ModelError):
        in_planes_of(DLSHOGI, {"l1/W": np.zeros((1, 104, 3, 3), np.float32)})
