"""What the programs of the command line cannot do they say in one line, before any work, and lose nothing."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from pydlshogi.support.files import shipped_model

RECORD = "V2.2\nN+a\nN-b\nPI\n+\n+2726FU\n-8384FU\n%TORYO\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin").write_bytes(b"d\xe9j\xe0 vu\n")
    (tmp_path / "openings").write_text("f5d6c3\n")
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "game.kif").write_text("手合割：平手\n   1 ７六歩(77)\n   2 投了\n", encoding="utf-8")
    (tmp_path / "game.csa").write_text(RECORD)
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "a\u2028b.csa").write_text(RECORD)
    (tmp_path / "records.txt").write_text("game.csa\n")
    (tmp_path / "games.psv").write_bytes(b"kept")
    (tmp_path / "log.png").write_text('{"step": 1}\n')
    (tmp_path / "mine_test.txt").write_text("mine\n")
    (tmp_path / "missing.txt").write_text("nothing.csa\n")
    np.save(tmp_path / "array.npy", np.zeros(3))
    damaged = bytearray((shipped_model() / "othello_patterns.npz").read_bytes())
    damaged[1000:1100] = bytes(100)
    (tmp_path / "damaged.npz").write_bytes(damaged)
    return tmp_path


MATCH = ["a", "b", "--out={new}"]
SERVE = "pydlshogi.games.othello.protocols.serve"
REFUSED = [
    ("utils.make_kifu_list", ["{games}", "{list}", "--train", "3"], "make_kifu_list: 3 + 0 files are asked for"),
    ("utils.make_kifu_list", ["{nowhere}", "{list}"], "make_kifu_list: {nowhere}: no such folder"),
    ("utils.make_kifu_list", ["{folder}", "{list}"], "make_kifu_list: {folder}: no record files"),
    ("utils.make_kifu_list", ["{games}", "/"], ": the lists want a name"),
    ("utils.make_kifu_list", ["{names}", "{list}", "--ratio=1"], ".csa': a list cannot hold this name"),
    ("utils.make_kifu_list", ["{games}", "{mine}"], "make_kifu_list: {mine_test.txt} exists (--overwrite replaces it)"),
    ("utils.make_book", ["{games}", "--out={empty}"], "make_book: {empty} exists (--overwrite replaces it)"),
    ("utils.make_book", ["{games}", "--out={nowhere}/own.db"], "make_book: {nowhere}/own.db: No such file"),
    ("utils.make_book", ["{nowhere}", "--out={new}"], "make_book: {nowhere}: no such folder"),
    ("utils.make_book", ["{games}", "--out={folder}", "--overwrite"], "make_book: {folder}: Is a directory"),
    ("utils.make_kifu_list", ["{games}", "{list}", "--min-rating", "nan"], "--min-rating: must be at least 0"),
    ("utils.make_kifu_list", ["{games}", "{list}", "--ratio", "1.5"], "--ratio: must be 0 to 1"),
    ("utils.convert", ["{nowhere}", "{new}.txt"], "new.txt ends in none of "),
    ("utils.convert", ["{nowhere}", "{games.psv}"], "convert: {games.psv} exists (--overwrite replaces it)"),
    ("utils.convert", ["{nowhere}", "{games.psv}", "--overwrite"], "convert: {nowhere}: No such file"),
    ("utils.plot_log", ["{log.png}"], "plot_log: {log.png}: the picture would take the place of the journal"),
    ("utils.match", [*MATCH, "--time=0"], "argument --time: 0 makes no sense"),
    ("utils.match", [*MATCH, "--b-time=9", "--b-nodes=9"], "--b-nodes: not allowed with argument --b-time"),
    ("utils.match", [*MATCH, "--time=9", "--concurrency=0"], "argument --concurrency: must be at least 1"),
    ("utils.match", [*MATCH, "--time=9", "--tolerance=nan"], "argument --tolerance: must be 0 to 1000000000"),
    ("utils.ship_network", ["{empty}", "--out", "{new}.npz"], "an .npz needs --games"),
    ("utils.lab.critical_positions", ["--network", "{empty}"], "critical_positions: {empty}: not an .npz archive"),
    ("utils.lab.othello_learn", ["cuts", "{nowhere}", "--out={new}"], "othello_learn: {nowhere}: No such file"),
    ("utils.lab.tune", ["true", "C=1,0", "--nodes", "1"], "invalid _tuned value: 'C=1,0'"),
    ("utils.lab.tune", ["true", "C=1,0,2", "--nodes", "x"], "argument --nodes: x makes no sense"),
    (SERVE, ["--seconds", "nan"], "--seconds: must be at least 0.001"),
    (SERVE, ["--option", "Weights={array.npy}"], "othello: {array.npy} holds no weights of patterns, or is damaged"),
    (SERVE, ["--option", "Weights={damaged.npz}"], "othello: {damaged.npz} holds no weights of patterns"),
    (SERVE, ["--option", "Weights={nowhere}"], "othello: {nowhere}: No such file or directory"),
    (SERVE, ["--option", "Cuts={latin}"], "othello: {latin} holds no cuts"),
    (SERVE, ["--option", "USI_Hash=0"], "0 becomes 1, a whole number from 1 to 18432"),
    (SERVE, ["--option", "Memory=1"], "there is no option Memory"),
    (SERVE, ["mcts", "--option", "Rollouts=101"], "101 becomes 100"),
    (SERVE, ["mcts", "--option", "modelfile={nowhere}"], "{nowhere}: No such file"),
    (SERVE, ["mcts", "--option", "Policy={array.npy}"], "othello: {array.npy} holds no policy, or is damaged"),
    (SERVE, ["iago", "--option", "Rollouts_File={nowhere}"], "othello: {nowhere}: No such file or directory"),
    (SERVE, ["--option", "Openings_File={latin}"], "othello: {latin} holds no opening book of Othello, or is damaged"),
    ("pydlshogi.bench", ["network", "--batch", "100000000"], "bench: out of memory: "),
    ("pydlshogi.bench", ["network", "--modelfile", "{nowhere}"], "bench: {nowhere}: No such file or directory"),
    ("pydlshogi.bench", ["network", "--backend", "foo"], "bench: Backend foo is none of "),
    ("pydlshogi.bench", ["network", "--backend", "hash"], "bench: no network: Backend hash, so nothing to measure"),
    ("pydlshogi.bench", ["--playouts", "-1"], "--playouts: must be at least 0"),
    ("pydlshogi.bench", ["--seconds", "nan"], "--seconds: must be at least 0.001"),
    ("pydlshogi.bench", ["speed"], "speed is no part: core, network, signature"),
    ("pydlshogi.bench", ["--compare", "{nowhere}"], "{nowhere} is no checkout"),
    ("pydlshogi.selfplay", ["shogi", "--out", "{new}", "--modelfile", "{empty}"], "selfplay: {empty}: "),
    ("pydlshogi.selfplay", ["othello", "--out", "{new}"], "selfplay: --modelfile is missing: no network of othello"),
]


@pytest.mark.parametrize(("module", "words", "line"), REFUSED, ids=lambda part: str(part)[:40])
def test_one_line_and_no_work(module: str, words: list[str], line: str, files: Path, capsys) -> None:
    def there(text: str) -> str:
        return text.replace("{", f"{files}/").replace("}", "")

    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() if path.is_file() else b"" for path in files.rglob("*")}

    main, before = import_module(module).main, content()
    try:
        status = main([there(word) for word in words])
    except SystemExit as refused:  # by argparse
        status = refused.code
    out, err = capsys.readouterr()
    assert (status, out) in [(1, ""), (2, "")], err
    *usage, said = err.splitlines()
    assert there(line) in said
    assert not usage or usage[0].startswith("usage: ")
    assert content() == before
