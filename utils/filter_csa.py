"""Which record files are good enough to learn from: `python -m utils.filter_csa kifu > kept.txt`.

A file is kept where all its games are: both players rated at least --min-rating, more than --min-moves moves, ended as
--endings say; by default 2500, 50 and resignation, as in python-dlshogi. Kept files are listed and nothing is changed;
the others are deleted only with --delete, and what cannot be read not even then.
"""

import argparse
import os
import statistics
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import get_args

from tqdm import tqdm

from pydlshogi.games.shogi.kifu.game import Ending, Game
from pydlshogi.games.shogi.read_kifu import KifuError, read_list, read_many
from pydlshogi.support.command_line import bounded, exit_status, parser_for, positive
from utils.make_kifu_list import record_files, whole_path


def fault(game: Game, options: argparse.Namespace) -> str | None:
    """Why `game` is not kept, or None."""
    if game.ending not in options.endings:
        return f"ended by {game.ending}"
    if len(game.moves) <= options.min_moves:
        return f"{len(game.moves)} moves"
    ratings = [rating for rating in game.ratings if rating is not None]
    if options.min_rating > 0 and len(ratings) < 2:
        return "unrated"
    if ratings and min(ratings) < options.min_rating:
        return f"rated {min(ratings):.0f}"
    return None


def statistics_of(ratings: Sequence[float]) -> str:
    """Mean, median, highest and lowest of `ratings`, in one line."""
    if not ratings:
        return "no ratings"
    return (
        f"ratings: mean {statistics.mean(ratings):.0f}, median {statistics.median(ratings):.0f}, "
        f"highest {max(ratings):.0f}, lowest {min(ratings):.0f}"
    )


def _endings(text: str) -> frozenset[str]:
    endings = frozenset(text.split(","))
    if unknown := endings - set(get_args(Ending)):
        raise argparse.ArgumentTypeError(
            f"{', '.join(sorted(unknown))}: not an ending; there are {', '.join(get_args(Ending))}"
        )
    return endings


def _run(options: argparse.Namespace) -> None:
    source: Path = options.source
    files = read_list(source) if source.is_file() else record_files(source)
    files = list({whole_path(file): file for file in files}.values())  # once, in whatever way a list names it
    kept, deleted, ratings = 0, 0, list[float]()
    for path, games in tqdm(read_many(files, options.workers), total=len(files), unit="file", disable=None):
        faults = [games.reason] if isinstance(games, KifuError) else [fault(game, options) for game in games]
        reason = next(filter(None, faults), None)
        if options.rejected and reason:
            tqdm.write(f"{path}: {reason}")
        elif not options.rejected and not reason:
            tqdm.write(str(path))
        if isinstance(games, KifuError):
            continue
        if reason is None:
            kept += 1
            ratings += [rating for game in games for rating in game.ratings if rating is not None]
        elif options.delete:
            path.unlink(missing_ok=True)
            deleted += 1
    print(f"{kept} of {len(files)} files kept, {deleted} deleted; {statistics_of(ratings)}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.filter_csa", __doc__.split(":", 1)[0])
    parser.add_argument("source", type=Path, help="a folder with record files at any depth, or a list of them")
    weaker = "of the weaker player; 0: any"
    parser.add_argument("--min-rating", type=bounded(0, kind=float), default=2500, metavar="R", help=weaker)
    parser.add_argument("--min-moves", type=int, default=50, metavar="N", help="more moves than this")
    parser.add_argument(
        "--endings", type=_endings, default="resign", metavar="A,B", help="such as resign,mate,declaration"
    )
    parser.add_argument(
        "--rejected", action="store_true", help="list the other files instead, with the reason for each"
    )
    parser.add_argument("--delete", action="store_true", help="delete the other files")
    parser.add_argument("--workers", type=positive, default=os.cpu_count() or 1, help="processes (default: all cores)")
    options = parser.parse_args(arguments)
    return exit_status("filter_csa", partial(_run, options))


if __name__ == "__main__":
    sys.exit(main())
