"""What is made once and kept in the cache folder."""

from pathlib import Path

import pytest

from pydlshogi.support.cache import cached


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("pydlshogi.support.cache.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def test_it_is_made_once_for_each_key_and_what_fails_is_not_kept(cache: Path) -> None:
    cache.write_bytes(b"a file")
    assert [cached("one", "key", lambda made=number: made) for number in range(2)] == [0, 1]
    cache.unlink()
    made = iter(range(10))
    answers = [cached("things/one", key, lambda: {"made": next(made)})["made"] for key in ("a", "a", "b", "b", "a")]
    assert answers == [0, 0, 1, 1, 2], "the last key displaces the one before"
    assert [path.name for path in (cache / "things").iterdir()] == ["one"]
    with pytest.raises(ZeroDivisionError):
        cached("one", "key", lambda: 1 // 0)
    assert cached("one", "key", lambda: 1) == 1


def test_what_is_damaged_is_made_anew(cache: Path) -> None:
    cached("one", "key", lambda: b"first" * 10)
    content = (cache / "one").read_bytes()
    spoilt = [content[:-1], content + b" ", b"", b"x" * 10, *(_flipped(content, at) for at in (0, 31, 32, 60))]
    for number, damaged in enumerate(spoilt):
        (cache / "one").write_bytes(damaged)
        assert [cached("one", "key", lambda made=number: made) for _ in range(2)] == [number] * 2


def _flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
