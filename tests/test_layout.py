"""The architecture: imports point one way, and nothing heavy is loaded before it is asked for."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from utils.readme import dotted, parsed

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pydlshogi"
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))

SEES = {
    "support": set(),
    "game": {"support"},
    "encoding": {"game", "support"},
    "state_position": {"game", "support"},
    "uct": {"encoding", "game", "support"},
    "network": {"encoding", "support"},
    "evaluator": {"encoding", "network", "support", "uct"},
    "player": {"encoding", "evaluator", "game", "network", "support", "uct"},
    "analysis": {"game", "player"},
    "training": {"encoding", "network", "support"},
    "entry": {"analysis", "encoding", "game", "player", "training"},
    "catalogue": {"entry", "player", "support"},
    "learning": {"catalogue", "encoding", "entry", "evaluator", "game", "network", "support", "training", "uct"},
    "usi": {"game", "player", "support"},
    "analysis_server": {"analysis", "catalogue", "entry", "game", "player", "support"},
    "web": {"analysis", "analysis_server", "catalogue", "entry", "game", "player", "support"},
}
"""What each generic room may import. Programs (self-play, bench) may import all but usi."""

GAMES_SEE = {*SEES} - {"analysis_server", "learning", "usi"}
"""What a game may import beside its own folder: it stands above the generic rooms."""

ENTRY_POINTS = [PACKAGE / "usi" / "__main__.py", *sorted((PACKAGE / "usi").glob("usi_*_player.py"))]
"""The programs that GUIs start: each brings an engine and the protocol together."""

GENERIC = [
    path
    for path in MODULES
    if path.relative_to(PACKAGE).parts[0].removesuffix(".py") in SEES
    and path not in [*ENTRY_POINTS, *PACKAGE.rglob("__main__.py")]
]
"""Rooms and files that serve every game, and name none."""

GAMES = re.compile("shogi|dobutsu|othello|reversi", re.IGNORECASE)
NO_GAMES = re.compile(
    "pydlshogi"  # the package
    "|python-dlshogi"  # the book: its file format, its tables, its lessons
    "|dlshogi's"  # the engine that formulas and defaults were taken from
    "|ShogiHome"  # the GUI that shows what an option is compared with
)
"""Names of programs, each with what a generic room may name it for."""

FRAMEWORKS = [{"chainer", "threadpoolctl"}, {"torch"}, {"google", "onnx", "onnxruntime"}, {"openvino"}]


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports_of(path: Path) -> set[str]:
    names = dotted(parsed(path))
    assert not [name for name in names if name.startswith(".")], "names are written out in full here"
    return names


def part(dotted: str) -> str | None:
    """The part of the package a dotted name belongs to; None for the package itself and for other packages."""
    match dotted.split("."):
        case ["pydlshogi", name, *_] if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file():
            return name
    return None


@pytest.mark.parametrize("path", [path for path in MODULES if path not in ENTRY_POINTS], ids=name_of)
def test_a_module_imports_only_what_lies_below_it(path: Path) -> None:
    own = part(name_of(path))
    imports = {*imports_of(path)}
    assert "cshogi" not in {dotted.split(".")[0] for dotted in imports}  # it is an oracle of the tests alone
    seen = {part(dotted) for dotted in imports} - {None, own}
    if own == "games":
        assert seen <= GAMES_SEE
    elif own in SEES:
        assert seen <= SEES[own]
    else:
        assert "usi" not in seen


@pytest.mark.parametrize("path", sorted((PACKAGE / "games").rglob("*.py")), ids=name_of)
def test_a_game_knows_no_other_game(path: Path) -> None:
    others = {each.parent.name for each in (PACKAGE / "games").glob("*/game.py")} - {*path.parts}
    named = re.compile(rf"pydlshogi\.games\.({'|'.join(sorted(others))})\b")
    assert not named.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", ENTRY_POINTS, ids=name_of)
def test_an_entry_point_imports_engines_and_the_protocol_at_most(path: Path) -> None:
    assert {part(dotted) for dotted in imports_of(path)} - {None} <= {"catalogue", "usi"}


@pytest.mark.parametrize("path", GENERIC, ids=name_of)
def test_what_serves_every_game_names_none(path: Path) -> None:
    named = [line for line in path.read_text(encoding="utf-8").splitlines() if GAMES.search(NO_GAMES.sub("", line))]
    assert named == []


@pytest.mark.parametrize(
    "module", ["", "catalogue", "usi.usi_dobutsu_player", "usi.usi_mcts_player", "usi.usi_policy_player", "cycle"]
)
def test_importing_loads_no_framework(module: str) -> None:
    """The workers of a cycle, which import its main module, load no PyTorch."""
    script = f"import sys, {f'pydlshogi.{module}'.rstrip('.')}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & ({"torch"} if module == "cycle" else set().union(*FRAMEWORKS, {"numba", "numpy", "cshogi"}))
