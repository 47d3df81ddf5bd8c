"""The engine that a GUI registers, in GTP or NBoard's protocol: `python -m pydlshogi.protocols.serve`

NBoard says `nboard 2` before anything else; whoever begins otherwise speaks GTP.
"""

import argparse
import os
import select
import sys
import threading
from collections.abc import Sequence
from itertools import chain

from pydlshogi.engines.othello.alphabeta_options import ALPHABETA, EngineChoice
from pydlshogi.engines.othello.clock import Effort
from pydlshogi.engines.othello.engine import EngineError, OthelloEngine
from pydlshogi.protocols import gtp, nboard
from pydlshogi.protocols.gtp import Gtp
from pydlshogi.protocols.inbox import Inbox
from pydlshogi.protocols.nboard import NBoard
from pydlshogi.support.command_line import exit_status


def speak(engine: OthelloEngine, effort: Effort) -> None:
    """Converse on stdin and stdout."""
    threading.Thread(target=_end_when_nobody_listens, args=(sys.stdout.fileno(),), name="listener", daemon=True).start()
    first = next((line for line in sys.stdin if line.strip()), "")
    lines = chain([first], sys.stdin)
    if first.split()[:1] == ["nboard"]:
        # A board that is gone asks for nothing more; in GTP the lines may be a file's, each to be answered.
        lines = chain(lines, ["quit"])
        NBoard(engine, effort, lambda line: _say(f"{line}\n")).run(Inbox(lines, nboard.interrupts))
    else:
        Gtp(engine, effort).run(Inbox(lines, gtp.interrupts), _say)


def _end_when_nobody_listens(descriptor: int) -> None:
    """A controller that dies would leave a core to the search that it asked for, at a high level for days.

    Windows cannot be asked who reads a pipe: there the search ends first.
    """
    if sys.platform != "win32":
        poll = select.poll()
        poll.register(descriptor, 0)
        poll.poll()
        os._exit(1)


def _say(text: str) -> None:
    """Write at once: whoever listens waits for it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None, choice: EngineChoice = ALPHABETA) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {choice.name}.serve",
        description="An Othello engine that speaks GTP and NBoard's protocol.",
    )
    choice.add_options(parser)
    options = parser.parse_args(arguments)

    def run() -> None:
        engine, effort = choice.engine_of(options)
        engine.prepare()
        speak(engine, effort)

    return exit_status("othello", run, EngineError)


if __name__ == "__main__":
    sys.exit(main())
