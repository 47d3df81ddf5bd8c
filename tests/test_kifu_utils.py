"""The record tools: lists and the filter."""

from pathlib import Path

import pytest

from pydlshogi.games.shogi.read_kifu import read_list
from utils import filter_csa, make_kifu_list

FIXTURES = Path(__file__).parent / "fixtures" / "kifu"
QUIET_MOVES = "+2726FU\n-8384FU\n+2625FU\n-8485FU\n+6978KI\n-4132KI\n"


def write_game(
    path: Path, plies: int = 60, ratings: tuple[int, int] | None = (3000, 2900), end: str = "%TORYO"
) -> Path:
    """A game of `plies` moves: six of an opening, then the kings step to and fro."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rates = f"'black_rate:a+1:{ratings[0]}.0\n'white_rate:b+2:{ratings[1]}.0\n" if ratings else ""
    steps = ["+5958OU", "-5152OU", "+5859OU", "-5251OU"]
    moves = (QUIET_MOVES.split() + steps * plies)[:plies]
    path.write_text(f"V2.2\nN+a\nN-b\nPI\n+\n{rates}" + "\n".join([*moves, end]) + "\n")
    return path


# make_kifu_list


@pytest.fixture
def records(tmp_path: Path) -> Path:
    for number in range(30):
        (tmp_path / "kifu" / f"{number % 3}").mkdir(parents=True, exist_ok=True)
        (tmp_path / "kifu" / f"{number % 3}" / f"{number}.{'kif' if number % 2 else 'CSA'}").touch()
    (tmp_path / "kifu" / "readme.txt").touch()
    return tmp_path


def test_both_lists_in_one_call(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (records / "lists").mkdir()

    def lists(name: str, *words: str, train: str, test: str) -> list[list[Path]]:
        assert make_kifu_list.main([str(records / "kifu"), str(records / "lists" / name), *words]) == 0
        return [list(read_list(records / "lists" / f"{name}_{part}.txt")) for part in (train, test)]

    train, test = lists("a", "--train", "20", "--test", "5", train="train_20", test="test_5")
    assert (len(set(train)), len(set(test)), len(set(train) | set(test))) == (20, 5, 25)
    assert all(path.is_file() for path in train + test)
    assert (records / "lists" / "a_test_5.txt").read_text().startswith("../kifu/")
    assert "20 of 30 record files" in capsys.readouterr().out
    train, test = lists("b", "--ratio", "0.8", train="train", test="test")  # as in the book
    assert (len(train), len(test)) == (24, 6)
    files = make_kifu_list.record_files(records / "kifu")
    assert sorted(path.resolve() for path in train + test) == files
    first, again, other = (make_kifu_list.split(files, 10, 10, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_lists_are_not_overwritten_unasked(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (records / "all_test.txt").write_text("mine\n")
    arguments = [str(records / "kifu"), str(records / "all")]
    assert make_kifu_list.main(arguments) == 1
    assert capsys.readouterr().err == f"make_kifu_list: {records / 'all_test.txt'} exists (--overwrite replaces it)\n"
    assert (records / "all_test.txt").read_text() == "mine\n"
    assert not (records / "all_train.txt").exists()
    assert make_kifu_list.main([*arguments, "--overwrite"]) == 0
    assert (records / "all_test.txt").read_text() != "mine\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["kifu", "all", "--train", "29", "--test", "2"], "29 + 2 files are asked for, there are 30"),
        (["nowhere", "all"], "nowhere: no such folder"),
        (["empty", "all"], "empty: no record files"),
        (["kifu", "."], ".: the lists want a name"),
    ],
)
def test_lists_that_cannot_be_made(records: Path, monkeypatch, capsys, arguments: list[str], error: str) -> None:
    (records / "empty").mkdir()
    monkeypatch.chdir(records)
    assert make_kifu_list.main(arguments) == 1
    assert capsys.readouterr().err == f"make_kifu_list: {error}\n"
    assert not list(records.glob("*.txt"))


# filter_csa


@pytest.fixture
def games(tmp_path: Path) -> Path:
    folder = tmp_path / "games"
    write_game(folder / "good.csa")
    write_game(folder / "short.csa", plies=50)
    write_game(folder / "weak.csa", ratings=(3000, 2499))
    write_game(folder / "unrated.csa", ratings=None)
    write_game(folder / "draw.csa", end="%SENNICHITE")
    (folder / "broken.csa").write_text("PI\n+\n+7775FU\n")
    return folder


def names(text: str) -> list[str]:
    return sorted(Path(line.split(": ")[0]).name for line in text.splitlines())


def test_files_are_listed_with_the_reason_and_nothing_is_changed(games: Path, capsys) -> None:
    assert filter_csa.main([str(games), "--workers", "1"]) == 0
    out, err = capsys.readouterr()
    assert names(out) == ["good.csa"]
    assert err.endswith("1 of 6 files kept, 0 deleted; ratings: mean 2950, median 2950, highest 3000, lowest 2900\n")
    assert len(list(games.iterdir())) == 6
    assert filter_csa.main([str(games), "--workers", "1", "--rejected"]) == 0
    lines = capsys.readouterr().out.splitlines()
    reasons = ["broken.csa: move 1, +7775FU, is illegal", "draw.csa: ended by sennichite", "short.csa: 50 moves"]
    reasons += ["unrated.csa: unrated", "weak.csa: rated 2499"]
    assert sorted(line.removeprefix(f"{games}/") for line in lines) == reasons


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["--min-moves", "49"], ["good.csa", "short.csa"]),
        (["--min-rating", "2499"], ["good.csa", "weak.csa"]),
        (["--min-rating", "0"], ["good.csa", "unrated.csa", "weak.csa"]),
        (["--endings", "resign,sennichite"], ["draw.csa", "good.csa"]),
        (["--min-rating", "2950"], []),
    ],
)
def test_criteria(games: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], kept: list[str]) -> None:
    assert filter_csa.main([str(games), "--workers", "1", *arguments]) == 0
    assert names(capsys.readouterr().out) == kept


def test_files_are_deleted_only_when_asked_and_never_what_cannot_be_read(games: Path) -> None:
    assert filter_csa.main([str(games), "--workers", "1", "--delete"]) == 0
    assert sorted(path.name for path in games.iterdir()) == ["broken.csa", "good.csa"]


def test_what_the_filter_cannot_do_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert filter_csa.main([str(tmp_path / "nowhere")]) == 1
    assert capsys.readouterr().err == f"filter_csa: {tmp_path / 'nowhere'}: no such folder\n"
    (tmp_path / "list.txt").write_bytes(b"a\0.csa\n")
    assert filter_csa.main([str(tmp_path / "list.txt"), "--workers", "1"]) == 1
    reason = f"{tmp_path / 'list.txt'}: not a list of files: no name has a zero byte"
    assert capsys.readouterr().err == f"filter_csa: {reason}\n"
    with pytest.raises(SystemExit):
        filter_csa.main([str(tmp_path), "--endings", "resign,won"])
    assert "won: not an ending; there are resign, mate" in capsys.readouterr().err
