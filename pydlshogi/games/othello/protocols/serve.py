"""The engine that a GUI registers, in GTP or NBoard's protocol: `python -m pydlshogi.games.othello.protocols.serve`

NBoard says `nboard 2` before anything else; a GUI that begins otherwise speaks GTP.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain

from pydlshogi.catalogue import GAMES, engine_named
from pydlshogi.games.othello.protocols import gtp, nboard
from pydlshogi.games.othello.protocols.gtp import Gtp
from pydlshogi.games.othello.protocols.loaded_engine import DEFAULT_LEVEL, HIGHEST_LEVEL, LoadedEngine, read_ahead
from pydlshogi.games.othello.protocols.nboard import NBoard
from pydlshogi.player.clock import Limits
from pydlshogi.player.options import add_option_setting, set_given
from pydlshogi.support.command_line import bounded, exit_status, parser_for
from pydlshogi.support.pool import end_when_nobody_listens


def speak(engine: LoadedEngine) -> None:
    """Converse on stdin and stdout."""
    end_when_nobody_listens(sys.stdout.fileno())
    first = next((line for line in sys.stdin if line.strip()), "")
    lines = chain([first], sys.stdin)
    if first.split()[:1] == ["nboard"]:
        # A board that is gone asks for nothing more; in GTP the lines may be a file's, each to be answered.
        lines = chain(lines, ["quit"])
        NBoard(engine, lambda line: _say(f"{line}\n")).run(read_ahead(lines, nboard.interrupts))
    else:
        Gtp(engine).run(read_ahead(lines, gtp.interrupts), _say)


def _say(text: str) -> None:
    """Write at once: the GUI waits for it."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _options_of_engines() -> Iterator[str]:
    """What `--option` may name."""
    for name in ("alphabeta", "mcts"):
        yield f"\noptions of {name}:"
        yield from engine_named("othello", name).options.help_lines()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for(
        "pydlshogi.games.othello.protocols.serve",
        "An Othello engine that speaks GTP and NBoard's protocol.",
        "\n".join(_options_of_engines()),
    )
    add = parser.add_argument
    engines = GAMES["othello"].engines
    add("engine", nargs="?", choices=[*engines], default="alphabeta", help="(default: %(default)s)")
    plies = f"plies to search, or how often to double 32 playouts (default: {DEFAULT_LEVEL})"
    add("--level", type=bounded(1, HIGHEST_LEVEL), help=plies)
    add("--seconds", type=bounded(0.001, kind=float), help="for a move, instead of a level")
    add_option_setting(parser)
    options = parser.parse_args(arguments)

    def run() -> None:
        engine = engine_named("othello", options.engine)
        set_given(engine.options, options.option)
        limits = Limits(movetime=max(1, round(1000 * options.seconds))) if options.seconds else None
        speak(LoadedEngine(engine, 0 if limits else options.level or 0, limits))

    return exit_status("othello", run)


if __name__ == "__main__":
    sys.exit(main())
