"""The evaluation server as its players meet it: over its socket, several at once, and some that misbehave."""

import hashlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Client, Connection
from pathlib import Path
from threading import Barrier, Condition, Event, Semaphore
from typing import Any

import numpy as np
import psutil
import pytest

from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.catalogue import game_named
from pydlshogi.learning import service
from pydlshogi.learning.service import EvaluationServer, ServedEvaluator, Service, load_network, serving
from pydlshogi.learning.settings import Cycle, SelfPlay
from pydlshogi.learning.tasks import PlayComparisons, PlaySets
from pydlshogi.network.architecture import architecture_for
from pydlshogi.network.backend import Backend
from pydlshogi.network.weights import random_weights, write_weights
from pydlshogi.support.crew import CrewError
from pydlshogi.uct.batch import Batch
from utils import bench_serve

ROOT = Path(__file__).resolve().parent.parent
DOBUTSU = game_named("dobutsu")
ROWS = 8
"""Positions of a batch here."""


class Rows:
    """A backend that judges each position for itself: what stands beside it in the batch changes nothing at all."""

    encoding = DOBUTSU.encoding
    streams = 1

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def predict(self, packed: Any, firsts: Any, labels: Any, temperature: float) -> tuple[Any, Any]:
        self.sizes.append(len(packed))
        values = (packed.sum(1, dtype=np.uint32) % 1000).astype(np.float32)
        return np.repeat(values, np.diff(firsts)) + labels[: firsts[-1]].astype(np.float32), values


class Fragile(Rows):
    """Fails at the first batch, as a GPU whose memory is full."""

    def predict(self, packed: Any, firsts: Any, labels: Any, temperature: float) -> tuple[Any, Any]:
        if not self.sizes:
            self.sizes.append(0)
            raise RuntimeError("out of\nmemory")
        return super().predict(packed, firsts, labels, temperature)


class Gated(Rows):
    """Says when its first batch has come, and does nothing before it may."""

    def __init__(self) -> None:
        super().__init__()
        self.come, self.may = Event(), Event()

    def predict(self, packed: Any, firsts: Any, labels: Any, temperature: float) -> tuple[Any, Any]:
        self.come.set()
        assert self.may.wait(60)
        return super().predict(packed, firsts, labels, temperature)


def load_dobutsu(network: bytes) -> Backend:
    return load_network(DOBUTSU, network, ROWS)


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Three small ones."""
    path = tmp_path_factory.mktemp("networks") / "net.npz"
    files = []
    for seed in range(3):
        write_weights(path, random_weights(architecture_for(DOBUTSU.encoding, "policy_value_resnet", 1, 8), seed))
        files.append(path.read_bytes())
    return files


def batches(seed: int) -> Iterator[Batch]:
    """Positions of games by lot."""
    generator, position = np.random.default_rng(seed), DOBUTSU.start(60)
    while True:
        batch = Batch(ROWS, DOBUTSU.rules.most_moves, DOBUTSU.encoding)
        while len(batch) < ROWS:
            moves = position.legal_moves()
            if position.outcome() is not None or not len(moves):
                position = DOBUTSU.start(60)
                continue
            batch.add(position, moves)
            position.push(int(generator.choice(moves)))
        yield batch


def asked(player: ServedEvaluator, seed: int = 1) -> None:
    """A player is told what `Rows` says."""
    batch = next(batches(seed))
    own = NetworkEvaluator(Rows()).evaluate(batch)  # type: ignore[arg-type]
    served = player.evaluate(batch)
    assert np.array_equal(served.priors, own.priors)
    assert np.array_equal(served.values, own.values)
    assert own.values.std() > 0


def served(backend: Any, most: int = service.MOST) -> EvaluationServer:
    return EvaluationServer(lambda _: backend, most=most)


def player_of(server: EvaluationServer, network: bytes = b"a network") -> ServedEvaluator:
    return ServedEvaluator(server.service, DOBUTSU.encoding, network)


def test_several_players_share_batches_and_each_is_told_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the first one's is under way three others come; two of those are as many as a batch may have."""
    queued = Semaphore(0)

    class Counted(Condition):
        """Says so when somebody waits for it."""

        def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
            queued.release()
            return super().wait_for(predicate, timeout)

    class UntilQueued(Rows):
        def predict(self, packed: Any, firsts: Any, labels: Any, temperature: float) -> tuple[Any, Any]:
            assert self.sizes or all(queued.acquire(timeout=60) for _ in range(4))
            return super().predict(packed, firsts, labels, temperature)

    monkeypatch.setattr(service, "Condition", Counted)
    backend = UntilQueued()
    with served(backend, 2 * ROWS) as server, ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda seed: asked(player_of(server), seed), range(4))) == [None] * 4
    assert backend.sizes == [ROWS, 2 * ROWS, ROWS]


def test_a_network_of_two_streams_works_on_two_batches_at_once() -> None:
    class Both(Rows):
        streams = 2
        both = Barrier(2)

        def predict(self, packed: Any, firsts: Any, labels: Any, temperature: float) -> tuple[Any, Any]:
            self.both.wait(60)
            return super().predict(packed, firsts, labels, temperature)

    with served(Both()) as server, ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda seed: asked(player_of(server), seed), range(2))) == [None] * 2


def test_a_network_that_is_served_says_what_it_says_here(networks: list[bytes]) -> None:
    own = NetworkEvaluator(load_dobutsu(networks[0]))
    with EvaluationServer(load_dobutsu) as server:
        players = [player_of(server, network) for network in networks[:2]]
        for batch, _ in zip(batches(3), range(5), strict=False):
            here, there = own.evaluate(batch), players[0].evaluate(batch)
            assert np.array_equal(here.priors, there.priors)
            assert np.array_equal(here.values, there.values)
            assert not np.array_equal(here.values, players[1].evaluate(batch).values)
        empty = players[0].evaluate(Batch(ROWS, 1, DOBUTSU.encoding))
        assert len(empty.priors) == len(empty.values) == 0
        flatter = ServedEvaluator(server.service, DOBUTSU.encoding, networks[0], temperature=1.7).evaluate(batch)
        assert flatter.priors == pytest.approx(NetworkEvaluator(own.backend, 1.7).evaluate(batch).priors, abs=1e-5)
        assert flatter.priors != pytest.approx(here.priors, abs=1e-2)
        sharper = ServedEvaluator(server.service, DOBUTSU.encoding, networks[0], temperature=0.01).evaluate(batch)
        assert sharper.priors == pytest.approx(NetworkEvaluator(own.backend, 0.01).evaluate(batch).priors, abs=1e-3)


def test_the_seed_decides_a_set_with_the_service_too(networks: list[bytes]) -> None:
    """One player: its batches are those that a network of its own would get."""
    settings = SelfPlay(games=ROWS, side_by_side=ROWS, playouts=8, draw_ply=40)
    with (
        EvaluationServer(load_dobutsu) as server,
        PlaySets("dobutsu", networks[0], settings)() as own,
        PlaySets("dobutsu", networks[0], settings, server.service)() as with_service,
    ):
        sets = [play(seed)[0] for play in (own, with_service) for seed in ((1, 2), (1, 3))]
    for first, second in ((sets[0], sets[2]), (sets[1], sets[3])):
        assert first.games() == second.games()
        assert np.array_equal(first.weights, second.weights)
    assert sets[0].games() != sets[1].games()


def test_the_policys_temperature_reaches_self_play_and_comparisons(networks: list[bytes]) -> None:
    tiny: dict[str, Any] = {"games": 2, "playouts": 8, "full_share": 1, "draw_ply": 24, "compare_playouts": 8}
    sets, counts = [], []
    for temperature in (0.05, 1.0, 20.0):
        settings = Cycle(**tiny, policy_temperature=temperature)
        with PlaySets("dobutsu", networks[0], settings)() as play:
            sets.append(play((1, 2))[0])
        with PlayComparisons("dobutsu", (networks[0], networks[1]), 16, settings)() as match:
            counts.append(match(((1, 2), 16)))
    assert len({each.weights.tobytes() for each in sets}) == 3
    assert len(set(map(tuple, counts))) > 1


def test_a_network_is_sent_and_loaded_once_while_it_is_one_of_the_last_two(networks: list[bytes]) -> None:
    loaded: list[int] = []

    def load(network: bytes) -> Any:
        loaded.append(networks.index(network))
        return Rows()

    with EvaluationServer(load) as server:
        first = player_of(server, networks[0])
        for number in (1, 0, 2, 0, 1):
            player_of(server, networks[number]).close()
        asked(first)
        with acquainted(server.service) as line:
            line.send_bytes(hashlib.sha256(networks[1]).digest())
            assert line.recv_bytes() == b"="
            line.send_bytes(b"nonsense")
            assert line.recv_bytes().startswith(b"!")
    assert loaded == [0, 1, 2, 1]


@contextmanager
def acquainted(there: Service) -> Iterator[Connection]:
    """A line to the server behind the handshake, which multiprocessing's own end makes."""
    with Client((there.host, there.port), authkey=there.key) as line:
        yield line


PLAYER = """
import sys
from test_service import DOBUTSU, asked
from pydlshogi.learning.service import ServedEvaluator, Service

host, port, key = sys.argv[1:]
asked(ServedEvaluator(Service(host, int(port), bytes.fromhex(key)), DOBUTSU.encoding, b"a network"))
"""

SERVER = """
import sys
from test_service import Rows, served

with served(Rows()) as server:
    host, port, key = server.service
    print(host, port, key.hex(), flush=True)
    sys.stdin.read()
"""


@contextmanager
def python(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process of its own, with the modules of this one."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def test_a_player_that_is_killed_while_it_waits_disturbs_nobody() -> None:
    backend = Gated()
    with served(backend) as server:
        host, port, key = server.service
        with python(PLAYER, host, str(port), key.hex()) as process:
            assert backend.come.wait(60)
            process.kill()
            process.wait()
            backend.may.set()
        asked(player_of(server))
        asked(player_of(server), 2)


def test_a_server_that_is_killed_is_one_line_and_no_hang() -> None:
    with python(SERVER) as process:
        assert process.stdout is not None
        host, port, key = process.stdout.readline().split()
        there = Service(host, int(port), bytes.fromhex(key))
        player = ServedEvaluator(there, DOBUTSU.encoding, b"a network")
        asked(player)
        process.kill()
        process.wait()
        for _ in range(2):
            with pytest.raises(CrewError, match=f"^evaluation server {host}:{port}: .+$"):
                player.evaluate(next(batches(1)))
        with pytest.raises(CrewError, match=f"^evaluation server {host}:{port}: .+$"):
            ServedEvaluator(there, DOBUTSU.encoding, b"a network")


def test_a_server_that_is_left_lets_go_of_its_players() -> None:
    backend = Gated()
    with ThreadPoolExecutor(2) as pool:
        with ExitStack() as left:
            player = player_of(left.enter_context(served(backend)))
            waiting = pool.submit(player.evaluate, next(batches(1)))
            assert backend.come.wait(60)
            leaving = pool.submit(left.pop_all().close)
        with pytest.raises(CrewError, match=r"^evaluation server .*: it is gone$"):
            waiting.result(60)
        assert not leaving.done()  # before the batch is
        backend.may.set()
        leaving.result(60)


def test_a_server_that_falls_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        there = Service("127.0.0.1", silent.getsockname()[1], b"key")
        with pytest.raises(CrewError, match=f"^evaluation server 127.0.0.1:{there.port}: timed out$"):
            ServedEvaluator(there, DOBUTSU.encoding, b"a network")


def test_no_network_is_one_line_for_whoever_brings_it(networks: list[bytes]) -> None:
    with EvaluationServer(load_dobutsu) as server:
        player = player_of(server, networks[0])
        for damaged in (b"", networks[0][:1000], b"nothing" * 100):
            with pytest.raises(CrewError, match=r"^evaluation server .*net\.npz: not an \.npz archive, or damaged$"):
                player_of(server, damaged)
        assert len(player.evaluate(next(batches(1))).values) == ROWS


def test_a_batch_that_fails_is_one_line_and_the_next_is_answered() -> None:
    with served(Fragile()) as server:
        failed, other = player_of(server), player_of(server)
        with pytest.raises(CrewError, match=r"^evaluation server .*: out of memory$"):
            asked(failed)
        asked(other)


def numbers(*parts: list[int]) -> bytes:
    return b"".join(np.array(part, np.int32).tobytes() for part in parts)


WORDS = [0] * DOBUTSU.encoding.words


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"odd",
        numbers([0], [0]),
        numbers([-1], WORDS, [0, 1], [5]),
        numbers([2], WORDS, [0, 1], [5]),
        numbers([1], WORDS, [1, 1], [5]),
        numbers([1], WORDS, [0, 2], [5]),
        numbers([2], WORDS, WORDS, [0, 2, 1], [5]),
        numbers([1], WORDS, [0, 1], [-1]),
        numbers([1], WORDS, [0, 1], [DOBUTSU.encoding.labels]),
    ],
)
def test_what_is_no_batch_is_refused(message: bytes) -> None:
    with served(Rows()) as server, acquainted(server.service) as line:
        line.send_bytes(b"digest")
        assert line.recv_bytes() == b"?"
        line.send_bytes(b"a network")
        assert line.recv_bytes() == b"="
        line.send_bytes(numbers([1], WORDS, [0, 1], [5]))
        assert line.recv_bytes() == b"=" + np.array([0, 5], np.float32).tobytes()
        line.send_bytes(message)
        assert line.recv_bytes().startswith(b"!")
        with pytest.raises(EOFError):
            line.recv_bytes()


def silent(there: socket.socket) -> None:
    """Connects, and says nothing."""


def noisy(there: socket.socket) -> None:
    """As a browser that took a wrong address."""
    there.sendall(b"GET / HTTP/1.1\r\n\r\n" * 1000)


def broken_off(there: socket.socket) -> None:
    """A part of a message."""
    there.sendall(b"\0\0\0\x20half")


@pytest.mark.parametrize("stranger", [silent, noisy, broken_off])
def test_strangers_do_not_end_it(stranger: Callable[[socket.socket], None]) -> None:
    with served(Rows()) as server:
        player = player_of(server)
        with socket.create_connection(server.service[:2]) as there:
            with suppress(ConnectionError):  # it may hang up at once
                stranger(there)
            asked(player)
            asked(player_of(server))
        asked(player_of(server))


def test_who_has_not_the_key_is_not_let_in() -> None:
    with served(Rows()) as server:
        other = server.service._replace(key=b"another")
        with pytest.raises(CrewError, match=r"^evaluation server .*: digest sent was rejected$"):
            ServedEvaluator(other, DOBUTSU.encoding, b"a network")
        asked(player_of(server))


def test_it_has_a_process_of_its_own_that_ends_with_the_command(networks: list[bytes]) -> None:
    before = set(psutil.Process().children())
    with serving(DOBUTSU, "127.0.0.1") as there:
        new = set(psutil.Process().children()) - before
        (process,) = (each for each in new if "spawn_main" in " ".join(each.cmdline()))
        player = ServedEvaluator(there, DOBUTSU.encoding, networks[0])
        batch = next(batches(1))
        own = NetworkEvaluator(load_dobutsu(networks[0])).evaluate(batch)
        assert player.evaluate(batch).values == pytest.approx(own.values, abs=0.01)
    assert not process.is_running()
    with pytest.raises(CrewError):
        player.evaluate(batch)


def test_both_ways_are_timed(networks: list[bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.npz"
    path.write_bytes(networks[0])
    tiny = ["--games", "2", "--playouts", "2", "--draw-ply", "6", "--workers", "1", "--rounds", "2"]
    assert bench_serve.main(["dobutsu", "--modelfile", str(path), *tiny]) == 0
    for line, way in zip(capsys.readouterr().out.splitlines(), ("a network in each", "one eval"), strict=True):
        assert re.fullmatch(rf"{way}[a-z ]+ +[\d,]+ games a minute +\d+\.\d\d x   \([\d,]+, [\d,]+\)", line)
    assert bench_serve.main(["go", "--modelfile", str(path)]) == 1
    assert capsys.readouterr() == ("", "bench_serve: no game is called go; there are dobutsu, othello, shogi\n")
