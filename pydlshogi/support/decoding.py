"""The text of a record from its bytes, in any of the usual Japanese encodings; texts that any record can hold; JSON."""

import codecs
import json
import re
from typing import Any, Final

_DECLARED: Final = re.compile(rb"\A(?![{(]).*?encoding\s*=\s*([\w-]+)", re.IGNORECASE)
# CP932 is Shift_JIS as Windows writes it: the numbers in circles and the wave dash of real records are in it only.
_DECLARABLE: Final = {
    **dict.fromkeys(("shiftjis", "sjis", "cp932", "ms932", "windows31j"), "cp932"),
    **dict.fromkeys(("eucjp", "ujis"), "euc_jp"),
}
"""Beside UTF-8. Others that Python knows are no text, or take a time that grows with the square of the length."""
_FIRST_LINE: Final = 1000
"""Bytes of the first line that are looked at."""
_HALF_WIDTH_KATAKANA: Final = re.compile("[｡-ﾟ]")
_NO_TEXT: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, other ends of a line, and halves of characters."""


def decode(data: bytes) -> str:
    """Text with `\\n` line ends, unindented. Order: ISO-2022-JP by its escapes, byte order mark, encoding named in the
    first line, UTF-8, CP932 or EUC-JP.

    Bytes that fit none of them (a cut character in a comment) become U+FFFD rather than cost the game; where they
    stand in a move, the format's reader refuses it.
    """
    return re.sub(r"(?m)^[^\S\n]+", "", _decode(data).replace("\r\n", "\n").replace("\r", "\n"))


def _decode(data: bytes) -> str:
    if data.isascii():
        return data.decode("iso2022_jp" if b"\x1b$" in data else "ascii", "replace")
    if data.startswith(codecs.BOM_UTF8):
        return data.decode("utf-8-sig", "replace")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    declared = _DECLARED.search(data[:_FIRST_LINE].split(b"\n", 1)[0])
    name = re.sub("[-_]", "", declared[1].decode("ascii")).lower() if declared else "utf8"
    for codec in (_DECLARABLE.get(name, "utf-8"), "utf-8"):
        text = _strictly(data, codec)
        if text is not None:
            return text
    cp932, euc = _strictly(data, "cp932"), _strictly(data, "euc_jp")
    # EUC-JP read as CP932 is full of half-width katakana; CP932 with full-width kana is never valid EUC-JP.
    if euc is not None and (cp932 is None or _HALF_WIDTH_KATAKANA.search(cp932)):
        return euc
    return data.decode("cp932", "replace") if cp932 is None else cp932


def is_utf8(data: bytes) -> bool:
    """Whether it is UTF-8 that could not be read as another encoding."""
    return not data.isascii() and _strictly(data, "utf-8") is not None


def _strictly(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except UnicodeDecodeError:
        return None


def lines_of(text: str) -> list[str]:
    """The lines of a text that comes from elsewhere, as every format of records can hold them."""
    return [line.strip() for line in _NO_TEXT.sub(" ", text).strip().splitlines()]


def one_line(text: str) -> str:
    """The same for what has one line, as a name."""
    plain = text.isascii() and text.isprintable()  # nearly always, and soon seen
    return text.strip() if plain else " ".join(lines_of(text))


def parse_json(text: str | bytes) -> Any:
    """What a text in JSON says. Raises ValueError, also where it is nested deeper than Python follows."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
