"""Kernels: what is kept on the disk, where, and that it is never the code of other sources."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pydlshogi.support.kernels.compiled import imports_of, inlined, rule, sources_of

PACKAGE = Path(__file__).resolve().parents[1] / "pydlshogi"

PROGRAM = """
import os
import numpy as np
from pydlshogi.support.kernels.bits import twice
from pydlshogi.support.kernels.compiled import allocating, compiled, kernels_folder

@allocating
def halves(words):
    return words.view(np.uint32)

@compiled
def double(words):
    return twice(words.view(np.uint32)[0])

words = np.array([21], np.uint64)
if "ALLOCATE" in os.environ:
    halves(words)
print(double(words), sum(double.stats.cache_hits.values()), kernels_folder())
"""
HELPER = """
from pydlshogi.support.kernels.compiled import rule

@rule
def twice(number):
    return number + number
"""


READ_ONLY = """
import os
import tempfile

create = tempfile.TemporaryFile

def refusing(*, dir, suffix=None):
    if str(dir).startswith(os.environ["READ_ONLY"]):
        raise PermissionError(13, "Permission denied", str(dir))
    return create(dir=dir, suffix=suffix)

tempfile.TemporaryFile = refusing
"""
"""Root may write everywhere: this is how the system answers others."""

MEANWHILE = """
import shutil
import subprocess
import sys

copy_all = shutil.copytree

def copy(source, target):
    if os.environ.pop("MEANWHILE", ""):
        subprocess.run([sys.executable, "-B", __file__], check=True)
    return shutil.copy2(source, target)

def interrupted(source, target):
    shutil.copytree = copy_all
    return copy_all(source, target, copy_function=copy)

shutil.copytree = interrupted
"""
"""While the first file is copied, the program starts a second time."""


class Installation:
    """A package with one rule, a program with a kernel made of it, and a home for its user."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "site" / "pydlshogi"
        self.kept_in_package = self.package / "__pycache__"
        (self.package / "support" / "kernels").mkdir(parents=True)
        rooms = ("__init__", "support/__init__", "support/kernels/__init__")
        for name in (*rooms, "support/kernels/compiled", "support/files"):
            (self.package / f"{name}.py").write_bytes((PACKAGE / f"{name}.py").read_bytes())
        self.helper = self.package / "support" / "kernels" / "bits.py"
        self.helper.write_text(HELPER)
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM)
        self.home = folder / "home"

    def run(self, **environment: str) -> tuple[str, str, str]:
        """What the kernel answers, how many kernels came from the disk, and the folder they are kept in."""
        own = {"PYTHONPATH": str(self.package.parent), "XDG_CACHE_HOME": str(self.home), "LOCALAPPDATA": str(self.home)}
        command, env = [sys.executable, "-B", self.program], os.environ | own | environment
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
        answer, loaded, folder = done.stdout.strip().split(" ", 2)
        return answer, loaded, folder


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_kernels_are_loaded_until_a_source_that_they_reach_changes(installation: Installation) -> None:
    """numba would look at the program alone, and not load what was made beside a kernel that allocates."""
    answer, loaded, folder = installation.run(ALLOCATE="yes")
    assert (answer, loaded) == ("42", "0")
    assert Path(folder).is_relative_to(installation.kept_in_package)
    assert list(Path(folder).rglob("*.nbc"))
    (installation.package / "support" / "other.py").write_text("x = 1\n")
    assert installation.run() == ("42", "1", folder)
    assert not installation.home.exists()
    installation.helper.write_text(HELPER.replace("number + number", "3 * number"))
    assert installation.run()[:2] == ("63", "0")
    installation.helper.write_text(HELPER)
    assert installation.run()[:2] == ("42", "1")


def test_no_import_of_the_package_is_overlooked() -> None:
    """They are found by a pattern; here by Python's own parser."""
    for source in PACKAGE.rglob("*.py"):
        modules = set()
        for node in ast.walk(ast.parse(source.read_bytes())):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{source}: a relative import"
                modules |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
        paths = [PACKAGE.parent.joinpath(*name.split(".")) for name in modules if name.split(".")[0] == PACKAGE.name]
        wanted = {file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()}
        assert wanted <= imports_of(source), source


def test_what_plays_and_shows_compiles_nothing_anew() -> None:
    reached = sources_of(PACKAGE / "uct" / "boards.py") | sources_of(PACKAGE / "games" / "shogi" / "rules.py")
    rooms = {source.relative_to(PACKAGE).parts[0] for source in reached if source.parent != PACKAGE}
    assert rooms == {"games", "support", "uct"}
    assert not any("othello" in source.parts for source in reached)


def test_who_may_not_write_there_gets_a_copy_also_while_another_start_makes_one(installation: Installation) -> None:
    installation.program.write_text(READ_ONLY + MEANWHILE + PROGRAM)
    _, _, there = installation.run(READ_ONLY="/nowhere")
    own = installation.home / "pydlshogi" / Path(there).name
    answer, loaded, rest = installation.run(READ_ONLY=str(installation.package), MEANWHILE="yes")
    folder, *second = rest.split()
    assert [answer, loaded, folder] == second == ["42", "1", str(own)]
    assert len(list(own.iterdir())) == 1
    assert installation.run(READ_ONLY=str(installation.package)) == ("42", "1", str(own))


def test_without_a_place_anywhere_each_start_compiles(installation: Installation) -> None:
    answer, _, folder = installation.run(XDG_CACHE_HOME="", LOCALAPPDATA="", HOME="")  # in the package
    assert (answer, Path(folder).is_relative_to(installation.kept_in_package)) == ("42", True)
    shutil.rmtree(installation.kept_in_package)
    installation.kept_in_package.write_text("a file where a folder should be")
    installation.home.write_text("a file where a folder should be")
    assert installation.run() == ("42", "0", "None")


def test_where_numba_does_not_compile_nothing_is_kept(installation: Installation) -> None:
    source = PROGRAM.replace("sum(double.stats.cache_hits.values())", "0").replace(", kernels_folder())", ", None)")
    installation.program.write_text(source)
    assert installation.run(NUMBA_DISABLE_JIT="1") == ("42", "0", "None")
    assert not list(installation.package.rglob("*.nbc"))


GAME = """
import os
from pydlshogi.support.kernels.compiled import compiled_for, kernels_folder, rule, rule_of_game

change = rule_of_game

def changed(number):
    return change(number)

@rule
def doubled(number):
    return 2 * number

@rule
def squared(number):
    return number * number

kernel = compiled_for(os.environ["GAME"], changed, change={"doubles": doubled, "squares": squared}[os.environ["GAME"]])
print(kernel(21), sum(kernel.stats.cache_hits.values()), kernels_folder())
"""


def test_on_the_disk_no_game_finds_the_kernel_of_another(installation: Installation) -> None:
    installation.program.write_text(GAME)
    answers = [installation.run(GAME=game)[:2] for game in ("doubles", "squares", "doubles")]
    assert answers == [("42", "0"), ("441", "0"), ("42", "1")]


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_plain_numba_searches_the_same_tree() -> None:
    command = [sys.executable, "-m", "pydlshogi.bench", "signature"]
    both = [os.environ | {"PLAIN_NUMBA": plain} for plain in ("0", "1")]
    said = [subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout for env in both]
    assert said[0] == said[1] != ""


def test_a_rule_is_not_inlined_because_an_inlined_one_calls_it_first() -> None:
    """numba would hand that down from caller to callee: a quarter of what the first start compiles."""

    @rule
    def called(number: int) -> int:
        return number + 1

    @inlined
    def between(number: int) -> int:
        return called(number)

    @rule
    def caller(number: int) -> int:
        return between(number)

    assert caller(1) == 2
    inlines = [
        "alwaysinline" in code.library.get_llvm_str()
        for function in (called, between)
        for code in function.overloads.values()  # type: ignore[attr-defined]
    ]
    assert inlines == [False, True]
