"""How fast record files are read, against the loop of the python-dlshogi book: `python -m utils.bench_read_kifu DIR`.

The book's loop parses with python-shogi, replays every game on `shogi.Board`, copies its bitboards, turned by 180
degrees for White, and pickles them. Ours is timed twice: to games, every move checked, and on to the packed positions
of a training set, as that is built.
"""

import argparse
import copy
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

import shogi
import shogi.CSA

from pydlshogi.read_kifu import KifuError, read, read_list
from pydlshogi.support.command_line import exit_status, positive
from pydlshogi.support.processes import ProcessCrew
from pydlshogi.training.shogi.records import pack_units, tasks
from utils.make_kifu_list import ListError, record_files

_LONGEST_TASK: Final = 600.0
"""Seconds after which a process that reads some files is given up."""

_TURNS = 2
# Ours read every file so often: once would be over in a tenth of a second.
_REPEATS = 5

Position = tuple[list[int], tuple[int, int], tuple[Any, Any], int, int]


def turned(bitboard: int) -> int:
    """The 81-bit `bitboard` turned by 180 degrees, square by square."""
    result = 0
    for square in shogi.SQUARES:
        if bitboard & shogi.BB_SQUARES[square] > 0:
            result += 1 << (80 - square)
    return result


def label_of(move: shogi.Move, turn: int) -> int:
    """The label of a python-shogi move, by the arithmetic of the book."""
    to = move.to_square if turn == shogi.BLACK else 80 - move.to_square
    if move.from_square is None:
        return int((20 + move.drop_piece_type - 1) * 81 + to)
    start = move.from_square if turn == shogi.BLACK else 80 - move.from_square
    dy, dx = to // 9 - start // 9, to % 9 - start % 9
    if dy == -2 and abs(dx) == 1:
        direction = 8 if dx == -1 else 9
    elif dy < 0:
        direction = 0 if dx == 0 else 1 if dx < 0 else 2
    elif dy == 0:
        direction = 3 if dx < 0 else 4
    else:
        direction = 5 if dx == 0 else 6 if dx < 0 else 7
    return int((direction + (10 if move.promotion else 0)) * 81 + to)


def positions_by_python_shogi(path: Path) -> list[Position]:
    """The training positions of one CSA file as the book makes them."""
    kifu = shogi.CSA.Parser.parse_file(path)[0]
    win_color = shogi.BLACK if kifu["win"] == "b" else shogi.WHITE
    board = shogi.Board()
    positions: list[Position] = []
    for usi in kifu["moves"]:
        if board.turn == shogi.BLACK:
            pieces = copy.deepcopy(board.piece_bb)
            occupied = copy.deepcopy((board.occupied[shogi.BLACK], board.occupied[shogi.WHITE]))
            hands = copy.deepcopy((board.pieces_in_hand[shogi.BLACK], board.pieces_in_hand[shogi.WHITE]))
        else:
            pieces = [turned(bitboard) for bitboard in board.piece_bb]
            occupied = (turned(board.occupied[shogi.WHITE]), turned(board.occupied[shogi.BLACK]))
            hands = copy.deepcopy((board.pieces_in_hand[shogi.WHITE], board.pieces_in_hand[shogi.BLACK]))
        label = label_of(shogi.Move.from_usi(usi), board.turn)
        positions.append((pieces, occupied, hands, label, int(win_color == board.turn)))
        board.push_usi(usi)
    return positions


def pickle_by_python_shogi(path: Path) -> bytes:
    """The same as the book stores it. Raises KifuError, where ours may read more."""
    try:
        return pickle.dumps(positions_by_python_shogi(path), pickle.HIGHEST_PROTOCOL)
    except (LookupError, TypeError, ValueError) as error:
        raise KifuError(path, f"python-shogi cannot read it as the book does ({error!r})") from error


def games_per_second(files: list[Path], processes: int) -> dict[str, float]:
    """Speed of every way to read `files`. The ways take turns, so that what else the machine does slows all alike."""
    read_and_pack = partial(pack_units, split="train")
    with ProcessCrew(processes) as crew:
        ways: dict[str, Callable[[list[Path]], Iterable[object]]] = {
            "python-shogi, as in the book": lambda part: map(pickle_by_python_shogi, part),
            "read": lambda part: map(read, part * _REPEATS),
            "read and pack": lambda part: map(read_and_pack, tasks(part * _REPEATS)),
            f"read and pack, {processes} processes": lambda part: crew.in_order(
                read_and_pack, tasks(part * _REPEATS), _LONGEST_TASK
            ),
        }
        seconds = dict.fromkeys(ways, 0.0)
        for run in ways.values():  # compile, import, start processes
            deque(run(files[: 16 * processes]), maxlen=0)
        # The first turn is not counted: the last of the processes starts during it, and each fills its caches.
        for turn in range(-1, _TURNS):
            part = files[turn % _TURNS :: _TURNS]
            for name, run in ways.items():
                start = time.perf_counter()
                deque(run(part), maxlen=0)
                if turn >= 0:
                    seconds[name] += time.perf_counter() - start
    book, *ours = ways
    return {book: len(files) / seconds[book]} | {name: _REPEATS * len(files) / seconds[name] for name in ours}


def main(arguments: list[str] | None = None) -> int:
    """Print games per second of every way, and how many times the book's loop that is. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m utils.bench_read_kifu", description=__doc__.split("\n", 1)[0])
    parser.add_argument("source", type=Path, help="a folder of CSA files, or a list of them")
    parser.add_argument("--workers", type=positive, default=os.cpu_count() or 1, help="processes (default: all cores)")
    options = parser.parse_args(arguments)

    def show() -> None:
        source: Path = options.source
        files = list(read_list(source)) if source.is_file() else record_files(source)
        if not files:
            raise ListError(f"{source} names no files")
        speeds = games_per_second(files, options.workers)
        slow = next(iter(speeds.values()))
        for name, speed in speeds.items():
            print(f"{name:30} {speed:8.0f} games/s {speed / slow:8.1f} x")

    return exit_status("bench_read_kifu", show, KifuError, ListError)


if __name__ == "__main__":
    sys.exit(main())
