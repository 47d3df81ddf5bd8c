"""Would the tests notice? Change one operator, constant or argument of a file at a time, and run its tests.

    python -m utils.mutants pydlshogi/player/choice.py tests/test_choice.py

A mutant is the file with one change: `+` for `-`, `<` for `<=` or `>=`, `and` for `or`, 3 for 4, True for False, two
arguments exchanged, a condition turned round. The tests run in a copy of the checkout; what they do not notice survives
and is printed: a test is missing there, or the change means nothing. It takes as many runs of the tests as there are
mutants, so choose quick ones; for what is compiled, NUMBA_DISABLE_JIT=1 spares the compiler.
"""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from pydlshogi.support.command_line import exit_status, parser_for, positive
from pydlshogi.support.errors import OneLineError

_ROOT: Final = Path(__file__).resolve().parents[1]
_COPIED: Final = ("pydlshogi", "utils", "tests", "model", "kifu", "pyproject.toml")
_OPERATORS: Final[dict[Any, tuple[Any, ...]]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}


class Mutant(NamedTuple):
    """A change."""

    line: int
    before: str
    after: str
    source: str
    """The whole file with it."""


def mutants(source: str) -> Iterator[Mutant]:
    """All of them, in the order of the lines."""
    tree = ast.parse(source)
    found = []
    for place, node in enumerate(ast.walk(tree)):
        for number in range(len(_changed(node))):
            changed = deepcopy(tree)
            twin: Any = next(each for at, each in enumerate(ast.walk(changed)) if at == place)
            for name, value in ast.iter_fields(_changed(twin)[number]):
                setattr(twin, name, value)
            found.append(Mutant(twin.lineno, ast.unparse(node), ast.unparse(twin), ast.unparse(changed)))
    return iter(sorted(found, key=lambda mutant: mutant.line))


def _changed(node: Any) -> list[ast.AST]:
    """The node with each change that there is for it: what it had is used again."""
    match node:
        case ast.BinOp(left, operator, right):
            return [ast.BinOp(left, other(), right) for other in _OPERATORS.get(type(operator), ())]
        case ast.AugAssign(target, operator, value):
            return [ast.AugAssign(target, other(), value) for other in _OPERATORS.get(type(operator), ())]
        case ast.BoolOp(operator, values):
            return [ast.BoolOp(other(), values) for other in _OPERATORS[type(operator)]]
        case ast.Compare(left, [operator], right):
            return [ast.Compare(left, [other()], right) for other in _OPERATORS.get(type(operator), ())]
        case ast.If(test, body, orelse):
            return [ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)]
        case ast.IfExp(test, body, orelse):
            return [ast.IfExp(test, orelse, body)]
        case ast.Constant(bool() as value):
            return [ast.Constant(not value)]
        case ast.Constant(int() | float() as value):
            return [ast.Constant(value + 1)]
        case ast.Call(ast.Name("max" | "min")):
            return []  # whatever the order of the arguments
        case ast.Call(function, [first, second, *rest], keywords) if ast.dump(first) != ast.dump(second):
            return [ast.Call(function, [second, first, *rest], keywords)]
    return []


def survivors(file: Path, tests: Sequence[str], every: int, timeout: float) -> Iterator[tuple[Mutant, bool]]:
    """Every so many-th mutant of a file, and whether the tests let it live. Raises OneLineError, OSError."""
    with TemporaryDirectory() as folder:
        for name in _COPIED:
            if (source := _ROOT / name).is_dir():
                shutil.copytree(source, Path(folder, name), ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder)
        copy = Path(folder, file.resolve().relative_to(_ROOT))
        if not _pass(folder, tests, 10 * timeout):
            raise OneLineError("the tests fail or take too long before anything is changed")
        for mutant in list(mutants(file.read_text(encoding="utf-8")))[::every]:
            copy.write_text(mutant.source, encoding="utf-8")
            yield mutant, _pass(folder, tests, timeout)


def _pass(folder: str, tests: Sequence[str], timeout: float) -> bool:
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=timeout, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.mutants", __doc__)
    parser.add_argument("file", type=Path, help="of this checkout")
    parser.add_argument("tests", nargs="+", help="what pytest is given, such as tests/test_choice.py")
    parser.add_argument("--every", type=positive, default=1, metavar="N", help="only every N-th mutant")
    parser.add_argument("--timeout", type=positive, default=60, metavar="SECONDS", help="after which tests have failed")
    options = parser.parse_args(arguments)

    def run() -> None:
        made = lived = 0
        for mutant, lives in survivors(options.file, options.tests, options.every, options.timeout):
            made += 1
            if lives:
                lived += 1
                before, after = mutant.before.splitlines()[0], mutant.after.splitlines()[0]
                print(f"{options.file}:{mutant.line}: {before}  ->  {after}", flush=True)
        print(f"{lived} of {made} mutants survive ({lived / max(1, made):.1%})")

    return exit_status("mutants", run)


if __name__ == "__main__":
    sys.exit(main())
