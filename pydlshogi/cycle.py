"""Learning a game from nothing: it plays against itself, learns from the games, compares, and begins again.

    python -m pydlshogi.cycle dobutsu --out runs/dobutsu

The same command goes on where a run broke off. All that a run knows is in its folder: see learning/run_folder.py."""

import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from pydlshogi.catalogue import game_named
from pydlshogi.learning.run_folder import RunFolder
from pydlshogi.learning.settings import Cycle, add_game_options
from pydlshogi.support.command_line import (
    SettingError,
    add_pool_options,
    check,
    exit_status,
    parser_for,
    pool_of,
    remedy,
)
from pydlshogi.support.files import reserved


def main(arguments: Sequence[str] | None = None) -> int:
    began = time.monotonic()
    parser = parser_for("pydlshogi.cycle", "Learn a game from nothing.")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="of the run; one that is there goes on")
    parser.add_argument(
        "--speedrun", action="store_true", help="end as soon as a network passes the exam of the game, and say when"
    )
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
        game, folder, exam = game_named(options.game), RunFolder(Path(options.out)), None
        if options.speedrun:
            if folder.checkpoint.exists():
                raise SettingError("--speedrun begins anew: give another --out")
            exam = game.exam
            if exam is None:
                raise SettingError(f"--speedrun: {game.name} has no exam")
        with reserved(folder.path), pool_of(options.workers, options.cluster) as pool:
            settings = folder.settle(game.name, Cycle(**game.learning), given)
            check(settings)
            passed = learner.learn(game, folder, settings, pool, exam)
        if exam:
            minutes = (time.monotonic() - began) / 60
            print(f"the exam {'is passed' if passed else 'is not passed'} {minutes:.1f} minutes after the command")

    return exit_status("cycle", run, resume="the same command goes on")


if __name__ == "__main__":
    sys.exit(main())
