"""Training: its parts against slow obvious versions, and whole runs on random games, killed, spoilt and resumed."""

import errno
import json
import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch (the extra `train`)")

from pydlshogi import train  # noqa: E402
from pydlshogi.games.shogi.encodings import BOOK  # noqa: E402
from pydlshogi.games.shogi.kifu.csa import to_csa  # noqa: E402
from pydlshogi.games.shogi.training import records  # noqa: E402
from pydlshogi.games.shogi.training.dataset import Settings, fit_for_play, load_data, validate  # noqa: E402
from pydlshogi.games.shogi.training.recorded import Recorded, ValueTarget  # noqa: E402
from pydlshogi.games.shogi.training.records import LOSS, NO_EVAL, WIN, Positions, pack  # noqa: E402
from pydlshogi.network.architecture import Architecture, ModelError, architecture_for  # noqa: E402
from pydlshogi.network.torch_nets import build, from_npz, grow, to_npz  # noqa: E402
from pydlshogi.network.weights import architecture_of, read_weights, write_weights  # noqa: E402
from pydlshogi.support import files  # noqa: E402
from pydlshogi.training import run as runs  # noqa: E402
from pydlshogi.training.examples import Examples, TrainingBatch, batch_of, joined  # noqa: E402
from pydlshogi.training.gradients import Muon, Shards, follow, forward, losses, orthogonal, schedule  # noqa: E402
from pydlshogi.training.journal import Journal  # noqa: E402
from pydlshogi.training.run import Run  # noqa: E402
from pydlshogi.training.settings import Learning  # noqa: E402
from tests.networks import NARROW, ODD_LABELS, SQUARE, packed_positions, random_weights  # noqa: E402
from tests.random_games import random_games, write_jsonl  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.lent_worker(records)]

CPU = torch.device("cpu")
torch.set_num_threads(1)  # tests run side by side
ROOT = Path(__file__).resolve().parent.parent
BOTH = [architecture_for(SQUARE, "policy_value", 12, 8), architecture_for(SQUARE, "policy_value_resnet", 2, 8)]
OTHERS = [architecture_for(NARROW, "policy_value_resnet", 2, 8), architecture_for(ODD_LABELS, "policy_value", 12, 8)]


@pytest.mark.parametrize("architecture", [*BOTH, *OTHERS], ids=str)
def test_weights_survive_the_way_through_a_module(architecture: Architecture) -> None:
    weights = random_weights(architecture, seed=0)
    again = to_npz(from_npz(weights))
    assert weights.keys() == again.keys()
    assert all(np.array_equal(weights[name], again[name]) for name in weights)


@pytest.mark.parametrize(
    ("small", "large"),
    [(BOTH[0], architecture_for(SQUARE, "policy_value", 12, 12)),
     (BOTH[1], architecture_for(SQUARE, "policy_value_resnet", 4, 12)), (BOTH[1], BOTH[1]),
     (OTHERS[0], architecture_for(NARROW, "policy_value_resnet", 3, 16))],
    ids=str,
)  # fmt: skip
def test_a_network_grows_and_knows_what_it_knew(small: Architecture, large: Architecture) -> None:
    weights = random_weights(small, seed=0)
    shape = 16, small.planes, small.height, small.width
    planes = (torch.rand(shape, generator=torch.manual_seed(0)) < 0.1).float()
    grown = grow(weights, large)
    assert architecture_of(to_npz(grown)) == large
    with torch.inference_mode():
        for before, after in zip(from_npz(weights)(planes), grown.eval()(planes), strict=True):
            assert torch.allclose(before, after, atol=1e-4)


@pytest.mark.parametrize("large", [architecture_for(SQUARE, "policy_value_resnet", 1, 8), BOTH[0], OTHERS[0]], ids=str)
def test_no_network_grows_into_a_smaller_or_another_one(large: Architecture) -> None:
    with pytest.raises(ModelError, match="does not grow into"):
        grow(random_weights(BOTH[1], seed=0), large)


def test_muon_finds_a_minimum() -> None:
    torch.manual_seed(0)
    goal, kernel = torch.randn(8, 4, 3, 3), torch.nn.Parameter(torch.zeros(8, 4, 3, 3))
    optimiser = Muon([kernel], torch.float32, lr=0.3)
    for step in range(100):
        optimiser.param_groups[0]["lr"] = 0.3 * (1 - step / 100)
        kernel.grad = kernel.detach() - goal
        optimiser.step()
    assert (kernel - goal).norm() < 0.1 * goal.norm()
    x = np.array([0.6, 0.8])
    for _ in range(5):
        x = 3.4445 * x - 4.7750 * x**3 + 2.0315 * x**5
    matrix = torch.diag(torch.tensor([3.0, 4.0]))
    assert orthogonal(matrix, torch.float32).diag().tolist() == pytest.approx(x.tolist(), abs=1e-4)


@pytest.mark.parametrize(
    ("progress", "share"), [(0.0, 0.0), (0.05, 0.5), (0.1, 1.0), (0.5, 1.0), (0.6, 1.0), (0.8, 0.5), (1.0, 0.0)]
)
def test_schedule(progress: float, share: float) -> None:
    assert schedule(progress, Learning(warmup=0.1, decay=0.4)) == pytest.approx(share)


def some_batch(size: int) -> TrainingBatch:
    """Recorded positions, none of them turned."""
    rows = pack(*random_games(4, plies=40, seed=2))[:size]
    examples = Recorded(rows, BOOK, ValueTarget(0.6, 400.0)).examples(np.arange(size))
    return batch_of(examples, BOOK, np.zeros(size, np.int64))


def learning(**more: Any) -> Learning:
    return Learning(**{"kind": "policy_value", "channels": 8, "precision": "float32", "shards": 1, **more})


@pytest.mark.parametrize("size", [2, 3])
def test_no_shard_gets_less_than_two_positions(size: int) -> None:
    """PyTorch refuses to normalise a layer of one position by itself."""
    dense = architecture_for(SQUARE, "policy_value_dense", 1, 8)
    shards = Shards(build(dense), partial(build, dense), CPU, learning(batch_size=size, shards=5))
    assert np.isfinite(shards.gradients(some_batch(size)).numpy()).all()
    shards.close()


def test_shards_find_the_gradient_of_the_whole_batch() -> None:
    batch = some_batch(65)
    gradients, figures = [], []
    for count in (1, 3):
        torch.manual_seed(0)
        net = build(BOTH[0])
        shards = Shards(net, partial(build, BOTH[0]), CPU, learning(shards=count))
        figures.append(shards.gradients(batch))
        shards.close()
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in net.parameters()]))
    assert torch.allclose(figures[0], figures[1], atol=1e-5)
    assert torch.allclose(gradients[0], gradients[1], atol=1e-5)
    assert gradients[0].norm() > 0.1


def gradients_of(net: torch.nn.Module, batch: TrainingBatch, **how: Any) -> dict[str, float]:
    """The norm of the gradient of each parameter."""
    net.zero_grad()
    losses(net, batch, CPU, learning(**how))[0].backward()
    return {name: float(parameter.grad.norm()) for name, parameter in net.named_parameters()}


def test_what_is_unknown_teaches_nothing_and_a_half_only_half() -> None:
    gradients = gradients_of(build(BOTH[0]), some_batch(32)._replace(value_weights=np.zeros(32, np.float32)))
    assert (gradients["l15_v.weight"] == 0, gradients["l13.weight"] > 0) == (True, True)
    nothing = np.zeros(0, np.int64)
    labels = {"firsts": np.zeros(33, np.int64), "labels": nothing, "weights": nothing.astype(np.float32)}
    gradients = gradients_of(build(BOTH[0]), some_batch(32)._replace(**labels))
    assert (gradients["l15_v.weight"] > 0, gradients["l13.weight"] == 0) == (True, True)
    # A weight of a half is half a position: two halves of one position are one.
    torch.manual_seed(0)
    net, batch = build(BOTH[0]), some_batch(1)
    twice = TrainingBatch(*(np.concatenate([array, array]) for array in batch))._replace(firsts=np.array([0, 1, 2]))
    halves = twice._replace(weights=twice.weights / 2, value_weights=twice.value_weights / 2)
    whole, half = (losses(net, each, CPU, learning())[1] for each in (batch, halves))
    assert torch.allclose(whole, half, atol=1e-5)


def test_the_loss_is_the_cross_entropy_with_the_targets() -> None:
    """Of PyTorch, with the targets as full distributions; of played moves it is that with their labels."""
    torch.manual_seed(0)
    net = build(BOTH[0])
    batch = some_batch(4)
    soft = batch._replace(
        firsts=np.array([0, 2, 3, 5, 6]),
        labels=np.array([5, 9, 2186, 0, 1, 7]),
        weights=np.array([0.25, 0.75, 1.0, 0.5, 0.5, 1.0], np.float32),
    )
    full = torch.zeros(4, 2187)
    for row, label, weight in zip([0, 0, 1, 2, 2, 3], soft.labels, soft.weights, strict=True):
        full[row, label] = float(weight)
    policy, _ = forward(net, batch.inputs, CPU, "float32")
    cross_entropy = torch.nn.functional.cross_entropy
    for given, target in ((soft, full), (batch, torch.from_numpy(batch.labels))):
        _, figures = losses(net, given, CPU, learning())
        assert torch.allclose(figures[1], cross_entropy(policy, target), rtol=1e-5)


def known_positions(rows: Positions) -> tuple[Examples, dict[bytes, int]]:
    """The positions as examples, and the number of each by what it is packed into."""
    examples = Recorded(rows, BOOK, ValueTarget(0.6, 400.0)).examples(np.arange(len(rows)))
    return examples, {words.tobytes(): i for i, words in enumerate(examples.packed)}


def test_validation_of_a_network_that_knows() -> None:
    # The first moves are left out, because the same position may have two results.
    rows = np.concatenate([pack(game)[4:] for game in random_games(3, plies=40, seed=4)])
    # Evaluations that are always right are believed as far as they can be: 100 centipawns are worth e : 1.
    rows["eval"] = np.where(np.abs(rows["result"]) == WIN, 100 * rows["result"].astype(np.int16), NO_EVAL)
    examples, known = known_positions(rows)

    def predict(packed: np.ndarray, firsts: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = np.array([known[words.tobytes()] for words in packed])
        played = labels == np.repeat(examples.labels[numbers], np.diff(firsts))
        return np.where(played, 0.999, 1e-5), np.where(rows["result"][numbers] == WIN, 0.75, 0.25)

    report = validate(predict, rows, BOOK)
    assert report["top1"] == report["top5"] == report["value_accuracy"] == 1.0
    assert report["policy_loss"] < 0.01
    assert report["value_loss"] == pytest.approx(-math.log(0.75), abs=1e-3)
    assert report["eval_error"] == pytest.approx(0.75 - math.e / (1 + math.e), abs=1e-4)
    won, lost = (rows["result"] == WIN).sum(), (rows["result"] == LOSS).sum()
    assert [row["positions"] for row in report["reliability"]] == [0, 0, lost, 0, 0, 0, 0, won, 0, 0]
    assert report["reliability"][7] == {"positions": won, "predicted": 0.75, "won": 1.0}
    assert [phase["positions"] for phase in report["phases"].values()] == [78, 30, 0]


def test_options_for_play_are_found_again() -> None:
    rows = pack(*random_games(3, plies=60, seed=4))
    _, known = known_positions(rows)

    def predict(packed: np.ndarray, firsts: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        leads = np.array([rows["eval"][known[words.tobytes()]] / 250.0 for words in packed])
        priors = np.exp(np.random.default_rng(len(packed)).normal(size=len(labels)) * 5)
        return priors, 1 / (1 + np.exp(-leads))

    options = fit_for_play(predict, rows, BOOK)
    assert options["Eval_Coef"] == pytest.approx(250, abs=2)
    assert options["temperature"] == 180  # random moves, predicted with confidence: the more doubt the better
    rows["eval"] = NO_EVAL
    assert fit_for_play(predict, rows, BOOK)["Eval_Coef"] == 600


def soft_examples(count: int) -> Examples:
    """Examples of a game that is none: the first plane says what the policy is, and the second who wins."""
    generator = np.random.default_rng(count)
    packed = packed_positions(NARROW, count, seed=count) & ~np.uint32((1 << 24) - 1 if count else 0)
    chosen = generator.integers(0, 12, count)
    won = generator.integers(0, 2, count)
    packed[:, 0] = (packed[:, 0] & np.uint32(0xFF000000)) | (1 << chosen.astype(np.uint32))
    packed[:, 0] |= np.where(won, np.uint32(0xFFF000), np.uint32(0))
    labels = np.stack([chosen, chosen + 60], 1).reshape(-1).astype(np.int32)
    weights, ones = np.tile(np.array([0.75, 0.25], np.float32), count), np.ones(count, np.float32)
    return Examples(packed, 2 * np.arange(count + 1), labels, weights, won.astype(np.float32), ones)


def test_a_run_learns_any_game_from_soft_targets(tmp_path: Path) -> None:
    examples = joined([soft_examples(400), soft_examples(500)])
    more = {"depth": 1, "channels": 16, "batch_size": 64, "learning_rate": 0.05, "warmup": 0.0, "average": 0.9}
    settings = learning(kind="policy_value_resnet", **more)
    run = Run(settings, NARROW, CPU)
    generator = np.random.default_rng(0)
    for _ in range(150):
        rows = generator.integers(0, len(examples), 64)
        run.learn(batch_of(examples.examples(rows), NARROW, np.zeros(64, np.int64)))
    run.save(tmp_path / "checkpoint.pt")
    again = Run(settings, NARROW, CPU)
    again.load(runs.read_checkpoint(tmp_path / "checkpoint.pt"))
    unseen = soft_examples(200)
    asked = np.concatenate([unseen.labels.reshape(-1, 2), np.full((200, 1), 40, np.int32)], 1)
    priors, rates = again.predict(unseen.packed, 3 * np.arange(201), asked.reshape(-1))
    assert np.allclose(priors.reshape(-1, 3), [0.75, 0.25, 0], atol=0.1)
    assert ((rates > 0.5) == (unseen.values > 0.5)).mean() > 0.98


def test_the_journal_forgets_what_the_resumed_run_will_write_again(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"step": 10, "a": {}}\n{"step": 20, "a": {}}\n{"step": 30, "a": {}}\n{"step": 40, "a": {}')
    Journal(path, 20).write({"step": 21})
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [10, 20, 21]


def with_games(folder: Path) -> Path:
    write_jsonl(folder / "games.jsonl", random_games(6, plies=60, seed=7), random_games(2, plies=40, seed=8))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_games(tmp_path)


@pytest.fixture(scope="module")
def four_steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = with_games(tmp_path_factory.mktemp("finished"))
    assert train.main(options(folder, "run", steps=4)) == 0
    return folder / "run"


@pytest.fixture
def finished(four_steps: Path, tmp_path: Path) -> Path:
    """A folder with a run that has come to its end."""
    shutil.copytree(four_steps, tmp_path / "run")
    return tmp_path


def options(folder: Path, name: str, **more: Any) -> list[str]:
    files = {"train": folder / "games.jsonl", "cache": folder / "cache", "out": folder / name}
    size = {"steps": 16, "depth": 1, "channels": 8, "batch-size": 32, "shards": 1, "precision": "float32"}
    settings = files | size | {"log-every": 2, "validate-every": 6} | more
    return [f"--{name}={value}" for name, value in settings.items()]


def curve(folder: Path, name: str) -> list[list[float]]:
    lines = [json.loads(line) for line in (folder / name / "log.jsonl").read_text().splitlines()]
    return [[line["step"], *(line[figure] for figure in train.FIGURES)] for line in lines if "loss" in line]


def test_a_run_learns_and_writes_a_network(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr("pydlshogi.training.journal.EVERY", 0.001)
    assert train.main(options(folder, "run", **{"steps": 120, "learning-rate": 0.05, "average": 0.9})) == 0
    figures = curve(folder, "run")
    assert figures[-1][2] < figures[0][2] - 1.0
    report = json.loads((folder / "run" / "net.json").read_text())
    assert report["validation"]["positions"] == 80
    assert set(report["options"]) == {"Eval_Coef", "temperature"}
    assert read_weights(folder / "run" / "net.npz")["l1/W"].shape == (8, 104, 3, 3)
    said = capsys.readouterr().out
    assert "wrote net.json, net.npz in " in said
    assert re.findall(r"^step \d+ of 120 \(\d+%, \d:\d\d:\d\d left\)$", said, re.MULTILINE), (
        "now and then, where no bar is"
    )


def test_a_run_begins_with_another_runs_network_and_more_games(folder: Path) -> None:
    small = random_weights(architecture_for(BOOK, "policy_value_resnet", 1, 8), seed=3)
    write_weights(folder / "small.npz", small)
    (folder / "own.csa").write_text(to_csa(random_games(1, plies=30, seed=9)[0]))
    (folder / "own.txt").write_text("own.csa\n")
    given = {"init": folder / "small.npz", "more": folder / "own.txt", "depth": 2, "learning-rate": 0, "warmup": 0}
    assert train.main(options(folder, "grown", **given, **{"weight-decay": 0})) == 0
    grown = read_weights(folder / "grown" / "net.npz")
    assert np.array_equal(grown["b1/conv1/W"], small["b1/conv1/W"])
    (folder / "small.npz").unlink()
    assert train.main(["--resume", f"--out={folder / 'grown'}", "--steps=20"]) == 0
    settings = Settings(train=str(folder / "games.jsonl"), cache=str(folder))
    with_own, _ = load_data(replace(settings, more=str(folder / "own.txt")))
    alone, _ = load_data(settings)
    assert len(with_own["train"]) == len(alone["train"]) + 30
    assert (with_own["train"]["eval"][-30:] == NO_EVAL).all()


KILLED = """
import os, sys
from pydlshogi import train
from pydlshogi.training import run
follow, lasts = run.follow, iter(range(7))
run.follow = lambda *given: follow(*given) if next(lasts, None) is not None else os._exit(9)
sys.exit(train.main(sys.argv[1:]))
"""


def test_a_killed_run_goes_on_with_the_same_curve(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(options(folder, "straight")) == 0
    out = capsys.readouterr().out
    assert re.search(r"^step 6 of 16 \(38%, \d:\d\d:\d\d left\): of 80 positions top-1 ", out, re.MULTILINE)
    assert re.search(r"^step 16, the last: of 80 positions top-1 ", out, re.MULTILINE)
    command = [sys.executable, "-c", KILLED, *options(folder, "killed", **{"save-minutes": 0})]
    assert subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode == 9
    assert train.main(["--resume", f"--out={folder / 'killed'}"]) == 0
    expected, got = curve(folder, "straight"), curve(folder, "killed")
    assert [row[0] for row in got] == [2, 4, 6, 8, 10, 12, 14, 16]
    # Sums of floats differ in their last digits from run to run, so of two moves that nearly tie either may win.
    steps_and_losses = slice(0, 4)
    assert np.allclose(np.array(expected)[:, steps_and_losses], np.array(got)[:, steps_and_losses], atol=2e-3)


def test_a_spoilt_run_stops_and_keeps_the_last_good_checkpoint(folder: Path, capsys, monkeypatch) -> None:
    def spoil_at_third_step(averaged: Any, net: Any, keep: float) -> None:
        steps.append(follow(averaged, net, keep))
        if len(steps) == 3:
            next(net.parameters()).data[0] = math.nan

    steps: list[None] = []
    monkeypatch.setattr(runs, "follow", spoil_at_third_step)
    assert train.main(options(folder, "run", **{"save-minutes": 0})) == 1
    assert "step 3: the loss is not a number" in capsys.readouterr().err
    assert runs.read_checkpoint(folder / "run" / train.CHECKPOINT)["step"] == 2


def test_a_full_disk_ends_the_run_which_goes_on_later(folder: Path, capsys, monkeypatch) -> None:
    run = folder / "run"
    fsync = os.fsync

    def full(descriptor: int) -> None:
        if (run / train.CHECKPOINT).exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "fsync", full)
        assert train.main(options(folder, "run", **{"save-minutes": 0})) == 1
    assert re.fullmatch(
        r"train: .*: No space left on device; --resume goes on\n", capsys.readouterr().err.splitlines(True)[-1]
    )
    assert runs.read_checkpoint(run / train.CHECKPOINT)["step"] == 1
    assert not [path for path in run.iterdir() if path.suffix == ".tmp"]
    assert train.main([f"--out={run}", "--resume"]) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_a_folder_serves_one_run_at_a_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "run").mkdir()
    with files.reserved(folder / "run"):
        assert train.main(options(folder, "run")) == 1
    assert "in use by another process" in capsys.readouterr().err


def test_a_checkpoint_of_another_version_or_none_is_a_line(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = finished / "run" / train.CHECKPOINT
    state = runs.read_checkpoint(path)
    for name, value, said in (
        ("settings", {**state["settings"], "colour": 1}, "does not fit this program"),
        ("settings", {**state["settings"], "depth": "6"}, "--depth '6' is no int"),
        *(("optimisers", value, "does not fit this program") for value in ([], "x")),
        *((name, "x", "is not a checkpoint of a training run") for name in ("step", "progress", "window", "kept")),
    ):
        torch.save({**state, name: value}, path)
        assert train.main(["--resume", f"--out={finished / 'run'}", "--steps=8"]) == 1
        assert said in capsys.readouterr().err
    (finished / "run" / train.CHECKPOINT).unlink()
    journal = (finished / "run" / "log.jsonl").read_bytes()
    assert train.main(options(finished, "run", steps=4)) == 1
    assert "holds the log.jsonl of another run" in capsys.readouterr().err
    assert (finished / "run" / "log.jsonl").read_bytes() == journal


def test_a_flipped_bit_in_a_checkpoint_is_noticed(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = finished / "run" / train.CHECKPOINT
    content = path.read_bytes()
    members = [member for member in ZipFile(path).infolist() if member.file_size > 1000]
    for place in (member.header_offset + member.file_size // 2 + 100 for member in members[:12]):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(runs.TrainingError, match="damaged"):
            runs.read_checkpoint(path)
    assert train.main(["--resume", f"--out={finished / 'run'}", "--steps=8"]) == 1
    error = capsys.readouterr().err
    assert error == f"train: {path} is damaged: something in it was changed after it was written\n"


def test_resuming_takes_the_settings_along(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = f"--out={finished / 'run'}"
    assert train.main(options(finished, "run", steps=4)) == 1
    assert "holds a run already" in capsys.readouterr().err
    assert train.main(["--resume", out, "--channels=16"]) == 1
    assert "--channels cannot change on the way: it was 8" in capsys.readouterr().err
    assert train.main(["--resume", out, "--hours=1"]) == 1
    assert "the run has come to its end: --steps makes it longer" in capsys.readouterr().err
    assert train.main(["--resume", out, "--steps=8"]) == 0
    assert [row[0] for row in curve(finished, "run")] == [2, 4, 6, 8]


def test_games_without_a_split_are_not_validated_with(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    for line in lines:
        del line["split"]
    (folder / "own.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    given = options(folder, "run", train=folder / "own.jsonl")
    assert train.main(given) == 1
    assert f"--val is needed: no line of {folder / 'own.jsonl'} has a split" in capsys.readouterr().err
    assert train.main([*given, f"--val={folder / 'games.jsonl'}"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--train and --out are needed"),
        (["--train=x.jsonl", "--out=o"], "say how long"),
        (["--train=x.txt", "--out=o", "--hours=1"], "--val is needed"),
        (["--train=x.jsonl", "--out=o", "--steps=1", "--batch-size=0"], "--batch-size must be at least 2"),
        (["--train=x.jsonl", "--out=o", "--steps=1", "--learning-rate=nan"], "--learning-rate must be at least 0"),
        (["--resume", "--out=o"], "nothing to resume"),
        (["--resume", "--out=no"], "is not a checkpoint"),
        (
            ["--train=games.jsonl", "--out=o", "--steps=1", "--cache=c", "--batch-size=99999"],
            "do not fill a batch of 99999",
        ),
        (["--train=games.jsonl", "--out=o", "--steps=1", "--init=none.npz"], "none.npz: No such file"),
        (["--train=x.jsonl", "--out=o", "--steps=1"], "x.jsonl cannot be read"),
        (["--train=no", "--val=no", "--out=o", "--steps=1"], "(a list of record files is wanted"),
    ],
)
def test_bad_input_is_one_line(folder: Path, monkeypatch, capsys, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(folder)
    (folder / "no").mkdir()
    (folder / "no" / train.CHECKPOINT).write_text("no checkpoint")
    assert train.main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
