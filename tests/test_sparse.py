"""Sparse networks: the compiled kernels against plain numpy, their files, and the rows that games make of positions."""

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from slow_dobutsu import HELD
from slow_sparse import exact, slow_predict
from test_dobutsu import random_games

from pydlshogi.encoding import Encoding, labels_of
from pydlshogi.games.dobutsu.encodings import DOBUTSU, DOBUTSU_SPARSE
from pydlshogi.games.dobutsu.rules import LABELS
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import BackendError
from pydlshogi.network.loading import load_backend
from pydlshogi.network.sparse import quantised, read_sparse, write_sparse
from pydlshogi.network.weights import Weights
from pydlshogi.uct.batch import Batch
from tests.networks import random_sparse_weights, refusal_of

ROOT = Path(__file__).resolve().parent.parent
THREE_PARTS = DOBUTSU_SPARSE._replace(name="three_parts", label_parts=(7, 5, 3), labels=7 * 5 * 3)
"""Rows of Dobutsu shogi with labels of nothing, in three parts."""


def some_positions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As networks are asked about them."""
    batch = Batch(200, 64, DOBUTSU_SPARSE)
    for position, _ in islice(random_games(5, games=9), 100):
        batch.add(position, position.legal_moves())
    return batch.packed[: len(batch)], batch.firsts[: len(batch) + 1], batch.labels


def save(path: Path, weights: Weights, seen_by: Encoding = DOBUTSU_SPARSE, **others: Any) -> Path:
    """As training writes it, and with arrays replaced, or left out where they are None."""
    arrays = {**weights, "encoding": np.array(seen_by.name), **others}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_kernels_compute_what_plain_numpy_computes(tmp_path: Path) -> None:
    weights, given = random_sparse_weights(DOBUTSU_SPARSE, 48, 40, 1), some_positions()
    backend = load_backend("auto", save(tmp_path / "net.npz", weights), [DOBUTSU_SPARSE])
    priors, values = backend.predict(*given, 1.5)
    for numbers, apart, far in ((quantised(weights, DOBUTSU_SPARSE), 1e-5, 0.01), (weights, 0.05, 0.3)):
        slow_priors, slow_values = slow_predict(numbers, DOBUTSU_SPARSE, *given, 1.5)
        np.testing.assert_allclose(values, slow_values, atol=apart)
        np.testing.assert_allclose(priors, slow_priors, rtol=far)
    assert np.ptp(values) > 0.03
    assert (np.maximum.reduceat(priors, given[1][:-1]) > 2 * np.minimum.reduceat(priors, given[1][:-1])).sum() > 20


def test_a_label_has_three_parts_and_any_number_of_rows_is_added_up(tmp_path: Path) -> None:
    weights = random_sparse_weights(THREE_PARTS, 32, 512, 2)
    backend = load_backend("sparse", save(tmp_path / "net.npz", weights, THREE_PARTS), [DOBUTSU_SPARSE, THREE_PARTS])
    assert backend.encoding is THREE_PARTS
    rng = np.random.default_rng(3)
    packed = rng.integers(0, THREE_PARTS.features, (40, THREE_PARTS.words)).astype(np.uint32)
    packed[:, 0] = [0, THREE_PARTS.words - 1, *rng.integers(0, THREE_PARTS.words, 38)]
    firsts = np.arange(41, dtype=np.int32) * 105
    labels = np.tile(np.arange(105, dtype=np.int32), 40)
    priors, values = backend.predict(packed, firsts, labels, 1.0)
    slow_priors, slow_values = slow_predict(quantised(weights, THREE_PARTS), THREE_PARTS, packed, firsts, labels, 1.0)
    np.testing.assert_allclose(values, slow_values, atol=1e-5)
    np.testing.assert_allclose(priors, slow_priors, rtol=0.01)


def test_what_is_written_is_read_and_rounding_hardly_changes_it(tmp_path: Path) -> None:
    weights = random_sparse_weights(DOBUTSU_SPARSE, 32, 24, 6)
    write_sparse(tmp_path / "net.npz", weights, DOBUTSU_SPARSE)
    found, encoding = read_sparse(tmp_path / "net.npz", [DOBUTSU, DOBUTSU_SPARSE])
    assert encoding is DOBUTSU_SPARSE
    assert found.keys() == weights.keys()
    for name, array in found.items():
        assert array.dtype == np.float32
        np.testing.assert_allclose(array, weights[name], rtol=1e-3, atol=1e-6)
    for name, step in (("value_rows", 1 / 1024), ("move_rows", 0.06)):
        assert np.abs(exact(quantised(weights, DOBUTSU_SPARSE))[name] - weights[name]).max() <= step / 2 + 1e-5


@pytest.mark.parametrize("loud", [20, 1e4])
def test_the_sums_of_any_rows_stay_within_their_bits(loud: float) -> None:
    weights = random_sparse_weights(DOBUTSU_SPARSE, 32, 24, 6)
    rounded = quantised({**weights, "value_rows": loud * weights["value_rows"]}, DOBUTSU_SPARSE)
    highest = np.sort(np.abs(rounded["value_rows"].astype(int)), axis=0)[-(DOBUTSU_SPARSE.words - 1) :].sum(0)
    bias = np.abs(rounded["value_bias"] * rounded["value_rows_scale"])
    assert 1 << 13 < (highest + bias).max() < 1 << 15


def wrong_files() -> dict[str, tuple[dict[str, Any], str]]:
    return {
        "encoding": (
            {"encoding": np.array("chess")},
            "a sparse network of the encoding 'chess', not of dobutsu_sparse",
        ),
        "number": ({"encoding": np.array(5)}, "it does not name its encoding"),
        "missing": ({"move_bias": None}, "array move_bias is missing"),
        "surplus": ({"value_3": np.zeros(2, np.float32)}, "array value_3 belongs to no network like this"),
        "shape": ({"policy_rows": np.zeros((3, 8), np.float32)}, "array policy_rows has shape (3, 8), not (492, 8)"),
        "nan": ({"value_bias": np.full(8, np.nan, np.float32)}, "array value_bias holds values that are not finite"),
        "huge": ({"move_rows": np.full((LABELS, 8), np.inf)}, "array move_rows holds values that are not finite"),
        "odd": (
            {"value_bias": np.zeros(7), "value_rows": np.zeros((492, 7)), "value_1_weight": np.zeros((32, 3))},
            "a value of 7 sums, which have no halves",
        ),
        "integers": ({"value_bias": np.zeros(8, np.int8)}, "array value_bias holds int8, not floats"),
    }


@pytest.mark.parametrize("wrong", wrong_files())
def test_a_file_that_is_no_such_network_is_refused_in_one_line(wrong: str, tmp_path: Path) -> None:
    others, reason = wrong_files()[wrong]
    path = save(tmp_path / "net.npz", random_sparse_weights(DOBUTSU_SPARSE, 8, 8, 7), **others)
    assert reason in refusal_of(path, lambda: load_backend("sparse", path, [DOBUTSU, DOBUTSU_SPARSE]))


def test_each_kind_of_network_has_its_backends(tmp_path: Path) -> None:
    sparse = save(tmp_path / "sparse.npz", random_sparse_weights(DOBUTSU_SPARSE, 8, 8, 7))
    with pytest.raises(ModelError, match="a sparse network: Backend auto or sparse runs it"):
        load_backend("onnx", sparse, [DOBUTSU, DOBUTSU_SPARSE])
    with pytest.raises(ModelError, match="does not name its encoding"):
        load_backend("sparse", ROOT / "model" / "dobutsu.npz", [DOBUTSU, DOBUTSU_SPARSE])
    with pytest.raises(BackendError, match="Device gpu: a sparse network runs on the CPU"):
        load_backend("auto", sparse, [DOBUTSU_SPARSE], device="gpu")


PLAYS = """
import json, sys
from pydlshogi.catalogue import engine_named
from pydlshogi.usi.usi import Usi
lines = [f"setoption name modelfile value {sys.argv[1]}", "isready", "position startpos", "go nodes 200"]
said = []
Usi(engine_named("dobutsu"), said.append).run(lines)
print(json.dumps([said, [name.partition(".")[0] for name in sys.modules]]))
"""


def test_it_plays_without_a_framework(tmp_path: Path) -> None:
    weights = random_sparse_weights(DOBUTSU_SPARSE, 32, 32, 8)
    write_sparse(tmp_path / "net.npz", weights, DOBUTSU_SPARSE)
    command = [sys.executable, "-c", PLAYS, tmp_path / "net.npz"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    said, imported = json.loads(done.stdout)
    assert "nodes 200" in said[-2]
    assert said[-1].startswith("bestmove ")
    assert "numba" in imported
    assert not {"onnx", "onnxruntime", "openvino", "torch", "chainer"} & {*imported}


def rows_of(encoding: Encoding, position: Any) -> list[int]:
    words = np.full(encoding.words, 0xFFFFFFFF, np.uint32)
    encoding.pack(position.states[-1], words)
    rows = words[1 : 1 + words[0]].tolist()
    assert len(rows) == len({*rows})
    assert max(rows) < encoding.features
    return sorted(rows)


def test_rows_of_dobutsu_shogi_are_those_of_a_slow_count() -> None:
    kinds, seen = ["P", "B", "R", "K", "+P"], set[int]()
    for position, twin in random_games(1, games=20):
        expected = []
        for square in range(12):
            at = twin.seen_at(square)
            if at in twin.board:
                piece, side = twin.board[at]
                number = kinds.index(piece) + 5 * (side != twin.side)
                attacked, defended = (bool(twin.attackers(at, by)) for by in (1 - side, side))
                expected.append(4 * (12 * number + square) + 2 * attacked + defended)
        for side in (twin.side, 1 - twin.side):
            for place, count in enumerate(map(twin.hands[side].count, HELD)):
                if count:
                    expected.append(480 + 2 * (place + 3 * (side != twin.side)) + count - 1)
        assert rows_of(DOBUTSU_SPARSE, position) == sorted(expected), position.sfen()
        seen.update(expected)
        moves = position.legal_moves()
        assert np.array_equal(labels_of(DOBUTSU_SPARSE, position.state, moves), moves)
    assert len(seen) > 200
