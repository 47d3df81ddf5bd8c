"""Solve Dobutsu shogi: find out who wins every position that the game can reach, and in how many plies.

    python -m pydlshogi.games.dobutsu.solve

The solution is kept in the cache folder. With it the engine analyses exactly and can play perfectly (Perfect_Play), and
the board has an opponent of that name.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pydlshogi.games.dobutsu import solution_file
from pydlshogi.games.dobutsu.numbering import numbering
from pydlshogi.games.dobutsu.position import DobutsuPosition
from pydlshogi.games.dobutsu.retrograde import solved
from pydlshogi.games.dobutsu.solution import Solution, write_solution
from pydlshogi.support.command_line import exit_status, parser_for, positive
from pydlshogi.support.files import check_writable
from pydlshogi.support.pool import available_cores


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
