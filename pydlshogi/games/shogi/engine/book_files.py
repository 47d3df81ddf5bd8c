"""The files of opening books: which moves they hold for a position.

* `.db`: YaneuraOu's text format, DB2016:

      #YANEURAOU-DB2016 1.00
      sfen <board> <side> <hands> <move number>
      <move> <reply, or none> <value> <depth> <count>

  The move number is not looked at. A large file whose positions are sorted, as that engine sorts them, stays on disk
  and is searched there; any other is read whole. The format and the search on disk: YaneuraOu's source/book/book.cpp.
* `.ybb`: YaneuraOu's binary format, which stays on disk: ShogiHome's specs/ybb-format.md, and
  BookMinerCpp/docs/04-ybb.md of YaneuraOu-ScriptCollection.
* `.sbk`: ShogiGUI's: positions that lead to each other, with weights in place of values; ShogiHome's
  specs/sbk-format.md. It is read whole; moves marked as bad are left out.

Whether moves are legal is not looked at. Nothing here knows options, a search or the protocol.
"""

import codecs
import os
import struct
import threading
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydlshogi.games.shogi.names import USI_MOVE
from pydlshogi.player.base_player import PlayerError
from pydlshogi.support.files import open_plain

HEADER: Final = b"#YANEURAOU-DB2016 1.00"
LARGE: Final = 16 * 2**20
"""Bytes from which on a sorted book stays on disk."""

_SAMPLES: Final = 200
_LONGEST_LINE: Final = 1 << 16
"""Bytes. What comes after them counts as another line, which is hardly one of a book."""
_LARGEST_NUMBER: Final = (1 << 31) - 1
_NO_MOVES: Final = frozenset(["none", "resign", "win", "pass"])
_COMMENTS: Final = (b"#", b"//")
YBB_HEADER: Final = struct.Struct("<16sQQ")
"""YBB_MAGIC, the number of positions, and YBB_DEPTHS or 0. The positions follow, sorted, then their moves."""
YBB_MAGIC: Final = b"YANE-BINBOOK-V1\0"
YBB_DEPTHS: Final = 1
"""Moves have a depth."""
YBB_POSITION: Final = struct.Struct("<32sQHH")
"""The packed sfen, where its moves begin among all, the move number, how many moves there are."""


_SBK_BAD: Final = (3, 4)
"""Marks of moves."""


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


class BookFile(ABC):
    """A book that is open."""

    def __init__(self, path: Path) -> None:
        """Raises BookError."""
        self.path = path
        self.bad_lines: list[str] = []
        """What was wrong with lines that were passed over."""
        self._lock = threading.Lock()
        """Of the place in the file: several players may have one book."""
        try:
            self._file = open_plain(path)
        except (OSError, ValueError) as error:  # or a name that cannot be one
            raise self._error(error) from error
        try:
            self._open()
        except OSError as error:
            self.close()
            raise self._error(error) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Nothing can be found any more."""
        self._file.close()

    @abstractmethod
    def _open(self) -> None:
        """Look at what the file holds. Raises BookError, OSError."""

    def find(self, sfen: str) -> list[BookMove]:
        """What the book holds for a position, in its order; the move number of `sfen` may be missing.

        Raises BookError where the file is broken at this place.
        """
        try:
            with self._lock:
                return self._find(sfen)
        except OSError as error:
            raise self._error(error) from error
        except (IndexError, OverflowError, ValueError) as error:
            raise self._error("it is damaged") from error

    @abstractmethod
    def _find(self, sfen: str) -> list[BookMove]:
        """The same; raises OSError, and IndexError, OverflowError or ValueError where the file is damaged."""

    def _error(self, reason: object) -> BookError:
        return BookError(f"{self.path}: {getattr(reason, 'strerror', None) or reason}")


class Book(BookFile):
    """A file in YaneuraOu's text format."""

    def __init__(self, path: Path, large: int = LARGE) -> None:
        """Raises BookError."""
        self._large = large
        self._positions: dict[bytes, bytes] | None = None
        super().__init__(path)

    @property
    def on_disk(self) -> bool:
        """Whether the file is searched where it is."""
        return self._positions is None

    def _find(self, sfen: str) -> list[BookMove]:
        key = key_of(sfen.encode())
        lines = self._search(key) if self._positions is None else self._positions.get(key, b"")
        return [self._parse(line, "") for line in lines.split(b"\n") if line and not _is_no_move(line)]

    def _open(self) -> None:
        head = self._file.read(len(HEADER) + len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
        if not head.startswith((HEADER.split()[0], b"sfen ")):
            raise self._error("not a book in YaneuraOu's text format (DB2016)")
        size = os.fstat(self._file.fileno()).st_size
        if size < self._large or not self._looks_sorted(size):
            self._positions = self._read_whole()
            self._file.close()

    def _looks_sorted(self, size: int) -> bool:
        """Whether positions taken from all over the file ascend. Disorder between two hides only what lies there."""
        found = (self._position_from(number * size // _SAMPLES) for number in range(_SAMPLES))
        keys = list(filter(None, found))
        return keys == sorted(keys) != []

    def _read_whole(self) -> dict[bytes, bytes]:
        """Moves, a line each, by position; all of them looked at, so that a broken file is found out now."""
        positions: dict[bytes, bytes] = {}
        key = b""
        self._file.seek(0)
        for number, line in enumerate(self._lines(), 1):
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
            value, depth, played = (int(number) if number != "none" else 0 for number in numbers)
            if max(abs(value), abs(depth), played) > _LARGEST_NUMBER:
                raise ValueError
        except ValueError:
            raise self._error(f"{where}value, depth and count are numbers, not {' '.join(numbers)[:40]!r}") from None
        return BookMove(move, reply if USI_MOVE.fullmatch(reply) else None, value, depth, played)

    def _search(self, key: bytes) -> bytes:
        """The lines under `key`, found by bisection: the first position at or after an offset precedes `key` or not."""

        def reached(offset: int) -> bool:
            at = self._position_from(offset)
            return at is None or at >= key

        lines = b""
        at = self._position_from(bisect_left(range(os.fstat(self._file.fileno()).st_size), True, key=reached))
        while at == key:
            for line in self._lines():
                text = line.strip()
                if text.startswith(b"sfen "):
                    break
                if text and not text.startswith(_COMMENTS):
                    lines += text + b"\n"
            else:
                return lines
            # The same position may be there once more, with another move number.
            at = key_of(text[5:])
        return lines

    def _position_from(self, offset: int) -> bytes | None:
        """The key of the first position at or after `offset`; the file is left behind its line."""
        self._file.seek(max(0, offset - 1))
        if offset:
            self._file.readline(_LONGEST_LINE)
        return next((key_of(line[5:]) for line in self._lines() if line.startswith(b"sfen ")), None)

    def _lines(self) -> Iterator[bytes]:
        """From here to the end."""
        return iter(partial(self._file.readline, _LONGEST_LINE), b"")


class YbbBook(BookFile):
    """A file in YaneuraOu's binary format."""

    def _open(self) -> None:
        magic, self._count, flags = YBB_HEADER.unpack(self._read(0, YBB_HEADER.size))
        if magic != YBB_MAGIC or flags & ~YBB_DEPTHS:
            raise self._error("not a book in YaneuraOu's binary format (.ybb)")
        self._move = struct.Struct("<HhH" if flags & YBB_DEPTHS else "<Hh")
        """In 16 bits as YaneuraOu writes it, value, depth."""
        self._moves = YBB_HEADER.size + YBB_POSITION.size * self._count
        if self._moves > os.fstat(self._file.fileno()).st_size:
            raise self._error("it breaks off")

    def _find(self, sfen: str) -> list[BookMove]:
        import numpy as np

        from pydlshogi.games.shogi.sfen import read_sfen, usi_of
        from pydlshogi.games.shogi.training.huffman import WRITE_PSFEN, codes_of, moves_from_psv

        wanted = codes_of(read_sfen(sfen)[0], WRITE_PSFEN).tobytes()
        place = bisect_left(range(self._count), wanted, key=lambda number: self._position(number)[0])
        if place == self._count or self._position(place)[0] != wanted:
            return []
        _, first, _, number = self._position(place)
        entries = [*self._move.iter_unpack(self._read(self._moves + first, number * self._move.size))]
        moves = moves_from_psv(np.array([entry[0] for entry in entries], np.uint16)).tolist()
        return [
            BookMove(usi_of(move), None, value, sum(depth), 1)
            for move, (_, value, *depth) in zip(moves, entries, strict=True)
            if move  # else "resign", say
        ]

    def _position(self, number: int) -> tuple[Any, ...]:
        return YBB_POSITION.unpack(self._read(YBB_HEADER.size + YBB_POSITION.size * number, YBB_POSITION.size))

    def _read(self, place: int, size: int) -> bytes:
        self._file.seek(place)
        if len(data := self._file.read(size)) < size:
            raise self._error("it breaks off")
        return data


class SbkBook(BookFile):
    """A file of ShogiGUI: positions that lead to each other."""

    def _open(self) -> None:
        try:
            with self._file:
                states = [_state(data) for field, data in _fields(self._file.read()) if field == 3]
            self._moves = self._walk(states)
        except (TypeError, ValueError, RuntimeError) as error:
            raise self._error("not a book of ShogiGUI (.sbk), or damaged") from error
        if not self._moves:
            raise self._error("the book holds no position")

    def _find(self, sfen: str) -> list[BookMove]:
        return self._moves.get(key_of(sfen.encode()), [])

    @staticmethod
    def _walk(states: list["_State"]) -> dict[bytes, list[BookMove]]:
        """The moves by position: from each that has an sfen, the first having that of the start, along the moves."""
        from pydlshogi.games.shogi.position import ShogiPosition
        from pydlshogi.games.shogi.sfen import START_SFEN, move_of

        found: dict[bytes, list[BookMove]] = {}
        seen: set[int] = set()
        waiting = [(0, START_SFEN)] if states and not states[0].sfen else []
        waiting += [(number, state.sfen) for number, state in enumerate(states) if state.sfen]
        while waiting:
            number, sfen = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            position = ShogiPosition(sfen)
            moves = []
            for move in states[number].moves:
                usi = move.usi
                if not position.follow([move_of(usi)]):
                    continue
                if move.mark not in _SBK_BAD:
                    moves.append(BookMove(usi, None, 0, 0, move.weight))
                if 0 <= move.leads_to < len(states):
                    waiting.append((move.leads_to, position.sfen()))
                position.pop()
            if moves:
                found.setdefault(key_of(position.sfen().encode()), []).extend(moves)
        return found


class _Move(NamedTuple):
    usi: str
    mark: int
    weight: int
    leads_to: int
    """The number of a position, or -1."""


class _State(NamedTuple):
    sfen: str
    moves: list[_Move]


def _state(data: Any) -> _State:
    sfen, moves = "", []
    for field, value in _fields(data):
        if field == 7 and isinstance(value, bytes):
            sfen = value.decode()
        elif field == 9:
            number, mark, weight, leads_to = map(dict(_fields(value)).get, (1, 2, 3, 4), (0, 0, 0, 0))
            rank, file, to_rank, to_file = (int(number) >> shift & 15 for shift in (0, 4, 8, 12))
            target = f"{to_file}{'?abcdefghi??????'[to_rank]}"
            if rank:
                usi = f"{file}{'?abcdefghi??????'[rank]}{target}{'+' if int(number) >> 19 & 1 else ''}"
            else:
                usi = f"{'?PLNSGBR????????'[int(number) >> 24 & 15]}*{target}"
            moves.append(_Move(usi, mark, int(weight), leads_to - (1 << 64) if leads_to >> 63 else leads_to))
    return _State(sfen, moves)


def _fields(data: Any) -> Iterator[tuple[int, Any]]:
    """The fields of a Protocol Buffers message, in order: their numbers, and bytes or a number.

    Raises TypeError for what is no bytes, ValueError.
    """
    from google.protobuf.empty_pb2 import Empty
    from google.protobuf.message import DecodeError
    from google.protobuf.unknown_fields import UnknownFieldSet

    message = Empty()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise ValueError("no message, or it breaks off") from error
    return ((field.field_number, field.data) for field in UnknownFieldSet(message))


def key_of(sfen: bytes) -> bytes:
    """An sfen without its move number. Keys sort as the sfens themselves do."""
    return b" ".join(sfen.split()[:3])


def _is_no_move(line: bytes) -> bool:
    return line.split(None, 1)[0].decode("ascii", "replace").lower() in _NO_MOVES
