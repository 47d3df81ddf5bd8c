"""What `pip install .` puts on a machine."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from pydlshogi.support import OneLineError
from utils.package import check, commands_of, pack_for_windows

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


def test_all_of_the_package_is_in_it_and_its_commands_lead_somewhere(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    sources = [*(ROOT / "pydlshogi").rglob("*.py"), *(ROOT / "pydlshogi" / "web" / "page").iterdir()]
    assert {path.relative_to(ROOT).as_posix() for path in sources} <= names
    assert wheel.read("pydlshogi/model/network.npz") == b"weights"
    assert {name for name in names if not name.startswith("pydlshogi/") and ".dist-info/" not in name} == set()
    (licence,) = [name for name in names if name.endswith("/LICENSE")]
    assert b"GNU GENERAL PUBLIC LICENSE" in wheel.read(licence)
    assert wheel.filename
    commands = commands_of(Path(wheel.filename))
    others = ("board", "csa", "dobutsu", "othello-alphabeta", "policy", "search1")
    assert sorted(commands) == ["pydlshogi", *(f"pydlshogi-{name}" for name in others)]
    for module in commands.values():
        assert module.startswith("pydlshogi.games.") or callable(import_module(module).main)


def made_up(folder: Path, name: str, files: Mapping[str, str], version: str = "1.0") -> Path:
    """A wheel of these files."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    about = {"METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "RECORD": ""}
    about["WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**files, **{f"INFO/{file}": text for file, text in about.items()}}.items():
            archive.writestr(file.replace("INFO", info), text)
    return path


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where pip finds all there is."""
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_the_zip_for_windows_holds_python_the_packages_and_a_launcher_for_each_command(offline: Path) -> None:
    points = "[console_scripts]\nplay = engine.play:main\n"
    wheel = made_up(offline, "engine", {"engine/there.py": "", "INFO/entry_points.txt": points})
    made_up(offline, "msvc_runtime", {"msvc_runtime-1.0.data/data/msvcp140.dll": "library"})
    python, minor = offline / "python.zip", sys.version_info.minor
    with zipfile.ZipFile(python, "w") as archive:
        archive.writestr("python.exe", "")
        archive.writestr(f"python3{minor}._pth", "python.zip\n.\n#import site\n")
    made = pack_for_windows(wheel, python, offline / "work", offline)
    assert made == offline / "engine-1.0-windows.zip"
    with zipfile.ZipFile(made) as archive:
        names = set(archive.namelist())
        assert {f"pydlshogi/python/{name}" for name in ("python.exe", "msvcp140.dll")} <= names
        assert "pydlshogi/python/Lib/site-packages/engine/there.py" in names
        assert b"Lib\\site-packages\n" in archive.read(f"pydlshogi/python/python3{minor}._pth")
        started = archive.read("pydlshogi/play.bat")
    assert started == b'@echo off\r\n"%~dp0python\\python.exe" -m engine.play %* || timeout /t 60 2>nul\r\n'


def test_an_installed_engine_that_does_not_answer_is_found(offline: Path) -> None:
    silent = "def main():\n    print('usiok')\n"
    points = "[console_scripts]\npydlshogi = engine:main\n"
    wheel = made_up(offline, "engine", {"engine.py": silent, "INFO/entry_points.txt": points})
    with pytest.raises(OneLineError, match="does not say readyok, bestmove"):
        check(wheel, offline / "environment")
