"""Opening books: the file, the choice among its moves, the player that uses them, and books made from games."""

import lzma
import random
import re
import struct
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import cshogi
import numpy as np
import pytest
import thinker
from thinker import options_of

from pydlshogi.games.shogi.engine.book import choose, flip_move, legal_moves, open_book_file
from pydlshogi.games.shogi.engine.book_files import HEADER, LARGE, Book, BookError, BookMove, YbbBook
from pydlshogi.games.shogi.kifu.csa import to_csa
from pydlshogi.games.shogi.kifu.game import Game, moves_of
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.player.base_player import BestMove
from utils import make_book

START = cshogi.STARTING_SFEN
AFTER_7G7F = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"
AFTER_7G7F_3C3D = "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3"
BOOK = f"""#YANEURAOU-DB2016 1.00
# a comment
sfen {START}
2g2f 8c8d 40 12 7
7g7f 3c3d 40 12 9
1g1f none -10 8 1
sfen {AFTER_7G7F}
3c3d 2g2f -35 12 5
none none 0 0 0
"""

MakeFile = Callable[[str], Path]


@pytest.fixture
def book_file(tmp_path: Path) -> MakeFile:
    def make(text: str = BOOK) -> Path:
        path = tmp_path / "some book.db"
        path.write_bytes(text.encode())
        return path

    return make


def random_book(count: int, seed: int = 0) -> dict[str, str]:
    """Positions of random games, without move number, with one random move each."""
    generator = random.Random(seed)
    positions: dict[str, str] = {}
    board = cshogi.Board()
    while len(positions) < count:
        legal = [cshogi.move_to_usi(move) for move in board.legal_moves]
        if not legal or board.move_number > 60:
            board.reset()
            continue
        move = generator.choice(legal)
        positions[" ".join(board.sfen().split()[:3])] = f"{move} none {generator.randrange(-99, 99)} 1 1"
        board.push_usi(move)
    return positions


def text_of(positions: dict[str, str]) -> str:
    blocks = [f"sfen {sfen} {number}\n{move}\n" for number, (sfen, move) in enumerate(positions.items())]
    return "\n".join([HEADER.decode(), *blocks])


def test_what_a_line_says(book_file: MakeFile) -> None:
    book = Book(book_file())
    moves = [BookMove("2g2f", "8c8d", 40, 12, 7), BookMove("7g7f", "3c3d", 40, 12, 9)]
    moves.append(BookMove("1g1f", None, -10, 8, 1))
    for number in ("", " 1", " 77"):  # is not looked at
        assert book.find(START.removesuffix(" 1") + number) == moves
    assert book.find(AFTER_7G7F) == [BookMove("3c3d", "2g2f", -35, 12, 5)]
    assert book.find(AFTER_7G7F_3C3D) == []


@pytest.mark.parametrize(
    ("line", "entry"),
    [("7g7f", BookMove("7g7f", None, 0, 0, 1)), ("7g7f 3c3d", BookMove("7g7f", "3c3d", 0, 0, 1)),
     ("7g7f none -3", BookMove("7g7f", None, -3, 0, 1)), ("7g7f None 5 6", BookMove("7g7f", None, 5, 6, 1)),
     ("P*5e 8b2b+ 1 2 3 and more", BookMove("P*5e", "8b2b+", 1, 2, 3))],
)  # fmt: skip
def test_what_is_missing_has_its_usual_value(book_file: MakeFile, line: str, entry: BookMove) -> None:
    for text in (f"{HEADER.decode()}\nsfen {START}\n{line}\n", f"\ufeffsfen {START}\r\n\r\n{line}\r\n// end"):
        assert Book(book_file(text)).find(START) == [entry]


def test_a_sorted_book_on_disk_finds_what_is_there_and_nothing_else(book_file: MakeFile) -> None:
    positions = random_book(700)
    known = dict(sorted(list(positions.items())[:500]))
    book = Book(book_file(text_of(known)), large=0)
    assert book.on_disk
    for sfen, move in positions.items():
        found = [" ".join(map(str, [entry.move, "none", *entry[2:]])) for entry in book.find(sfen)]
        assert found == ([move] if sfen in known else []), sfen
    assert not Book(book_file(text_of(known))).on_disk
    unsorted = Book(book_file(text_of(dict(reversed(known.items())))), large=0)
    assert not unsorted.on_disk
    assert all(unsorted.find(sfen) for sfen in known)


def test_one_position_under_two_move_numbers(book_file: MakeFile) -> None:
    board = START.rsplit(" ", 1)[0]
    same = f"sfen {board} 1\n7g7f\nsfen {board} 11\n\n2g2f\n# x\n"
    text = f"{HEADER.decode()}\nsfen 1 b - 1\n1a1b\n{same}sfen z b - 1\n1a1b\n"
    for large in (0, 10**6):
        book = Book(book_file(text), large)
        assert book.on_disk == (large == 0)
        assert [entry.move for entry in book.find(START)] == ["7g7f", "2g2f"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a book in YaneuraOu's text format (DB2016)"),
        ("\0\1\2 apery", "not a book in YaneuraOu's text format (DB2016)"),
        ("#YANEURAOU-DB2016 1.00\n", "the book holds no position"),
        ("#YANEURAOU-DB2016 1.00\n7g7f\n", "the book holds no position"),
        ("sfen startpos\n7g7f\n", "the book holds no position"),
    ],
)
def test_what_is_no_book_is_one_line(book_file: MakeFile, text: str, reason: str) -> None:
    path = book_file(text)
    with pytest.raises(BookError) as error:
        Book(path)
    assert str(error.value) == f"{path}: {reason}"
    for missing in (path.with_name("none.db"), path.parent):
        with pytest.raises(BookError, match=f"^{re.escape(str(missing))}: "):
            Book(missing)


@pytest.mark.parametrize(
    ("line", "reason"),
    [("sfen startpos\n1g1f", "line 3: an sfen has a board, a side to move and hands"),
     ("7g7", "line 3: '7g7' is not a move of a book"),
     ("7g7f 3c3d x 1 1", "line 3: value, depth and count are numbers, not 'x 1 1'"),
     ("7g7f 3c3d 1 1 4294967296", "line 3: value, depth and count are numbers, not '1 1 4294967296'"),
     ("\xff", "line 3: "), ("\x1c", "line 3: '\\x1c' is not a move of a book")],
)  # fmt: skip
def test_a_bad_line_costs_that_line(book_file: MakeFile, line: str, reason: str) -> None:
    book = Book(book_file(f"sfen {START}\n2g2f\n{line}\nsfen {AFTER_7G7F}\n3c3d\n"))
    (bad,) = book.bad_lines
    assert bad.startswith(reason)
    assert [entry.move for entry in book.find(START)] == ["2g2f"]
    assert [entry.move for entry in book.find(AFTER_7G7F)] == ["3c3d"]


def test_real_books_whole_and_on_disk(shared_data: Path, tmp_path: Path) -> None:
    for packed in sorted((shared_data / "books").glob("*.xz")):
        text = lzma.decompress(packed.read_bytes()).decode()
        header, *blocks = text.split("sfen ")
        path, ordered = tmp_path / "book.db", tmp_path / "sorted.db"
        path.write_text(text)
        ordered.write_text(header + "".join(f"sfen {block}" for block in sorted(blocks)))
        whole, on_disk = Book(path, large=0), Book(ordered, large=0)
        assert (whole.on_disk, on_disk.on_disk) == (False, True)
        for block in blocks[::5]:
            sfen, *lines = block.splitlines()
            found = whole.find(sfen)
            # Some positions are there twice, with different move numbers.
            assert {line.split()[0] for line in lines} <= {entry.move for entry in found}
            assert sorted(map(str, on_disk.find(sfen))) == sorted(map(str, found))
            position = ShogiPosition(sfen)
            assert position.sfen().split()[:3] == sfen.split()[:3]
            assert legal_moves([whole], position) == found


def ybb_of(positions: dict[str, list[tuple[str, int, int]]], *, depths: bool) -> bytes:
    """As BookMinerCpp/docs/04-ybb.md of YaneuraOu-ScriptCollection says, by cshogi."""
    index, moves = [], b""
    for sfen, known in positions.items():
        board, code = cshogi.Board(f"{sfen} 1"), np.zeros(32, np.uint8)
        board.to_psfen(code)
        index.append((code.tobytes(), len(moves), len(known)))
        for usi, value, depth in known:
            move = cshogi.move16_to_psv(cshogi.move16(board.move_from_usi(usi)))
            moves += struct.pack("<HhH", move, value, depth)[: 6 if depths else 4]
    header = b"YANE-BINBOOK-V1\0" + struct.pack("<QQ", len(index), depths)
    return header + b"".join(struct.pack("<32sQHH", code, at, 7, n) for code, at, n in sorted(index)) + moves


@pytest.mark.parametrize("depths", [False, True])
def test_binary_books_of_yaneuraou(depths: bool, tmp_path: Path) -> None:
    known = {sfen: [(line.split()[0], int(line.split()[2]), 9)] for sfen, line in random_book(300).items()}
    (tmp_path / "book.ybb").write_bytes(ybb_of(known, depths=depths))
    book = open_book_file(tmp_path / "book.ybb")
    for sfen, ((move, value, depth),) in known.items():
        assert book.find(f"{sfen} 3") == [BookMove(move, None, value, depth if depths else 0, 1)]
    assert book.find("4k4/9/9/9/9/9/9/9/4K4 b - 1") == []
    book.close()


@pytest.mark.parametrize("change", [lambda data: data[:40], lambda data: b"X" + data[1:], lambda data: b""])
def test_what_is_no_binary_book_is_one_line(change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "book.ybb"
    path.write_bytes(change(ybb_of({"/".join(START.split("/")).rsplit(" ", 1)[0]: [("7g7f", 1, 1)]}, depths=True)))
    with pytest.raises(BookError, match=r"book\.ybb: (it breaks off|not a book)"):
        YbbBook(path)


def test_a_move_to_no_square_is_a_damaged_book(tmp_path: Path) -> None:
    data = ybb_of({START.removesuffix(" 1"): [("7g7f", 1, 1)]}, depths=False)
    (tmp_path / "book.ybb").write_bytes(data[:-4] + struct.pack("<Hh", 81, 1))
    with pytest.raises(BookError, match=r"book\.ybb: it is damaged"):
        YbbBook(tmp_path / "book.ybb").find(START)


def protobuf(*fields: tuple[int, int | bytes]) -> bytes:
    def varint(number: int) -> bytes:
        number &= (1 << 64) - 1
        result = b""
        while number > 127:
            result, number = result + bytes([number & 127 | 128]), number >> 7
        return result + bytes([number])

    coded = b""
    for field, value in fields:
        if isinstance(value, int):
            coded += varint(field << 3) + varint(value)
        else:
            coded += varint(field << 3 | 2) + varint(len(value)) + value
    return coded


def sbk_move(move: int, mark: int, weight: int, leads_to: int) -> tuple[int, bytes]:
    return 9, protobuf((1, move), (2, mark), (3, weight), (4, leads_to))


def sbk() -> bytes:
    """From the start: 7g7f, which leads on, a bad 1g1f, and a pawn dropped elsewhere."""
    start = protobuf((1, 0), sbk_move(0x1007677, 0, 30, 1), sbk_move(0x1001617, 4, 99, -1))
    after = protobuf((1, 1), sbk_move(0x91003433 - (1 << 32), 1, 5, 0))
    elsewhere = protobuf((1, 2), (7, b"4k4/9/9/9/9/9/9/9/4K4 b P 1"), sbk_move(0x1005500, 0, 2, -1))
    return protobuf((1, b"somebody"), (2, b"a book"), (3, start), (3, after), (3, elsewhere))


def test_books_of_shogigui(tmp_path: Path) -> None:
    """The moves are written by hand, by ShogiHome's specs/sbk-format.md."""
    (tmp_path / "book.sbk").write_bytes(sbk())
    book = open_book_file(tmp_path / "book.sbk")
    assert book.find(START) == [BookMove("7g7f", None, 0, 0, 30)]
    assert book.find(AFTER_7G7F) == [BookMove("3c3d", None, 0, 0, 5)]
    assert book.find("4k4/9/9/9/9/9/9/9/4K4 b P 9") == [BookMove("P*5e", None, 0, 0, 2)]


WEIGHT_IS_TEXT = protobuf((3, protobuf((9, protobuf((1, 0x1007677), (3, b"x"))))))


@pytest.mark.parametrize(
    "data",
    [b"", b"\x1a", sbk()[:-3], b"#YANEURAOU-DB2016 1.00\n", b"\x1a\x04\x4a\x02\x08\xff", WEIGHT_IS_TEXT],
)
def test_what_is_no_book_of_shogigui_is_one_line(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "book.sbk").write_bytes(data)
    with pytest.raises(BookError, match=r"book\.sbk: (not a book|the book holds no position)"):
        open_book_file(tmp_path / "book.sbk")


def test_a_turned_board_has_the_turned_moves_also_in_a_book(book_file: MakeFile) -> None:
    for sfen in [*list(random_book(60, seed=1))[::3], AFTER_7G7F]:
        board, turned = cshogi.Board(f"{sfen} 1"), cshogi.Board(cshogi.rotate_sfen(f"{sfen} 1"))
        moves = {flip_move(cshogi.move_to_usi(move)) for move in board.legal_moves}
        assert moves == {cshogi.move_to_usi(move) for move in turned.legal_moves}
    position = ShogiPosition(cshogi.rotate_sfen(f"{AFTER_7G7F} 1"))
    assert legal_moves([Book(book_file())], position) == [BookMove("7g7f", "8c8d", -35, 12, 5)]


MOVES = [BookMove("2g2f", None, 40, 0, 1), BookMove("7g7f", None, 40, 0, 9), BookMove("1g1f", None, 10, 0, 90)]


def test_the_best_by_value_then_by_frequency() -> None:
    assert choose(MOVES, options_of(), random.Random(0)) == MOVES[1]
    assert choose([], options_of(), random.Random(0)) is None


@pytest.mark.parametrize(("difference", "shares"), [(0, [0.1, 0.9, 0]), (29, [0.1, 0.9, 0]), (30, [0.01, 0.09, 0.9])])
def test_drawn_by_frequency_among_those_near_the_best(difference: int, shares: list[float]) -> None:
    generator = random.Random(1)
    settings = options_of(Best_Book_Move="false", BookEvalDiff=difference)
    drawn = [choose(MOVES, settings, generator) for _ in range(2000)]
    assert [drawn.count(move) / 2000 for move in MOVES] == pytest.approx(shares, abs=0.03)


class Thinker(thinker.Thinker):
    """It has a book."""

    def __init__(self, book: Path | str, **options: object) -> None:
        super().__init__(**{"USI_OwnBook": "true", "Book_File": book, **options})

    def play(self, moves: str = "", **limits: object) -> BestMove:
        """The answer after `moves`."""
        self.moves = tuple(moves.split())
        return self.go(**(limits or {"nodes": 20}))

    @property
    def from_book(self) -> bool:
        return [info.nodes for info in self.infos] == [0]


def test_the_book_move_is_played_with_its_line(book_file: MakeFile) -> None:
    player = Thinker(book_file())
    assert player.play(btime=60000, wtime=60000) == BestMove("7g7f", "3c3d")
    (info,) = player.infos
    assert (info.depth, info.score_cp, info.pv) == (12, 40, ("7g7f", "3c3d", "2g2f"))
    for moves in ("7g7f 3c3d", "4i4h 4a4b 4h4i 4b4a"):  # in the book no more, and a position that occurred before
        player.play(moves)
        assert not player.from_book


def test_illegal_book_moves_are_left_out_and_another_book_is_asked(book_file: MakeFile, tmp_path: Path) -> None:
    (tmp_path / "first.sbk").write_bytes(sbk())
    second = book_file(f"sfen {START}\n1g1f\nsfen {AFTER_7G7F}\n7g7e none 900 0 1\n8c8d none 5 0 1\n")
    player = Thinker(f"{tmp_path / 'first.sbk'}; {second}; {tmp_path / 'none.db'}")
    assert player.remarks == [f"Error! {tmp_path / 'none.db'}: No such file or directory; playing without it"]
    assert player.play() == BestMove("7g7f", "3c3d")
    assert player.play("7g7f").move == "3c3d"
    player = Thinker(second)
    assert player.play("7g7f") == BestMove("8c8d", None)
    player = Thinker(book_file(f"sfen {START}\n7g7e none 900 0 1\n"))
    player.play()
    assert not player.from_book


@pytest.mark.parametrize(
    ("limits", "values"),
    [({"infinite": True, "nodes": 20}, {}), ({"searchmoves": ("7g7f", "1g1f"), "nodes": 20}, {}),
     ({"nodes": 20}, {"ConsiderationMode": "true"}), ({"nodes": 20}, {"USI_OwnBook": "false"}),
     ({"nodes": 20}, {"Book_File": "<empty>"}), ({"nodes": 20}, {"Min_Book_Score": 41}),
     ({"nodes": 20}, {"Book_Moves": 0})],
)  # fmt: skip
def test_an_opinion_asked_for_is_given(book_file: MakeFile, limits: dict[str, object], values: dict[str, str]) -> None:
    player = Thinker(book_file(), **values)
    assert player.play(**limits).move
    assert not player.from_book


def test_book_trouble_on_disk_does_not_cost_the_move(book_file: MakeFile) -> None:
    """A book so large is not read before it is needed."""
    player = Thinker(book_file(f"sfen {START}\nbroken\n# {'x' * LARGE}\n"))
    assert player.remarks == []
    assert player.play().move
    assert player.infos[0].string.startswith("Error! ")
    assert "'broken' is not a move of a book" in player.infos[0].string
    assert player.last.nodes


def test_trouble_with_the_book_is_said_once_and_the_engine_plays_on(book_file: MakeFile) -> None:
    path, passed_over = book_file(f"{BOOK}7g7\n7g7f 3c3d x\n"), "is not a move of a book and 1 more: passed over"
    missing, without = path.with_name("none.db"), "No such file or directory; playing without a book"
    for book, said in ((path, f"{path}: line 10: '7g7' {passed_over}"), (missing, f"Error! {missing}: {without}")):
        player = Thinker(book)
        player.play()
        assert (player.remarks, player.from_book) == ([said], book == path)


def test_a_book_rewritten_in_place_is_read_anew(book_file: MakeFile) -> None:
    player = Thinker(book_file(), Min_Book_Score=40)
    assert player.play().move == "7g7f"
    player.set(Min_Book_Score=0)
    book_file(f"sfen {START}\n9g9f\n")
    assert player.play() == BestMove("9g9f", None)
    book_file("").unlink()
    player.play()
    assert not player.from_book
    book_file()
    assert player.play().move == "7g7f"


def game(moves: str, win: str | None) -> Game:
    played = moves_of(START, moves.split())
    nothing = (None,) * len(played)
    return Game(START, played, win, "resign", nothing, nothing)  # type: ignore[arg-type]


GAMES = [
    game("7g7f 3c3d 2g2f 8c8d", "b"),
    game("7g7f 3c3d 2g2f 4c4d", "b"),
    game("7g7f 8c8d 2g2f", "w"),
    game("2g2f 8c8d 7g7f 3c3d", "d"),
    game("1g1f 3c3d", None),
]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    folder = tmp_path / "kifu"
    folder.mkdir()
    for number, played in enumerate(GAMES):
        (folder / f"{number}.csa").write_text(to_csa(played))
    (folder / "broken.csa").write_text("PI\n+\n+7775FU\n")
    return folder


def test_a_book_made_from_games_counts_them(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = records.parent / "own.db"
    twice = [str(records), str(records)]
    assert make_book.main([*twice, "--out", str(out), "--min-games", "1", "--workers", "1"]) == 0
    said = capsys.readouterr()
    assert said.out.endswith("from 4 games; 1 of 6 files could not be read\n")
    assert f"make_book: {records / 'broken.csa'}: " in said.err
    book = Book(out)
    # 7g7f: two wins of three, and fifty draws: 27 of 53 points; 756 x ln(27 / 26) = 29. 2g2f: one draw.
    assert book.find(START) == [BookMove("7g7f", "3c3d", 29, 0, 3), BookMove("2g2f", "8c8d", 0, 0, 1)]
    # White lost twice after 3c3d, and won after 8c8d: 25 of 52 and 26 of 51 points.
    assert book.find(AFTER_7G7F) == [BookMove("8c8d", "2g2f", 30, 0, 1), BookMove("3c3d", "2g2f", -58, 0, 2)]
    # By two orders of moves: two games, of which one ended there.
    joined = "lnsgkgsnl/1r5b1/p1ppppppp/1p7/9/2P4P1/PP1PPPP1P/1B5R1/LNSGKGSNL w - 4"
    assert book.find(joined) == [BookMove("3c3d", None, 0, 0, 1)]
    first, *lines = out.read_bytes().splitlines()
    sfens = [line for line in lines if line.startswith(b"sfen ")]
    assert first == HEADER
    assert all(one < other for one, other in pairwise(sfens))
    on_disk = Book(out, large=0)
    assert on_disk.on_disk
    for sfen in sfens:
        assert on_disk.find(sfen[5:].decode()) == book.find(sfen[5:].decode()) != []


def test_depth_and_rare_moves_are_limited_and_a_list_names_records(records: Path) -> None:
    out = records.parent / "own.db"
    make_book.main([str(records), "--out", str(out), "--plies", "2", "--workers", "1"])
    book = Book(out)
    assert [entry.move for entry in book.find(START)] == ["7g7f"]
    assert [entry.move for entry in book.find(AFTER_7G7F)] == ["3c3d"]
    assert book.find(AFTER_7G7F_3C3D) == []
    (records.parent / "list.txt").write_text("kifu/0.csa\nkifu/1.csa\n")
    assert make_book.main([str(records.parent / "list.txt"), "--out", str(out), "--workers", "1", "--overwrite"]) == 0
    assert Book(out).find(START)[0].played == 2
