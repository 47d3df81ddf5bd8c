"""Self-play: sets of games of any game."""

import json
from pathlib import Path

import pytest

from pydlshogi import selfplay
from pydlshogi.catalogue import game_named
from pydlshogi.games.shogi.training.records import load_positions
from pydlshogi.learning.played import PlayedGames
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.weights import write_weights
from pydlshogi.selfplay import main
from pydlshogi.support.files import reserved
from tests.networks import random_weights

pytestmark = pytest.mark.lent_worker(selfplay)

QUICKLY = ["--games", "5", "--playouts", "4", "--cheap-playouts", "2", "--draw-ply", "30", "--workers", "1"]


def network(folder: Path, name: str) -> Path:
    """A network for this game that has learned nothing."""
    path = folder / f"{name}.npz"
    write_weights(path, random_weights(architecture_for(game_named(name).encoding, "policy_value_resnet", 1, 8), 1))
    return path


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sets of games of Dobutsu shogi, and beside them the networks."""
    folder = tmp_path_factory.mktemp("sets")
    network(folder, "shogi")
    modelfile = network(folder, "dobutsu")
    out = folder / "own"
    assert main(["dobutsu", "--out", str(out), "--modelfile", str(modelfile), "--sets", "2", *QUICKLY]) == 0
    return out


def test_sets_of_games_hold_what_was_played(own: Path) -> None:
    sets = [PlayedGames.read(own / f"0000{number}.npz") for number in (1, 2)]
    lines = [json.loads(line) for line in (own / "games.jsonl").read_text().splitlines()]
    assert len(lines) == 10
    scores = [score for each in sets for score in each.scores.tolist()]
    assert [line["win"] for line in lines] == [{1.0: "b", 0.5: "d", 0.0: "w"}[score] for score in scores]
    known = [value for line in lines for value in line["evals"].split() if value != "-"]
    assert len(known) == sum(map(len, sets))
    for line, moves in zip(lines, [moves for each in sets for moves in each.games()], strict=True):
        position = game_named("dobutsu").position(draw_ply=30)
        for usi, move in zip(line["moves"].split(), moves, strict=True):
            assert usi in {position.usi(legal) for legal in position.legal_moves().tolist()}
            assert position.usi(move) == usi
            position.push(move)


def test_a_set_that_is_there_is_not_played_again(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["dobutsu", "--out", str(own), "--modelfile", str(own.parent / "dobutsu.npz"), "--sets", "2", *QUICKLY]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{own} holds 10 games of dobutsu in 2 sets, with ")
    assert said.endswith(f"; {own}/games.jsonl has their moves; nothing was left to play\n")
    before = (own / "00002.npz").read_bytes()
    (own / "00002.npz").unlink()
    assert main(command) == 0
    assert capsys.readouterr().out.endswith("has their moves; 1 sets were played now\n")
    assert (own / "00002.npz").read_bytes() == before
    before = (own / "games.jsonl").read_bytes()
    assert main([*command, "--sets", "1"]) == 0  # the other set stays among the games
    assert capsys.readouterr().out.startswith(f"{own} holds 10 games of dobutsu in 2 sets, with ")
    assert (own / "games.jsonl").read_bytes() == before
    with reserved(own):
        assert main(command) == 1
    assert capsys.readouterr().err == f"selfplay: {own} is in use by another process\n"


def test_killed_before_its_last_file_it_goes_on(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["dobutsu", "--out", str(tmp_path), "--modelfile", str(own.parent / "dobutsu.npz"), *QUICKLY]
    (tmp_path / ".selfplay.json.0123456789abcdef.tmp").write_text("killed")
    assert main(command) == 0

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pydlshogi.selfplay.lines", stopped)
        assert main([*command, "--sets", "2"]) == 130
    assert main([*command, "--sets", "2"]) == 0
    assert (tmp_path / "games.jsonl").read_text() == (own / "games.jsonl").read_text()


@pytest.mark.parametrize("resign", ["0", "0.49"])
def test_games_of_shogi_can_be_learned_by_train(resign: str, own: Path, tmp_path: Path) -> None:
    modelfile, gives_up = own.parent / "shogi.npz", ["--resign", resign, "--play-on", "0", "--full-share", "1"]
    assert main(["shogi", "--out", str(tmp_path / "own"), "--modelfile", str(modelfile), *QUICKLY, *gives_up]) == 0
    moves = sum(PlayedGames.read(tmp_path / "own" / "00001.npz").lengths)
    assert len(load_positions(tmp_path / "own" / "games.jsonl", "train", tmp_path / "cache")) == moves


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("go --out {new} --modelfile {nets}/shogi.npz", "no game is called go; there are dobutsu"),
        ("dobutsu --out {new} --modelfile {nets}/no.npz", "{nets}/no.npz: No such file"),
        ("dobutsu --out {new} --modelfile {nets}/shogi.npz", "{nets}/shogi.npz: a network of "),
        ("dobutsu --out {new} --modelfile {nets}/dobutsu.npz --playouts 0", "--playouts must be"),
        ("dobutsu --out {new} --modelfile {nets}/dobutsu.npz --final-temperature 1e308", "--final-temperature must be"),
        ("dobutsu --out {nets} --modelfile {nets}/dobutsu.npz", "{nets} holds something else: choose"),
        ("shogi --out {own} --modelfile {nets}/shogi.npz", "{own} was made with other settings ("),
        (
            "dobutsu --out {own} --modelfile {nets}/dobutsu.npz --seed 1",
            "{own} was made with other settings (seed): choose another --out",
        ),
    ],
)
def test_sets_that_cannot_be_played_are_one_line(arguments: str, complaint: str, own: Path, tmp_path, capsys) -> None:
    names = {"new": tmp_path / "new", "own": own, "nets": own.parent}
    assert main([*QUICKLY, *arguments.format(**names).split()]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"selfplay: {complaint.format(**names)}")
