"""The board over HTTP: its files, what people do (POST /do), records (POST and GET /record), events (GET /news).

Bound to the loopback, unless the local network is asked for, and answering only its own page: `Host` must be its very
address, which ends DNS rebinding, so must `Origin` where there is one, and who asks for anything but the files knows
the token. That travels in the fragment of the address that is opened, which no browser puts into a log or hands on.
"""

import json
import logging
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote

from pydlshogi.analysis_server.server import QueryError, json_object
from pydlshogi.entry import File
from pydlshogi.web.table import Message, Refused, Table, setup

NEWS_GAP: Final = 0.1
"""Seconds between news to one page, unless the game goes on: at most ten updates a second."""
KINDS: Final[Sequence[str]] = ("state", "engine", "info", "policy")
"""Of news, in the order in which a page can take them."""
ALIVE_EVERY: Final = 15.0
"""Seconds after which a page that gets no news gets an empty line, so that one that has left is noticed."""
NOBODY_LOOKS: Final = 60.0
"""Seconds after the last page has left when watching ends: a page that is loaded anew leaves too."""
LARGEST_COMMAND: Final = 10_000
LARGEST_RECORD: Final = 1_000_000
"""Bytes."""
MOST_AWAITED: Final = 128
"""Connections whose request has not come whole. One more ends the oldest of them."""
REQUEST_TIME: Final = 30.0
"""Seconds in which a request has come whole, counted from the answer to the one before it; else the connection ends."""

_PAGE: Final = Path(__file__).parent / "page"
_TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".LICENSE": "text/plain",
}
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

log = logging.getLogger(__name__)


class News:
    """What pages hear: the newest message of each kind."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[int, Message]] = {}
        """Each with its number."""
        self._number = 0
        self._generation = 0
        self._pages = 0
        self._left = time.monotonic()
        self._closed = False
        self._changed = threading.Condition()

    def tell(self, kind: str, message: Message) -> None:
        """A message takes the place of an older one of its kind. A state makes what was said of older generations out
        of date."""
        with self._changed:
            self._number += 1
            if kind == "state":
                self._generation = message["generation"]
                current = (None, self._generation)
                self._newest = {
                    name: each for name, each in self._newest.items() if each[1].get("generation") in current
                }
            self._newest[kind] = self._number, message
            self._changed.notify_all()

    def hear(self) -> Generator[Mapping[str, Message], None, None]:
        """For one page what there is, then what is new, or nothing for a while; until the server ends."""
        heard = 0
        try:
            with self._changed:
                self._pages += 1
            while True:
                with self._changed:
                    self._changed.wait_for(partial(self._has_more, heard), ALIVE_EVERY)
                    if self._closed:
                        return
                    new = {kind: self._newest[kind] for kind in KINDS if kind in self._newest}
                    news = {kind: message for kind, (number, message) in new.items() if number > heard}
                    heard, generation = self._number, self._generation
                yield news
                with self._changed:  # at most so often, unless the game goes on: nobody waits for a move
                    self._changed.wait_for(partial(self._goes_on, generation), NEWS_GAP)
        finally:
            with self._changed:
                self._pages -= 1
                self._left = time.monotonic()

    def _has_more(self, heard: int) -> bool:
        return self._closed or self._number > heard

    def _goes_on(self, generation: int) -> bool:
        return self._closed or self._generation != generation

    def gone_since(self) -> float:
        """Seconds since the last page has left; 0: one is there."""
        with self._changed:
            return 0.0 if self._pages else time.monotonic() - self._left

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class BoardServer(ThreadingHTTPServer):
    """The server of one table."""

    daemon_threads = True
    request_queue_size = MOST_AWAITED
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
        self.news = News()
        self._awaited: dict[Any, float] = {}
        """Connections whose request has not come whole, the oldest first, and when they end."""
        self._lock = threading.Lock()
        try:
            super().__init__(("0.0.0.0" if network else "127.0.0.1", port), _Handler)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"--port {port}") from error
        names = ("127.0.0.1", "localhost", *([network] if network else []))
        self.network_address = f"http://{network}:{self.server_port}/#{self.token}" if network else ""
        """What a phone opens; "" where only this machine is answered."""
        self.hosts = {f"{name}:{self.server_port}" for name in names} | set(names if self.server_port == 80 else ())
        self.table = make_table(self.news.tell)

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.server_port}/#{self.token}"

    def wait_for(self, request: Any) -> None:
        """A connection has a request to send from now on."""
        with self._lock:
            self._awaited.pop(request, None)
            self._awaited[request] = time.monotonic() + REQUEST_TIME
        self._end_others()

    def has_come(self, request: Any) -> None:
        """The request is whole, or its connection ends."""
        with self._lock:
            self._awaited.pop(request, None)

    def _end_others(self) -> None:
        """End connections that take too long, or are too many."""
        with self._lock:
            late = sum(until < time.monotonic() for until in self._awaited.values())
            for request in [*self._awaited][: max(late, len(self._awaited) - MOST_AWAITED)]:
                del self._awaited[request]
                with suppress(OSError):  # it has ended meanwhile
                    request.shutdown(socket.SHUT_RDWR)

    def service_actions(self) -> None:
        self._end_others()
        if self.news.gone_since() > NOBODY_LOOKS:
            self.table.nobody_looks()

    def shutdown_request(self, request: Any) -> None:
        self.has_come(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        self.news.close()
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.info("a request ended early", exc_info=True)


def qr_code(address: str) -> Any:
    """What segno makes of an address; None where it is not installed."""
    try:
        import segno
    except ImportError:
        return None
    return segno.make_qr(address)


class _Rejected(Exception):
    """A request that is answered by a status and a line."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: BoardServer
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_TIME  # of what is written too

    def handle_one_request(self) -> None:
        self.server.wait_for(self.connection)
        super().handle_one_request()

    def do_GET(self) -> None:
        self.server.has_come(self.connection)
        self.do_POST()

    def do_POST(self) -> None:
        try:
            self._check_sender()
            self._answer(*self.path.split("?", 1))
        except _Rejected as error:
            self._refuse(error.status, str(error))
        except (QueryError, Refused) as error:
            self._refuse(HTTPStatus.CONFLICT, str(error))
        except OSError:  # the page that asked has left
            raise
        except Exception as error:
            log.exception("a request failed")
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, f"something failed: {error!r}")

    def _answer(self, place: str, query: str = "") -> None:
        table, given = self.server.table, dict(parse_qsl(query))
        name = place.removeprefix("/") or "index.html"
        if place == "/news":  # whose sender can set no header
            self._check_token(given.get("token", ""))
        elif place == "/record" or self.command == "POST":
            self._check_token(self.headers.get("X-Token", ""))
        match self.command, place:
            case "GET", "/news":
                self._send_news()
            case "GET", "/record":
                self._send_record(table.record(given.get("black", ""), given.get("white", "")))
            case "POST", "/do":
                table.do(json_object(self._body(LARGEST_COMMAND)))
                self._send_json(HTTPStatus.OK, {"generation": table.generation})
            case "POST", "/record":
                table.open_record(self._body(LARGEST_RECORD))
                self._send_json(HTTPStatus.OK, {"generation": table.generation})
            case "GET", _ if name in {path.name for path in _PAGE.iterdir()}:
                path = _PAGE / name
                self._send(HTTPStatus.OK, f"{_TYPES[path.suffix]}; charset=utf-8", path.read_bytes())
            case _:
                raise _Rejected(HTTPStatus.NOT_FOUND, "there is no such page")

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self.close_connection = True  # what else the request holds is not read
        self._send_json(status, {"error": reason})

    def _check_sender(self) -> None:
        host, origin = self.headers.get("Host"), self.headers.get("Origin")
        if host not in self.server.hosts or origin not in (None, f"http://{host}"):
            raise _Rejected(HTTPStatus.FORBIDDEN, "not from here")

    def _check_token(self, given: str) -> None:
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self.server.token.encode()):
            raise _Rejected(HTTPStatus.FORBIDDEN, "the token is missing or wrong: open the address that was printed")

    def _send_news(self) -> None:
        self.close_connection = True
        self._send_head(HTTPStatus.OK, {"Content-Type": "text/event-stream", "Connection": "close"})
        self.server.table.attend()
        with closing(self.server.news.hear()) as heard, suppress(OSError):  # once a page has left
            self._tell(
                {"setup": setup() | {"networks": self.server.table.networks()}}
            )  # first: a page draws no game of whose look it has not heard
            if address := self.server.network_address:
                code = qr_code(address)
                drawn = code.svg_inline(omitsize=True) if code else ""
                self._tell({"phone": {"address": address, "code": drawn}})
            for news in heard:
                self._tell(news)

    def _tell(self, news: Mapping[str, Message]) -> None:
        events = (f"event: {kind}\ndata: {json.dumps(message)}\n\n" for kind, message in news.items())
        self.wfile.write("".join(events).encode() or b":\n\n")

    def _send_record(self, record: File) -> None:
        named = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(f'{record.name}.{record.suffix}')}"}
        self._send(HTTPStatus.OK, "application/octet-stream", record.content, named)

    def _send_json(self, status: HTTPStatus, message: Message) -> None:
        self._send(status, "application/json", json.dumps(message).encode())

    def _body(self, largest: int) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            raise _Rejected(HTTPStatus.LENGTH_REQUIRED, "Content-Length is wanted")
        if len(length) > 9 or int(length) > largest:
            raise _Rejected(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {largest} bytes")
        body = self.rfile.read(int(length))
        self.server.has_come(self.connection)
        if len(body) < int(length):
            raise _Rejected(HTTPStatus.BAD_REQUEST, "the request was cut short")
        return body

    def _send(self, status: HTTPStatus, kind: str, content: bytes, more: Mapping[str, str] | None = None) -> None:
        headers = {"Content-Type": kind, "Content-Length": str(len(content)), **(more or {})}
        self._send_head(status, headers | ({"Connection": "close"} if self.close_connection else {}))
        self.wfile.write(content)

    def _send_head(self, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def version_string(self) -> str:
        return "pydlshogi"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the address of /news holds the token."""
