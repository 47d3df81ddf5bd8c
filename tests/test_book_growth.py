"""Books that grow by own search: values backed up against a slow search of the tree, lines chosen, and whole runs."""

from functools import partial
from pathlib import Path

import cshogi
import pytest

from pydlshogi.games.shogi.encodings import BOOK
from pydlshogi.games.shogi.engine.book_files import Book, BookMove, key_of
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.weights import write_weights
from tests.networks import network
from utils import make_book
from utils.lab import grow_book
from utils.lab.grow_book import PLY_COST, ShogiBook

pytestmark = pytest.mark.lent_worker(grow_book)

START = key_of(cshogi.STARTING_SFEN.encode())


def after(*moves: str) -> bytes:
    board = cshogi.Board()
    for move in moves:
        assert board.push_usi(move)
    return key_of(board.sfen().encode())


def book_of(**values: int) -> ShogiBook:
    """By moves from the start with _ between them: what the last one is worth."""
    positions: dict[bytes, list[BookMove]] = {}
    for line, value in values.items():
        *before, move = line.strip("_").split("_")
        positions.setdefault(after(*before), []).append(BookMove(move, None, value, 1, 1))
    return ShogiBook(positions)


def values_at(book: ShogiBook, *moves: str) -> dict[str, tuple[int, int]]:
    return {move.move: (move.value, move.depth) for move in book.moves(after(*moves))}


def test_what_a_move_is_worth_to_a_book() -> None:
    book = book_of(_7g7f=50, _2g2f=30, _7g7f_3c3d=20, _7g7f_8c8d=-60, _7g7f_3c3d_2g2f=-90, _2g2f_8c8d=-40)
    book.back_up()
    assert values_at(book, "7g7f", "3c3d") == {"2g2f": (-90, 1)}
    assert values_at(book, "7g7f") == {"3c3d": (90, 2), "8c8d": (-60, 1)}
    assert values_at(book) == {"7g7f": (-90, 3), "2g2f": (40, 2)}
    book = book_of(_2h3h=300, _2h3h_8b7b=-300, _2h3h_8b7b_3h2h=300, _2h3h_8b7b_3h2h_7b8b=-300)
    book.back_up()
    assert [value for value, _ in values_at(book).values()] == [0]


def test_lines_that_cost_least_grow_first() -> None:
    book = book_of(_7g7f=50, _2g2f=45, _5g5f=-40, _9g9f=-2000, _7g7f_3c3d=-50)
    seen: set[bytes] = set()
    ends = book.line_ends(10, seen)
    # 2g2f costs a ply and 5; after 7g7f 3c3d: two plies; 5g5f a ply and 90; what is decided never.
    assert PLY_COST == 20
    assert [(end.sfen.split()[3], end.move) for end in ends] == [("1", "2g2f"), ("2", "3c3d"), ("1", "5g5f")]
    assert book.line_ends(10, seen) == []
    assert [end.move for end in ShogiBook({}).line_ends(10, set())] == [""]


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("growth") / "net.npz"
    write_weights(path, network(architecture_for(BOOK, "policy_value_resnet", 1, 8)))
    return path


def test_a_book_grows_and_goes_on(net: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "book.db"
    grow = partial(grow_book.main, [str(out), "--search=40", "--playouts=16", f"--network={net}", "--workers=1"])
    assert grow() == 0
    assert capsys.readouterr().out == f"{out}: 40 positions\n"
    first = Book(out).positions()
    assert grow() == 0
    positions = Book(out).positions()
    assert len(positions) == 80
    assert positions.keys() > first.keys()
    for key, moves in positions.items():
        board = cshogi.Board(f"{key.decode()} 1")
        for move in moves:
            assert board.push_usi(move.move)
            replies = positions.get(key_of(board.sfen().encode()))
            if replies and move.depth < 40:  # no repetition
                assert move.value == -max(reply.value for reply in replies)
            board.pop()
    lines = [line for line in out.read_text().splitlines() if line.startswith(f"sfen {START.decode()}")]
    assert [line.split()[4] for line in lines] == ["1"]


def test_games_first_then_search(net: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "games").mkdir()
    for name, result in (("a", "%TORYO"), ("b", "%TORYO")):
        (tmp_path / "games" / f"{name}.csa").write_text(f"V2.2\nPI\n+\n+7776FU\n-3334FU\n+2726FU\n{result}\n")
    out = tmp_path / "book.db"
    assert make_book.main([str(tmp_path / "games"), f"--out={out}", "--workers=1"]) == 0
    assert grow_book.main([str(out), "--search=4", "--playouts=4", f"--network={net}", "--workers=1"]) == 0
    positions = Book(out).positions()
    assert len(positions) == 3 + 4
    assert [move.move for move in positions[after("7g7f")]] == ["3c3d"]


def test_a_book_with_lines_that_would_be_lost_is_left_alone(net: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "book.db"
    out.write_text(f"#YANEURAOU-DB2016 1.00\nsfen {cshogi.STARTING_SFEN}\n7g7f none 10 1 1\nnonsense\n")
    before = out.read_bytes()
    assert grow_book.main([str(out), "--search=2", f"--network={net}"]) == 1
    assert capsys.readouterr().err == f"grow_book: {out}: line 4: 'nonsense' is not a move of a book\n"
    assert out.read_bytes() == before


def test_a_network_that_is_missing_is_said(tmp_path: Path, capsys) -> None:
    network_file = tmp_path / "nowhere"
    assert grow_book.main([str(tmp_path / "new.db"), "--search=1", f"--network={network_file}"]) == 1
    assert f"{network_file}: No such file or directory" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []
