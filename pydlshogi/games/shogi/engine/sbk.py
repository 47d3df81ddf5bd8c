"""Opening books of ShogiGUI, `.sbk`: positions that lead to each other, with weights in place of values.

ShogiHome's specs/sbk-format.md describes them. They are read whole; moves marked as bad are left out.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from pydlshogi.games.shogi.engine.book_files import BookFile, BookMove, key_of

_BAD: Final = (3, 4)
"""Marks of moves."""


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

    def find(self, sfen: str) -> list[BookMove]:
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
                if move.mark not in _BAD:
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
            moves.append(_Move(usi, mark, weight, leads_to - (1 << 64) if leads_to >> 63 else leads_to))
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
