"""Training from games of Othello: examples against boards turned by hand, and whole runs."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch (the extra `train`)")

from othello_games import random_game  # noqa: E402

from pydlshogi import train  # noqa: E402
from pydlshogi.games.othello.encodings import OTHELLO  # noqa: E402
from pydlshogi.games.othello.game import GAME  # noqa: E402
from pydlshogi.games.othello.rules import PASS, START, Position  # noqa: E402
from pydlshogi.games.othello.training import OthelloDataset, Settings  # noqa: E402
from pydlshogi.games.othello.transcript import Transcript, after, game_of, transcript  # noqa: E402
from pydlshogi.games.othello.wthor import held_out, rows_of, write_wthor  # noqa: E402
from pydlshogi.player.options import apply_settings  # noqa: E402

pytestmark = pytest.mark.torch

BOARD = np.arange(64).reshape(8, 8)
TURNED = [np.rot90(board, quarters) for board in (BOARD, BOARD.T) for quarters in range(4)]
"""[8][8, 8]: the square that is seen at each place."""


def habitual_game(seed: int) -> Transcript:
    """After eight random moves each side plays the first square where it can."""
    moves = list(random_game(seed).moves[:8])
    position = after(START, moves)
    while legal := position.moves():
        moves.append(legal[0])
        position = position.play(legal[0])
    return game_of(moves)


GAMES = [habitual_game(seed) for seed in range(100)]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A folder of games, in two formats."""
    folder = tmp_path / "records"
    folder.mkdir()
    write_wthor(folder / "a.wtb", rows_of(GAMES[:60]), 2020, 24)
    (folder / "b.txt").write_text("\n".join(transcript(game.moves) for game in GAMES[60:]))
    return folder


def turned(squares: int, way: np.ndarray) -> int:
    return sum(1 << place for place, square in enumerate(way.ravel().tolist()) if squares >> square & 1)


def test_examples_are_the_positions_in_all_ways_they_can_be_turned(records: Path) -> None:
    for no_games in ("WTHOR.JOU", "WTHOR.TRN", "selfplay.json"):
        (records / no_games).write_bytes(b'{"seed": 0}')
    dataset = OthelloDataset(Settings(train=str(records)), OTHELLO, {})
    learned = [game for game, held in zip(GAMES, held_out(rows_of(GAMES)), strict=True) if not held]
    assert 80 < len(learned) < 100
    expected = []
    for game in learned:
        position = game.start
        for move in game.moves:
            if move != PASS:
                score = game.end.lead if position.black_to_move else -game.end.lead
                expected.append((position, move, 0.5 + 0.5 * np.sign(score)))
            position = position.play(move)
    assert len(dataset.rows) == len(expected)
    rows = np.arange(0, len(expected), 29)
    ways = set()
    for turn in range(8):
        batch = dataset.batch(rows, np.full(len(rows), turn))
        found = []
        for way in TURNED:
            alike = True
            for i, row in enumerate(rows):
                position, move, result = expected[row]
                seen = Position(turned(position.mover, way), turned(position.opponent, way))
                first, end = batch.firsts[i], batch.firsts[i + 1]
                played = int(np.flatnonzero(way.ravel() == move)[0])
                alike = alike and batch.labels[first:end].tolist() == seen.moves()
                alike = alike and batch.weights[first:end].tolist() == [each == played for each in seen.moves()]
                assert batch.values[i] == result
                if alike:
                    own = batch.inputs[i, 0].ravel()
                    alike = turned(seen.mover, BOARD) == sum(1 << s for s in range(64) if own[s])
            if alike:
                found.append(way.tobytes())
        assert len(found) == 1
        ways.add(found[0])
    assert len(ways) == 8


def options(records: Path, out: Path, **more: object) -> list[str]:
    settings = {
        **{"train": records, "out": out, "steps": 60, "batch-size": 128, "depth": 1, "channels": 8, "shards": 1},
        **{"precision": "float32", "average": 0.9, "log-every": 5, "learning-rate": 0.05, "decay": 1, **more},
    }
    return ["othello", *(f"--{name}={value}" for name, value in settings.items())]


@pytest.mark.parametrize("kind", ["policy_value_resnet", "policy_value_dense"])
def test_a_run_learns_goes_on_and_plays(records: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "run"
    assert train.main(options(records, out, kind=kind)) == 0
    losses = [row["policy_loss"] for row in map(json.loads, (out / "log.jsonl").open()) if "loss" in row]
    assert losses[-1] < losses[0]
    assert train.main(["othello", "--resume", f"--out={out}", "--steps=65"]) == 0
    last = json.loads((out / "log.jsonl").read_text().splitlines()[-1])
    assert last["step"] == 65
    assert last["validation"]["top1"] > 0.1
    engine = GAME.mcts()
    apply_settings(engine.options, {"modelfile": str(out / "net.npz"), "Threads": "1", "USI_Hash": "4"})
    player = engine.load()
    player.prepare()
    start = GAME.position()
    priors, value = player.evaluate(start, start.legal_moves())
    assert priors.sum() == pytest.approx(1, abs=0.01)
    assert 0 < value < 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["othello"], "--train and --out are needed"),
        (["othello", "--train=none", "--out=o", "--steps=1"], "none: No such file"),
        (["othello", "--train=empty", "--out=o", "--steps=1"], "none of the 0 games of empty is held out"),
        (["othello", "--train=broken.wtb", "--out=o", "--steps=1"], "broken.wtb: it has no header"),
        (["othello", "--train=broken.txt", "--out=o", "--steps=1"], "broken.txt: line 1: move 1, a1, cannot be played"),
        (["othello", "--train=x", "--out=o", "--steps=1", "--kind=sparse", "--encoding=othello"], "does not go with"),
        (["dobutsu", "--train=x", "--out=o", "--steps=1"], "dobutsu has no records to learn from"),
        (["chess"], "no game is called chess"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, monkeypatch, capsys, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("broken.wtb").write_bytes(b"abc")
    Path("broken.txt").write_text("a1")
    assert train.main(arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
