"""What `pip install .` puts on a machine."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("setuptools", minversion="77", reason="needs setuptools 77, which PyTorch brings along")
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "pydlshogi", folder / "pydlshogi", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "model").mkdir()
    (folder / "model" / "network.npz").write_bytes(b"weights")
    offline = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", folder, folder], check=True)
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def test_the_network_lies_in_the_package(wheel: zipfile.ZipFile) -> None:
    assert wheel.read("pydlshogi/model/network.npz") == b"weights"


def test_nothing_lies_beside_the_package(wheel: zipfile.ZipFile) -> None:
    folders = {name.split("/", maxsplit=1)[0] for name in wheel.namelist()}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"pydlshogi"}


def test_every_module_is_in_it(wheel: zipfile.ZipFile) -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "pydlshogi").rglob("*.py")}
    assert modules <= set(wheel.namelist())


def test_the_page_of_the_board_is_in_it(wheel: zipfile.ZipFile) -> None:
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "pydlshogi" / "web" / "page").iterdir()}
    assert "pydlshogi/web/page/index.html" in pages
    assert pages <= set(wheel.namelist())


def test_the_commands_lead_to_entry_points(wheel: zipfile.ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]
    commands = dict(line.split(" = ") for line in wheel.read(name).decode().splitlines() if " = " in line)
    others = ("board", "csa", "dobutsu", "othello-alphabeta", "policy", "search1")
    assert sorted(commands) == ["pydlshogi", *(f"pydlshogi-{name}" for name in others)]
    for target in commands.values():
        module, function = target.split(":")
        source = (ROOT / Path(*module.split("."))).with_suffix(".py").read_text(encoding="utf-8")
        assert f"def {function}(" in source


def test_the_licence_is_in_it(wheel: zipfile.ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith("/LICENSE")]
    assert b"GNU GENERAL PUBLIC LICENSE" in wheel.read(name)
