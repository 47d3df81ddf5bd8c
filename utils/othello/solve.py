"""Solve test positions: `python -m utils.othello.solve FILE`

A line of the file (.obf) is 64 squares from a1 to h8, the side to move, and what moves are worth, as far as that is
known: `O--OOOOX...-- X; A2:+38; C7:+36;`. What stands behind `%` is a remark. Printed for each position are its score,
one of the best moves, the nodes (positions with more than a few empty squares) and the seconds, of the processor and by
the clock.
"""

import re
import sys
import time
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final, NamedTuple

from pydlshogi.games.othello.engine.alphabeta_search import AlphaBeta
from pydlshogi.games.othello.engine.cuts import SHIPPED_CUTS, probing_of, read_cuts
from pydlshogi.games.othello.engine.endgame import Solution, Solver
from pydlshogi.games.othello.engine.patterns import DISC, shipped_weights
from pydlshogi.games.othello.rules import Position, move_name, parse_move, position_of
from pydlshogi.games.othello.transcript import RecordError
from pydlshogi.games.othello.wthor import LARGEST_FILE
from pydlshogi.support.command_line import add_pool_options, exit_status, parser_for, pool_of, positive
from pydlshogi.support.files import read_plain, shipped_model
from utils.othello.probcut_table import deepened

_MEGABYTES: Final = 256
_LONGEST: Final = 7 * 86400.0
"""Seconds after which a position is given up."""
_SCORE: Final = re.compile(r"([a-h][1-8]|pass|pa|ps|--)\s*:\s*([+-]?\d+)", re.IGNORECASE)


class Problem(NamedTuple):
    """A position to solve."""

    line: int
    position: Position
    scores: dict[int, int]
    """What moves are known to be worth, in discs."""

    def verdict(self, solution: Solution) -> str:
        """What is wrong with a solution; nothing if it may be right."""
        if not self.scores:
            return ""
        best = max(self.scores.values())
        if solution.score != best:
            return f"WRONG: {best:+} is expected"
        known = self.scores.get(solution.move, best)
        return f"WRONG: the move is worth {known:+}" if known != best else ""


def parse_obf(text: str) -> list[Problem]:
    """The positions of a file. Raises RecordError, which names the line."""
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            problems += _problem(number, line.partition("%")[0])
        except ValueError as error:
            raise RecordError(f"line {number}: {error}") from error
    return problems


def _problem(number: int, line: str) -> list[Problem]:
    diagram, *known = line.split(";")
    if not line.strip():
        return []
    position, scores = position_of(diagram), dict[int, int]()
    if position.over:
        raise ValueError("the game is over")
    for each in filter(None, map(str.strip, known)):
        found = _SCORE.fullmatch(each)
        if not found:
            raise ValueError(f"{each} is no move with its score")
        move = parse_move(found[1])
        if move not in position.moves():
            raise ValueError(f"{found[1]} cannot be played")
        scores[move] = int(found[2])
    return [Problem(number, position, scores)]


def solve(threads: int, problem: Problem) -> tuple[Solution, float, float]:
    """The solution, by `threads` threads, and the seconds that it took, of the processor and by the clock."""
    search, solver = _tools(threads)
    processor, clock = time.process_time(), time.perf_counter()
    position = problem.position
    expected = deepened(search, position, max(1, position.empties // 2)).value / DISC
    solver.clear()
    solution = solver.solve(position, guess=round(expected))
    assert solution is not None
    return solution, time.process_time() - processor, time.perf_counter() - clock


@cache
def _tools(threads: int) -> tuple[AlphaBeta, Solver]:
    """Of this process."""
    search = AlphaBeta(shipped_weights(), probing_of(read_cuts(shipped_model() / SHIPPED_CUTS)))
    return search, Solver(_MEGABYTES, threads=threads)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.othello.solve", "Solve test positions.")
    parser.add_argument("file", type=Path, help="of positions, .obf")
    add_pool_options(parser)
    parser.add_argument("--threads", type=positive, default=1, help="for each position")
    options = parser.parse_args(arguments)

    def run() -> int:
        try:
            problems = parse_obf(read_plain(options.file, LARGEST_FILE).decode("utf-8-sig", "replace"))
        except RecordError as error:
            raise RecordError(f"{options.file}: {error}") from error
        if not problems:
            raise RecordError(f"{options.file}: it holds no position")
        wrong, nodes, processor = 0, 0, 0.0
        with pool_of(min(options.workers, len(problems)), options.cluster) as pool:
            solved = pool.in_order(partial(solve, options.threads), problems, _LONGEST)
            for problem, (solution, spent, took) in zip(problems, solved, strict=True):
                verdict = problem.verdict(solution)
                wrong, nodes, processor = wrong + bool(verdict), nodes + solution.nodes, processor + spent
                name = f"line {problem.line}, {problem.position.empties} empty:"
                print(
                    f"{name:20} {solution.score:+3} {move_name(solution.move):4} {solution.nodes:13,} nodes "
                    f"{spent:8.2f} s {took:8.2f} s  {verdict}".rstrip(),
                    flush=True,
                )
        print(f"{len(problems)} positions, {wrong} wrong, {nodes:,} nodes, {processor:.2f} s")
        return int(wrong > 0)

    return exit_status("solve", run)


if __name__ == "__main__":
    sys.exit(main())
