"""Opening books in YaneuraOu's text format, DB2016: which moves they hold for a position, and which of them to play.

    #YANEURAOU-DB2016 1.00
    sfen <board> <side> <hands> <move number>
    <move> <reply, or none> <value> <depth> <count>

The move number is not looked at. A large file whose positions are sorted, as that engine sorts them, stays on disk and
is searched there; any other is read whole. The format and the search on disk: YaneuraOu's source/book/book.cpp. Nothing
here knows a search or the protocol.
"""

import codecs
import os
import re
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from pydlshogi.games.shogi.names import USI_MOVE
from pydlshogi.player.base_player import PlayerError
from pydlshogi.player.clock import Limits
from pydlshogi.player.options import Check, EngineOptions, Filename, Spin
from pydlshogi.support.files import open_plain, stamp_of

if TYPE_CHECKING:
    from pydlshogi.games.shogi.position import ShogiPosition

HEADER: Final = b"#YANEURAOU-DB2016 1.00"
LARGE: Final = 16 * 2**20
"""Bytes from which on a sorted book stays on disk."""

_SAMPLES: Final = 200
_LINE_PLIES: Final = 8
_LONGEST_LINE: Final = 1 << 16
"""Bytes. What comes after them counts as another line, which is hardly one of a book."""
_LARGEST_NUMBER: Final = (1 << 31) - 1
_NO_MOVES: Final = frozenset(["none", "resign", "win", "pass"])
_COMMENTS: Final = (b"#", b"//")


class BookOptions(EngineOptions):
    """What a player with a book lets the user decide. Names and units are dlshogi's or, after them, YaneuraOu's."""

    own_book = Check("USI_OwnBook", False, aliases=("OwnBook",), help="play from the book that Book_File names")
    book_file = Filename(
        "Book_File", "", aliases=("BookFile",), help="the book, YaneuraOu's text format (.db); empty: none"
    )
    best_book_move = Check(
        "Best_Book_Move",
        True,
        help="the book move of the highest value, among equals the most frequent; false: sampled by frequency",
    )
    min_book_score = Spin(
        "Min_Book_Score", -3000, -30000, 30000, help="centipawns that a book move must be worth to its player"
    )
    book_eval_diff = Spin(
        "BookEvalDiff", 30, 0, 99999, help="centipawns that a sampled book move may be worse than the best"
    )
    book_moves = Spin("Book_Moves", 10000, 0, 10000, aliases=("BookMoves",), help="moves of the game that may be book")
    flipped_book = Check(
        "FlippedBook",
        True,
        shown=False,
        help="find positions of the book also with the board turned and the colours swapped",
    )


class BookError(PlayerError):
    """A book that cannot be used. Its text is one line."""


class BookMove(NamedTuple):
    """A move of the book."""

    move: str
    reply: str | None
    """The expected answer."""
    value: int
    """Centipawns for the side to move."""
    depth: int
    """Of the search that found the value; 0: none did."""
    played: int
    """How often it was."""


class BookChoice(NamedTuple):
    """A book move that is to be played."""

    entry: BookMove
    line: tuple[str, ...]
    """It, and what the book expects after it: legal moves."""


class Book:
    """One file."""

    def __init__(self, path: Path, large: int = LARGE) -> None:
        """Raises BookError."""
        self.path = path
        self.bad_lines: list[str] = []
        """What was wrong with lines that were passed over."""
        self._positions: dict[bytes, bytes] | None = None
        self._lock = threading.Lock()
        """Of the place in the file: several players may have one book."""
        try:
            self._file: BinaryIO = open_plain(path)
        except OSError as error:
            raise self._error(error.strerror or str(error)) from error
        except ValueError as error:  # a name that cannot be one
            raise self._error(str(error)) from error
        try:
            self._open(large)
        except OSError as error:
            self.close()
            raise self._error(error.strerror or str(error)) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Nothing can be found any more."""
        self._file.close()

    @property
    def on_disk(self) -> bool:
        """Whether the file is searched where it is."""
        return self._positions is None

    def find(self, sfen: str) -> list[BookMove]:
        """What the book holds for a position, in its order; the move number of `sfen` may be missing.

        Whether the moves are legal is not looked at. Raises BookError where the file is broken at this place.
        """
        key = key_of(sfen.encode())
        if self._positions is not None:
            lines = self._positions.get(key, b"")
        else:
            try:
                with self._lock:
                    lines = self._search(key)
            except OSError as error:
                raise self._error(error.strerror or str(error)) from error
        return [self._parse(line, "") for line in lines.split(b"\n") if line and not _is_no_move(line)]

    def _error(self, reason: str) -> BookError:
        return BookError(f"{self.path}: {reason}")

    def _open(self, large: int) -> None:
        head = self._file.read(len(HEADER) + len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
        if not head.startswith((HEADER.split()[0], b"sfen ")):
            raise self._error("not a book in YaneuraOu's text format (DB2016)")
        size = os.fstat(self._file.fileno()).st_size
        if size < large or not self._looks_sorted(size):
            self._positions = self._read_whole()
            self._file.close()

    def _looks_sorted(self, size: int) -> bool:
        """Whether positions taken from all over the file ascend. Disorder between two hides only what lies there."""
        last = b""
        for number in range(_SAMPLES):
            at = self._position_from(number * size // _SAMPLES)
            if at is None:
                break
            if at[1] < last:
                return False
            last = at[1]
        return bool(last)

    def _read_whole(self) -> dict[bytes, bytes]:
        """Moves, a line each, by position; all of them looked at, so that a broken file is found out now."""
        positions: dict[bytes, bytes] = {}
        key = b""
        self._file.seek(0)
        for number, line in enumerate(iter(partial(self._file.readline, _LONGEST_LINE), b""), 1):
            text = (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).strip()
            if not text or text.startswith(_COMMENTS):
                continue
            if text.startswith(b"sfen "):
                key = key_of(text[5:])
                if key.count(b" ") != 2:
                    self.bad_lines.append(f"line {number}: an sfen has a board, a side to move and hands")
                    key = b""
                else:
                    positions.setdefault(key, b"")
            elif key and not _is_no_move(text):
                try:
                    self._parse(text, f"line {number}: ")
                    positions[key] += text + b"\n"
                except BookError as error:
                    self.bad_lines.append(str(error).removeprefix(f"{self.path}: "))
        if not positions:
            raise self._error("the book holds no position")
        return positions

    def _parse(self, line: bytes, where: str) -> BookMove:
        text = line.decode("ascii", "replace")
        fields = [field.decode("ascii", "replace") for field in line.split()[:5]]
        move, reply, *numbers = fields + ["none", "0", "0", "1"][len(fields) - 1 :]
        if not USI_MOVE.fullmatch(move):
            raise self._error(f"{where}{text[:40]!r} is not a move of a book")
        try:
            value, depth, played = map(int, numbers)
            if max(abs(value), abs(depth), played) > _LARGEST_NUMBER:
                raise ValueError
        except ValueError:
            raise self._error(f"{where}value, depth and count are numbers, not {' '.join(numbers)[:40]!r}") from None
        return BookMove(move, reply if USI_MOVE.fullmatch(reply) else None, value, depth, played)

    def _search(self, key: bytes) -> bytes:
        """The lines under `key`, found by bisection: the first position at or after an offset precedes `key` or not."""
        low, high = 0, os.fstat(self._file.fileno()).st_size
        while low < high:
            middle = (low + high) // 2
            at = self._position_from(middle)
            if at is None or at[1] >= key:
                high = middle
            else:
                low = at[0] + 1
        lines = b""
        at = self._position_from(low)
        while at is not None and at[1] == key:
            while line := self._file.readline(_LONGEST_LINE):
                text = line.strip()
                if text.startswith(b"sfen "):
                    break
                if text and not text.startswith(_COMMENTS):
                    lines += text + b"\n"
            else:
                return lines
            # The same position may be there once more, with another move number.
            at = (0, key_of(text[5:]))
        return lines

    def _position_from(self, offset: int) -> tuple[int, bytes] | None:
        """Where the first position at or after `offset` begins, and its key; the file is left behind that line."""
        self._file.seek(max(0, offset - 1))
        if offset:
            self._file.readline(_LONGEST_LINE)
        start = self._file.tell()
        while line := self._file.readline(_LONGEST_LINE):
            if line.startswith(b"sfen "):
                return start, key_of(line[5:])
            start += len(line)
        return None


class OpenedBook(NamedTuple):
    """What the options named, opened."""

    stamp: tuple[object, ...]
    """What it was, to notice a change."""
    book: Book | None
    remarks: tuple[str, ...]


class OwnBook:
    """The book that the options name, while they want one."""

    def __init__(self) -> None:
        self._opened = OpenedBook((), None, ())

    def opening(self, options: BookOptions) -> Callable[[], OpenedBook] | None:
        """How to open what `options` name; None: that is open, as it is on the disk."""
        # GUIs with a box for it switch the book on for engines that have none: then there is nothing to open.
        path = Path(options.book_file) if options.own_book and options.book_file else None
        stamp = (path, *stamp_of(path)) if path else ()
        return None if stamp == self._opened.stamp else partial(open_book, path, stamp)

    def use(self, opened: OpenedBook) -> None:
        """Play from this book from now on."""
        if self._opened.book:
            self._opened.book.close()
        self._opened = opened

    def consult(
        self, position: "ShogiPosition", limits: Limits, options: BookOptions, random: Random
    ) -> BookChoice | None:
        """The book move to play, if a `go` with `limits` wants one and the book has one that is legal.

        Whoever analyses, looks for a mate or names the moves to search wants an opinion, not the book's. And a position
        the game has seen before is thought about: the book knows nothing of repetition. Raises BookError.
        """
        from cshogi import NOT_REPETITION

        if (book := self._opened.book) is None or limits.infinite or limits.mate or limits.searchmoves:
            return None
        if position.ply() > options.book_moves or position.board.is_draw() != NOT_REPETITION:
            return None
        entry = choose(legal_moves(book, position, options.flipped_book), options, random)
        return BookChoice(entry, self._line(book, position, entry, options)) if entry else None

    @staticmethod
    def _line(book: Book, position: "ShogiPosition", entry: BookMove, options: BookOptions) -> tuple[str, ...]:
        position = position.copy()
        line: list[str] = []
        move: str | None = entry.move
        reply = entry.reply
        while move and len(line) < _LINE_PLIES:
            position.push_usi(move)
            line.append(move)
            found = legal_moves(book, position, options.flipped_book)
            expected = best(found)
            move = reply if reply and _is_legal(position, reply) else expected and expected.move
            reply = next((known.reply for known in found if known.move == move), None)
        return tuple(line)


def open_book(path: Path | None, stamp: tuple[object, ...]) -> OpenedBook:
    """Open a book; what is wrong with it is a remark, and the engine plays on without it or without the bad lines."""
    if path is None:
        return OpenedBook(stamp, None, ())
    try:
        book = Book(path)
    except BookError as error:
        return OpenedBook(stamp, None, (f"Error! {error}; playing without a book",))
    if not book.bad_lines:
        return OpenedBook(stamp, book, ())
    more = f" and {len(book.bad_lines) - 1} more" if len(book.bad_lines) > 1 else ""
    return OpenedBook(stamp, book, (f"{path}: {book.bad_lines[0]}{more}: passed over",))


def key_of(sfen: bytes) -> bytes:
    """An sfen without its move number. Keys sort as the sfens themselves do."""
    return b" ".join(sfen.split()[:3])


def legal_moves(book: Book, position: "ShogiPosition", flipped: bool) -> list[BookMove]:
    """What `book` holds for `position`, if `flipped` also for it with the colours swapped; legal moves only."""
    sfen = position.board.sfen()
    found = book.find(sfen)
    if not found and flipped:
        found = [
            entry._replace(move=flip_move(entry.move), reply=flip_move(entry.reply) if entry.reply else None)
            for entry in book.find(flip_sfen(sfen))
        ]
    return [entry for entry in found if _is_legal(position, entry.move)]


def best(moves: Sequence[BookMove]) -> BookMove | None:
    """The move of the highest value, among equals the most frequent, then the first."""
    return max(moves, key=lambda move: (move.value, move.played), default=None)


def choose(moves: Sequence[BookMove], options: BookOptions, random: Random) -> BookMove | None:
    """The move to play; None where none is good enough for Min_Book_Score."""
    moves = [move for move in moves if move.value >= options.min_book_score]
    first = best(moves)
    if first is None or options.best_book_move:
        return first
    near = [move for move in moves if move.value >= first.value - options.book_eval_diff]
    return random.choices(near, [max(1, move.played) for move in near])[0]


def flip_sfen(sfen: str) -> str:
    """The position as the other player would see it: the board turned, the colours swapped."""
    board, side, hands, *number = sfen.split()
    turned = "".join(reversed(re.findall(r"\+?.", board))).swapcase()
    held = re.findall(r"\d*[A-Za-z]", hands.swapcase())
    # Black's pieces are named first.
    held.sort(key=lambda piece: piece[-1].islower())
    return " ".join((turned, "w" if side == "b" else "b", "".join(held) or "-", *number))


def flip_move(usi: str) -> str:
    """The move on the turned board."""
    turned = str.maketrans("123456789abcdefghi", "987654321ihgfedcba")
    return usi[:2] + usi[2:].translate(turned) if "*" in usi else usi.translate(turned)


def _is_legal(position: "ShogiPosition", usi: str) -> bool:
    try:
        position.move_from_usi(usi)
    except ValueError:
        return False
    return True


def _is_no_move(line: bytes) -> bool:
    return line.split(None, 1)[0].decode("ascii", "replace").lower() in _NO_MOVES
