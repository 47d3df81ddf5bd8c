"""The language of code and documentation: subject, verb, object, for readers whose first language is another."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("pydlshogi", "utils", "tests", "examples", "bat", "docs")
LATER = ("pydlshogi/games/shogi/dfpn.py", "docs/laboratory/")
TEXTS = sorted(
    path
    for folder in (*FOLDERS, ".")
    for path in (ROOT / folder).glob("*" if folder == "." else "**/*")
    if path.suffix in {".py", ".md"} and path != Path(__file__)
    if not path.relative_to(ROOT).as_posix().startswith(LATER)
)

DIALECT = re.compile(
    r"(?<![a-z])(so[ _]many|whoever|told|heeds?|wants|who[ _]is[ _]to|cannot but|(not|never) without\b"
    r"|nobody \w+ (not|no|nothing)|nothing \w+ (not|no)|no \w+ (is|are|does|do) not)(?![a-z])",
    re.IGNORECASE,
)
"""What readers stumbled over. Say the number, the person or the thing, and say it without a second "not"."""


def test_sentences_are_plain() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for path in TEXTS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if DIALECT.search(line)
    ] == []
