"""What the programs of the command line cannot do they say in one line, before any work, and lose nothing."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from pydlshogi.support.files import shipped_model

ROOT = Path(__file__).resolve().parent.parent
RECORD = "V2.2\nN+a\nN-b\nPI\n+\n+2726FU\n-8384FU\n%TORYO\n"
ENDLESS = ["--level", "40"]
"""Of searches: who begins them is not heard of again."""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin").write_bytes(b"d\xe9j\xe0 vu\n")
    (tmp_path / "openings").write_text("f5d6c3\n")
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "game.kif").write_text("手合割：平手\n   1 ７六歩(77)\n   2 投了\n", encoding="utf-8")
    (tmp_path / "game.csa").write_text(RECORD)
    (tmp_path / "records.txt").write_text("game.csa\n")
    (tmp_path / "missing.txt").write_text("nothing.csa\n")
    np.save(tmp_path / "array.npy", np.zeros(3))
    damaged = bytearray((shipped_model() / "othello_patterns.npz").read_bytes())
    damaged[1000:1100] = bytes(100)
    (tmp_path / "damaged.npz").write_bytes(damaged)
    return tmp_path


SERVE = "pydlshogi.games.othello.protocols.serve"
REFUSED = [
    ("utils.critical_positions", ["--network", "{empty}"], "critical_positions: {empty}: not an .npz archive"),
    ("utils.make_kifu_list", ["{games}", "{list}", "--train", "3"], "make_kifu_list: 3 + 0 files are asked for"),
    ("utils.filter_csa", ["{records.txt}", "--min-rating", "nan"], "argument --min-rating: must be at least 0"),
    (
        "utils.othello.probcut",
        ["--games", "{openings}", "--out", "{new}"],
        "probcut: {openings}: nothing to conclude; ",
    ),
    ("utils.othello.probcut", ["--games", "{nowhere}"], "probcut: {nowhere}: No such file or directory"),
    ("utils.othello.probcut", ["--games", "{games}", "--weights", "{latin}"], "{latin} holds no weights of patterns"),
    ("utils.othello.probcut", ["--table", "{nowhere}/table"], "probcut: {nowhere}/table: No such file or directory"),
    ("utils.make_book", ["--out={new}"], "make_book: games, --search or both are needed"),
    ("utils.make_book", ["--search=1", "--out={nowhere}/book.db"], "make_book: {nowhere}/book.db: No such file"),
    ("utils.make_book", ["--search=1", "--out={new}", "--network={nowhere}"], "{nowhere}: No such file or directory"),
    ("utils.make_book", ["--search=1", "--out={new}", "--network={empty}"], "net: not an .npz archive"),
    ("utils.othello.selfplay", ["--out", "{new}", "--level", "99"], "argument --level: must be 1 to 60"),
    ("utils.tune", ["true", "C=1,0", "--nodes", "1", "--out", "{new}"], "C=1,0 is not NAME=START,LOW,HIGH"),
    ("utils.tune", ["true", "C=5,0,2", "--nodes", "1", "--out", "{new}"], "C=5,0,2: START must be from LOW to HIGH"),
    ("utils.tune", ["true", "C=1,0,2", "--nodes", "x", "--out", "{new}"], "argument --nodes: x makes no sense"),
    ("utils.tune", ["true", "C=1,0,2", "--nodes", "1", "--out", "{new}", "--step", "nan"], "must be 1e-06 to 1"),
    ("utils.torture", ["--minutes", "nan"], "--minutes: must be at least 0"),
    ("utils.teach", ["true", "--nodes", "1", "--out", "{new}", "--odd", "1"], "--odd needs --records"),
    ("utils.make_kifu_list", ["{games}", "{list}", "--ratio", "1.5"], "--ratio: must be 0 to 1"),
    (SERVE, ["--seconds", "nan"], "--seconds: must be at least 0.001"),
    (SERVE, ["--option", "Weights={array.npy}"], "othello: {array.npy} holds no weights of patterns, or is damaged"),
    (
        SERVE,
        ["--option", "Weights={damaged.npz}"],
        "othello: {damaged.npz} holds no weights of patterns",
    ),
    (SERVE, ["--option", "Openings_File={latin}"], "othello: {latin} holds no opening book of Othello, or is damaged"),
    ("utils.othello.even", ["{nowhere}/file", *ENDLESS], "even: {nowhere}/file: No such file or directory"),
    ("utils.othello.even", ["{folder}", *ENDLESS], "even: {folder}: Is a directory"),
    ("utils.othello.register", ["{nowhere}/file", "--search=1", *ENDLESS], "register: {nowhere}/file: No such file"),
    ("utils.othello.parts", ["{new}", "--openings", "{latin}"], "parts: {latin}: line 1: "),
    ("pydlshogi.bench", ["network", "--batch", "100000000"], "bench: out of memory: "),
    ("pydlshogi.selfplay", ["shogi", "--out", "{new}", "--modelfile", "{empty}"], "selfplay: {empty}: "),
    ("pydlshogi.selfplay", ["othello", "--out", "{new}"], "selfplay: --modelfile is missing: no network of othello"),
]


@pytest.mark.parametrize(("module", "words", "line"), REFUSED, ids=lambda part: str(part)[:40])
def test_one_line_and_no_work(module: str, words: list[str], line: str, files: Path, capsys) -> None:
    def there(text: str) -> str:
        return text.replace("{", f"{files}/").replace("}", "")

    main = import_module(module).main
    try:
        status = main([there(word) for word in words])
    except SystemExit as refused:  # by argparse
        status = refused.code
    out, err = capsys.readouterr()
    assert (status, out) in [(1, ""), (2, "")], err
    *usage, said = err.splitlines()
    assert there(line) in said
    assert not usage or usage[0].startswith("usage: ")
