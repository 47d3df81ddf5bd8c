"""Lists of record files to train and to test with: `make_kifu_list kifu kiflist --train 1000 --test 100`.

Writes NAME_train.txt and NAME_test.txt (NAME_train_1000.txt and NAME_test_100.txt where counts are given): one path a
line, relative to the list. The split is random, the same for the same seed, and no file is in both.

With --min-rating, --min-moves or --endings only files are listed whose games are all good enough to learn from;
python-dlshogi's filter_csa wanted `--min-rating 2500 --min-moves 50 --endings resign`. What cannot be read is no such
file. No record is changed or deleted.
"""

import argparse
import os
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from tqdm import tqdm

from pydlshogi.games.shogi.kifu.formats import SUFFIXES
from pydlshogi.games.shogi.kifu.game import Game
from pydlshogi.games.shogi.read_kifu import KifuError, read_many
from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import bounded, exit_status, natural, parser_for
from pydlshogi.support.decoding import one_line
from pydlshogi.support.files import write_whole
from pydlshogi.support.pool import available_cores


def record_files(folder: Path) -> list[Path]:
    """All record files in `folder` and below, sorted. Raises OneLineError where there are none."""
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not files:
        raise OneLineError(f"{folder}: {'no record files' if folder.is_dir() else 'no such folder'}")
    return files


def good(files: Sequence[Path], options: argparse.Namespace) -> Iterator[Path]:
    """Those whose games are as the options want them."""
    for path, games in tqdm(read_many(files, available_cores()), total=len(files), unit="file", disable=None):
        if isinstance(games, KifuError):
            tqdm.write(f"make_kifu_list: {games}", file=sys.stderr)
        elif all(is_good(game, options) for game in games):
            yield path


def is_good(game: Game, options: argparse.Namespace) -> bool:
    """A player without a rating has none that is high enough."""
    ratings = [-1.0 if rating is None else rating for rating in game.ratings]
    return (
        (not options.endings or game.ending in options.endings.split(","))
        and len(game.moves) > options.min_moves
        and (not options.min_rating or min(ratings, default=-1.0) >= options.min_rating)
    )


def split(files: Sequence[Path], train: int, test: int, seed: int) -> tuple[list[Path], list[Path]]:
    """`train` and `test` different files, at random."""
    if train + test > len(files):
        raise OneLineError(f"{train} + {test} files are asked for, there are {len(files)}")
    sampled = random.Random(seed).sample(files, train + test)
    return sampled[:train], sampled[train:]


def write_list(path: Path, files: Sequence[Path]) -> None:
    """Write the paths of `files`, relative to the list `path`."""
    lines = []
    for file in files:
        there = Path(os.path.realpath(file.parent), file.name)  # a link is a file of its own
        with suppress(ValueError):  # on another drive the whole path stays
            there = Path(os.path.relpath(there, os.path.realpath(path.parent)))  # links as the system follows them
        lines.append(there.as_posix())
        if one_line(lines[-1]) != lines[-1]:
            raise OneLineError(f"{str(file)!r}: a list cannot hold this name")
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


def make_lists(options: argparse.Namespace) -> None:
    """Write both lists."""
    if not options.name.name:
        raise OneLineError(f"{options.name}: the lists want a name")
    files = record_files(options.folder)
    if options.min_rating or options.min_moves or options.endings:
        files = sorted(good(files, options))
    train = int(len(files) * options.ratio) if options.train is None else options.train
    test = max(0, len(files) - train) if options.test is None else options.test
    names = [
        options.name.with_name(options.name.name + suffix + (f"_{count}" if count is not None else "") + ".txt")
        for suffix, count in (("_train", options.train), ("_test", options.test))
    ]
    parts = split(files, train, test, options.seed)
    for name in names:
        if name.exists() and not options.overwrite:
            raise OneLineError(f"{name} exists (--overwrite replaces it)")
    for name, part in zip(names, parts, strict=True):
        write_list(name, part)
        print(f"{name}: {len(part)} of {len(files)} record files")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.make_kifu_list", __doc__.split(":", 1)[0])
    parser.add_argument("folder", type=Path, help="where the record files are, at any depth")
    parser.add_argument("name", type=Path, help="path of the lists without _train.txt and _test.txt")
    parser.add_argument("--ratio", type=bounded(0, 1, float), default=0.9, help="share of the files for training")
    parser.add_argument("--train", type=natural, metavar="N", help="this many files for training, instead of --ratio")
    parser.add_argument("--test", type=natural, metavar="N", help="this many files for testing (default: all others)")
    parser.add_argument("--seed", type=int, default=0, help="of the random split")
    parser.add_argument("--min-rating", type=bounded(0, kind=float), default=0, metavar="R", help="of the weaker")
    parser.add_argument("--min-moves", type=natural, default=0, metavar="N", help="more moves than this")
    parser.add_argument("--endings", metavar="A,B", help="such as resign,mate,declaration")
    parser.add_argument("--overwrite", action="store_true", help="replace lists that exist")
    options = parser.parse_args(arguments)
    return exit_status("make_kifu_list", partial(make_lists, options))


if __name__ == "__main__":
    sys.exit(main())
