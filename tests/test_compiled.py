"""What is on the disk never stops a kernel."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pydlshogi.compiled import SOURCES

PACKAGE = Path(__file__).resolve().parents[1] / "pydlshogi"

MODULE = """
from pydlshogi.compiled import compiled

@compiled
def double(number):
    return 2 * number

print(double(21))
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_text(MODULE)
    return path


def run(module: Path) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root), "NUMBA_CACHE_DIR": str(module.parent / "cache")}
    return subprocess.run([sys.executable, module], capture_output=True, text=True, env=environment, check=True)


@pytest.mark.parametrize(
    ("suffix", "damage"), [(".nbi", b""), (".nbi", b"\x80\x04cnowhere\nNothing\n."), (".nbc", b"half of a fi")]
)
def test_a_damaged_cache_is_compiled_anew(module: Path, suffix: str, damage: bytes) -> None:
    assert run(module).stdout == "42\n"
    files = list(module.parent.rglob(f"*{suffix}"))
    assert files
    for file in files:
        file.write_bytes(damage)
    again = run(module)
    assert again.stdout == "42\n"
    assert "compiled anew" in again.stderr


def test_machine_code_with_a_page_of_zeros_is_not_run(module: Path) -> None:
    run(module)
    (file,) = module.parent.rglob("*.nbc")
    code = bytearray(file.read_bytes())
    assert len(code) > 8192
    code[4096:8192] = bytes(4096)
    file.write_bytes(code)
    again = run(module)
    assert again.stdout == "42\n"
    assert "damaged" in again.stderr
    assert run(module).stderr == ""


def test_a_kernel_is_compiled_anew_when_another_module_has_changed(module: Path) -> None:
    copy = module.parent / "pydlshogi"
    copy.mkdir()
    for name in ("__init__.py", "compiled.py"):
        (copy / name).write_bytes((PACKAGE / name).read_bytes())
    (copy / "common.py").write_text(
        "from pydlshogi.compiled import inlined\n\n@inlined\ndef twice(n):\n    return n + n\n"
    )
    module.write_text(MODULE.replace("2 * number", "twice(number)") + "print(sum(double.stats.cache_hits.values()))")
    module.write_text("from pydlshogi.common import twice\n" + module.read_text())

    def ask() -> str:
        environment = {**os.environ, "PYTHONPATH": str(module.parent), "NUMBA_CACHE_DIR": str(module.parent / "cache")}
        done = subprocess.run([sys.executable, module], capture_output=True, text=True, env=environment, check=True)
        return done.stdout

    assert [ask(), ask()] == ["42\n0\n", "42\n1\n"]
    (copy / "common.py").write_text((copy / "common.py").read_text().replace("n + n", "n + n + n"))
    assert ask() == "63\n0\n"


def test_without_a_folder_for_the_cache_it_is_compiled_at_every_start(module: Path) -> None:
    root = str(PACKAGE.parent)
    environment = {**os.environ, "PYTHONPATH": root, "NUMBA_CACHE_LOCATOR_CLASSES": "_UserProvidedCacheLocator"}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, module], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "42\n"
    assert "compiled at every start" in done.stderr


def test_all_that_kernels_are_made_of_is_watched() -> None:
    watched = {path.relative_to(PACKAGE).as_posix() for pattern in SOURCES for path in PACKAGE.glob(pattern)}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kernels = [
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and {"compiled", "inlined"} & {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
        ]
        if not kernels:
            continue
        assert path.relative_to(PACKAGE).as_posix() in watched
        used = {node.id for kernel in kernels for node in ast.walk(kernel) if isinstance(node, ast.Name)}
        for statement in tree.body:
            if isinstance(statement, ast.ImportFrom) and used & {alias.name for alias in statement.names}:
                package, _, module = (statement.module or "").partition(".")
                assert package != "pydlshogi" or module.replace(".", "/") + ".py" in watched
