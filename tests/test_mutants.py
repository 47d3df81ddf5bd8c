"""`python -m utils.mutants`: what it changes."""

import pytest

from utils.mutants import mutants


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        *((source, []) for source in ("a < b < c", "x = 'text'", "f(a, a)", "max(a, b)")),
        *(("a + b", ["a - b"]), ("a and b", ["a or b"]), ("x = 3", ["x = 4"]), ("x = True", ["x = False"])),
        *(("f(a, b)", ["f(b, a)"]), ("a if b else c", ["c if b else a"]), ("x += a", ["x -= a"])),
        ("if a:\n    b", ["if not a:\n    b"]),
    ],
)
def test_one_thing_is_changed_at_a_time(source: str, changed: list[str]) -> None:
    assert [mutant.source for mutant in mutants(source)] == changed


def test_each_says_where_it_is() -> None:
    found = [(mutant.line, mutant.before, mutant.after) for mutant in mutants("x = a\ny = b - 1\n")]
    assert found == [(2, "b - 1", "b + 1"), (2, "1", "2")]
