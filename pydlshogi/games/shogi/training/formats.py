"""The training data of the field, streamed: `.psv`, `.hcpe`, `.hcpe3`, `.pack`, and this program's own `.positions`.

* `.psv` (also `.bin`): YaneuraOu's PackedSfenValue, 40 bytes a position. The result is the mover's.
* `.hcpe`: Apery's HuffmanCodedPosAndEval, 38 bytes a position. The result is Black's.
* `.hcpe3`: dlshogi's games, with the visits of the moves. A position without any is not to be learned from.
* `.pack`: the games of YaneuraOu-ScriptCollection's GenSfen, four bytes a position; its `GenSfen/readme.md` is the
  specification.

Evaluations are centipawns for the side to move in all of them; none has a word for an unknown result or evaluation.
cshogi names their types; YaneuraOu-ScriptCollection's `teacher/convert_teacher.py` converts them in the same sense.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import numpy as np
from tqdm import tqdm

from pydlshogi.games.shogi.training.fixed_formats import (
    Part,
    Taken,
    chosen,
    give_hcpe,
    give_psv,
    take_hcpe,
    take_own,
    take_psv,
)
from pydlshogi.games.shogi.training.game_formats import give_hcpe3, give_pack, take_hcpe3, take_pack
from pydlshogi.games.shogi.training.records import (
    FORMAT,
    NO_EVAL,
    NO_RESULT,
    OWN,
    POSITION,
    Positions,
    Split,
    load_positions,
)
from pydlshogi.support.arrays import Uint8Array
from pydlshogi.support.files import open_plain, replacing, stamp_of
from pydlshogi.training.settings import DatasetError

_BLOCK: Final = 1 << 20
"""Bytes that are read at once, or more where a game has more."""


class Format(NamedTuple):
    """How a file is read and written."""

    take: Callable[[Uint8Array], Taken]
    give: Callable[[Part], bytes]
    complete: bool = True
    """A position needs a move and a result."""


_PSV: Final = Format(take_psv, give_psv)
FORMATS: Final = {
    ".psv": _PSV,
    ".bin": _PSV,
    ".hcpe": Format(take_hcpe, give_hcpe),
    ".hcpe3": Format(take_hcpe3, give_hcpe3),
    ".pack": Format(take_pack, give_pack),
    OWN: Format(take_own, lambda part: part.positions.tobytes(), complete=False),
}
"""By the ending of a file's name."""


def files_of(source: Path) -> list[Path]:
    """`source`, or what is in it if it is a folder, as far as it is of FORMATS; in order of the names."""
    paths = sorted(source.iterdir()) if source.is_dir() else [source]
    return [path for path in paths if path.suffix.lower() in FORMATS]


def read_parts(path: Path, complain: Callable[[str], None]) -> Iterator[Part]:
    """What a file of FORMATS holds, some thousands of positions at a time.

    What is broken is left out, a move that is not legal too, and nothing is read from where it breaks off; `complain`
    gets a line about it at the end. Raises OSError.
    """
    take = FORMATS[path.suffix.lower()].take
    records, broken, place, rest, nonsense = 0, 0, 0, b"", False
    with open_plain(path) as file:
        while not nonsense and (data := file.read(max(_BLOCK, len(rest)))):
            block = bytearray(rest + data)
            part, used, many, left_out, nonsense = take(np.frombuffer(block, np.uint8))
            records, broken, place, rest = records + many, broken + left_out, place + used, bytes(block[used:])
            if len(part.positions):
                yield part
    if broken or rest:
        ends = f"; it breaks off at byte {place}, what came before is kept" if rest else ""
        complain(f"{path}: {broken} of {records} records are broken and left out{ends}")


def give(path: Path, part: Part) -> tuple[bytes, int]:
    """A part as a file like `path` has it, and how many positions had to be left out: those without a move or a result,
    where it has no word for that. Evaluations that are not known are 0 there, as dlshogi writes them."""
    form = FORMATS[path.suffix.lower()]
    if form.complete:
        kept = (part.positions["result"] != NO_RESULT) & (part.positions["move"] != 0)
        whole = part if kept.all() else chosen(part, kept)
        positions = whole.positions.copy()
        positions["eval"][positions["eval"] == NO_EVAL] = 0
        left_out, part = len(kept) - len(positions), whole._replace(positions=positions)
    else:
        left_out = 0
    return (form.give(part) if len(part.positions) else b""), left_out


def load(source: Path, split: Split, cache: Path, say: Callable[[str], None] = tqdm.write) -> Positions:
    """The positions of `source`: a file of FORMATS, a folder of such files, or game records as `load_positions` takes
    them. Files have no splits; of "val" are those positions alone that have a move.

    What was converted is kept in `cache`. Raises DatasetError, OSError, PoolError.
    """
    paths = files_of(source)
    if not paths:
        positions = load_positions(source, split, cache, say)
    elif all(path.suffix == OWN for path in paths):
        parts = [part.positions for path in paths for part in read_parts(path, say)]
        positions = np.concatenate([np.zeros(0, POSITION), *parts])
    else:
        positions = _converted(source, paths, cache, say)
    return positions if split == "train" else positions[positions["move"] != 0]


def _converted(source: Path, paths: Sequence[Path], cache: Path, say: Callable[[str], None]) -> Positions:
    stamps = repr([(str(path.resolve()), stamp_of(path)) for path in paths])
    path = cache / f"{hashlib.sha256(stamps.encode()).hexdigest()[:24]}-{FORMAT}{OWN}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            _copy(paths, file, say)
    if not path.stat().st_size:
        raise DatasetError(f"{source} holds no positions to learn from")
    return np.memmap(path, POSITION, "r")


def _copy(paths: Sequence[Path], file: BinaryIO, say: Callable[[str], None]) -> None:
    with tqdm(desc="converting", unit=" positions", unit_scale=True, disable=None) as bar:
        for part in chain.from_iterable(read_parts(path, say) for path in paths):
            positions = part.positions[(part.positions["result"] != NO_RESULT) | (part.positions["eval"] != NO_EVAL)]
            file.write(positions.tobytes())
            bar.update(len(positions))
