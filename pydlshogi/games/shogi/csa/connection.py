"""The two whom a game hears: a connection to a server, lines in both directions, and the engine in a thread of its own.

Of the protocol they know only that an empty line has no meaning.
"""

import logging
import math
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final

from pydlshogi.game import PlayedPosition
from pydlshogi.player.ask import Thought, ask
from pydlshogi.player.base_player import Engine, any_move
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.support.decoding import one_line

_LONGEST_LINE: Final = 1 << 16
_CONNECT_SECONDS: Final = 30.0

log = logging.getLogger(__package__)


class Disconnected(Exception):
    """The connection is of no use any more; the message says why."""


class Connection:
    """Closed by leaving its `with` block."""

    def __init__(self, host: str, port: int, keep_alive: float) -> None:
        """`keep_alive`: seconds of silence after which an empty line is sent; the protocol allows 30 or more.

        Raises Disconnected where nobody listens.
        """
        try:
            self._socket = socket.create_connection((host, port), _CONNECT_SECONDS)
        except OSError as error:
            raise Disconnected(f"{host}:{port}: {error.strerror or error}") from None
        except UnicodeError:
            raise Disconnected(f"{host}: not the name of a host") from None
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._keep_alive = keep_alive
        self._sent = time.monotonic()
        self.inbox: SimpleQueue[str | Thought | Disconnected] = SimpleQueue()
        threading.Thread(target=self._read, name="server", daemon=True).start()

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # it may be broken already
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def send(self, line: str, shown: str = "") -> None:
        """Send one line; the log shows `shown` in its place, if that is given. Raises Disconnected."""
        log.info("> %s", shown or line)
        self._sent = time.monotonic()
        try:
            self._socket.sendall(f"{line}\n".encode())
        except OSError as error:
            raise Disconnected(f"{error.strerror or error}") from None

    def receive(self, until: float = math.inf) -> str | Thought:
        """The next line that is not empty, or the next thought. Raises Disconnected, also when the monotonic clock
        shows `until`."""
        while (now := time.monotonic()) < until:
            try:
                event = self.inbox.get(timeout=max(0.0, min(until, self._sent + self._keep_alive) - now))
            except Empty:
                if time.monotonic() < until:
                    self.send("")
                continue
            if isinstance(event, Disconnected):
                raise event
            if event:
                return event
        raise Disconnected("the server does not say what is due")

    def line(self, until: float = math.inf) -> str:
        """As `receive`, where nothing is thought about."""
        while not isinstance(event := self.receive(until), str):
            pass
        return event

    def _read(self) -> None:
        why = "the server has closed the connection"
        try:
            with self._socket.makefile("rb") as stream:
                while (raw := stream.readline(_LONGEST_LINE)).endswith(b"\n"):
                    line = one_line(raw.decode("utf-8", "replace"))
                    log.info("< %s", line)
                    self.inbox.put(line)
            if len(raw) == _LONGEST_LINE:
                why = "the server sends a line without end"
        except (OSError, ValueError) as error:
            why = str(error)
        self.inbox.put(Disconnected(why))


class Thinker:
    """One search after the other."""

    def __init__(self, engine: Engine) -> None:
        """Load the engine. Raises PlayerError."""
        self._player = engine.load()
        self.remarks = self._player.prepare()
        self._thread = ThreadPoolExecutor(1, "thinker")

    def new_game(self) -> None:
        """What comes next is another game."""
        self._thread.submit(self._player.new_game)

    def think(self, position: PlayedPosition, limits: Limits, tell: Callable[[Thought], None]) -> Clock:
        """Begin to think; another thread calls `tell`. The clock stops it, or says that the expected move was played.

        An engine that fails costs a line in the log and plays any move.
        """
        clock = Clock(limits)
        self._thread.submit(self._think, position.copy(), clock, tell)
        return clock

    def close(self) -> None:
        """Once no search is under way."""
        self._thread.shutdown()

    def _think(self, position: PlayedPosition, clock: Clock, tell: Callable[[Thought], None]) -> None:
        try:
            thought = ask(self._player, position, clock)
        except Exception:
            log.exception("a defect, please report it")
            thought = Thought(clock, any_move(position).move)
            clock.wait_until_released()
        tell(thought)
        self._player.answered(position, clock)
