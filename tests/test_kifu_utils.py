"""Lists of records, and those that come with the engine: they name its games."""

from collections import Counter
from pathlib import Path

import pytest

from pydlshogi.games.shogi.kifu.formats import SUFFIXES
from pydlshogi.games.shogi.read_kifu import read_list
from utils import make_kifu_list

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
    assert [*map(len, lists("b", "--ratio=0.5", "--overwrite", train="train", test="test"))] == [15, 15]
    files = make_kifu_list.record_files(records / "kifu")
    assert sorted(path.resolve() for path in train + test) == files
    first, again, other = (make_kifu_list.split(files, 10, 10, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("words", "kept"),
    [("--min-rating 2500 --min-moves 50 --endings resign", "good"),
     ("--min-rating 2500 --min-moves 49 --endings resign", "good short"),
     ("--min-rating 2499 --min-moves 50 --endings resign", "good weak"),
     ("--min-moves 50 --endings resign", "good unrated weak"),
     ("--min-rating 2500 --min-moves 50 --endings resign,sennichite", "draw good"), ("--min-rating 2950", "")],
)  # fmt: skip
def test_files_are_listed_whose_games_are_good_enough(tmp_path: Path, capsys, words: str, kept: str) -> None:
    folder = tmp_path / "games"
    write_game(folder / "good.csa")
    write_game(folder / "short.csa", plies=50)
    write_game(folder / "weak.csa", ratings=(3000, 2499))
    write_game(folder / "unrated.csa", ratings=None)
    write_game(folder / "draw.csa", end="%SENNICHITE")
    (folder / "broken.csa").write_text("PI\n+\n+7775FU\n")
    assert make_kifu_list.main([str(folder), str(tmp_path / "all"), "--ratio", "1", *words.split()]) == 0
    listed = (tmp_path / "all_train.txt").read_text().split()
    assert sorted(Path(line).stem for line in listed) == kept.split()
    assert "broken.csa: move 1, +7775FU, is illegal" in capsys.readouterr().err


ROOT = Path(__file__).resolve().parent.parent
TRAIN, TEST = list(read_list(ROOT / "kiflist_train_1000.txt")), list(read_list(ROOT / "kiflist_test_100.txt"))


def test_every_game_is_in_one_list_and_none_twice() -> None:
    assert (len(TRAIN), len(TEST)) == (1000, 100)
    there = {path for path in (ROOT / "kifu").rglob("*") if path.suffix in SUFFIXES}
    assert there == {*TRAIN, *TEST}
    moves = Counter(path.read_text().split("\nPI\n")[1] for path in (*TRAIN, *TEST))
    assert max(moves.values()) == 1
