"""What README.md and the pages of docs/ say is so: options, modules, commands and links."""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from pydlshogi.catalogue import GAMES
from utils.readme import DOCS, ROOT, options_table, rooms, rooms_table

README, JAPANESE = ROOT / "README.md", ROOT / "README.ja.md"
DOORS = [README, *(DOCS / f"{name}.md" for name in ("install", "play", "analyse", "learn", "measure", "strength"))]
"""The pages for users; each of their commands is tried in test_readme_commands.py."""
PAGES = [
    README,
    JAPANESE,
    *(ROOT / name / "README.md" for name in ("model", "kifu")),
    *DOCS.glob("*.md"),
    *DOCS.glob("laboratory/*.md"),
]


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


TEXT = "\n".join(map(read, DOORS))


def test_tables_are_up_to_date() -> None:
    assert options_table() in read(DOCS / "play.md"), "run: python -m utils.readme"
    assert rooms_table() in read(DOCS / "architecture.md"), "run: python -m utils.readme"


def test_the_pages_are_short() -> None:
    assert len(read(README).splitlines()) <= 150


BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
FIGURE = re.compile(r"\d[\d,.]*\d|\d")


def shape(page: Path) -> tuple[list[str], set[str], Counter[str], list[int]]:
    """What a page and its twin in the other language share.

    Commands and what they print, without remarks; names in code; pages that links lead to; how many headings, rows and
    cells there are.
    """
    text = read(page)
    commands = [re.split("  +|#", line)[0].rstrip() for block in BLOCK.findall(text) for line in block.splitlines()]
    prose = BLOCK.sub("", text)
    names = {" ".join(name.split()) for name in re.findall(r"`([^`]+)`", prose)}
    links = Counter(re.sub("#.*", "", link).replace(".ja.md", ".md") for link in re.findall(r"\]\((.*?)\)", prose))
    numbers = [len(re.findall(mark, prose, re.MULTILINE)) for mark in ("^#", r"^\|", r"\|")]
    return commands, names, links, numbers


def figures(page: Path) -> Counter[str]:
    """Those of its sentences."""
    return Counter(FIGURE.findall(re.sub(r"`[^`]+`|\]\(.*?\)", "", BLOCK.sub("", read(page)))))


@pytest.mark.parametrize("page", [JAPANESE, *DOCS.glob("*.ja.md")], ids=lambda page: page.name)
def test_a_japanese_page_says_the_same(page: Path) -> None:
    english = page.with_name(page.name.replace(".ja.md", ".md"))
    assert shape(page) == shape(english)
    # Japanese has figures where English has words.
    assert figures(english) - figures(page) == Counter()


def anchors(page: Path) -> set[str]:
    """How links name the headings of a page, as GitHub makes it of them."""
    headings = re.findall(r"^#+ (.*)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)(.*?)\)", read(page)):
        path, _, heading = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not heading or heading in anchors(target), link


def test_every_room_is_listed_once() -> None:
    listed = list(rooms())
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "pydlshogi").iterdir()}
    assert sorted(listed) == sorted(there - {"pydlshogi/__init__.py", "pydlshogi/__pycache__"})


def test_files_it_names_exist() -> None:
    named = re.findall(r"`((?:bat|docs|kifu|tests|utils|model)/[\w/.]*)`", TEXT)
    named += re.findall(r"`(pydlshogi/[\w/.]*)`", read(DOCS / "book.md"))  # beside the names of the book's own files
    hidden = "othello" not in GAMES  # test_hidden_game.py
    assert [name for name in named if not (ROOT / name).exists() and not (hidden and "othello" in name)] == []
    for module in re.findall(r"python -m ((?:pydlshogi|utils)[\w.]*)", TEXT):
        path = ROOT / Path(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


def test_the_architecture_names_what_there_is() -> None:
    """Whatever stands there as code is a word of the sources, the name of a file, or has a NAME to fill in."""
    page = read(DOCS / "architecture.md")
    if "othello" not in GAMES:  # test_hidden_game.py
        page = re.sub(".*othello.*", "", page)
    code = " ".join([*BLOCK.findall(page), *re.findall(r"`([^`]+)`", BLOCK.sub("", page))])
    folders = (ROOT / name for name in ("pydlshogi", "utils", "tests", "examples", "bat"))
    files = [path for folder in folders for path in folder.rglob("*.*") if path.suffix in {".py", ".sh", ".js"}]
    sources = [*files, ROOT / "pyproject.toml"]
    there = {path.stem for path in sources}.union(*(re.findall(r"\w+", read(path)) for path in sources))
    assert [name for name in re.findall(r"\b[a-zA-Z_]\w+", code) if name not in there and "NAME" not in name] == []


COMMANDS = sorted({*re.findall(r"python -m\s+((?:pydlshogi|utils)[\w.]+)", TEXT)})


NEED_MORE = {"pydlshogi.train": "train", "utils.plot_log": "train"}
"""What the pages install an extra for."""
INSTALLED = packages_distributions()


def not_installed(extras: set[str]) -> set[str]:
    """Modules of the packages that these extras would add."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [line for extra in extras for line in project["optional-dependencies"][extra]]
    wanted = {re.match(r"[\w-]+", line)[0].lower() for line in lines}  # type: ignore[index]
    return {module for module, packages in INSTALLED.items() if wanted & {name.lower() for name in packages}}


@pytest.mark.parametrize("extra", ["", *sorted({*NEED_MORE.values()})])
def test_every_command_it_names_explains_itself_where_it_says(extra: str) -> None:
    modules = [module for module in COMMANDS if NEED_MORE.get(module, "") == extra]
    missing = not_installed({"chainer", "cluster", "gpu", "onnx", "openvino", "test", "train"} - {extra})
    assert {"chainer", "onnxruntime", "torch"} & missing
    done = helped(" ".join(modules), missing)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^usage: python -m (\S+) ", done.stdout, re.MULTILINE) == modules
    assert "%%" not in done.stdout


def helped(modules: str, missing: set[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m` of one after the other, with --help where no arguments are given, where `missing` is missing."""
    program = f"""
import runpy, sys
sys.modules |= dict.fromkeys({missing!r})
sys.argv = ["", *{arguments or ("--help",)!r}]
for module in {modules!r}.split():
    sys.modules.pop(module, None)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            raise
"""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("pydlshogi.cycle dobutsu", "length of the run (10.0)"),
        ("pydlshogi.cycle", "length of the run (20.0)"),
        ("pydlshogi.selfplay shogi", "games of a set (32)"),
    ],
)
def test_help_shows_the_defaults_of_the_game(words: str, shown: str) -> None:
    module, *game = words.split()
    assert shown in " ".join(helped(module, set(), *game, "--help").stdout.split())


@pytest.mark.parametrize("module", sorted(NEED_MORE))
def test_what_needs_more_says_what(module: str) -> None:
    done = helped(module, not_installed({NEED_MORE[module]}))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"is not installed here: run `sh bat/environment.sh {NEED_MORE[module]}`" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_cycle_is_explained_without_pytorch_and_asks_for_it_only_then(tmp_path: Path) -> None:
    done = helped("pydlshogi.cycle", not_installed({"train"}), "dobutsu", "--out", str(tmp_path / "run"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("cycle: PyTorch is not installed here: run `sh bat/environment.sh train`")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
