"""Every `python -m` of the pages for users run once, as a user would but shorter."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from test_readme import COMMANDS, ROOT

TINY = "--depth 1 --channels 8 --batch-size 16 --shards 1"
ENGINE = f"'{sys.executable} -m pydlshogi.usi.usi_mcts_player'"
RUNS = [
    ("pydlshogi.compile", "", "compiled"),
    ("pydlshogi.analysis_server", "", '"turnNumber": 0, "isDuringSearch": false'),
    ("pydlshogi.selfplay", "dobutsu --games 2 --playouts 2 --workers 1 --out {here}/own", "1 sets were played now"),
    ("utils.match", f"{ENGINE} {ENGINE} --nodes 2 --games 2 --max-moves 8 --out {{here}}/match", "Elo"),
    ("utils.convert", "{here}/match/records/match-00001.csa {here}/game.jkf", ""),
    ("pydlshogi.analyze", "{here}/game.jkf --nodes 2", "game.analysed.kif"),
    ("pydlshogi.bench", "core network signature --playouts 2000 --seconds 0.2", "f353fe99"),
    ("pydlshogi.train", "--quick --hours 0.001 --out {here}/quick --cache {here}/cache " + TINY, "net.npz"),
    ("pydlshogi.cycle", "dobutsu --out {here}/dobutsu --minutes 0.05 --games 4 --playouts 4 " + TINY, "cycle 1"),
    ("utils.plot_log", "{here}/dobutsu", "log.png"),
    ("utils.make_book", "{here}/match/records --min-games 1 --out {here}/own.db", "own.db"),
    ("utils.make_kifu_list", "{root}/kifu/selfplay {here}/kiflist", "kiflist_train.txt"),
    ("utils.lab.mate_sets", "{here}/mates.sfen --mate 2000", "100"),
    ("utils.validate_network", "{root}/model/pydlshogi.npz --games {games} --positions 64", "64 positions"),
    ("utils.lab.search_records", "{games} --out {here}/searched --sets 1 --playouts 2", "holds 1 sets"),
    ("utils.lab.teach", f"{ENGINE} --nodes 2 --records {{games}} --odd 1 --out {{here}}/taught", "holds 1 sets"),
    ("utils.convert", "{here}/taught {here}/taught.psv", "left out"),
    ("utils.lab.tune", f"{ENGINE} C_init=144,50,300 --nodes 2 --pairs 1 --max-moves 8 --workers 1", "C_init"),
    ("utils.lab.ladder", "dobutsu --levels 0 1 --games 2", "Elo"),
    ("utils.readme", "", ""),
    ("pydlshogi.games.dobutsu.solve", "", "the start is lost in 78 plies"),
    ("utils.lab.critical_positions", "--network {root}/model/dobutsu.npz --positions 64 --playouts 0", "of 64"),
    ("utils.package", "--out {here}/dist", "installed and answers"),
]
"""Module, arguments and something that it says; later ones use what earlier ones made."""


def test_none_is_forgotten() -> None:
    assert {module for module, _, _ in RUNS} == set(COMMANDS)


@pytest.mark.long
@pytest.mark.torch
@pytest.mark.timeout(5400)
def test_every_command_does_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "mates.sfen").write_text("2B6/2k1n4/9/2p3Pp1/PP5b1/g4P3/9/1L7/4K4 b 2GSLPrs6p 1\n")
    places = {"here": tmp_path, "root": ROOT, "games": ROOT / "kiflist_test_100.txt"}
    for module, arguments, says in RUNS:
        env = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
        typed = '{"id": "a", "maxVisits": 2}\n' if module == "pydlshogi.analysis_server" else ""
        words = [sys.executable, "-m", module, *shlex.split(arguments.format(**places))]
        done = subprocess.run(words, cwd=ROOT, env=env, input=typed, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (module, done.stderr)
        assert says in done.stdout + done.stderr, (module, done.stdout)
        assert "Traceback" not in done.stderr, (module, done.stderr)
