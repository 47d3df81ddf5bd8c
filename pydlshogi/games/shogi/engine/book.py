"""The opening books of a player: which of their moves to play. Nothing here knows a search or the protocol."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from pydlshogi.games.shogi.engine.book_files import Book, BookError, BookFile, BookMove, SbkBook, YbbBook
from pydlshogi.games.shogi.engine.options import MCTSPlayerOptions
from pydlshogi.player.base_player import Adviser, BestMove, Info, KnownMove, Report
from pydlshogi.player.choice import SeededRng
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.support.files import stamp_of

if TYPE_CHECKING:
    from pydlshogi.games.shogi.position import ShogiPosition

_LINE_PLIES: Final = 8
_SEPARATOR: Final = ";"
"""Between the names of several books."""

log = logging.getLogger(__name__)


class OpenedBook(NamedTuple):
    """What the options named, opened."""

    stamp: tuple[object, ...]
    """What it was, to notice a change."""
    books: tuple[BookFile, ...]
    remarks: tuple[str, ...]


class OwnBook(Adviser[MCTSPlayerOptions, OpenedBook]):
    """The books that the options name, while they want them."""

    def __init__(self) -> None:
        self.opened = OpenedBook((), (), ())
        self._rng = SeededRng()
        self._rng.begin(0)

    def loading(self, options: MCTSPlayerOptions) -> Callable[[], OpenedBook] | None:
        return self.opening(options.book_file if options.own_book else "")

    def opening(self, book_file: str) -> Callable[[], OpenedBook] | None:
        """How to open what Book_File names, which may be nothing; None: that is open, as it is on the disk."""
        paths = [Path(name.strip()) for name in book_file.split(_SEPARATOR) if name.strip()]
        stamp = tuple((path, *stamp_of(path)) for path in paths)
        return None if stamp == self.opened.stamp else partial(open_books, paths, stamp)

    def install(self, loaded: OpenedBook) -> None:
        for book in self.opened.books:
            book.close()
        self.opened = loaded

    def new_game(self, options: MCTSPlayerOptions) -> None:
        self._rng.begin(options.seed)

    def answer(
        self, position: "ShogiPosition", clock: Clock, options: MCTSPlayerOptions, report: Report
    ) -> BestMove | None:
        """The book's move; None where the book has none or is not to be used."""
        if options.consideration_mode:
            return None
        self._rng.begin_if_changed(options.seed)
        try:
            choice = self.consult(position, clock.limits, options)
        except BookError as error:
            report(Info(string=f"Error! {error}"))
            return None
        if choice is None:
            return None
        entry, line = choice
        report(
            Info(
                depth=entry.depth or len(line),
                time=round(clock.elapsed()),
                nodes=0,
                multipv=1 if options.multi_pv > 1 else None,
                score_cp=entry.value,
                pv=line,
                string="from the book",
            )
        )
        return BestMove(*line[:2])

    def consult(
        self, position: "ShogiPosition", limits: Limits, options: MCTSPlayerOptions
    ) -> tuple[BookMove, tuple[str, ...]] | None:
        """The book move to play, if a `go` with `limits` asks for one and the book has one that is legal; and a line of
        legal moves: it, and what the book expects after it.

        An analysis, a search for a mate and a `go` that names the moves ask for an opinion, not the book's. A position
        that the game has seen before is thought about: the book knows nothing of repetition. Raises BookError.
        """
        if not (books := self.opened.books) or limits.infinite or limits.mate or limits.searchmoves:
            return None
        if position.ply() > options.book_moves or len(position.occasions()) > 1:
            return None
        entry = choose(legal_moves(books, position), options, self._rng)
        return (entry, self._line(books, position, entry)) if entry else None

    @staticmethod
    def _line(books: Sequence[BookFile], position: "ShogiPosition", entry: BookMove) -> tuple[str, ...]:
        position = position.copy()
        line: list[str] = []
        move: str | None = entry.move
        reply = entry.reply
        while move and len(line) < _LINE_PLIES:
            position.push_usi(move)
            line.append(move)
            found = legal_moves(books, position)
            expected = best(found)
            move = reply if reply and _is_legal(position, reply) else expected and expected.move
            reply = next((known.reply for known in found if known.move == move), None)
        return tuple(line)


class ShownBook:
    """What the books that the options name know of positions, whether they are played from or not."""

    def __init__(self, options: MCTSPlayerOptions) -> None:
        self._options, self._book = options, OwnBook()

    def __call__(self, position: "ShogiPosition") -> Sequence[KnownMove]:
        """The best first. Raises BookError."""
        if open_changed := self._book.opening(self._options.book_file):
            opened = open_changed()
            for remark in opened.remarks:
                log.warning(remark)
            self._book.install(opened)
        found = legal_moves(self._book.opened.books, position)
        return [KnownMove(each.move, each.value, each.played) for each in sorted(found, key=_worth, reverse=True)]


def open_book_file(path: Path) -> BookFile:
    """The book in a file of any of these formats. Raises BookError."""
    match path.suffix.lower():
        case ".ybb":
            return YbbBook(path)
        case ".sbk":
            return SbkBook(path)
        case _:
            return Book(path)


def open_books(paths: Sequence[Path], stamp: tuple[object, ...]) -> OpenedBook:
    """Open books; what is wrong with one is a remark, and the engine plays on without it or without the bad lines."""
    books, remarks = [], []
    for path in paths:
        try:
            book = open_book_file(path)
        except BookError as error:
            remarks.append(f"Error! {error}; playing without {'a book' if len(paths) == 1 else 'it'}")
            continue
        books.append(book)
        if book.bad_lines:
            more = f" and {len(book.bad_lines) - 1} more" if len(book.bad_lines) > 1 else ""
            remarks.append(f"{path}: {book.bad_lines[0]}{more}: passed over")
    return OpenedBook(stamp, tuple(books), tuple(remarks))


def legal_moves(books: Sequence[BookFile], position: "ShogiPosition") -> list[BookMove]:
    """What the first of `books` that knows `position`, as it is or with the colours swapped, holds for it; legal
    moves only."""
    from pydlshogi.games.shogi.sfen import turned

    sfen = position.sfen()
    for book in books:
        found = book.find(sfen)
        if not found:
            found = [
                entry._replace(move=flip_move(entry.move), reply=flip_move(entry.reply) if entry.reply else None)
                for entry in book.find(turned(sfen))
            ]
        if legal := [entry for entry in found if _is_legal(position, entry.move)]:
            return legal
    return []


def best(moves: Sequence[BookMove]) -> BookMove | None:
    """The move of the highest value, among equals the most frequent, then the first."""
    return max(moves, key=_worth, default=None)


def _worth(move: BookMove) -> tuple[int, int]:
    return move.value, move.played


def choose(moves: Sequence[BookMove], options: MCTSPlayerOptions, random: Random) -> BookMove | None:
    """The move to play; None where none is good enough for Min_Book_Score."""
    moves = [move for move in moves if move.value >= options.min_book_score]
    first = best(moves)
    if first is None or options.best_book_move:
        return first
    near = [move for move in moves if move.value >= first.value - options.book_eval_diff]
    return random.choices(near, [max(1, move.played) for move in near])[0]


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
