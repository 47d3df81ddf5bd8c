"""Lists of record files to train and to test with: `make_kifu_list kifu kiflist --train 1000 --test 100`.

Writes NAME_train.txt and NAME_test.txt (NAME_train_1000.txt and NAME_test_100.txt where counts are given): one path a
line, relative to the list. The split is random, the same for the same seed, and no file is in both. It goes by file
names; utils.filter_csa looks into the files.
"""

import argparse
import os
import random
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydlshogi.games.shogi.kifu.formats import SUFFIXES
from pydlshogi.support.command_line import bounded, exit_status, natural, parser_for
from pydlshogi.support.errors import OneLineError
from pydlshogi.support.files import write_whole


def record_files(folder: Path) -> list[Path]:
    """All record files in `folder` and below, sorted. Raises OneLineError where there are none."""
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not files:
        raise OneLineError(f"{folder}: {'no record files' if folder.is_dir() else 'no such folder'}")
    return files


def split(files: Sequence[Path], train: int, test: int, seed: int) -> tuple[list[Path], list[Path]]:
    """`train` and `test` different files, at random."""
    if train + test > len(files):
        raise OneLineError(f"{train} + {test} files are asked for, there are {len(files)}")
    sampled = random.Random(seed).sample(files, train + test)
    return sampled[:train], sampled[train:]


def write_list(path: Path, files: Sequence[Path]) -> None:
    """Write the paths of `files`, relative to the list `path`. OneLineError for a name that is no line of text."""
    lines = []
    for file in files:
        whole = whole_path(file)
        try:  # through links as the system goes them; to another drive, the whole
            lines.append(Path(os.path.relpath(whole, os.path.realpath(path.parent))).as_posix())
        except ValueError:
            lines.append(whole.as_posix())
    for line in lines:
        if line.splitlines() != [line.strip()] or any("\ud800" <= letter <= "\udfff" for letter in line):
            raise OneLineError(f"{line!a}: no line of a list can say this name")
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


def whole_path(file: Path) -> Path:
    """Where its folder really is, and its name there: a link is a file of its own."""
    return Path(os.path.realpath(file.parent), file.name)


def _run(options: argparse.Namespace) -> None:
    if not options.name.name:
        raise OneLineError(f"{options.name}: the lists want a name")
    files = record_files(options.folder)
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
    parser.add_argument("--overwrite", action="store_true", help="replace lists that exist")
    options = parser.parse_args(arguments)
    return exit_status("make_kifu_list", partial(_run, options))


if __name__ == "__main__":
    sys.exit(main())
