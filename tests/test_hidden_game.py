"""Without the folder of a game all the rest is as before: nothing but the folder knows the game."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
IMPORT_ALL = """
import pkgutil, pydlshogi
from importlib import import_module
wanted = {"cupy", "chainer", "threadpoolctl", "onnx", "onnxruntime", "openvino", "torch", "ray", "cshogi", "google"}
wanted |= {"matplotlib"}
for module in pkgutil.walk_packages(pydlshogi.__path__, "pydlshogi."):
    if module.name.endswith("__main__"):
        continue
    try:
        import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name.split(".")[0] not in wanted:
            raise
from pydlshogi.catalogue import GAMES
print(*GAMES)
"""


@pytest.fixture(scope="module")
def without_othello(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("without")
    shutil.copytree(ROOT / "pydlshogi", folder / "pydlshogi", ignore=shutil.ignore_patterns("othello"))
    shutil.copytree(ROOT / "model", folder / "model")
    return folder


def run(folder: Path, *words: str) -> str:
    command = [sys.executable, "-P", *words]
    env = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_is_imported_and_the_game_is_not_listed(without_othello: Path) -> None:
    assert run(without_othello, "-c", IMPORT_ALL) == "shogi dobutsu\n"


@pytest.mark.long  # all is compiled anew
def test_the_search_is_the_same(without_othello: Path) -> None:
    assert run(without_othello, "-m", "pydlshogi.bench", "signature") == run(ROOT, "-m", "pydlshogi.bench", "signature")


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_so_are_all_other_tests(tmp_path: Path) -> None:
    hidden = shutil.ignore_patterns(".*", "othello", "test_othello_*", Path(__file__).name)
    folder = Path(shutil.copytree(ROOT, tmp_path / "pydlshogi", ignore=hidden))
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses=3", "--dist=worksteal"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
