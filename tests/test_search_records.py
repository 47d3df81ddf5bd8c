"""Positions of records searched anew, and a run that learns from what was found."""

import json
from pathlib import Path

import cshogi
import numpy as np
import pytest

from pydlshogi import train
from pydlshogi.encoding import Encoding, labels_of, planes_of
from pydlshogi.games.shogi.encodings import BOOK, DLSHOGI
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.training import records
from pydlshogi.games.shogi.training.huffman import states_of
from pydlshogi.games.shogi.training.recorded import Recorded, ValueTarget, read_sets
from pydlshogi.games.shogi.training.records import Positions, load_positions
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.weights import read_weights, write_weights
from pydlshogi.support.arrays import ArraysError
from pydlshogi.training.settings import DatasetError
from tests.networks import random_weights
from tests.positions import board_of
from tests.random_games import random_games, write_jsonl
from utils.lab import search_records
from utils.lab.search_records import item_of, reached

pytest.importorskip("torch")

pytestmark = pytest.mark.lent_worker(search_records, records)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games, a network, and two sets that it searched."""
    path = tmp_path_factory.mktemp("searched")
    write_jsonl(path / "games.jsonl", random_games(12, plies=60, seed=7), random_games(2, plies=40, seed=8))
    write_weights(path / "net.npz", random_weights(architecture_for(BOOK, "policy_value_resnet", 1, 8), 3))
    assert search(path, "--sets=2") == 0
    return path


def search(folder: Path, *more: str) -> int:
    places = [f"--out={folder / 'sets'}", f"--network={folder / 'net.npz'}", f"--cache={folder}"]
    return search_records.main([str(folder / "games.jsonl"), *places, "--playouts=16", "--workers=1", *more])


def positions_of(folder: Path) -> Positions:
    return load_positions(folder / "games.jsonl", "train", folder)


def test_visits_are_of_legal_moves_of_positions_of_the_records(folder: Path) -> None:
    found, positions = read_sets(folder / "sets"), positions_of(folder)
    assert 400 < len(found) <= 512
    known = {record.tobytes() for record in positions}
    assert {record.tobytes() for record in found.positions} <= known
    assert len(np.unique(found.positions)) > 0.9 * len(found)
    ends = np.cumsum(found.counts)[:-1]
    parts = zip(np.split(found.moves, ends), np.split(found.weights, ends), strict=True)
    for hcp, (moves, weights) in zip(found.positions["hcp"], parts, strict=True):
        position = ShogiPosition(states_of(hcp[None]))
        assert {*moves.tolist()} <= {*position.legal_moves().tolist()}
        assert weights.sum() == pytest.approx(1, abs=1e-5)
    assert found.counts.mean() > 2
    assert 0 <= found.values.min() < found.values.max() <= 1


def test_the_search_sees_the_moves_that_led_to_a_position(folder: Path) -> None:
    """As the networks do that learn from it."""
    positions, rows = positions_of(folder), np.array([0, 1, 2, 40])
    for row, position in zip(rows, reached(item_of(0, positions, rows)), strict=True):
        board, code = board_of(position), np.zeros(32, np.uint8)
        board.to_hcp(code)
        assert np.array_equal(code, positions["hcp"][row])
        assert list(map(cshogi.move16, board.history)) == positions["move"][max(0, row - 2) : row].tolist()


@pytest.mark.parametrize("kind", [BOOK, DLSHOGI])
def test_examples_have_the_visits_and_both_opinions_of_the_value(folder: Path, kind: Encoding) -> None:
    found, target = read_sets(folder / "sets"), ValueTarget(1.0, 300.0)
    found.exact[[5, 17]] = False, True  # a proven value is all there is
    rows = np.array([5, 0, 17, 5])
    examples = Recorded(found, kind, target, 0.25).examples(rows)
    recorded = found.positions[rows]
    ends = np.cumsum(found.counts)
    for i, row in enumerate(rows.tolist()):
        (state,) = states_of(recorded["hcp"][i : i + 1])
        its = slice(ends[row] - found.counts[row], ends[row])
        learned = slice(examples.firsts[i], examples.firsts[i + 1])
        labels, weights = labels_of(kind, state, found.moves[its]).tolist(), found.weights[its].tolist()
        learned_there = zip(examples.labels[learned].tolist(), examples.weights[learned].tolist(), strict=True)
        assert dict(learned_there) == dict(zip(labels, weights, strict=True))
        result = (float(recorded["result"][i]) + 1) / 2
        mixed = found.values[row] if found.exact[row] else 0.75 * result + 0.25 * found.values[row]
        assert examples.values[i] == pytest.approx(mixed, abs=1e-6)
    planes = planes_of(kind, examples.packed)
    assert np.array_equal(planes[0], planes[3])
    assert not np.array_equal(planes[0], planes[1])


def test_a_run_learns_what_was_found(folder: Path) -> None:
    given = {
        "val": folder / "games.jsonl", "cache": folder, "out": folder / "run", "searched": folder / "sets",
        "steps": 60, "depth": 1, "channels": 8, "batch-size": 32, "shards": 1, "precision": "float32",
        "log-every": 5, "learning-rate": 0.05, "average": 0.9, "init": folder / "net.npz",
    }  # fmt: skip
    assert train.main([f"--{name}={value}" for name, value in given.items()]) == 0
    lines = [json.loads(line) for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
    losses = [line["policy_loss"] for line in lines if "policy_loss" in line]
    assert losses[-1] < losses[0] - 0.05
    assert read_weights(folder / "run" / "net.npz")


def test_what_is_no_set_is_a_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert search(folder, "--sets=99") == 1
    assert capsys.readouterr().err.endswith("games.jsonl has positions for 2 sets, not 99\n")
    with pytest.raises(DatasetError, match="holds no searched positions"):
        read_sets(tmp_path)
    (tmp_path / "00000.npz").write_bytes(b"PK")
    with pytest.raises(ArraysError, match="or is damaged"):
        read_sets(tmp_path)
