"""A board in the browser: `python -m pydlshogi.web` prints its address and opens it; Ctrl-C ends it.

Nobody but this machine's own browser is answered, with `--lan` those of its local network too, and nothing is loaded
from elsewhere. The game is kept, and there again at the next start; so is the address, and an open page goes on.
"""

import argparse
import logging
import os
import re
import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Final

from pydlshogi.analysis_server.pool import Pool
from pydlshogi.catalogue import GAMES, game_named
from pydlshogi.player.options import add_option_setting, option_settings
from pydlshogi.support.command_line import bounded, exit_status, parser_for, remedy
from pydlshogi.support.files import InUse, check_writable, reserved, state_folder
from pydlshogi.web.server import BoardServer, qr_code
from pydlshogi.web.table import Table

_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:(?P<port>\d{1,5})/#(?P<token>[\w-]{20,40})")


def _run(arguments: argparse.Namespace) -> None:
    GAMES.update((name, game_named(name)) for name in arguments.game)
    folder = state_folder()
    kept, address = folder / "board.json", folder / "board.address"
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            check_writable(kept)
        except OSError as error:
            logging.warning("no game will be kept: %s: %s", folder, error.strerror)
        try:
            stack.enter_context(reserved(folder))  # two boards would write over each other's games
        except InUse as error:
            running = _last_address(address)
            if not running:
                raise InUse(
                    "a board runs already: open the address that it has printed, or end it by Ctrl-C"
                ) from error
            logging.warning("it runs already, with the options that it was started with; Ctrl-C ends it there")
            print(running)
            if not arguments.no_browser:
                webbrowser.open(running)
            return
        except OSError:
            pass  # there are file systems without locks
        earlier = _ADDRESS.fullmatch(_last_address(address))
        with suppress(OSError):
            address.unlink()
        _serve(arguments, kept, address, earlier)


def _last_address(address: Path) -> str:
    """Where the board is that runs, or ran last; "" where it has not said so."""
    try:
        return address.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _serve(arguments: argparse.Namespace, kept: Path, address: Path, earlier: re.Match[str] | None) -> None:
    """`address`: the file that tells the next start where this board is. `earlier`: where the last one was."""
    network = _own_address() if arguments.lan else ""
    pool = Pool(1, option_settings(arguments.option))
    token = earlier["token"] if earlier else ""

    def made(port: int) -> BoardServer:
        return BoardServer(lambda tell: Table(pool, tell, kept), port, token, network)

    try:
        with _at_port(made, arguments.port, int(earlier["port"]) if earlier else 0) as server:
            with (
                suppress(OSError),
                os.fdopen(os.open(address, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file,
            ):
                file.write(server.address)
            print(server.address, flush=True)
            if server.network_address:
                print(server.network_address, flush=True)
                if code := qr_code(server.network_address):
                    code.terminal(compact=True)
                else:
                    logging.warning("for a QR code of it: %s", remedy("lan", "segno"))
            if not arguments.no_browser:
                # Beside the server: a browser in the terminal is waited for.
                Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
            server.serve_forever()
    finally:
        pool.close(cancel=True)


def _own_address() -> str:
    """The address of this machine in its local network. Raises OSError where it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # which sends nothing, but finds the way out
        address: str = probe.getsockname()[0]
        return address


def _at_port(made: Callable[[int], BoardServer], wanted: int, earlier: int) -> BoardServer:
    """The server at the port that is wanted, else at the earlier one if that is free still. Raises OSError."""
    if not wanted and earlier:
        with suppress(OSError):
            return made(earlier)
    return made(wanted)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("pydlshogi.web", "A board in the browser.")
    parser.add_argument(
        "--port", type=bounded(0, 65535), default=0, metavar="N", help="default: that of the last time, or a free one"
    )
    parser.add_argument(
        "--lan",
        action="store_true",
        help="answer phones and other machines of the local network too, that have the token",
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--game", action="append", default=[], metavar="MODULE:NAME", help="offer another game too")
    add_option_setting(parser)
    options = parser.parse_args(arguments)
    logging.basicConfig(format="board: %(message)s")
    return exit_status("board", partial(_run, options))


if __name__ == "__main__":
    sys.exit(main())
