"""Game records in another format: `python -m utils.convert_record game.kif game.jkf`

The suffixes say the formats. What a format has no room for is an error, not a loss.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydlshogi.games.shogi.kifu.formats import NAMES, WRITTEN, file_of
from pydlshogi.games.shogi.kifu.game import RecordError
from pydlshogi.games.shogi.read_kifu import read
from pydlshogi.support.command_line import exit_status, parser_for
from pydlshogi.support.files import write_whole


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.convert_record", "Records in another format.")
    parser.add_argument("record", type=Path, help=NAMES)
    parser.add_argument("out", type=Path, help=f"what it becomes, {', '.join(WRITTEN)}; it must not exist")
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
        content = file_of(games, options.out.suffix.lower())
        write_whole(options.out, content)

    return exit_status("convert_record", run)


if __name__ == "__main__":
    sys.exit(main())
