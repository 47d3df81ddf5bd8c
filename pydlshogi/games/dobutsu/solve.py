"""The solution of Dobutsu shogi: who wins every position that the game can reach, and in how many plies.

    python -m pydlshogi.games.dobutsu.solve

makes it, a file in the cache folder: the table of `retrograde.solved` in compressed blocks; one is read when somebody
asks for a position in it. With it the engine analyses exactly and can play perfectly (Perfect_Play), and the board has
an opponent of that name.
"""

import mmap
import sys
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from pydlshogi.game import Outcome
from pydlshogi.games.dobutsu import solution_file
from pydlshogi.games.dobutsu.numbering import Numbering, numbered, numbering
from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.dobutsu.retrograde import DECIDED, DRAWN, NOT_REACHED, solved
from pydlshogi.support import OneLineError
from pydlshogi.support.arrays import Uint8Array
from pydlshogi.support.command_line import exit_status, parser_for, positive
from pydlshogi.support.files import check_writable, open_plain, replacing
from pydlshogi.support.pool import available_cores

_MAGIC: Final = b"Dobutsu shogi, solved 1\n"
_BLOCK: Final = 1 << 15
"""Positions in a block."""
_KEPT: Final = 1024
"""Blocks that a reader keeps."""


def write_solution(table: Uint8Array, numbers: Numbering, path: Path, threads: int) -> None:
    """Write the table of all positions with these numbers. Raises OSError."""
    parts = (table[first : first + _BLOCK].tobytes() for first in range(0, len(table), _BLOCK))
    with ThreadPoolExecutor(threads) as pool, replacing(path) as file:
        blocks = [*pool.map(zlib.compress, parts)]
        ends = np.cumsum([len(block) for block in blocks], dtype="<u8")
        file.write(_MAGIC + numbers.pieces.astype(np.uint8).tobytes() + ends.tobytes())
        file.writelines(blocks)


class Solution:
    """A solution in a file."""

    def __init__(self, path: Path) -> None:
        """Raises OneLineError where the file holds something else, OSError."""
        with open_plain(path) as file:
            magic, pieces = file.read(len(_MAGIC)), file.read(3)
            if magic != _MAGIC or len(pieces) < 3 or max(pieces) > 2:
                raise OneLineError(f"{path} is no solution of Dobutsu shogi")
            self._numbers = numbering(*pieces)
            blocks = -(-self._numbers.size // _BLOCK)
            ends = file.read(8 * blocks)
            first, size = file.tell(), file.seek(0, 2)
            if len(ends) < 8 * blocks or first + int.from_bytes(ends[-8:], "little") != size:
                raise OneLineError(f"{path} is cut short")
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._ends = [first, *(first + np.frombuffer(ends, "<u8")).tolist()]
        self._block = lru_cache(_KEPT)(self._read_block)

    def _read_block(self, index: int) -> bytes:
        return zlib.decompress(self._data[self._ends[index] : self._ends[index + 1]])

    def outcome(self, pieces: int) -> Outcome | None:
        """How a state's `pieces` end; None: the game does not get there. A draw has no number of plies."""
        number = numbered(pieces, self._numbers)
        code = NOT_REACHED if number < 0 else self._block(number // _BLOCK)[number % _BLOCK]
        if code == NOT_REACHED:
            return None
        plies = code - DECIDED
        return Outcome(0.5) if code == DRAWN else Outcome(float(plies % 2), plies)

    def moves(self, position: DobutsuPosition) -> dict[int, Outcome]:
        """How the legal moves end for the side that plays them, the best first: the quickest win, the latest loss.

        A move that repeats a position for the third time draws. Moves of which nothing is known are missing.
        """
        found, after = dict[int, Outcome](), position.copy()
        for move in position.legal_moves().tolist():
            after.push(move)
            lost = None if len(after.legal_moves()) else Outcome(0.0)
            ends = lost or after.threefold() or self.outcome(int(after.state["pieces"]))
            after.pop()
            if ends:
                found[move] = ends._replace(value=1 - ends.value, plies=ends.plies + (ends.value != 0.5))
        return dict(sorted(found.items(), key=lambda item: _rank(item[1]), reverse=True))


def _rank(outcome: Outcome) -> tuple[float, int]:
    """The greater, the better."""
    return outcome.value, outcome.plies if outcome.value == 0 else -outcome.plies


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("pydlshogi.games.dobutsu.solve", __doc__)
    parser.add_argument("--out", type=Path, help="the file to write (default: where the engine looks for it)")
    parser.add_argument(
        "--threads", type=positive, default=available_cores(), metavar="N", help="(default: one for each core)"
    )
    options = parser.parse_args(arguments)

    def run() -> None:
        out: Path = options.out or solution_file()
        out.parent.mkdir(parents=True, exist_ok=True)
        check_writable(out)
        began, numbers, start = time.monotonic(), numbering(), int(DobutsuPosition().state["pieces"])

        def tell(plies: int, positions: int) -> None:
            what = f"end in {plies} plies" if plies else "can be reached"
            print(f"{(time.monotonic() - began) / 60:5.1f} min: {positions:,} positions {what}", flush=True)

        table = solved([start], numbers, options.threads, tell)
        write_solution(table, numbers, out, options.threads)
        outcome = Solution(out).outcome(start)
        assert outcome is not None  # the start can be reached
        print(f"the start is {'won' if outcome.value else 'lost'} in {outcome.plies} plies")
        print(f"{out}: {out.stat().st_size / 1e6:.0f} MB, made in {len(table) / 1e9:.2f} GB")

    return exit_status("solve", run)


if __name__ == "__main__":
    sys.exit(main())
