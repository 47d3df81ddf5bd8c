"""docs/a-game.md: its game, taken from the page, its moves counted, and run as readers run it."""

import importlib
import os
import random
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from both_boards import compared, perft_of
from web_board import ROOT, SETTINGS, served

from pydlshogi import cycle
from pydlshogi.analysis_server.pool import Pool
from pydlshogi.catalogue import GAMES
from pydlshogi.encoding import planes_of
from pydlshogi.game import DRAWN, MATED, UNDECIDED, Outcome
from pydlshogi.uct.batch import Batch
from pydlshogi.usi import __main__ as usi
from pydlshogi.web import __main__ as board
from pydlshogi.web.table import setup
from utils import match

PAGE = (ROOT / "docs" / "a-game.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`(connect4/\w+\.py)`\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
SHORTER = "--minutes 0.03 --workers 1 --games 8 --playouts 8 --depth 1 --channels 8 --batch-size 16 --shards 1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader has put the files of the page."""
    folder = tmp_path_factory.mktemp("a_game")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def game(folder: Path) -> Iterator[Any]:
    """Its modules, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        names = [Path(name).stem for name in FILES]
        yield SimpleNamespace(**{name: importlib.import_module(f"connect4.{name}") for name in names})
    for name in [name for name in sys.modules if name.partition(".")[0] == "connect4"]:
        del sys.modules[name]


def run(folder: Path, command: str, typed: str = "") -> str:
    """What a command of the page says, given there by a reader."""
    python = Path(sys.executable)
    words = [str(python) if word == "python" else word for word in shlex.split(command)]
    paths = {"PYTHONPATH": str(ROOT), "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    env = os.environ | paths
    done = subprocess.run(words, cwd=folder, env=env, input=typed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(begin: str) -> str:
    """The command of the page that begins so."""
    (found,) = re.findall(rf"^```\n(python -m {re.escape(begin)}.*)\n```$", PAGE, re.MULTILINE)
    return str(found)


def random_games(game: Any, seed: int, games: int) -> Iterator[Any]:
    """Every position of some games, the ends included."""
    rng = random.Random(seed)
    for _ in range(games):
        yield (position := game.position.ConnectFour())
        while len(moves := position.legal_moves()):
            position.push(rng.choice(moves.tolist()))
            yield position


PERFT = {
    "7/7/7/7/7/7 b - 1": [*(7**depth for depth in range(1, 7)), 7**7 - 7, 5673234],
    "7/d2D3/D2d2d/d1Dd2d/dDDd2D/DdDD1Dd b - 21": [7, 26, 163, 577, 3291, 11733, 61905],
    "7/2dd3/2dD3/D1dd1D1/D1DDdd1/DDddDDd b - 21": [7, 33, 188, 874, 4810, 22443, 116577],
}
"""Lines by their length, from the start as others have counted them, from the others as a search by letter did."""


@pytest.mark.parametrize("words", ["check", "format --check"])
def test_the_code_is_as_the_package_has_it(folder: Path, words: str) -> None:
    ours = ["--config", str(ROOT / "pyproject.toml"), "--config", f"src = ['.', {str(ROOT)!r}]"]
    ruff = [sys.executable, "-m", "ruff", *words.split(), *ours, "connect4"]
    done = subprocess.run(ruff, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_rules_and_keys(game: Any) -> None:
    perft = perft_of(game.rules.RULES)
    for sfen, lines in PERFT.items():
        state = game.position.ConnectFour(sfen).state
        assert [perft(state, depth) for depth in range(1, len(lines) + 1)] == lines
    boards = {(position.key(), position.sfen().rsplit(" ", 1)[0]) for position in random_games(game, 2, games=60)}
    assert len({key for key, _ in boards}) == len({board for _, board in boards}) == len(boards) > 500
    position = game.position.ConnectFour("7/3d3/3D3/3d3/3D1d1/2dD1D1 b - 9")
    met = compared(game.rules.RULES, position.settings, position, 400, encoding=game.rules.ENCODING)
    assert {verdict for verdict, _ in met} == {UNDECIDED, -1}
    assert DRAWN not in met
    full = game.position.ConnectFour("dDdDdDd/dDdDdDd/DdDdDdD/DdDdDdD/dDdDdDd/dDdDdDd b - 43")
    assert (len(full.legal_moves()), full.outcome()) == (0, Outcome(0.5))


def test_it_is_written_and_drawn(game: Any) -> None:
    ends = Counter[Outcome | None]()
    for position in random_games(game, seed=1, games=40):
        assert game.position.ConnectFour(position.sfen()).sfen() == position.sfen()
        assert "/".join(position.describe()).count("D") == position.ply() // 2
        ends[position.outcome()] += 1
    assert ends[MATED] > 25
    played = game.position.ConnectFour()
    for move in ("4f", "3f", "4e"):
        played.push(played.move_from_usi(move))
    assert (played.describe()[-2:], played.turn) == (["...D...", "...Dd.."], 1)


@pytest.mark.parametrize(
    "text", ["7/7/7/7/7 b - 1", "7/7/7/7/7/8 b - 1", "7/7/7/7/3D3/7 b - 1", "7/7/7/7/7/3P3 b - 1", "7/7 x"]
)
def test_what_is_no_position_is_refused(game: Any, text: str) -> None:
    with pytest.raises(ValueError, match=r"board|column|sfen"):
        game.position.ConnectFour(text)


def test_the_network_sees_the_board(game: Any) -> None:
    encoding = game.rules.ENCODING
    (mirror,) = encoding.symmetries
    for position in random_games(game, seed=3, games=10):
        batch, moves = Batch(1, 7, encoding), position.legal_moves()
        batch.add(position, moves)
        (planes,) = planes_of(encoding, batch.packed[:1])
        own, other = "dD" if position.turn else "Dd"
        board = np.array([list(row) for row in position.describe()])
        assert np.array_equal(planes, [board == own, board == other])
        assert np.array_equal(planes.reshape(2, -1)[:, mirror.squares].reshape(2, 6, 7), planes[:, :, ::-1])
        labels = batch.labels[: len(moves)]
        assert labels.tolist() == moves.tolist()
        assert mirror.labels[labels].tolist() == [6 - move for move in moves.tolist()]


@pytest.mark.parametrize(
    ("name", "message"),
    [("nowhere:GAME", "nowhere:GAME: No module named 'nowhere'"),
     ("json:GAME", "json:GAME: module 'json' has no attribute 'GAME'"), (":GAME", ":GAME: invalid format: ':GAME'"),
     ("nowhere", f"no game is called nowhere; there are {', '.join(sorted(GAMES))}")],
)  # fmt: skip
def test_a_game_that_is_not_there_is_one_line(name: str, message: str, tmp_path: Path, capsys) -> None:
    assert cycle.main([name, "--out", str(tmp_path / "run")]) == 1
    assert match.main(["a", "b", "--game", name, "--nodes", "1", "--out", str(tmp_path / "match")]) == 1
    assert board.main(["--no-browser", "--game", name]) == 1
    with pytest.raises(SystemExit):
        usi.main([name])
    *said, last = capsys.readouterr().err.splitlines()
    assert said[:3] == [f"cycle: {message}", f"match: {message}", f"board: {message}"]
    assert last.endswith(message)
    assert not list(tmp_path.iterdir())
    with pytest.raises(SystemExit):
        usi.main(["dobutsu", "alphabeta"])
    assert capsys.readouterr().err.endswith("error: dobutsu has no engine alphabeta; it has mcts\n")


@pytest.mark.torch
@pytest.mark.timeout(900)
def test_what_the_page_says(folder: Path) -> None:
    pytest.importorskip("torch", reason="needs PyTorch (the extra `train`)")
    assert "cycle 1: 16 games" in run(folder, f"{command('pydlshogi.cycle')} {SHORTER}")
    assert (folder / "runs" / "connect4" / "net.npz").exists()
    (start, typed, answer) = re.findall(r"```text\n\$ (.*)\n((?:> .*\n|readyok\n)*)(bestmove .*)\n> quit\n```", PAGE)[0]
    lines = [line.removeprefix("> ") for line in typed.splitlines() if line.startswith("> ")]
    said = run(folder, start, "\n".join(lines)).splitlines()
    assert (said.count("readyok"), said[-1]) == (1, answer)
    said = run(folder, f"{command('utils.match')} --nodes 8 --games 2").splitlines()
    assert any(line.startswith("A against B in 2 games") for line in said)


def test_it_is_on_the_board_and_its_records_are_opened_again(game: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = game.game.GAME
    monkeypatch.setitem(GAMES, entry.name, entry)
    pool = Pool(1, SETTINGS)
    with served(pool) as played:
        assert setup()["games"][entry.name]["look"]["title"] == "Connect four"
        played.new(entry.name, sides=("", "easy"), moves="4f")
        state = played.news.until(lambda state: state["game"] == entry.name and state["at"] == 2)
        assert len(state["legal"]) == 7
        assert state["written"][0] == ["4f", "4f"]  # as it writes them itself
        played.new(entry.name, moves="4f 3f 4e 3e 4d 3d 4c")
        assert played.state()["ending"] == {"reason": "four in a row", "winner": 0}
        saved = played.record()
        played.new("shogi")
        state = played.opened(saved)
        assert (state["game"], " ".join(state["moves"])) == (entry.name, "4f 3f 4e 3e 4d 3d 4c")
    pool.close(cancel=True)
