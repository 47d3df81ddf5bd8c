"""One evaluation server for many players: it holds a network, and makes one batch of what several of them ask at once.

Players connect to a socket, and both sides prove that they have the key. Every message is bytes, with their number
before it; nothing is unpickled.

    player                                                  server
    the digest of a network file                    ->
                                                    <-      "?" where it does not have that network; then
    the file                                        ->
                                                    <-      "="
    a batch: B, packed, firsts, labels              ->
                                                    <-      "=", float32 values [B], float32 priors

In place of an answer there may be "!" and why not, in one line; with that the server hangs up.
"""

import hashlib
import secrets
import socket
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from functools import partial
from multiprocessing import AuthenticationError
from multiprocessing.connection import answer_challenge, deliver_challenge
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from threading import Condition, Event, Lock, Thread, current_thread
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import numpy as np

from pydlshogi.encoding import Encoding
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.catalogue import GameEntry, game_named
from pydlshogi.network.backend import Backend
from pydlshogi.network.loading import encoding_of, load_backend
from pydlshogi.support.arrays import Float32Array, Int32Array, Uint32Array
from pydlshogi.support.crew import CrewError
from pydlshogi.support.processes import ProcessCrew
from pydlshogi.uct.batch import Batch, Evaluations, Evaluator

MOST: Final = 1024
"""Positions that players' batches are merged up to; a larger one is evaluated alone."""
_STREAMS: Final = 2
"""Batches under way at once: one is on its way to and from a player while another is computed."""
_KEPT: Final = 2
"""Networks that are kept for players to come: a comparison has two."""
_PATIENCE: Final = 120.0
"""Seconds in which a server that is there has answered, even if it loads a network first."""
_LARGEST: Final = 1 << 30
"""Bytes of a message, at most."""
_BREATH: Final = 0.1
"""Seconds before the next attempt to let a player in, where one failed."""


class Service(NamedTuple):
    """Where an evaluation server is, and the key of those who may ask it."""

    host: str
    port: int
    key: bytes


class _Line:
    """Messages over a socket, in the manner of multiprocessing's connections; those cannot bound every wait."""

    def __init__(self, connected: socket.socket) -> None:
        connected.settimeout(_PATIENCE)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connected
        self._incoming = connected.makefile("rb")

    def send_bytes(self, message: bytes) -> None:
        self.socket.sendall(len(message).to_bytes(4, "big") + message)

    def recv_bytes(self, most: int = _LARGEST) -> bytes:
        length = int.from_bytes(self._read(4), "big")
        if length > most:
            raise OSError(f"a message of {length} bytes")
        return self._read(length)

    def _read(self, count: int) -> bytes:
        read = self._incoming.read(count)
        if len(read) < count:
            raise EOFError
        return read

    def close(self) -> None:
        self._incoming.close()
        self.socket.close()


class _Asked:
    """A batch of a player, and the priors and values that it waits for."""

    def __init__(self, message: bytes, encoding: Encoding) -> None:
        """Raises ValueError for what is no batch: kernels would read it unchecked."""
        numbers = np.frombuffer(message, np.uint32)
        size = int(numbers[0]) if len(numbers) else 0
        end = 1 + size * encoding.words
        self.packed: Uint32Array = numbers[1:end].reshape(size, encoding.words)
        firsts, labels = numbers[end : end + size + 1].view(np.int32), numbers[end + size + 1 :].view(np.int32)
        ascending = len(firsts) == size + 1 > 1 and firsts[0] == 0 and bool((firsts[:-1] <= firsts[1:]).all())
        known = bool(((labels >= 0) & (labels < encoding.labels)).all())
        if not (ascending and firsts[-1] == len(labels) and known):
            raise ValueError("no batch of this game")
        self.counts: Int32Array = np.diff(firsts)
        self.labels: Int32Array = labels
        self.answer: Future[tuple[Float32Array, Float32Array]] = Future()


class _Shared:
    """A network that several players ask."""

    def __init__(self, backend: Backend, most: int) -> None:
        self.encoding = backend.encoding
        self._backend = backend
        self._most = most
        self._turn = Condition()
        self._waiting: list[_Asked] = []
        self._idle = backend.streams

    def predict(self, asked: _Asked) -> tuple[Float32Array, Float32Array]:
        """Priors and values of a batch. Whoever finds a stream of the network idle asks it for all that wait."""
        with self._turn:
            self._waiting.append(asked)
        while True:
            with self._turn:
                self._turn.wait_for(lambda: asked.answer.done() or (self._idle and asked in self._waiting))
                if asked.answer.done():
                    return asked.answer.result()
                sizes = np.cumsum([len(each.packed) for each in self._waiting])
                count = max(1, int(np.searchsorted(sizes, self._most, "right")))
                together, self._waiting = self._waiting[:count], self._waiting[count:]
                self._idle -= 1
            try:
                self._predict(together)
            # Whatever a framework raises is for all of them to hear.
            except Exception as error:
                for each in together:
                    each.answer.set_exception(error)
            with self._turn:
                self._idle += 1
                self._turn.notify_all()

    def _predict(self, together: list[_Asked]) -> None:
        firsts = np.concatenate([[0], *(each.counts for each in together)]).cumsum(dtype=np.int32)
        labels = np.concatenate([each.labels for each in together])
        priors, values = self._backend.predict(np.concatenate([each.packed for each in together]), firsts, labels, 1.0)
        ends = np.cumsum([len(each.packed) for each in together])[:-1]
        parts = zip(together, np.split(priors, firsts[ends]), np.split(values, ends), strict=True)
        for each, its_priors, its_values in parts:
            each.answer.set_result((its_priors, its_values))


class EvaluationServer:
    """Answers players, each in a thread of its own, until it is left as a context. One that goes disturbs nobody."""

    def __init__(self, load: Callable[[bytes], Backend], host: str = "127.0.0.1", most: int = MOST) -> None:
        """`load` makes a network of the bytes of its file; what it raises is told to the player. `host`: the address of
        this machine to listen at. `most`: positions that batches are merged up to. Raises OSError.
        """
        self._load = load
        self._most = most
        self._networks: dict[bytes, _Shared] = {}
        self._loading = Lock()
        self._players: dict[_Line, Thread] = {}
        self._closed = Event()
        self._listening = socket.create_server((host, 0))
        self.service = Service(host, self._listening.getsockname()[1], secrets.token_bytes(32))
        Thread(target=self._let_in, name="evaluation server", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closed.set()
        players = self._players.copy()
        for each in (self._listening, *(line.socket for line in players)):
            with suppress(OSError):  # closing alone does not wake who waits at it
                each.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in players.values():
            thread.join()  # a process that ends while one is in a framework's code is aborted with words of C++

    def _let_in(self) -> None:
        while not self._closed.is_set():
            try:
                player, _ = self._listening.accept()
            except OSError:
                self._closed.wait(_BREATH)
            else:
                Thread(target=self._serve, args=(player,), name="player", daemon=True).start()

    def _serve(self, player: socket.socket) -> None:
        with suppress(OSError), closing(_Line(player)) as line:  # who is gone need not hear why
            self._players[line] = current_thread()
            try:
                self._answer(line)
            # Whatever is wrong with a player, a file or a batch is that player's own business.
            except Exception as error:
                line.send_bytes(b"!" + shorten(str(error), 400, placeholder=" ...").encode())
            finally:
                del self._players[line]

    def _answer(self, line: Any) -> None:
        deliver_challenge(line, self.service.key)
        answer_challenge(line, self.service.key)
        line.socket.settimeout(None)  # between two sets the command may learn for hours
        network = self._network(line)
        line.send_bytes(b"=")
        while True:
            priors, values = network.predict(_Asked(line.recv_bytes(), network.encoding))
            line.send_bytes(b"=" + values.tobytes() + priors.tobytes())

    def _network(self, line: _Line) -> _Shared:
        """The network that a player wants, loaded if need be."""
        digest = line.recv_bytes()
        with self._loading:
            network = self._networks.get(digest)
        if network is None:
            line.send_bytes(b"?")
            file = line.recv_bytes()
            digest = hashlib.sha256(file).digest()
        with self._loading:
            if network is None:
                network = self._networks.get(digest) or _Shared(self._load(file), self._most)
            self._networks.pop(digest, None)
            self._networks[digest] = network
            for old in list(self._networks)[:-_KEPT]:
                del self._networks[old]
        return network


class ServedEvaluator:
    """What a network thinks that an evaluation server has. CrewError, in one line, where that gives no answer."""

    def __init__(self, service: Service, encoding: Encoding, network: bytes, temperature: float = 1.0) -> None:
        """`network`: the bytes of its file, which has to be for `encoding`. `temperature` divides the policy's logits.

        Raises CrewError.
        """
        self.encoding = encoding
        self._sharpness = np.float32(1 / temperature)
        self._name = f"evaluation server {service.host}:{service.port}"
        self._asking = Lock()
        with self._complaining():
            line: Any = _Line(socket.create_connection((service.host, service.port), _PATIENCE))
            self._line: _Line = line
            answer_challenge(line, service.key)
            deliver_challenge(line, service.key)
        if self._ask(hashlib.sha256(network).digest()) == b"?":
            self._ask(network)

    def evaluate(self, batch: Batch) -> Evaluations:
        size = len(batch)
        if not size:
            return Evaluations(np.empty(0, np.float32), np.empty(0, np.float32))
        firsts = batch.firsts[: size + 1]
        parts = (np.uint32(size), batch.packed[:size], firsts, batch.labels[: firsts[-1]])
        answer = np.frombuffer(self._ask(b"".join(part.tobytes() for part in parts))[1:], np.float32).copy()
        priors = answer[size:]
        if self._sharpness != 1:  # what divides logits is a root of probabilities; a high power of all could be 0
            starts, counts = firsts[:-1], np.diff(firsts)
            priors /= np.repeat(np.maximum.reduceat(priors, starts), counts)
            priors **= self._sharpness
            priors /= np.repeat(np.add.reduceat(priors, starts), counts)
        return Evaluations(priors, answer[:size])

    def close(self) -> None:
        """Leave the server."""
        self._line.close()

    def _ask(self, message: bytes) -> bytes:
        """The server's answer."""
        with self._asking, self._complaining():
            self._line.send_bytes(message)
            answer = self._line.recv_bytes()
        if answer.startswith(b"!"):
            raise CrewError(f"{self._name}: {answer[1:].decode(errors='replace')}")
        return answer

    @contextmanager
    def _complaining(self) -> Iterator[None]:
        try:
            yield
        # The handshake asserts that it is one.
        except (AssertionError, AuthenticationError, EOFError, OSError, ValueError) as error:
            reason = shorten(str(error), 200, placeholder=" ...") or "it is gone"
            raise CrewError(f"{self._name}: {reason}") from error


def add_serve_option(parser: ArgumentParser) -> None:
    """`--serve`: whoever finds it set brings a `Service` to the tasks."""
    parser.add_argument(
        "--serve", action="store_true", help="one evaluation server for all workers, in place of a network in each"
    )


def load_network(
    game: GameEntry,
    network: bytes,
    batch_size: int,
    *,
    backend: str = "auto",
    suffix: str = ".npz",
    threads: int = 1,
    streams: int = 1,
) -> Backend:
    """The network in the bytes of a file with that suffix; else as `load_backend`. Raises ModelError, BackendError."""
    with _file(network, suffix) as path:
        return load_backend(backend, path, game.encodings, threads=threads, streams=streams, batch_size=batch_size)


@contextmanager
def _file(network: bytes, suffix: str = ".npz") -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"net{suffix}")
        path.write_bytes(network)
        yield path


@contextmanager
def evaluator_of(
    game: GameEntry, network: bytes, batch_size: int, temperature: float, service: Service | None
) -> Iterator[Evaluator]:
    """What a network file says: run here, by one thread where it runs on the CPU, or by the evaluation server.

    `temperature` divides the policy's logits. Raises ModelError, BackendError, CrewError.
    """
    if service is None:
        yield NetworkEvaluator(load_network(game, network, batch_size), temperature)
    else:
        with _file(network) as path:
            encoding = encoding_of(path, game.encodings)
        with closing(ServedEvaluator(service, encoding, network, temperature)) as evaluator:
            yield evaluator


@contextmanager
def serving(game: GameEntry, host: str) -> Iterator[Service]:
    """An evaluation server for a game, in a process of its own, that listens at `host`. Raises CrewError, OSError."""
    with ProcessCrew(1) as crew:
        # A task stays open while its crew is there.
        ((_, service),) = crew.map(partial(_server, game.name, host), [None], _PATIENCE)
        yield service


@contextmanager
def _server(game: str, host: str) -> Iterator[Callable[[None], Service]]:
    load = partial(load_network, game_named(game), batch_size=MOST, threads=0, streams=_STREAMS)
    with EvaluationServer(load, host) as server:
        yield lambda _: server.service
