"""Compile what the engines are made of, so that their first start need not: `python -m pydlshogi.compile`

It does what `isready` does and says in one line where the machine code was put. Where that has been done before it
takes a second or two.
"""

import argparse
import sys
import time

from pydlshogi.engines.games import GAMES
from pydlshogi.player.base_player import PlayerError
from pydlshogi.support.command_line import exit_status
from pydlshogi.support.compiled import kernels_folder


def compile_engines() -> str:
    """Load the engines and let them search a little; a line on that. Raises PlayerError."""
    began = time.monotonic()
    for game in GAMES.values():
        for engine in game.engines.values():
            engine().load().prepare()
    kept = kernels_folder() or "no folder, as none can be written to: each start compiles"
    return f"compiled in {time.monotonic() - began:.0f} s, and kept in {kept}"


if __name__ == "__main__":
    argparse.ArgumentParser(
        prog="python -m pydlshogi.compile", description="Compile the engines, so that their first start need not."
    ).parse_args()
    sys.exit(exit_status("compile", lambda: print(compile_engines()), PlayerError))
