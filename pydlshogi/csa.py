"""Play on a server of the CSA protocol: `python -m pydlshogi.csa HOST --user NAME --password-file FILE`

It plays one game after the other until Ctrl-C, saves their records, and logs in again when the connection breaks. The
password is in the file, or in the environment variable CSA_PASSWORD; floodgate's holds the name of a game too:
floodgate-300-10F,secret.
"""

import argparse
import logging
import os
import re
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from pydlshogi.games.shogi.csa.client import Client, Login
from pydlshogi.games.shogi.csa.connection import Thinker
from pydlshogi.games.shogi.game import GAME
from pydlshogi.player.options import add_option_setting, set_given
from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import bounded, exit_status, parser_for, positive
from pydlshogi.support.files import read_plain, reserved

_USER = re.compile(r"[\w@.-]{1,32}", re.ASCII)


def _password(file: Path | None) -> str:
    """Raises OneLineError, OSError."""
    text = os.environ.get("CSA_PASSWORD", "") if file is None else read_plain(file, 1 << 10).decode("utf-8", "replace")
    password = text.strip()
    if len(password.split()) != 1:
        why = "a password has no blanks" if password else "there is no password"
        raise OneLineError(f"{file or 'CSA_PASSWORD'}: {why}")
    return password


def _say(line: str) -> None:
    with suppress(OSError):  # a full disk must not cost the game
        print(line, flush=True)


def _run(options: argparse.Namespace) -> None:
    if not _USER.fullmatch(options.user):
        raise OneLineError("--user is 1 to 32 letters, digits, and _ @ - .")
    login = Login(options.host, options.port, options.user, _password(options.password_file))
    options.records.mkdir(parents=True, exist_ok=True)
    logging.raiseExceptions = False  # on a full disk each line of the log would be a traceback
    logging.basicConfig(
        filename=options.log or os.devnull, level=logging.INFO, format="%(asctime)s %(message)s", encoding="utf-8"
    )
    engine = GAME.mcts()
    set_given(engine.options, options.option)
    with reserved(options.records), closing(Thinker(engine)) as thinker:
        for remark in thinker.remarks:
            _say(remark)
        Client(login, engine, thinker, options.records, _say, comments=options.floodgate).play(options.games)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("pydlshogi.csa", __doc__)
    parser.add_argument("host", help="as wdoor.c.u-tokyo.ac.jp")
    parser.add_argument("--port", type=bounded(1, 65535), default=4081, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--user", required=True, metavar="NAME", help="up to 32 letters, digits, and _ @ - .")
    parser.add_argument("--password-file", type=Path, metavar="FILE", help="(default: CSA_PASSWORD)")
    parser.add_argument("--games", type=positive, metavar="N", help="to play to their end (default: without end)")
    parser.add_argument(
        "--floodgate", action="store_true", help="send evaluation and expected line with each move, as floodgate shows"
    )
    parser.add_argument("--records", type=Path, default=Path("csa"), metavar="FOLDER", help="(default: %(default)s)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="add every line sent and received to it")
    add_option_setting(parser)
    options = parser.parse_args(arguments)
    return exit_status("csa", lambda: _run(options))


if __name__ == "__main__":
    sys.exit(main())
