"""Fills in what the programs themselves have to say in README.md: a dialogue, the options, the modules.

    python -m utils.readme

Run it after an option or a module was added or renamed; tests/test_readme.py compares.
"""

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

from pydlshogi.player.mcts_player import MCTSOptions

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PACKAGE = ROOT / "pydlshogi"

DIALOGUE = [
    ("setoption name DebugMessage value true", ""),
    ("setoption name Random_Ply value 0", ""),
    ("isready", "readyok"),
    ("position startpos", ""),
    ("go", "bestmove"),
]
"""What is typed, and how the last line of the answer begins."""

CANDIDATES_SHOWN = 8


def filled(readme: str, part: str, content: str) -> str:
    """`readme` with `content` between the marks of `part`."""
    pattern = re.compile(rf"(<!-- {part}\b[^>]*-->\n).*?(<!-- /{part} -->)", re.DOTALL)
    text, count = pattern.subn(lambda match: f"{match[1]}\n{content}\n\n{match[2]}", readme)
    if count != 1:
        raise ValueError(f"README.md wants one pair of marks for {part}, and has {count}")
    return text


def options_table() -> str:
    return MCTSOptions.markdown_table()


def modules_table() -> str:
    """One line per module of the package, lowest first."""
    rows = ["| Module | What it is |", "|---|---|"]
    rows += [f"| [`{path}`]({path}) | {first_sentence(ROOT / path)} |" for path in modules()]
    return "\n".join(rows)


def modules() -> Iterator[str]:
    """Paths of the modules, below the root: part by part, and within a part, what is imported before who imports it.

    Within a part, what a function imports does not count: a module that chooses among others is below its choices.
    """
    paths = {dotted(path): path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"}
    parts: dict[str, set[str]] = {}
    for name, path in paths.items():
        below = {part(other) for other in imported(list(ast.walk(parsed(path)))) & paths.keys()}
        parts.setdefault(part(name), set()).update(below - {part(name)})
    for current in in_order(parts):
        inside = [name for name in paths if part(name) == current]
        for name in in_order({name: imported(parsed(paths[name]).body) & set(inside) for name in inside}):
            yield paths[name].relative_to(ROOT).as_posix()


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def part(name: str) -> str:
    """The file or folder of the package that the module `name` belongs to."""
    return name.split(".")[1]


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(statements: Sequence[ast.AST]) -> set[str]:
    """Dotted names that may be modules, from the imports among `statements`."""
    names: set[str] = set()
    for node in statements:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def in_order(below: dict[str, set[str]]) -> Iterator[str]:
    """Keys, each after those it maps to; otherwise by name, and what nothing is built upon comes late."""
    needed = set().union(*below.values())
    sorter = TopologicalSorter(below)
    sorter.prepare()
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=lambda name: (name not in needed, name), reverse=True)
        name = ready.pop()
        yield name
        sorter.done(name)


def first_sentence(path: Path) -> str:
    """The beginning of a module's docstring."""
    docstring = ast.get_docstring(parsed(path))
    if not docstring:
        raise ValueError(f"{path} has no docstring")
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", paragraph, maxsplit=1)[0].rstrip(".:").replace("|", "\\|")


def transcript() -> str:
    """What a terminal shows of a short dialogue with the engine; typed lines begin with `> `."""
    command = [sys.executable, "-m", "pydlshogi.usi.usi_mcts_player"]
    shown = ["$ bat/mcts_player.sh"]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        assert engine.stdin
        assert engine.stdout
        for typed, last in [*DIALOGUE, ("quit", "")]:
            shown.append(f"> {typed}")
            print(typed, file=engine.stdin, flush=True)
            while last and not shown[-1].startswith(last):
                line = engine.stdout.readline()
                if not line:
                    raise RuntimeError(f"the engine ended after {shown[-1]!r}")
                shown += [line.rstrip()] if line.strip() else []
    return "\n".join(["```text", *shortened(shown), "```"])


def shortened(lines: list[str]) -> Iterator[str]:
    """`lines` with only the first of the candidate moves."""
    candidates = 0
    for line in lines:
        candidates += line.startswith("info string")
        if candidates <= CANDIDATES_SHOWN or not line.startswith("info string"):
            yield line
        elif candidates == CANDIDATES_SHOWN + 1:
            yield "..."


def main() -> None:
    argparse.ArgumentParser(description="Fill in README.md: a dialogue, the options, the modules.").parse_args()
    readme = README.read_text(encoding="utf-8")
    readme = filled(readme, "transcript", transcript())
    readme = filled(readme, "options", options_table())
    readme = filled(readme, "modules", modules_table())
    README.write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
