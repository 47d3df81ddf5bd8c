"""Attack the programs and see that nothing is lost: `python -m utils.torture --minutes 20`

The parts take turns, every round with the next seed:

    fuzz-NAME   lines that nearly make sense (torture.toml), for each program that speaks a protocol: every question has
                its answer, nothing breaks, and no thread or file is left over
    games       the engine plays itself at 50 nodes; cshogi and python-shogi look at every move. It stays the same
                process all the time, whose threads, files and memory must not grow
    clock       the engine has 10 s a side for a game of 512 plies beside busy loops, and does not lose it on time
    leave       `quit` ends an engine, and `stop` gets its answer, shortly after `isready`
    kill-NAME   a run is killed by SIGKILL at random moments and begun again; its files are read, and it comes to an end

A round that fails costs a line with the command that repeats it, and the exit status is 1. Windows has no such kills.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import cshogi
import shogi

from pydlshogi.support.command_line import bounded, exit_status, parser_for, remedy

try:
    import psutil
except ImportError as error:
    sys.exit(f"torture: psutil is not installed here: {remedy('test', 'psutil')} ({error})")

from pydlshogi.games.shogi.read_kifu import read
from pydlshogi.games.shogi.training.records import OWN, POSITION
from pydlshogi.learning.played import PlayedGames
from pydlshogi.network.weights import read_weights
from utils.arena.csa_server import CsaServer
from utils.arena.engine_process import EngineDied, EngineError, Pipes, command_line
from utils.arena.referee import Referee
from utils.arena.usi_engine import UsiEngine

ROOT: Final = Path(__file__).resolve().parent.parent
TABLES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PROTOCOLS: Final = {
    name: {**TABLES.get(table.get("like", ""), {}), **table} for name, table in TABLES.items() if "module" in table
}
POISON: Final = [*TABLES["poison"], "9" * 5000, "x" * 70_000]
PYTHON: Final = [sys.executable, "-m"]
ENGINE: Final = command_line([*PYTHON, PROTOCOLS["mcts"]["module"]])
PATIENCE: Final = 120.0
"""Seconds for any answer: a busy machine may compile kernels meanwhile."""
SLACK: Final = 32
"""Threads or files: an option may want some more, a leak would be one for every search."""
WARM_UP: Final = 10
"""Games, after which memory may not grow by more than GROWTH."""
GROWTH: Final = 64 << 20
BATCH: Final = 10
"""Lines before each look at what was answered."""
LONGEST_LEAVING: Final = 3.0
"""Seconds until `quit` or `stop` is obeyed on a busy machine; on an idle one it takes some milliseconds."""
LONGEST_LIFE: Final = 12.0
"""Seconds of a core before a kill, of which the imports take some."""
BUSY: Final = (
    "import os, sys, threading\n"
    "threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()\n"
    "while True: pass"
)
"""A loop that ends with the process that holds its stdin, however that ended."""


class Failure(Exception):
    """What went wrong in a round."""


def expect(good: object, otherwise: str) -> None:
    """Raises Failure unless it is `good`."""
    if not good:
        raise Failure(otherwise)


def size_of(pid: int) -> tuple[int, int, int]:
    """Threads, open files, and bytes of memory."""
    process = psutil.Process(pid)
    return process.num_threads(), process.num_fds(), process.memory_info().rss


def line_for(protocol: dict[str, Any], rng: Random, number: int) -> str:
    """A line, most often one that nearly makes sense. None ends the program."""
    line = rng.choice([*protocol["lines"], *protocol.get("more", [])])
    if rng.random() < 0.4:
        line = " ".join(rng.choices([*protocol["words"], *POISON], k=rng.randrange(1, 8)))
    line = line.replace("{n}", str(number))
    if rng.random() < 0.3:
        at = rng.randrange(len(line) + 1)
        line = line[:at] + rng.choice(["", " ", chr(rng.randrange(256)), rng.choice(POISON)]) + line[at + 1 :]
    return "" if "quit" in line else line.replace("\n", " ").replace("\r", " ")


class Round(NamedTuple):
    """Of one part."""

    seed: int
    folder: Path
    """Empty."""
    short: bool
    end: float
    """On the monotonic clock. What can be cut short is cut short then."""

    @property
    def over(self) -> bool:
        return time.monotonic() > self.end


def fuzz(name: str, this: Round) -> Counter[str]:
    """Returns figures; raises Failure, as all parts do."""
    protocol, rng, folder = PROTOCOLS[name], Random(f"{name} {this.seed}"), this.folder
    sent, said, sizes = list[str](protocol["begin"]), list[str](), list[tuple[int, int, int]]()
    pipes = Pipes([*PYTHON, protocol["module"]], folder / "stderr.txt")
    assert pipes.process.stdin is not None
    try:
        pipes.write("".join(f"{line}\n" for line in sent).encode())
        for number in range(0, 100 if this.short else 1000, BATCH):
            if this.over and sizes:
                break
            batch = [line_for(protocol, rng, number + place) for place in range(BATCH)]
            ping, pong = (protocol[word].replace("{n}", f"9{number}") for word in ("ping", "pong"))
            batch += [protocol["stop"], ping]
            sent += batch
            # Not all are UTF-8.
            pipes.write("".join(f"{line}\n" for line in batch).encode().replace("ÿ".encode(), b"\xff"))
            pipes.allow(PATIENCE)
            while not said or not said[-1].startswith(pong):
                said.append(pipes.line())
            sizes.append(size_of(pipes.process.pid))
        pipes.process.stdin.close()
        with suppress(EngineDied):
            while True:
                said.append(pipes.line())
        status = pipes.process.wait(PATIENCE)
    except (EngineError, OSError, subprocess.TimeoutExpired, psutil.Error) as error:
        raise Failure(f"{error!r} after {sent[-BATCH - 2 :]}; it said {said[-3:]}") from error
    finally:
        pipes.kill()
    stderr = (folder / "stderr.txt").read_text(errors="replace")
    expect(status == 0 and "Traceback" not in stderr, f"it ended with {status}: {stderr[-300:]}")
    defects = [line for line in said if re.search(r"log says more|search failed|\wError: ", line)]
    expect(not defects, f"{defects[:1]}")
    asked, answered = (
        sum(re.match(protocol[what], line) is not None for line in several)
        for what, several in (("asks", sent), ("answers", said))
    )
    # The analysis server answers for each of several positions.
    expect(answered == asked or (name == "analysis" and answered > asked), f"{asked} questions, {answered} answers")
    grown = [after - before for before, after in zip(sizes[len(sizes) // 2], sizes[-1], strict=True)]
    expect(max(grown[:2]) <= SLACK, f"threads, files and memory grew by {grown}")
    return Counter(lines=len(sent), questions=asked)


class Games:
    """Games of the engine against itself, all by the same process."""

    def __init__(self) -> None:
        self._engine: UsiEngine | None = None
        self._sizes: list[tuple[int, int, int]] = []

    def play(self, this: Round) -> Counter[str]:
        figures = Counter[str]()
        for number in range(1 if this.short else 10):
            if this.over and figures:
                break
            try:
                if self._engine is None:
                    self._engine = UsiEngine(ENGINE, this.folder / "stderr.txt")
                    self._engine.prepare({"USI_Hash": "64", "Random_Ply": "30"})
                self._engine.new_game()
                plies = play_game(self._engine, Random(f"{this.seed} {number}"), 40 if this.short else 320)
            except (EngineError, Failure):
                self.close()
                raise
            figures += Counter(games=1, moves=plies)
            self._sizes.append(size_of(self._engine.process.pid))
            then, now = self._sizes[:WARM_UP][-1], self._sizes[-1]
            grown = [after - before for before, after in zip(then, now, strict=True)]
            expect(len(self._sizes) <= WARM_UP or (max(grown[:2]) <= 2 and grown[2] <= GROWTH), f"it grew by {grown}")
        return figures

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
        self._engine, self._sizes = None, []


def play_game(engine: UsiEngine, rng: Random, most: int) -> int:
    """Plies of a game in which everything was legal. Raises Failure, EngineError."""
    referee, board = Referee(max_moves=most), shogi.Board()
    while True:
        answer = engine.go(cshogi.STARTING_SFEN, referee.moves, {"nodes": 50}, PATIENCE)
        where = f"{answer.lines[-2:]} after {' '.join(referee.moves)}"
        move = answer.bestmove
        if move in {"resign", "win"}:
            expect(move == "resign" or referee.declare().ending == "declaration", where)
            return len(referee.moves)
        line = answer.lines[-2].partition(" pv ")[2].split()
        expect(line[:1] == [move], f"the last line is not of the move: {where}")
        shown = shogi.Board(board.sfen())
        for each in line:
            expect(shogi.Move.from_usi(each) in shown.legal_moves, f"the line is not legal: {where}")
            shown.push_usi(each)
        if len(referee.moves) < 8:  # other seeds, other games
            move = rng.choice([each.usi() for each in board.legal_moves])
        board.push_usi(move)
        verdict = referee.play(move)
        if verdict is not None:
            mate = verdict.ending == "mate"
            expect(verdict.ending != "illegal_move" and mate == board.is_checkmate(), f"{verdict}: {where}")
            return len(referee.moves)


def random_game(rng: Random, plies: int) -> list[str]:
    """Moves of a game that long."""
    while True:
        board, moves = cshogi.Board(), list[str]()
        while len(moves) < plies and (legal := [cshogi.move_to_usi(move) for move in board.legal_moves]):
            moves.append(rng.choice(legal))
            board.push_usi(moves[-1])
        if len(moves) == plies:
            return moves


def clock(this: Round) -> Counter[str]:
    """Sudden death. The moves of the game are not the engine's, which would end it earlier."""
    milliseconds, loops, plies = (5_000, 2, 100) if this.short else (10_000, 12, 512)
    moves = random_game(Random(f"clock {this.seed}"), plies)
    left = [float(milliseconds)] * 2
    with ExitStack() as stack:
        sides = [UsiEngine(ENGINE, this.folder / f"stderr{side}.txt") for side in "BW"]
        for side in sides:
            stack.callback(side.close)
            side.prepare({"USI_Hash": "64"})
            side.new_game()
        for _ in range(loops):
            stack.callback(subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE).kill)
        for ply in range(plies):
            times = {"btime": int(left[0]), "wtime": int(left[1])}
            began = time.perf_counter()
            sides[ply % 2].go(cshogi.STARTING_SFEN, moves[:ply], times, PATIENCE)
            left[ply % 2] -= 1000 * (time.perf_counter() - began)
            expect(left[ply % 2] > 0, f"the flag fell at ply {ply + 1}")
    return Counter(games=1, milliseconds_left=int(min(left)))


def leave(this: Round) -> Counter[str]:
    """`quit` in the midst of loading, and `stop` of a search that waits for it, at a random moment."""
    rng = Random(f"leave {this.seed}")
    slowest = dict.fromkeys(("quit", "stop"), 0.0)
    for number in range(2 if this.short else 20):
        word = ("quit", "stop")[number % 2]
        pipes = Pipes([*PYTHON, PROTOCOLS["mcts"]["module"]], this.folder / f"stderr{number}.txt")
        try:
            pipes.write(b"usi\nsetoption name Threads value 64\nisready\nposition startpos\n")
            pipes.write(b"go infinite\n" if word == "stop" else b"")
            pipes.allow(PATIENCE)
            while pipes.line() != "usiok":
                pass
            time.sleep(rng.uniform(0.0, 2.0))
            began = time.perf_counter()
            if word == "stop":
                pipes.ask("stop", "bestmove", PATIENCE)
            else:
                pipes.say("quit")
                pipes.process.wait(PATIENCE)
            slowest[word] = max(slowest[word], time.perf_counter() - began)
        except (EngineError, OSError, subprocess.TimeoutExpired) as error:
            raise Failure(f"{error!r} after {word}") from error
        finally:
            pipes.kill()
    expect(max(slowest.values()) < LONGEST_LEAVING, f"it took {slowest}")
    return Counter({f"milliseconds_to_{word}": round(1000 * took) for word, took in slowest.items()})


def lines_of(path: Path, finished: bool) -> list[dict[str, Any]]:
    """Of a journal; one that was killed may have a last line that is cut off."""
    *lines, last = path.read_text(encoding="utf-8").split("\n") if path.exists() else [""]
    assert not (finished and last), f"{path.name} ends in {last!r}"
    return [json.loads(line) for line in lines]


def judge_training(out: Path, finished: bool) -> dict[str, bytes]:
    steps = [line["step"] for line in lines_of(out / "log.jsonl", finished) if "loss" in line]
    assert steps == list(range(5, len(steps) * 5 + 1, 5)), f"steps {steps} were logged"
    if (out / "checkpoint.pt").exists():
        from pydlshogi.training.run import read_checkpoint

        read_checkpoint(out / "checkpoint.pt")
    if finished:
        assert steps[-1] == 300
        read_weights(out / "net.npz")
    return {}


def judge_selfplay(out: Path, finished: bool) -> dict[str, bytes]:
    sets = {path.name: len(PlayedGames.read(path).lengths) for path in out.glob("*.npz")}
    assert len(sets) == 20 or not finished, f"{len(sets)} sets"
    if finished:
        assert len(lines_of(out / "games.jsonl", finished)) == sum(sets.values())
    return {name: (out / name).read_bytes() for name in sets}


def judge_match(out: Path, finished: bool) -> dict[str, bytes]:
    lines = lines_of(out / "games.jsonl", finished)
    assert len(lines) == len({line["game"] for line in lines}), "games were counted twice"
    assert len(lines) == 20 or not finished, f"{len(lines)} games"
    for line in lines:
        (game,) = read(out / "records" / line["record"])
        assert " ".join(game.usi) == line["moves"], line["record"]
    return {line["record"]: (out / "records" / line["record"]).read_bytes() for line in lines}


def judge_cycle(out: Path, finished: bool) -> dict[str, bytes]:
    lines = lines_of(out / "log.jsonl", finished)
    assert [line["step"] for line in lines] == list(range(1, len(lines) + 1)), "cycles are missing"
    sets = {path.name: len(PlayedGames.read(path)) for path in out.glob("games/*.npz")}
    for line in lines:
        positions = sum(count for name, count in sets.items() if int(name.split("-")[0]) == line["step"] - 1)
        assert positions == line["positions"], f"cycle {line['step']} has {positions} positions"
    for path in out.rglob("[!g]*/*.npz"):
        read_weights(path)
    return {name: (out / "games" / name).read_bytes() for name in sets}


def judge_tune(out: Path, finished: bool) -> dict[str, bytes]:
    lines = lines_of(out / "pairs.jsonl", finished)
    pairs = {line["step"] for line in lines}
    assert len(pairs) == len(lines), "pairs were counted twice"
    assert len(pairs) == 8 or not finished, f"{len(pairs)} pairs"
    return {f"pair {line['step']}": repr(line).encode() for line in lines}


def judge_teach(out: Path, finished: bool) -> dict[str, bytes]:
    sets = {path.name: path.read_bytes() for path in out.glob(f"*{OWN}")}
    assert all(content and len(content) % POSITION.itemsize == 0 for content in sets.values()), "a set is torn"
    assert len(sets) == 3 or not finished, f"{len(sets)} sets"
    return sets


def judge_csa(out: Path, finished: bool) -> dict[str, bytes]:
    """A game that the client has seen to its end is one of the server's. Each has one record."""
    records = {path.stem: path for path in out.glob("*.csa")}
    ended = {name: game for name, path in records.items() for game in read(path) if game.ending != "abnormal"}
    for name, game in ended.items():
        assert " ".join(game.usi) == (out.parent / "server" / name).read_text(), f"{name} was another game"
        assert (game.win, game.ending) == ("b", "resign"), name
    assert len(ended) >= 5 or not finished, f"{len(ended)} games"
    return {name: records[name].read_bytes() for name in ended}


_TINY: Final = "--depth 1 --channels 8 --batch-size 16 --precision float32 --shards 1"
_LIST: Final = shlex.quote(str(ROOT / "kiflist_test_100.txt"))
_ENGINE: Final = shlex.quote(ENGINE)
_POLICY: Final = shlex.quote(command_line([*PYTHON, PROTOCOLS["policy"]["module"]]))
RUNS: Final = {
    "train": f"pydlshogi.train --train {_LIST} --val {_LIST} {_TINY} --log-every 5 --save-minutes 0.01 --steps 300",
    "selfplay": "pydlshogi.selfplay dobutsu --sets 20 --games 8 --playouts 8 --draw-ply 24 --workers 2",
    "match": f"utils.match {_ENGINE} {_ENGINE} A.Backend=uniform B.Backend=uniform --nodes 20 --games 20 "
    "--max-moves 60",
    "cycle": f"pydlshogi.cycle dobutsu {_TINY} --games 6 --playouts 6 --cheap-playouts 3 --draw-ply 24 --sets 2 "
    "--compare-every 2 --compare-games 4 --compare-playouts 4 --workers 1 --minutes 100",
    "tune": f"utils.tune {_ENGINE} C_init=70,30,300 --option Backend=uniform --nodes 20 --pairs 8 --max-moves 40",
    "teach": f"utils.teach {_POLICY} Backend=hash --nodes 1 --games 3",
    "csa": "pydlshogi.csa 127.0.0.1 --user torture --games 5 --option Backend=uniform --option Const_Playout=20",
}
JUDGES: Final[dict[str, Callable[[Path, bool], dict[str, bytes]]]] = {
    "train": judge_training, "selfplay": judge_selfplay, "match": judge_match, "cycle": judge_cycle,
    "tune": judge_tune, "teach": judge_teach, "csa": judge_csa,
}  # fmt: skip
"""They read all files of a run, finished or not, and return those that may not change any more."""


def command_of(name: str, out: Path, last: bool, port: int) -> list[str]:
    """What begins a run or goes on with it; `last`: to its end. `port`: of a CSA server."""
    words = shlex.split(RUNS[name])
    if name == "train":
        words += ["--cache", str(out.parent / "cache")]
        if (out / "checkpoint.pt").exists():
            words = ["pydlshogi.train", "--resume"]
    if name == "cycle" and last:
        words[-1] = "0.01"
    if name == "csa":
        return [*PYTHON, *words, "--port", str(port), "--records", str(out)]
    return [*PYTHON, *words, "--out", str(out)]


def seconds_of(family: Sequence[psutil.Process]) -> float:
    """Of a core, that these processes have had, as far as they live."""
    seconds = 0.0
    for process in family:
        with suppress(psutil.NoSuchProcess):
            seconds += sum(process.cpu_times()[:2])
    return seconds


def kill(name: str, this: Round) -> Counter[str]:
    rng, folder = Random(f"{name} {this.seed}"), this.folder
    out = folder / "run"
    kept: dict[str, bytes] = {}
    most, kills = 1 if this.short else 10, 0
    with closing(CsaServer(folder / "server", rng)) as server:  # it outlives the kills
        while True:
            last = kills == most or (kills > 0 and this.over)
            with (folder / "said.txt").open("wb") as said:
                process = psutil.Popen(
                    command_of(name, out, last, server.port), cwd=ROOT, stdout=said, stderr=said, start_new_session=True
                )
            life = inf if last else rng.uniform(0.1, LONGEST_LIFE)
            family, began = [process], time.monotonic()
            try:
                while process.poll() is None and seconds_of(family) < life and time.monotonic() - began < 10 * PATIENCE:
                    time.sleep(0.05)
                    with suppress(psutil.NoSuchProcess):
                        family = [process, *process.children(recursive=True)]
            finally:
                with suppress(psutil.NoSuchProcess, ProcessLookupError):
                    process.kill() if rng.random() < 0.5 else os.killpg(process.pid, signal.SIGKILL)
            _, orphans = psutil.wait_procs(family, PATIENCE)
            expect(not orphans, f"{orphans} outlived it")
            end = f"after {kills} kills; it said {(folder / 'said.txt').read_text(errors='replace')[-300:]}"
            expect(not last or process.wait() == 0, f"it ended with {process.wait()} {end}")
            try:
                now = JUDGES[name](out, last)
            except Exception as error:  # whatever it is, a file is not what it should be
                raise Failure(f"{error!r} {end}") from error
            changed = [name for name, content in kept.items() if now.get(name) != content]
            expect(not changed, f"{changed} changed {end}")
            kept = now
            if last:
                break
            kills += 1
    # A cache is shared by runs that are under way, so nobody deletes there what a killed one has left.
    left = [path.name for path in out.rglob("*.tmp")]
    expect(not left, f"{left} stayed")
    return Counter(kills=kills, files=len(kept))


ROUNDS: Final[dict[str, Callable[[Round], Counter[str]]]] = {
    "clock": clock,
    "leave": leave,
    **{f"fuzz-{name}": partial(fuzz, name) for name in PROTOCOLS},
    **{f"kill-{name}": partial(kill, name) for name in JUDGES},
}
"""All parts but the games, which share a process."""


def torture(parts: Sequence[str], first: int, seconds: float, *, short: bool = False) -> bool:
    """Rounds of all parts, with one seed after the other, for `seconds`; whether all went well.

    0: one round of each, however long it takes.
    """
    figures = {part: Counter[str]() for part in parts}
    end = time.monotonic() + seconds if seconds else inf
    with TemporaryDirectory(prefix="torture") as place, closing(Games()) as games:
        table = {"games": games.play, **ROUNDS}
        # Where people live, what is no text is an error; Python is more tolerant in the locale C.
        os.environ |= {"XDG_STATE_HOME": place, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict"}
        os.environ["CSA_PASSWORD"] = "secret"
        try:
            for seed, part in ((seed, part) for seed in count(first) for part in parts):
                if time.monotonic() > end or (seed > first and not seconds):
                    break
                folder = Path(place, f"{part}-{seed}")
                folder.mkdir()
                figures[part]["rounds"] += 1
                try:
                    figures[part] += table[part](Round(seed, folder, short, end))
                except (EngineError, Failure) as failure:
                    figures[part]["failures"] += 1
                    why = " ".join(str(failure).split())[:1000]
                    how = f"python -m utils.torture {part} --minutes 0 --seed {seed}{' --short' if short else ''}"
                    print(f"FAILED: {how}: {why}", flush=True)
        finally:
            for part, counted in figures.items():
                print(f"{part}: {', '.join(f'{number} {what}' for what, number in counted.items())}")
    return not any(counted["failures"] for counted in figures.values())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.torture", __doc__)
    parts = ["games", *ROUNDS]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)} (default: all)")
    parser.add_argument(
        "--minutes", type=bounded(0, kind=float), default=20.0, help="of all, and no more; 0: one round of each"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    parser.add_argument("--short", action="store_true", help="rounds of seconds, as in the tests")
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - set(parts):
        parser.error(f"there is no part {', '.join(unknown)}")
    run = partial(torture, options.parts or parts, options.seed, 60 * options.minutes, short=options.short)
    return exit_status("torture", lambda: not run())


if __name__ == "__main__":
    sys.exit(main())
