"""The answer to `go mate`: a look in this thread, and if that is not enough, a process that looks for longer.

It knows mates, clocks and processes, and no search or network. The process is there because df-pn holds the GIL: a
thread that looked for seconds would keep the engine from reading `stop`. Nearly all problems are solved before it
would be needed, so it is started for the others only, each time anew.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from cshogi import Board, move_to_usi

from pydlshogi.games.shogi.mate import MAX_PLIES, find_mate, shorter_mates
from pydlshogi.player.base_player import Checkmate, Info, Report
from pydlshogi.player.clock import Clock

_ATTEMPTS: Final = (1000, 4000, 16_000)
"""Nodes of the looks in this thread: fractions of the time within which `stop` must be heard."""

_BELIEVED: Final = 1000
"""Nodes of a refutation that is believed. With 10,212 df-pn has refuted a position with a mate in 27: so what took
more is believed once the process, where another search begins, has found nothing either."""
_SHORTENING_NODES: Final = 20_000
_POLL: Final = 10.0
"""Milliseconds between two looks at the process and the clock."""


class CheckmateSolver:
    """Solves one problem at a time."""

    def __init__(self) -> None:
        self._worker: subprocess.Popen[str] | None = None
        self._failure_said = False

    def solve(self, sfen: str, clock: Clock, report: Report) -> Checkmate:
        """The shortest mate found for the side to move of the position `sfen`; nomate only where df-pn refutes it.

        Repetitions count from this position on: what was played before is not part of the problem. `clock` ends it,
        and so do as many df-pn nodes as its budget has, as long as no process was needed.
        """
        board = Board(sfen)
        spent = 0
        for nodes in _ATTEMPTS:
            if _over(clock, spent):
                return Checkmate("timeout")
            finding = find_mate(board, MAX_PLIES, nodes)
            spent += finding.nodes
            if finding.refuted and finding.nodes > _BELIEVED:
                break
            if finding.refuted:
                return Checkmate("nomate")
            if finding.line:
                for shorter in shorter_mates(board, finding.line, _SHORTENING_NODES):
                    finding = shorter
                    if _over(clock, spent):
                        break
                return Checkmate("mate", tuple(map(move_to_usi, finding.line)))
        if _over(clock, spent):
            return Checkmate("timeout")
        return self._ask_worker(board.sfen(), clock, report)

    def close(self) -> None:
        """End the process, from any thread."""
        worker = self._worker
        if worker is not None:
            worker.kill()
            with suppress(subprocess.TimeoutExpired):
                worker.wait(timeout=1)

    def _ask_worker(self, sfen: str, clock: Clock, report: Report) -> Checkmate:
        try:
            self._worker = worker = start_worker(sfen)
        except OSError as error:
            self._say_failure(f"no process can be started for hard mates: {error.strerror or error}", report)
            return Checkmate("timeout")
        try:
            while worker.poll() is None and not _over(clock, 0):
                clock.wait(_POLL)
        finally:
            broken = worker.poll() not in {None, 0}
            worker.kill()
            said, _ = worker.communicate()
            self._worker = None
        if broken:
            self._say_failure("the process for hard mates failed (the log may say more)", report)
        # A line that was cut short is no answer.
        lines = [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]
        match lines[-1:]:
            case [["mate", *moves]]:
                return Checkmate("mate", tuple(moves))
            case [["nomate"]]:
                return Checkmate("nomate")
            case _:
                return Checkmate("timeout")

    def _say_failure(self, text: str, report: Report) -> None:
        if not self._failure_said:
            self._failure_said = True
            report(Info(string=text))


def _over(clock: Clock, nodes: int) -> bool:
    budget = clock.budget
    return clock.stopped or clock.spent() >= budget.maximum or nodes >= budget.nodes


def start_worker(sfen: str) -> subprocess.Popen[str]:
    """The worker must be this package's own, wherever the engine was started. Raises OSError."""
    package = Path(__file__).resolve().parents[2]
    path = os.pathsep.join(filter(None, (str(package.parent), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "pydlshogi.engines.shogi.mate_worker", sfen],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        # On Windows a console window would open.
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
