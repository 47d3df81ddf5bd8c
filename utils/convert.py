"""Game records or training data of shogi from one format into another, or checked: `python -m utils.convert IN... OUT`

    python -m utils.convert game.kif game.jkf
    python -m utils.convert games.hcpe3 games.psv
    python -m utils.convert a.psv b.psv all.hcpe
    python -m utils.convert games.jsonl.xz games.pack
    python -m utils.convert --check games.psv

The suffix of OUT says the format. Variations that a format of records has no room for are an error; a line says what
else it does not hold.

Training data end in .psv (.bin), .hcpe, .hcpe3, .pack or .positions; a folder stands for all such files in it, and
records are read as by `pydlshogi.train`. Any size is streamed. Broken records, or with a move that is not legal, are
left out, and the status is then 1; positions that the format of OUT cannot say everything of are left out too.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

from tqdm import tqdm

from pydlshogi.games.shogi.kifu.formats import WRITTEN, file_of
from pydlshogi.games.shogi.kifu.game import Game
from pydlshogi.games.shogi.read_kifu import parse, read
from pydlshogi.games.shogi.training.fixed_formats import Part, played_alone
from pydlshogi.games.shogi.training.formats import FORMATS, files_of, give, read_parts
from pydlshogi.games.shogi.training.records import load_positions
from pydlshogi.support.command_line import exit_status, parser_for
from pydlshogi.support.decoding import is_utf8
from pydlshogi.support.files import cache_folder, replacing, write_whole
from pydlshogi.training.settings import DatasetError

_ROWS: Final = 1 << 16
"""Positions of game records that are written at once."""


def parts_of(source: Path, complain: Callable[[str], None]) -> Iterator[Part]:
    """The positions of a file, a folder of files, or game records. Raises DatasetError, OSError, PoolError."""
    paths = files_of(source)
    for path in paths:
        yield from read_parts(path, complain)
    if not paths:
        positions = load_positions(source, "train", cache_folder())
        for first in range(0, len(positions), _ROWS):
            yield played_alone(positions[first : first + _ROWS])


class Count:
    """Positions, shown while they pass."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self._positions = 0

    def read(self, sources: Sequence[Path]) -> Iterator[Part]:
        """All of `sources`."""
        with tqdm(unit=" positions", unit_scale=True, disable=None) as bar:
            for source in sources:
                for part in parts_of(source, self.complaints.append):
                    self._positions += len(part.positions)
                    bar.update(len(part.positions))
                    yield part

    def tell(self, left_out: int, why: str) -> int:
        """Print the counts; the status."""
        for complaint in self.complaints:
            print(f"convert: {complaint}", file=sys.stderr)
        print(f"{self._positions:,} positions{f'; {left_out:,} {why}' if left_out else ''}")
        return 1 if self.complaints else 0


def convert(sources: Sequence[Path], out: Path) -> int:
    """Write training data; the status."""
    count, left_out = Count(), 0
    with replacing(out) as file:
        for part in count.read(sources):
            data, without = give(out, part)
            file.write(data)
            left_out += without
    return count.tell(left_out, "left out, without a result or a move")


def check(sources: Sequence[Path]) -> int:
    """Read all training data; the status."""
    count = Count()
    for _ in count.read(sources):
        pass
    return count.tell(0, "")


def convert_records(sources: Sequence[Path], options: argparse.Namespace, out: Path) -> int:
    """Write game records; the status."""
    games = [game for source in sources for game in read(source)]
    if options.game is not None:
        if not 1 <= options.game <= len(games):
            raise DatasetError(f"there is no game {options.game}, there are {len(games)}")
        games = [games[options.game - 1]]
    for number, game in enumerate(games, 1):
        if game.remark:
            print(f"convert: {f'game {number}: ' if len(games) > 1 else ''}{game.remark}", file=sys.stderr)
    if options.main_line:
        games = [replace(game, variations=()) for game in games]
    written = file_of(games, out.suffix.lower(), any(is_utf8(source.read_bytes()) for source in sources))
    pairs = [*zip(games, parse(written, out), strict=True)]
    names = (field.name for field in fields(Game) if field.compare)
    if lost := [name for name in names if any(getattr(one, name) != getattr(other, name) for one, other in pairs)]:
        print(f"convert: {out.suffix} does not hold all of the {', '.join(lost)}", file=sys.stderr)
    write_whole(out, written)
    print(f"{out}: games {len(games):,}, moves {sum(len(game.moves) for game in games):,}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.convert", "Convert records or training data of shogi from one format into another.")
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="FILE", help="what to read: files, folders, records; at last OUT"
    )
    parser.add_argument("--game", type=int, metavar="N", help="of records: this one alone")
    parser.add_argument("--main-line", action="store_true", help="of records: leave out the variations")
    parser.add_argument("--check", action="store_true", help="read training data, and write nothing")
    parser.add_argument("--overwrite", action="store_true", help="replace OUT if it exists")
    options = parser.parse_args(arguments)
    *sources, out = options.paths
    if not options.check and not sources:
        parser.error("IN and OUT are needed, or --check")
    if not options.check and out.suffix.lower() not in (*WRITTEN, *FORMATS):
        parser.error(f"{out} ends in none of {' '.join((*WRITTEN, *FORMATS))}")

    def run() -> int:
        if options.check:
            return check(options.paths)
        if out.exists() and not options.overwrite:  # where OUT is forgotten, the last file is taken for it
            raise DatasetError(f"{out} exists (--overwrite replaces it)")
        return convert(sources, out) if out.suffix.lower() in FORMATS else convert_records(sources, options, out)

    return exit_status("convert", run)


if __name__ == "__main__":
    sys.exit(main())
