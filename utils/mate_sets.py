"""How many mates does an engine find? `python -m utils.mate_sets mate7.sfen --limit 60`

Every position is put to the engine as a GUI would: with `go mate`, or in a game with `go byoyomi`, where a mate counts
when it is announced with its length and its line and its first move is played. What the engine announces is judged by
others than itself: python-shogi plays the line, and osl's df-pn looks whether an evasion that is not in it helps. df-pn
knows mates by checks alone: what it misses in a game, where one may be proven by quieter moves, it leaves undecided.

Files have one position a line, with or without `moves` and the mate after it; lines without a position are passed
over. The exit status is 2 if anything announced was wrong, 1 if it could not be measured.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import cshogi
import shogi

from pydlshogi.player.option_settings import add_option_setting, option_settings
from pydlshogi.support.command_line import add_pool_options, exit_status, parser_for, pool_of, positive
from pydlshogi.support.files import read_plain
from pydlshogi.support.pool import WorkerPool
from utils.arena.engine_process import EngineError, command_line
from utils.arena.play_game import LONGEST_MS
from utils.arena.usi_engine import UsiEngine

_POSITION: Final = re.compile(r"((?:[\w+]+/){8}[\w+]+ [bw] \S+)( \d+)?(?: moves (.+))?")
_ANNOUNCED: Final = re.compile(r"info .*\bscore mate (-?\d+)\b.* pv (.+)")
_LARGEST_FILE: Final = 1 << 26
_JUDGE_NODES: Final = 200_000
_PATIENCE: Final = 60.0
"""Seconds beyond its time after which an engine is given up."""
_DEADLINE: Final = 600.0
"""Seconds for all that is done about a position, beyond the engine's time."""
_WRONG: Final = 2
"""The exit status if anything announced was wrong."""


class Problem(NamedTuple):
    """A position, and the length of the mate that is known in it; 0: none is known."""

    sfen: str
    plies: int


class Claim(NamedTuple):
    """What the engine says of a position, and after how long."""

    line: tuple[str, ...]
    """The mate, by whichever side makes the last move. Empty: none is announced."""
    doubt: str
    """What is wrong with the claim before anybody looks at the line."""
    said: str
    milliseconds: float
    by_checks: bool = True
    """The mate must be one by checks alone, as it need not be in a game."""


class ClaimVerdict(NamedTuple):
    """One position judged."""

    problem: Problem
    claim: Claim
    objection: str
    """What is wrong with the claim; "": nothing."""
    undecided: str = ""
    """What cannot be decided here; "": nothing."""

    @property
    def found(self) -> bool:
        """Whether the side to move mates, and nothing is wrong with that."""
        return len(self.claim.line) % 2 == 1 and not self.objection


def read_problems(path: Path) -> list[Problem]:
    """The positions of a file. Raises ValueError if there are none."""
    # Comments may be in any encoding; positions are ASCII.
    matches = map(_POSITION.search, read_plain(path, _LARGEST_FILE).decode("utf-8", "replace").splitlines())
    problems = [Problem(match[1] + (match[2] or " 1"), len((match[3] or "").split())) for match in matches if match]
    if not problems:
        raise ValueError(f"{path} holds no positions")
    return problems


class MateJudge:
    """Knows the rules by python-shogi, and mates by osl's df-pn, which the engine asks only about hard problems."""

    def __init__(self) -> None:
        self._solver = cshogi.OslDfPn(199, _JUDGE_NODES)

    def verdict(self, problem: Problem, claim: Claim) -> ClaimVerdict:
        """Whether the claim holds."""
        if claim.line:
            objection = claim.doubt or self.objection(problem.sfen, claim.line, by_checks=claim.by_checks)
            escape = "" if objection else self.escape(problem.sfen, claim.line)
            if claim.by_checks:
                return ClaimVerdict(problem, claim, objection or escape)
            return ClaimVerdict(problem, claim, objection, escape)
        denied = claim.said == "nomate" and (problem.plies or self._mates(problem.sfen))
        return ClaimVerdict(problem, claim, "there is a mate" if denied else "")

    def objection(self, sfen: str, line: Sequence[str], *, by_checks: bool = True) -> str:
        """Why `line` does not end in mate; "" if it does."""
        board = shogi.Board(sfen)
        for ply, usi in enumerate(line):
            if usi not in {move.usi() for move in board.legal_moves}:
                return f"{usi} is illegal"
            board.push_usi(usi)
            if by_checks and (len(line) - ply) % 2 == 1 and not board.is_check():
                return f"{usi} gives no check"
        return "" if board.is_checkmate() else "it does not end in mate"

    def escape(self, sfen: str, line: Sequence[str]) -> str:
        """The first evasion beside those of `line` after which df-pn sees no mate by checks; "": there is none."""
        board = shogi.Board(sfen)
        for ply, usi in enumerate(line):
            evasions = [] if (len(line) - ply) % 2 else [move for move in board.legal_moves if move.usi() != usi]
            for evasion in evasions:
                board.push(evasion)
                if not self._mates(board.sfen()):
                    return f"{evasion.usi()} instead of {usi} is not mated"
                board.pop()
            board.push_usi(usi)
        return ""

    def _mates(self, sfen: str) -> bool:
        """Whether the side to move mates, as far as osl's df-pn sees."""
        return bool(self._solver.search(cshogi.Board(sfen)))


def solve(engine: UsiEngine, sfen: str, milliseconds: int) -> Claim:
    """`go mate`."""
    answer, taken = engine.go_mate(f"sfen {sfen}", milliseconds, milliseconds / 1000 + _PATIENCE)
    line = () if answer in ("nomate", "timeout", "notimplemented") else tuple(answer.split())
    return Claim(line, "", answer, taken)


def play(engine: UsiEngine, sfen: str, milliseconds: int) -> Claim:
    """`go byoyomi`. What the last line with a `pv` says is what the engine announces."""
    limits = {"btime": 0, "wtime": 0, "byoyomi": milliseconds}
    answer = engine.go(f"sfen {sfen}", (), limits, milliseconds / 1000 + _PATIENCE)
    last = next((line for line in reversed(answer.lines) if " pv " in line), "")
    line: tuple[str, ...] = ()
    doubt = ""
    if match := _ANNOUNCED.match(last):
        plies, line = int(match[1]), tuple(match[2].split())
        # The loser may resign instead.
        if answer.bestmove != line[0] and not (plies < 0 and answer.bestmove == "resign"):
            doubt = f"plays {answer.bestmove}"
        elif abs(plies) != len(line) or (plies > 0) != len(line) % 2:
            doubt = f"{len(line)} moves for a mate in {plies}"
    return Claim(line, doubt, f"{last}; {answer.bestmove}", answer.milliseconds, by_checks=False)


@contextmanager
def examination(
    command: str | None, options: Mapping[str, str], mate: int, byoyomi: int | None
) -> Iterator[Callable[[tuple[int, Problem]], ClaimVerdict]]:
    """An engine and a judge for numbered problems, each a game of its own; `mate` and `byoyomi` in milliseconds.

    None is our own engine.
    """
    command = command or command_line([sys.executable, "-m", "pydlshogi.usi.usi_mcts_player"])
    with TemporaryDirectory() as folder, closing(UsiEngine(command, Path(folder, "stderr"))) as engine:
        engine.prepare(options)
        judge = MateJudge()

        def examine(numbered: tuple[int, Problem]) -> ClaimVerdict:
            _, problem = numbered
            engine.new_game()
            claim = play(engine, problem.sfen, byoyomi) if byoyomi else solve(engine, problem.sfen, mate)
            return judge.verdict(problem, claim)

        yield examine


HEADING: Final = (
    "| set | positions | mate found | no longer than known | called none | wrong | undecided "
    "| ms, median | ms, longest |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def row(name: str, judged: Sequence[ClaimVerdict]) -> str:
    """A line of the table."""
    found = [verdict for verdict in judged if verdict.found]
    shortest = sum(len(verdict.claim.line) <= verdict.problem.plies for verdict in found)
    none = sum(verdict.claim.said == "nomate" for verdict in judged)
    wrong = sum(bool(verdict.objection) for verdict in judged)
    times = [verdict.claim.milliseconds for verdict in judged]
    known = any(verdict.problem.plies for verdict in judged)
    cells = [
        name,
        len(judged),
        f"{len(found)} ({100 * len(found) / len(judged):.1f} %)",
        shortest if known else "",
        none,
        wrong,
        sum(bool(verdict.undecided) for verdict in judged),
        f"{median(times):.0f}",
        f"{max(times):.0f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _sampled(problems: list[Problem], limit: int | None, seed: int) -> list[Problem]:
    """All of them, or `limit` at random."""
    return problems if limit is None or limit >= len(problems) else Random(seed).sample(problems, limit)


def _measure(pool: WorkerPool, arguments: argparse.Namespace) -> bool:
    """Print the table. Returns whether nothing was wrong."""
    right = True
    sets = [(path, _sampled(read_problems(path), arguments.limit, arguments.seed)) for path in arguments.files]
    options = option_settings(arguments.option)
    task = partial(examination, arguments.engine, options, arguments.mate, arguments.byoyomi)
    deadline = _DEADLINE + (arguments.byoyomi or arguments.mate) / 1000
    for number, (path, problems) in enumerate(sets):
        judged = [verdict for _, verdict in sorted(pool.map(task, enumerate(problems), deadline))]
        if number == 0:
            print(HEADING)
        print(row(path.name, judged), flush=True)
        for verdict in judged:
            right = right and not verdict.objection
            remark = verdict.objection or verdict.undecided
            if remark or (arguments.show and not verdict.found):
                print(f"    {verdict.problem.sfen}: {verdict.claim.said}", remark, sep="  ")
    return right


def main(words: Sequence[str] | None = None) -> int:
    """Returns 0, 1 after an error on stderr, 2 if anything announced was wrong, or 130 after Ctrl-C."""
    parser = parser_for("utils.mate_sets", __doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="positions")
    parser.add_argument("--engine", metavar="COMMAND", help="(default: our own)")
    add_option_setting(parser)
    parser.add_argument("--mate", type=positive, default=5000, metavar="MS", help="for `go mate`")
    parser.add_argument("--byoyomi", type=positive, metavar="MS", help="play instead, with so much time for the move")
    add_pool_options(parser, workers=1)
    parser.add_argument("--limit", type=positive, metavar="N", help="positions of each file, chosen at random")
    parser.add_argument("--seed", type=int, default=0, help="of that choice")
    parser.add_argument("--show", action="store_true", help="also what was said where no mate was found")
    arguments = parser.parse_args(words)
    if max(arguments.mate, arguments.byoyomi or 0) > LONGEST_MS:
        parser.error(f"--mate and --byoyomi are at most {LONGEST_MS}")

    def run() -> int:
        with pool_of(arguments.workers, arguments.cluster) as pool:
            try:
                return 0 if _measure(pool, arguments) else _WRONG
            except EngineError as error:
                raise EngineError(f"the engine {error}") from error

    return exit_status("mate_sets", run, ValueError)


if __name__ == "__main__":
    sys.exit(main())
