"""The exporter as its user calls it."""

from pathlib import Path

import pytest

from pydlshogi.games.shogi.encodings import BOOK
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.weights import random_weights, write_weights
from utils import export_onnx


@pytest.fixture(scope="module")
def npz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("network") / "net.npz"
    write_weights(path, random_weights(architecture_for(BOOK, "policy_value_resnet", 1, 16), seed=2))
    return path


def run(*arguments: str | Path) -> int:
    return export_onnx.main([*map(str, arguments)])


def test_the_file_is_the_same_network(npz: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(npz, tmp_path / "net.onnx") == 0
    out, err = capfd.readouterr()
    assert err == ""
    said = "win rate apart by 0.00% on average and 0.00% at most"
    assert out == f"compared with the .npz on 512 positions: same first label in 100.0%, {said}\n"
    assert (run(npz, tmp_path / "net.onnx"), "net.onnx exists (--overwrite" in capfd.readouterr().err) == (1, True)


def test_what_cannot_be_done_is_a_line(npz: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = tmp_path / "none.npz"
    assert run(nothing, tmp_path / "net.onnx") == 1
    assert capsys.readouterr() == ("", f"export_onnx: {nothing}: No such file or directory\n")
    assert run(npz, tmp_path / "no folder" / "net.onnx") == 1
    assert "no folder/net.onnx: No such file" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        run(npz, tmp_path / "net.pth")
    assert list(tmp_path.iterdir()) == []
