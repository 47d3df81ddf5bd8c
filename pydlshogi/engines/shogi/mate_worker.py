"""The process that looks for a mate in millions of nodes: `python -m pydlshogi.engines.shogi.mate_worker SFEN`.

Each mate it finds is a line on stdout, "mate" and the moves, shorter than the line before; "nomate" if there is none.
It ends when there is nothing more to find. Nothing is said on its stdin, which must be a pipe: when that ends, the
parent is gone, and so is this process.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator

import cshogi

from pydlshogi.games.shogi.mate import MAX_PLIES, Finding, find_mate, shorter_mates

# Each attempt begins anew. OslDfPn solves more of the hard ones, DfPn alone can refute; the last one takes a minute
# and 400 MB where all fail.
_ATTEMPTS = ((cshogi.OslDfPn, 130_000), (cshogi.DfPn, 500_000), (cshogi.OslDfPn, 2_000_000))


def answers(sfen: str) -> Iterator[str]:
    """The lines to say about a position."""
    board = cshogi.Board(sfen)
    for solver_class, nodes in _ATTEMPTS:
        finding = find_mate(board, MAX_PLIES, nodes, solver_class)
        if finding.refuted:
            yield "nomate"
            return
        if finding.line:
            yield _said(finding)
            yield from map(_said, shorter_mates(board, finding.line, max(20_000, 2 * finding.nodes)))
            return


def _said(finding: Finding) -> str:
    return " ".join(("mate", *map(cshogi.move_to_usi, finding.line)))


def end_with_parent() -> None:
    """Exit when stdin ends, however the parent ended."""
    threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    if sys.platform != "win32":
        # The thread must wait for df-pn to let go of the GIL. A signal need not, where pipes send one at their end.
        from fcntl import F_GETFL, F_SETFL, F_SETOWN, fcntl

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl(0, F_SETOWN, os.getpid())
        fcntl(0, F_SETFL, fcntl(0, F_GETFL) | os.O_ASYNC)


def _exit_at_end_of_input() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    end_with_parent()
    for line in answers(sys.argv[1]):
        print(line, flush=True)


if __name__ == "__main__":
    main()
