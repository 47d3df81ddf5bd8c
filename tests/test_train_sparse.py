"""Training of sparse networks: against numpy and PyTorch's own gradients, and whole runs that are resumed."""

import json
from pathlib import Path
from typing import Any

import cshogi
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch (the extra `train`)")

from pydlshogi import train  # noqa: E402
from pydlshogi.encoding import Encoding, labels_of  # noqa: E402
from pydlshogi.games.shogi.position import ShogiPosition  # noqa: E402
from pydlshogi.games.shogi.sparse import SPARSE  # noqa: E402
from pydlshogi.games.shogi.training import records  # noqa: E402
from pydlshogi.games.shogi.training.huffman import states_of  # noqa: E402
from pydlshogi.games.shogi.training.recorded import Recorded, Searched, Several, ValueTarget  # noqa: E402
from pydlshogi.games.shogi.training.records import NO_RESULT, POSITION, Positions, pack, pack_units  # noqa: E402
from pydlshogi.training.sparse import LARGEST_ROW_WEIGHT, SparseNet  # noqa: E402
from tests.positions import mirrored, mirrored_usi, recorded  # noqa: E402
from tests.random_games import random_games, write_jsonl  # noqa: E402
from utils import convert  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.lent_worker(records)]

FEW: Encoding = SPARSE._replace(name="few", features=50, words=9, label_parts=(20, 3, 2), labels=120)
torch.set_num_threads(1)


def some_net(seed: int = 0) -> SparseNet:
    torch.manual_seed(seed)
    net = SparseNet(FEW, 12, 7)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    return net


def some_question(count: int) -> tuple[Any, Any, Any]:
    """Positions of 1 to 8 rows with 1 to 9 legal moves."""
    generator = np.random.default_rng(count)
    packed = generator.integers(0, FEW.features, (count, FEW.words)).astype(np.int32)
    packed[:, 0] = generator.integers(1, FEW.words, count)
    firsts = np.cumsum([0, *generator.integers(1, 10, count)])
    labels = generator.integers(0, FEW.labels, firsts[-1])
    return tuple(torch.from_numpy(array) for array in (packed, firsts, labels))


def slow(net: SparseNet, packed: Any, firsts: Any, labels: Any) -> tuple[Any, Any]:
    """The same in PyTorch's own operations, position by position."""
    policies, values = [], []
    for i in range(len(packed)):
        rows = packed[i, 1 : 1 + packed[i, 0]].long()
        first, second = (net.value_rows[rows].sum(0) + net.value_bias).clamp(0, 1).chunk(2)
        hidden = (net.value_1_weight @ (first * second) + net.value_1_bias).clamp(0, 1) ** 2
        values.append((net.value_2_weight @ hidden + net.value_2_bias)[0])
        seen = (net.policy_rows[rows].sum(0) + net.policy_bias).clamp(0, 1) ** 2
        logits = []
        for label in labels[firsts[i] : firsts[i + 1]].tolist():
            first_part, second_part, third_part = np.unravel_index(label, FEW.label_parts)
            bias = net.move_bias[first_part] + net.move_bias_1[second_part] + net.move_bias_2[third_part]
            logits.append(net.move_rows[first_part] @ seen + bias)
        policies.append(torch.stack(logits).log_softmax(0))
    return torch.cat(policies), torch.stack(values)


def test_what_it_says_and_its_gradients_are_those_of_the_slow_way() -> None:
    net, question = some_net(), some_question(30)
    gradients = []
    for answers in (net(*question), slow(net, *question)):
        chosen, value = answers
        weights = torch.linspace(-1, 1, len(chosen))
        net.zero_grad()
        ((chosen * weights).sum() + (value * torch.linspace(1, 2, len(value))).sum()).backward()
        gradients.append([parameter.grad.clone() for parameter in net.parameters()])
    for fast_answer, slow_answer in zip(net(*question), slow(net, *question), strict=True):
        assert torch.allclose(fast_answer, slow_answer, atol=1e-5)
    for name, mine, theirs in zip(dict(net.named_parameters()), *gradients, strict=True):
        assert mine.abs().max() > 0, name
        assert torch.allclose(mine, theirs, atol=1e-4), name
    with torch.no_grad():
        net.policy_rows[3] = 5.0
    net.bound()  # by what integers hold
    assert net.policy_rows.max().item() == pytest.approx(LARGEST_ROW_WEIGHT)


def asked_by_hand(position: ShogiPosition) -> tuple[list[int], dict[int, int]]:
    """Rows of a position, and the labels of its moves by the moves' 16 bits."""
    state, words = position.states[-1], np.zeros(SPARSE.words, np.uint32)
    SPARSE.pack(state, words)
    legal = position.legal_moves()
    moves = [move & 0xFFFF for move in legal.tolist()]
    return words[1 : 1 + words[0]].tolist(), dict(zip(moves, labels_of(SPARSE, state, legal).tolist(), strict=True))


def asked(examples: Any, i: int) -> tuple[list[int], dict[int, float]]:
    its = slice(examples.firsts[i], examples.firsts[i + 1])
    rows = examples.packed[i, 1 : 1 + examples.packed[i, 0]].tolist()
    return rows, dict(zip(examples.labels[its].tolist(), examples.weights[its].tolist(), strict=True))


def test_examples_have_all_legal_moves_of_their_positions_and_of_mirror_images() -> None:
    positions = pack(*random_games(2, plies=50, seed=3))
    source = Recorded(positions, SPARSE, ValueTarget(1.0, 600.0))
    rows = np.flatnonzero(np.arange(len(positions)) % 10 == 0)  # those without the moves that led to them
    plain, turned = source.examples(rows), source.examples(rows, np.ones(len(rows), np.bool_))
    for i, row in enumerate(rows.tolist()):
        board = recorded(positions[row])
        usi = cshogi.move_to_usi(int(positions["move"][row]))
        for examples, sfen, move in ((plain, board.sfen(), usi), (turned, mirrored(board.sfen()), mirrored_usi(usi))):
            position = ShogiPosition(sfen)
            seen, labels = asked_by_hand(position)
            played = labels[position.move_from_usi(move)]
            assert asked(examples, i) == (seen, {label: float(label == played) for label in labels.values()})


def test_several_sources_are_one() -> None:
    positions = pack(*random_games(2, plies=40, seed=5))
    target = ValueTarget(0.5, 600.0)
    starts = [ShogiPosition(states_of(each["hcp"][None])) for each in positions[:20]]
    legal = [[move & 0xFFFF for move in start.legal_moves().tolist()] for start in starts]
    counts = np.array([min(3, len(moves)) for moves in legal])
    moves = np.array([move for each, count in zip(legal, counts, strict=True) for move in each[:count]], np.uint16)
    weights = np.concatenate([np.arange(1, count + 1) / (count * (count + 1) / 2) for count in counts])
    values, proven = np.full(20, 0.25, np.float32), np.zeros(20, np.bool_)
    searched = Searched(positions[:20], counts, moves, weights.astype(np.float32), values, proven)
    first, second = Recorded(positions, SPARSE, target), Recorded(searched, SPARSE, target, 1.0)
    both = Several([first, second])
    rows = np.array([3, len(positions) + 7, len(positions) - 1, len(positions)])
    examples = both.examples(rows)
    alone = [first.examples(rows[[0, 2]]), second.examples(rows[[1, 3]] - len(positions))]
    for i, (source, place) in enumerate([(0, 0), (1, 0), (0, 1), (1, 1)]):
        assert asked(examples, i) == asked(alone[source], place)
        assert examples.values[i] == alone[source].values[place]
    assert examples.values[1] == 0.25
    assert sum(asked(examples, 1)[1].values()) == pytest.approx(1)
    assert max(asked(examples, 1)[1].values()) == pytest.approx(3 / 6)


def test_random_moves_teach_no_policy_and_no_result_before_them_counts() -> None:
    (game,) = random_games(1, plies=20, seed=2)
    record = {"win": "b", "end": "resign", "moves": " ".join(game.usi)}
    lines = [json.dumps({**record, "random": [4, 9]}), json.dumps(record)]
    positions, games, complaints = pack_units(lines, "train")
    assert (games, complaints) == (2, [])
    marked, plain = positions[:20], positions[20:]
    assert np.flatnonzero(marked["move"] == 0).tolist() == [4, 9]
    assert np.flatnonzero(marked["result"] == NO_RESULT).tolist() == list(range(10))
    assert np.array_equal(marked["before"], plain["before"])
    assert plain["move"].all()
    examples = Recorded(marked, SPARSE, ValueTarget(1.0, 600.0)).examples(np.arange(20))
    taught = np.add.reduceat(examples.weights, examples.firsts[:-1])
    assert np.flatnonzero(taught == 0).tolist() == [4, 9]
    assert examples.value_weights.tolist() == [0] * 10 + [1] * 10
    _, _, complaints = pack_units([json.dumps({**record, "random": [20]})], "train")
    assert complaints[0].endswith("random moves [20] of 20")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sparse")
    games = random_games(12, plies=60, seed=1)
    write_jsonl(path / "games.jsonl", games, random_games(2, plies=40, seed=2))
    (path / "taught").mkdir()
    taught: Positions = pack(*random_games(4, plies=60, seed=9))
    taught.tofile(path / "taught-with-results.positions")
    taught["result"] = NO_RESULT
    taught.astype(POSITION).tofile(path / "taught" / "odd-00000.positions")
    return path


def run(folder: Path, out: str, **more: Any) -> int:
    given = {
        "kind": "sparse", "train": folder / "games.jsonl", "taught": folder / "taught", "cache": folder,
        "out": folder / out, "batch-size": 64, "value-width": 16, "policy-width": 32, "log-every": 5,
        "learning-rate": 0.3, "average": 0.9, "validate-every": 20, **more,
    }  # fmt: skip
    return train.main([f"--{name.replace('_', '-')}={value}" for name, value in given.items()])


def lines_of(folder: Path, out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / out / "log.jsonl").read_text().splitlines()]


def test_a_run_learns_and_goes_on_where_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(folder, "whole", steps=40) == 0
    lines = lines_of(folder, "whole")
    losses = [line["policy_loss"] for line in lines if "policy_loss" in line]
    assert losses[-1] < losses[0] - 0.1
    assert {"top1", "value_accuracy", "eval_error"} <= lines[-1]["validation"].keys()
    steps = train.Run.learn

    def stopped(self: Any, batch: Any) -> None:
        if self.step == 20:
            raise train.TrainingError("the power is gone")
        steps(self, batch)

    monkeypatch.setattr(train.Run, "learn", stopped)
    assert run(folder, "parts", steps=40, save_minutes=0) == 1
    monkeypatch.setattr(train.Run, "learn", steps)
    assert train.main([f"--out={folder / 'parts'}", "--resume"]) == 0
    with np.load(folder / "whole" / "net.npz") as whole, np.load(folder / "parts" / "net.npz") as parts:
        assert str(whole["encoding"]) == SPARSE.name
        for name in whole.files:
            assert np.array_equal(whole[name], parts[name]), name
    assert json.loads((folder / "whole" / "net.json").read_text())["options"].keys() == {"Eval_Coef", "temperature"}


def test_a_network_goes_on_from_another(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not (folder / "whole" / "net.npz").exists():
        assert run(folder, "whole", steps=40) == 0
    init = folder / "whole" / "net.npz"
    assert run(folder, "on", steps=5, init=init) == 0
    before, after = (next(line for line in lines_of(folder, out) if "policy_loss" in line) for out in ("whole", "on"))
    assert after["policy_loss"] < before["policy_loss"] - 0.05
    assert run(folder, "wider", steps=5, init=init, value_width=32) == 1
    assert "not floats of a network of this size" in capsys.readouterr().err
    assert run(folder, "planes", steps=5, encoding="book") == 1
    assert "--kind sparse does not go with --encoding book" in capsys.readouterr().err


@pytest.mark.parametrize(
    "kind", [{}, {"kind": "policy_value_resnet", "encoding": "dlshogi", "depth": 1, "channels": 8}]
)
def test_training_data_of_other_programs_is_learned(kind: dict[str, Any], folder: Path) -> None:
    for name in ("games.psv", "visits.hcpe3"):
        assert convert.main(["--overwrite", str(folder / "taught-with-results.positions"), str(folder / name)]) == 0
    data = {"train": folder / "games.psv", "searched": folder / "visits.hcpe3", "val": folder / "games.psv"}
    out = f"field-{len(kind)}"
    assert run(folder, out, steps=5, shards=1, **data, **kind) == 0
    assert "policy_loss" in lines_of(folder, out)[0]
