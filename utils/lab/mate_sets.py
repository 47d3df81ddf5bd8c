"""How many mates does an engine find? `python -m utils.lab.mate_sets mate7.sfen`

Every position is put to the engine as a GUI would: with `go mate`, or in a game with `go byoyomi`, where a mate counts
when it is announced with its length and its line and its first move is played. What the engine announces is judged by
others than itself: python-shogi plays the line, and osl's df-pn looks whether an evasion that is not in it helps. df-pn
knows mates by checks alone: in a game, where one may be proven by quieter moves, an evasion after which it sees none is
shown, and is no error.

Files have one position a line, with or without `moves` and the mate after it; lines without a position are passed
over. The exit status is 2 if anything announced was wrong.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import cshogi
import shogi

from pydlshogi.player.options import add_option_setting, option_settings
from pydlshogi.support.command_line import exit_status, parser_for, pool_of, positive
from utils.arena.engines import UsiEngine, command_line

_POSITION: Final = re.compile(r"((?:[\w+]+/){8}[\w+]+ [bw] \S+)( \d+)?(?: moves (.+))?")
_ANNOUNCED: Final = re.compile(r"info .*\bscore mate (-?\d+)\b.* pv (.+)")
_JUDGE_NODES: Final = 200_000
_PATIENCE: Final = 60.0
"""Seconds beyond its time after which an engine is given up."""
HEADING: Final = "| set | positions | mate found | called none | wrong | ms, median | longest |\n|" + "---|" * 7


class Problem(NamedTuple):
    """A position, and whether a mate is known in it."""

    sfen: str
    known: bool


class Claim(NamedTuple):
    """What the engine says of a position, and after how long."""

    line: tuple[str, ...]
    """The mate, by whichever side makes the last move. Empty: none is announced."""
    doubt: str
    """What is wrong with the claim before anybody looks at the line."""
    said: str
    milliseconds: float


class ClaimVerdict(NamedTuple):
    """A claim judged."""

    claim: Claim
    objection: str = ""
    """What is wrong with it."""
    remark: str = ""
    """What cannot be decided here."""

    @property
    def found(self) -> bool:
        """Whether the side to move mates, and nothing is wrong with that."""
        return len(self.claim.line) % 2 == 1 and not self.objection


def read_problems(path: Path) -> list[Problem]:
    """The positions of a file."""
    matches = map(_POSITION.search, path.read_text(encoding="utf-8", errors="replace").splitlines())
    return [Problem(match[1] + (match[2] or " 1"), bool(match[3])) for match in matches if match]


class MateJudge:
    """Knows the rules by python-shogi, and mates by osl's df-pn, which the engine asks only about hard problems."""

    def __init__(self, *, by_checks: bool) -> None:
        """`by_checks`: mates must be ones by checks alone, as they need not be in a game."""
        self._solver, self._by_checks = cshogi.OslDfPn(199, _JUDGE_NODES), by_checks

    def verdict(self, problem: Problem, claim: Claim) -> ClaimVerdict:
        """Whether the claim holds."""
        if claim.line:
            objection = claim.doubt or self.objection(problem.sfen, claim.line)
            escape = "" if objection else self.escape(problem.sfen, claim.line)
            return ClaimVerdict(claim, *((objection or escape, "") if self._by_checks else (objection, escape)))
        denied = claim.said == "nomate" and (problem.known or self._mates(problem.sfen))
        return ClaimVerdict(claim, "there is a mate" if denied else "")

    def objection(self, sfen: str, line: Sequence[str]) -> str:
        """Why `line` does not end in mate; "" if it does."""
        board = shogi.Board(sfen)
        for ply, usi in enumerate(line):
            if usi not in {move.usi() for move in board.legal_moves}:
                return f"{usi} is illegal"
            board.push_usi(usi)
            if self._by_checks and (len(line) - ply) % 2 == 1 and not board.is_check():
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
    line, doubt = tuple[str, ...](), ""
    if match := _ANNOUNCED.match(last):
        plies, line = int(match[1]), tuple(match[2].split())
        # The loser may resign instead.
        if answer.bestmove != line[0] and not (plies < 0 and answer.bestmove == "resign"):
            doubt = f"plays {answer.bestmove}"
        elif abs(plies) != len(line) or (plies > 0) != len(line) % 2:
            doubt = f"{len(line)} moves for a mate in {plies}"
    return Claim(line, doubt, f"{last}; {answer.bestmove}", answer.milliseconds)


@contextmanager
def examination(
    command: str, options: Mapping[str, str], mate: int, byoyomi: int | None
) -> Iterator[Callable[[Problem], ClaimVerdict]]:
    """A task of a pool: an engine and a judge, each problem a game of its own; times in milliseconds."""
    with closing(UsiEngine(command, Path(os.devnull))) as engine:
        engine.prepare(options)
        judge = MateJudge(by_checks=not byoyomi)

        def examine(problem: Problem) -> ClaimVerdict:
            engine.new_game()
            claim = play(engine, problem.sfen, byoyomi) if byoyomi else solve(engine, problem.sfen, mate)
            return judge.verdict(problem, claim)

        yield examine


def row(name: str, judged: Sequence[ClaimVerdict]) -> str:
    """A line of the table."""
    found, wrong = (
        sum(map(bool, each)) for each in zip(*((each.found, each.objection) for each in judged), strict=True)
    )
    none = sum(verdict.claim.said == "nomate" for verdict in judged)
    times = [verdict.claim.milliseconds for verdict in judged]
    share = f"{found} ({100 * found / len(judged):.1f} %)"
    return f"| {name} | {len(judged)} | {share} | {none} | {wrong} | {median(times):.0f} | {max(times):.0f} |"


def measure(arguments: argparse.Namespace) -> int:
    """Print the table, and what was wrong. Returns the exit status."""
    options = option_settings(arguments.option)
    task = partial(examination, arguments.engine, options, arguments.mate, arguments.byoyomi)
    wrong = False
    print(HEADING)
    with pool_of(arguments.workers, None) as pool:
        for path in arguments.files:
            judged = list(pool.map(task, read_problems(path)))
            print(row(path.name, [verdict for _, verdict in judged]), flush=True)
            for problem, verdict in judged:
                wrong = wrong or bool(verdict.objection)
                if remark := verdict.objection or verdict.remark:
                    print(f"    {problem.sfen}: {verdict.claim.said}", remark, sep="  ")
    return 2 if wrong else 0


def main(words: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.mate_sets", __doc__)
    own = command_line([sys.executable, "-m", "pydlshogi.usi.usi_mcts_player"])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="positions")
    parser.add_argument("--engine", metavar="COMMAND", default=own, help="(default: our own)")
    add_option_setting(parser)
    parser.add_argument("--mate", type=positive, default=5000, metavar="MS", help="for `go mate`")
    parser.add_argument("--byoyomi", type=positive, metavar="MS", help="play instead, with so much time for the move")
    parser.add_argument("--workers", type=positive, default=1, metavar="N", help="engines at once")
    return exit_status("mate_sets", partial(measure, parser.parse_args(words)))


if __name__ == "__main__":
    sys.exit(main())
