"""Learning a game from nothing: it plays against itself, learns from the games, compares, and begins again.

    python -m pydlshogi.cycle dobutsu --out runs/dobutsu --minutes 20

The same command goes on where a run was broken off. All that a run knows is in its folder: see learning/run_folder.py.
"""

import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from pydlshogi.catalogue import game_named
from pydlshogi.learning.run_folder import RunFolder
from pydlshogi.learning.settings import Cycle, add_game_options
from pydlshogi.support.command_line import add_pool_options, check, exit_status, parser_for, pool_of, remedy
from pydlshogi.support.files import reserved


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("pydlshogi.cycle", "Learn a game from nothing.")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="of the run; one that is there goes on")
    add_pool_options(parser)
    words = sys.argv[1:] if arguments is None else arguments
    add_game_options(parser, Cycle, words)
    options = parser.parse_args(words)
    try:
        # Here, for workers import this module and need nothing that learns.
        from pydlshogi.learning import learner
    except ImportError as missing:
        sys.exit(f"cycle: PyTorch is not installed here: {remedy('train', 'torch')} ({missing})")
    names = {each.name for each in fields(Cycle)}
    given = {name: value for name, value in vars(options).items() if name in names}

    def run() -> None:
        game, folder = game_named(options.game), RunFolder(Path(options.out))
        with reserved(folder.path), pool_of(options.workers, options.cluster) as pool:
            settings = folder.settle(game.name, Cycle(**game.learning), given)
            check(settings)
            learner.learn(game, folder, settings, pool)

    return exit_status("cycle", run, resume="the same command goes on")


if __name__ == "__main__":
    sys.exit(main())
