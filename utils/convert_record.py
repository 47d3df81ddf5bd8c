"""Game records in another format: `python -m utils.convert_record game.kif game.jkf`

The names say the formats: .csa, .kif, .jkf, .usi (lines of USI). What a format has no room for is an error, not a loss.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pydlshogi.analyze import encoded
from pydlshogi.kifu.csa import to_csa
from pydlshogi.kifu.game import Game, RecordError
from pydlshogi.kifu.jkf import to_jkf
from pydlshogi.kifu.kif import to_kif
from pydlshogi.kifu.usi import to_usi
from pydlshogi.read_kifu import KifuError, read
from pydlshogi.support.command_line import exit_status
from pydlshogi.support.files import replacing

_WRITE: Final[dict[str, Callable[[Game], str]]] = {".csa": to_csa, ".kif": to_kif, ".jkf": to_jkf, ".usi": to_usi}
_OF_ONE: Final = (".kif", ".jkf")
"""Formats that hold one game a file."""


def converted(games: Sequence[Game], suffix: str) -> bytes:
    """The games as a file. Raises RecordError."""
    if suffix not in _WRITE:
        raise RecordError(f"{suffix or 'no suffix'} is none of {', '.join(_WRITE)}")
    if suffix in _OF_ONE and len(games) > 1:
        raise RecordError(f"{suffix} holds one game, not {len(games)}: --game chooses")
    text = ("/\n" if suffix == ".csa" else "").join(map(_WRITE[suffix], games))
    return encoded(text, kif=suffix == ".kif")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or 1 after an error that has been told on stderr."""
    parser = argparse.ArgumentParser(prog="python -m utils.convert_record", description="Records in another format.")
    parser.add_argument("record", type=Path, help="CSA, KIF, KI2, JKF or lines of USI")
    parser.add_argument("out", type=Path, help="what it becomes, .csa, .kif, .jkf or .usi; it must not exist")
    parser.add_argument("--game", type=int, metavar="N", help="this one alone, of a file with several")
    parser.add_argument("--main-line", action="store_true", help="leave out the variations")
    options = parser.parse_args(arguments)

    def run() -> None:
        if options.out.exists():
            raise RecordError(f"{options.out} exists")
        games = read(options.record)
        if options.game is not None:
            if not 1 <= options.game <= len(games):
                raise RecordError(f"there is no game {options.game}, it holds {len(games)}")
            games = [games[options.game - 1]]
        if options.main_line:
            games = [replace(game, variations=()) for game in games]
        content = converted(games, options.out.suffix.lower())
        with replacing(options.out) as file:
            file.write(content)

    return exit_status("convert_record", run, KifuError, RecordError)


if __name__ == "__main__":
    sys.exit(main())
