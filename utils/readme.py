"""Fills in what the programs themselves have to say in docs/, the options and the rooms of the package.

    python -m utils.readme

Run it after an option or a room was added or renamed; tests/test_readme.py compares.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.support.command_line import exit_status, parser_for
from pydlshogi.support.files import write_whole

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PACKAGE = ROOT / "pydlshogi"


def fill(page: Path, part: str, content: str) -> None:
    """Write `content` between the marks of `part` in `page`. Raises ValueError unless there is one pair of them."""
    pattern = re.compile(rf"(<!-- {part}\b[^>]*-->\n).*?(<!-- /{part} -->)", re.DOTALL)
    before = page.read_text(encoding="utf-8")
    text, count = pattern.subn(lambda match: f"{match[1]}\n{content}\n\n{match[2]}", before)
    if count != 1:
        raise ValueError(f"{page.name} needs one pair of marks for {part}, and has {count}")
    write_whole(page, text.encode())


def options_table() -> str:
    """The options that GUIs show, and the names of the others."""
    others = ", ".join(f"`{option.usi_name}`" for option in MCTSPlayerOptions.declared() if not option.shown)
    return f"{MCTSPlayerOptions.markdown_table()}\n\nGUIs do not show these, which can be set by name: {others}."


def rooms_table() -> str:
    """One line for each room of the package, lowest first."""
    rows = ["| Room | What it is |", "|---|---|"]
    for path in rooms():
        name = path.removeprefix(f"{PACKAGE.name}/") + ("/" if (ROOT / path).is_dir() else "")
        rows.append(f"| [`{name}`](../{path}) | {first_sentence(ROOT / path)} |")
    return "\n".join(rows)


def rooms() -> Iterator[str]:
    """Paths, below the root, of the files and folders of the package, each after those that it imports from."""
    sources = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]
    paths = {path.stem: path for path in (PACKAGE / source.relative_to(PACKAGE).parts[0] for source in sources)}
    below: dict[str, set[str]] = {room: set() for room in paths}
    for source in sources:
        room = Path(source.relative_to(PACKAGE).parts[0]).stem
        below[room] |= imported(parsed(source)) & paths.keys() - {room}
    needed, placed = set().union(*below.values()), list[str]()
    while len(placed) < len(below):
        ready = [room for room in below if room not in placed and below[room] <= {*placed}]
        # By name, but what nothing is built upon comes late.
        placed.append(min(ready, key=lambda room: (room not in needed, room)))
        yield paths[placed[-1]].relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(module: ast.Module) -> set[str]:
    """The rooms that a module imports from."""
    return {name.split(".")[1] for name in dotted(module) if name.startswith(f"{PACKAGE.name}.")}


def dotted(module: ast.Module) -> set[str]:
    """The names that a module imports, anywhere in it, be it only for its types."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)
    return names


def first_sentence(path: Path) -> str:
    """The beginning of the docstring of a module or package."""
    docstring = ast.get_docstring(parsed(path / "__init__.py" if path.is_dir() else path))
    if not docstring:
        raise ValueError(f"{path} has no docstring")
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", paragraph, maxsplit=1)[0].rstrip(".:").replace("|", "\\|")


def main() -> int:
    parser = parser_for("utils.readme", "Fill in docs/: the options and the rooms.")
    parser.parse_args()

    def run() -> None:
        fill(DOCS / "play.md", "options", options_table())
        fill(DOCS / "architecture.md", "rooms", rooms_table())

    return exit_status("readme", run, ValueError)


if __name__ == "__main__":
    sys.exit(main())
