"""A server of the CSA protocol that plays random moves itself, each connection a game of its own, and then resigns."""

import socket
import threading
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

import cshogi

from pydlshogi.support.files import write_whole

PLIES: Final = 20
"""Of a game."""


class CsaServer:
    """Serves until it is closed. What was played to the end is a file of USI moves, named by the game."""

    def __init__(self, folder: Path, rng: Random) -> None:
        self._folder, self._rng = folder, rng
        folder.mkdir()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _listen(self) -> None:
        with suppress(OSError):  # it was closed
            for number in range(1_000_000):
                connection, _ = self._listener.accept()
                threading.Thread(target=self._play, args=(connection, f"game-{number}"), daemon=True).start()

    def _play(self, connection: socket.socket, name: str) -> None:
        """One game. Ends quietly where the client is killed."""
        with suppress(OSError, StopIteration), connection, connection.makefile("rw") as stream:
            lines = filter(str.strip, stream)  # empty ones keep the connection alive

            def say(text: str) -> None:
                print(text, file=stream, flush=True)

            user, board = next(lines).split()[1], cshogi.Board()
            say(f"LOGIN:{user} OK\nBEGIN Game_Summary\nGame_ID:{name}\nYour_Turn:+\nBEGIN Time\nByoyomi:10\nEND Time")
            say("BEGIN Position\nPI\n+\nEND Position\nEND Game_Summary")
            next(lines)
            say(f"START:{name}")
            for ply in range(PLIES):
                moves = [f"{'-' if ply % 2 else '+'}{cshogi.move_to_csa(move)}" for move in board.legal_moves]
                move = self._rng.choice(moves) if ply % 2 else next(lines).strip()
                board.push_csa(move[1:])
                say(f"{move},T0")
            write_whole(self._folder / name, " ".join(map(cshogi.move_to_usi, board.history)).encode())
            say("#RESIGN\n#WIN")
