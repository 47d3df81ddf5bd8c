"""Files that are there whole or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pydlshogi.support.files import open_plain, replacing, reserved


def write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def test_a_file_is_replaced_or_left_as_it_was_and_nothing_else_is_left(tmp_path: Path) -> None:
    path, names = tmp_path / "net.npz", set()
    for content in (b"one", b"two"):
        with replacing(path) as file:
            file.write(content)
            names |= {each.name for each in tmp_path.glob("*.tmp")}
    assert len(names) == 2  # which cannot be foreseen
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write(b"th" * (1 // 0))
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_on_windows_a_file_that_somebody_holds_is_replaced_once_it_is_let_go(tmp_path: Path, monkeypatch) -> None:
    held, replace = iter([True, True, False]), Path.replace

    def refusing(self: Path, target: Path) -> Path:
        if next(held):
            raise PermissionError(13, "the file is used by another process", str(self))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refusing)
    monkeypatch.setattr(sys, "platform", "win32")
    write(tmp_path / "net.npz", b"one")
    assert (tmp_path / "net.npz").read_bytes() == b"one"


def test_who_reserves_a_folder_deletes_what_killed_processes_left_in_it(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from pydlshogi.support.files import replacing
with replacing(Path(sys.argv[1])):
    os._exit(1)
"""
    (tmp_path / "games").mkdir()
    foreign = tmp_path / ".other.tmp"
    foreign.touch()
    for name in ("net.npz", "games/00039-001.npz"):
        subprocess.run([sys.executable, "-c", script, tmp_path / name], check=False)
    assert len(list(tmp_path.rglob("*.tmp"))) == 3
    with reserved(tmp_path):
        assert list(tmp_path.rglob("*.tmp")) == [foreign]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such links for everybody")
def test_a_link_stays_a_link_and_a_planted_one_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write(tmp_path / "link", b"one")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "file").read_bytes()) == (True, b"one")
    monkeypatch.setattr("os.urandom", bytes)
    (tmp_path / "victim").write_bytes(b"mine")
    (tmp_path / f".net.npz.{bytes(8).hex()}.tmp").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        write(tmp_path / "net.npz", b"one")
    assert (tmp_path / "victim").read_bytes() == b"mine"
    assert not (tmp_path / "net.npz").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_file_to_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a plain file"):
        open_plain(tmp_path / "pipe")
