"""The board over HTTP: its files, what people do (POST /do), records (POST and GET /record), events (GET /news).

Bound to the loopback, unless the local network is asked for, and answering only its own page: `Host` must be its very
address, which ends DNS rebinding, so must `Origin` where there is one, and who asks for anything but the files knows
the token. That travels in the fragment of the address that is opened, which no browser puts into a log or hands on.
"""

import io
import json
import logging
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

from pydlshogi.analysis_server.queries import QueryError, json_object
from pydlshogi.web.phone import code
from pydlshogi.web.table import Message, Refused, Table

NEWS_GAP: Final = 0.1
"""Seconds between news to one page, unless the game goes on: at most ten updates a second."""
ALIVE_EVERY: Final = 15.0
"""Seconds after which a page that gets no news gets an empty line, so that one that has left is noticed."""
NOBODY_LOOKS: Final = 60.0
"""Seconds after the last page has left when watching ends: a page that is loaded anew leaves too."""
LARGEST_COMMAND: Final = 10_000
LARGEST_RECORD: Final = 1_000_000
"""Bytes."""
MOST_PAGES: Final = 200
MOST_STRANGERS: Final = 128
"""Connections that have not shown the token yet. One more ends the oldest of them."""
HEAD_TIME: Final = 10.0
"""Seconds in which the head of a request has come, counted from the one before it; else the connection ends."""
BODY_TIME: Final = 30.0
"""Seconds in which what follows the head of a request with the token has come."""

_PAGE: Final = Path(__file__).parent / "page"
_TYPES: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".LICENSE": "text/plain"}
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

log = logging.getLogger(__name__)


class NoLongerThere(Exception):
    """The server ends."""


class Page:
    """One page that looks: the newest message of each kind that it has not been sent."""

    def __init__(self) -> None:
        self._unsent: dict[str, Message] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._generation = 0
        self._moved = False
        """What has not been sent is another generation: nobody waits for a move."""

    def put(self, kind: str, message: Message) -> None:
        """A message takes the place of an older one of its kind. A state makes what was said of older generations out
        of date, and `setup`, which begins a greeting, all that was said before."""
        with self._changed:
            if kind == "setup":
                self._unsent.clear()
            if kind == "state":
                current = (None, message["generation"])
                self._unsent = {name: each for name, each in self._unsent.items() if each.get("generation") in current}
                self._moved |= message["generation"] != self._generation
                self._generation = message["generation"]
            self._unsent[kind] = message
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def take(self, timeout: float) -> dict[str, Message]:
        """What has not been sent, perhaps nothing after `timeout` seconds. Raises NoLongerThere."""
        with self._changed:
            self._changed.wait_for(lambda: self._unsent or self._closed, timeout)
            if self._closed:
                raise NoLongerThere
            unsent, self._unsent, self._moved = self._unsent, {}, False
            return unsent

    def rest(self, seconds: float) -> None:
        """Wait, unless the server ends or the game goes on."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._moved, seconds)


class Pages:
    """All pages that look."""

    def __init__(self) -> None:
        self._pages: set[Page] = set()
        self._lock = threading.Lock()

    def tell(self, kind: str, message: Message) -> None:
        """Let every page know."""
        with self._lock:
            pages = [*self._pages]
        for page in pages:
            page.put(kind, message)

    @contextmanager
    def one_more(self) -> Iterator[Page | None]:
        """A page that looks until the block is left; None where too many look."""
        page = Page()
        with self._lock:
            admitted = len(self._pages) < MOST_PAGES
            if admitted:
                self._pages.add(page)
        try:
            yield page if admitted else None
        finally:
            with self._lock:
                self._pages.discard(page)

    @property
    def none(self) -> bool:
        """Whether no page looks."""
        with self._lock:
            return not self._pages

    def close(self) -> None:
        with self._lock:
            for page in self._pages:
                page.close()


class BoardServer(ThreadingHTTPServer):
    """The server of one table."""

    daemon_threads = True
    request_queue_size = MOST_STRANGERS
    # On Windows that would let two servers have the same port.
    allow_reuse_address = sys.platform != "win32"

    def __init__(
        self,
        make_table: Callable[[Callable[[str, Message], None]], Table],
        port: int = 0,
        token: str = "",
        network: str = "",
    ) -> None:
        """`make_table` is given what tells all pages. Port 0: a free one. `token`: of an earlier server, whose pages go
        on. `network`: the address of this machine where others are answered too. Raises OSError."""
        self.token = token or secrets.token_urlsafe(16)
        self.pages = Pages()
        self._strangers: dict[Any, None] = {}
        """The oldest first."""
        self._lock = threading.Lock()
        try:
            super().__init__(("0.0.0.0" if network else "127.0.0.1", port), _Handler)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"--port {port}") from error
        names = ("127.0.0.1", "localhost", *([network] if network else []))
        self.network_address = f"http://{network}:{self.server_port}/#{self.token}" if network else ""
        """What a phone opens; "" where only this machine is answered."""
        self.hosts = {f"{name}:{self.server_port}" for name in names} | set(names if self.server_port == 80 else ())
        self.table = make_table(self.pages.tell)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.server_port}/#{self.token}"

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._strangers[request] = None
            oldest = next(iter(self._strangers)) if len(self._strangers) > MOST_STRANGERS else None
        if oldest is not None:
            self.acquaint(oldest)
            with suppress(OSError):  # it has ended meanwhile
                oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def acquaint(self, request: Any) -> None:
        """A connection has shown the token, or ends."""
        with self._lock:
            self._strangers.pop(request, None)

    def shutdown_request(self, request: Any) -> None:
        self.acquaint(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        self.pages.close()
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.info("a request ended early", exc_info=True)


class _Rejected(Exception):
    """A request that is answered by a status and a line."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Reader(io.RawIOBase):
    """What comes over a connection until a moment, however slowly."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._until = 0.0
        """On the monotonic clock, in seconds."""

    def allow(self, seconds: float) -> None:
        """So long from now on."""
        self._until = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Raises TimeoutError."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    server: BoardServer
    protocol_version = "HTTP/1.1"
    timeout = 30  # of what is written

    def setup(self) -> None:
        super().setup()
        self._reader = _Reader(self.connection)
        self.rfile = io.BufferedReader(self._reader)

    def handle_one_request(self) -> None:
        self._reader.allow(HEAD_TIME)
        super().handle_one_request()

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, act: Callable[[], None]) -> None:
        try:
            self._check_sender()
            act()
        except _Rejected as error:
            self._refuse(error.status, str(error))
        except OSError:  # the page that asked has left
            raise
        except Exception as error:
            log.exception("a request failed")
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, f"something failed: {error!r}")

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self.close_connection = True  # what else the request holds is not read
        self._send(status, "application/json", json.dumps({"error": reason}).encode())

    def _check_sender(self) -> None:
        names = [name.lower() for name in self.headers]
        if len({*names}) < len(names):
            raise _Rejected(HTTPStatus.BAD_REQUEST, "a header is there twice")
        host, origin = self.headers.get("Host"), self.headers.get("Origin")
        if host not in self.server.hosts or origin not in (None, f"http://{host}"):
            raise _Rejected(HTTPStatus.FORBIDDEN, "not from here")

    def _check_token(self, given: str) -> None:
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self.server.token.encode()):
            raise _Rejected(HTTPStatus.FORBIDDEN, "the token is missing or wrong: open the address that was printed")
        self.server.acquaint(self.request)
        self._reader.allow(BODY_TIME)

    def _get(self) -> None:
        place, _, query = self.path.partition("?")
        if place == "/news":
            self._check_token(parse_qs(query).get("token", [""])[0])
            self._send_news()
            return
        if place == "/record":
            self._check_token(self.headers.get("X-Token", ""))
            self._send_record()
            return
        name = place.removeprefix("/") or "index.html"
        if name not in {path.name for path in _PAGE.iterdir()}:
            raise _Rejected(HTTPStatus.NOT_FOUND, "there is no such page")
        path = _PAGE / name
        self._send(HTTPStatus.OK, f"{_TYPES[path.suffix]}; charset=utf-8", path.read_bytes())

    def _send_news(self) -> None:
        with self.server.pages.one_more() as page:
            if page is None:
                raise _Rejected(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages look already")
            self.server.table.greet(page.put)
            if self.server.network_address:
                page.put("phone", {"address": self.server.network_address, "code": code(self.server.network_address)})
            self.close_connection = True
            self._send_head(HTTPStatus.OK, {"Content-Type": "text/event-stream", "Connection": "close"})
            try:
                while True:
                    news = page.take(ALIVE_EVERY)
                    events = (f"event: {kind}\ndata: {json.dumps(message)}\n\n" for kind, message in news.items())
                    self.wfile.write("".join(events).encode() or b":\n\n")
                    page.rest(NEWS_GAP)
            except NoLongerThere:
                return
            except OSError:
                log.debug("a page has left")
        page.rest(NOBODY_LOOKS)
        if self.server.pages.none:
            self.server.table.nobody_looks()

    def _send_record(self) -> None:
        record = self.server.table.record()
        named = {"Content-Disposition": f'attachment; filename="game.{record.suffix}"'}
        self._send(HTTPStatus.OK, "application/octet-stream", record.content, named)

    def _post(self) -> None:
        self._check_token(self.headers.get("X-Token", ""))
        table = self.server.table
        try:
            match self.path:
                case "/do":
                    table.do(json_object(self._body(LARGEST_COMMAND)))
                case "/record":
                    table.open_record(self._body(LARGEST_RECORD))
                case _:
                    raise _Rejected(HTTPStatus.NOT_FOUND, "there is no such page")
        except (QueryError, Refused) as error:
            raise _Rejected(HTTPStatus.CONFLICT, str(error)) from None
        self._send(HTTPStatus.OK, "application/json", json.dumps({"generation": table.generation}).encode())

    def _body(self, largest: int) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            raise _Rejected(HTTPStatus.LENGTH_REQUIRED, "Content-Length is wanted")
        if len(length) > 9 or int(length) > largest:
            raise _Rejected(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {largest} bytes")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise _Rejected(HTTPStatus.BAD_REQUEST, "the request was cut short")
        return body

    def _send(self, status: HTTPStatus, kind: str, content: bytes, more: Mapping[str, str] | None = None) -> None:
        headers = {"Content-Type": kind, "Content-Length": str(len(content)), **(more or {})}
        self._send_head(status, headers | ({"Connection": "close"} if self.close_connection else {}))
        self.wfile.write(content)

    def _send_head(self, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        self.connection.settimeout(self.timeout)
        self.send_response(status)
        for name, value in {**_HEADERS, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def version_string(self) -> str:
        return "pydlshogi"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the address of /news holds the token."""
