"""The engine plays itself and writes records: `python -m pydlshogi.selfplay --games 100 --out kifu`

A small driver over the search: gather, evaluate, backup, and a move drawn by visits while the game is young, so that
games differ. With --starts and --blunders they begin from positions that no player would choose: what a lost piece
costs, a network learns only from games in which one was lost. The seed and the number of a game determine the game,
given the same network. A game that is on disk already is not played again, so the same command continues an
interrupted run.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cshogi import move_to_usi
from tqdm import tqdm

from pydlshogi.command_line import exit_status
from pydlshogi.dataset import DEFAULT_EVAL_COEF
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.files import replacing, shipped_model
from pydlshogi.games.shogi import START_SFEN, ShogiPosition
from pydlshogi.kifu.game import MATE_EVAL, Ending, Game, Win
from pydlshogi.network.backend import BACKENDS, BackendError, load_backend
from pydlshogi.network.weights import ModelError
from pydlshogi.player.network_player import SHIPPED_NETWORK, centipawns
from pydlshogi.read_kifu import to_csa
from pydlshogi.uct.search import MoveStats, Search
from pydlshogi.uct.uct_node import UctNodeTable
from pydlshogi.workers import workers


class Settings(NamedTuple):
    """How the games are played."""

    playouts: int = 64
    """For every move, those of the tree that was kept included."""
    batch: int = 8
    """Playouts gathered before the network is asked."""
    random_plies: int = 24
    """So many moves at the beginning are drawn, in proportion to their visits; later the best is played."""
    resign_below: float = 0.03
    """A side resigns when its win rate is lower."""
    max_plies: int = 320
    """A game that is as long is a draw."""
    blunders: int = 0
    """Most random moves before the game, by both sides in turn; how many, from 0, is drawn. Not part of the record."""


def play(evaluator: Any, settings: Settings, rng: np.random.Generator, start: str = START_SFEN) -> Game:
    """One game of `evaluator` against itself."""
    search = Search(UctNodeTable(megabytes=16))
    requests = evaluator.requests(settings.batch)
    if settings.blunders:
        start = _blundered(start, int(rng.integers(settings.blunders + 1)), rng)
    position = ShogiPosition(start)
    moves: list[str] = []
    evals: list[int | None] = []
    end: tuple[Ending, Win] | None = None
    while end is None:
        search.set_root(position, past=position.past_keys())
        # The search goes on beyond its playouts while the best move has no visits, because all that have are proven to
        # lose: it would be judged, and played, without a look at it.
        while search.root_plies is None and (
            search.root_visits < settings.playouts or not search.root_moves()[0].visits
        ):
            leaves = search.gather(requests, settings.batch)
            search.backup(leaves, evaluator.evaluate(requests))
        ranked = search.root_moves()
        best = ranked[0]
        if best.plies is None and best.value < settings.resign_below:
            end = "resign", _opponent(position)
        else:
            chosen = _draw(ranked, rng) if len(moves) < settings.random_plies else best
            evals.append(_black_centipawns(best, position.board.turn))
            moves.append(move_to_usi(chosen.move))
            position.push(chosen.move)
            end = _end(position, len(moves), settings)
    ending, win = end
    return Game(
        start_sfen=start,
        moves=tuple(moves),
        win=win,
        ending=ending,
        evals=tuple(evals),
        times=(None,) * len(moves),
        names=("pydlshogi", "pydlshogi"),
        event="pydlshogi selfplay",
        date=date.today().strftime("%Y/%m/%d"),
    )


def _blundered(start: str, count: int, rng: np.random.Generator) -> str:
    """The sfen after `count` random legal moves from `start`, or after fewer if they end the game."""
    position = ShogiPosition(start)
    for _ in range(count):
        before = str(position.board.sfen())
        position.push(int(rng.choice(position.legal_moves())))
        if not len(position.board.legal_moves):
            return before
    return str(position.board.sfen())


def _end(position: ShogiPosition, plies: int, settings: Settings) -> tuple[Ending, Win] | None:
    """How the last move ended the game, if it did."""
    if not len(position.board.legal_moves):
        return "mate", _opponent(position)
    if position.declares():
        return "declaration", _mover(position)
    repeated = position.fourfold()
    if repeated is not None:
        if repeated.value == 0.5:
            return "sennichite", "d"
        return "perpetual_check", _mover(position) if repeated.value == 1.0 else _opponent(position)
    return ("max_moves", "d") if plies >= settings.max_plies else None


def _mover(position: ShogiPosition) -> Win:
    """The side to move, as the winner of the game."""
    return "w" if position.board.turn else "b"


def _opponent(position: ShogiPosition) -> Win:
    """The side that is not to move, as the winner of the game."""
    return "b" if position.board.turn else "w"


def _draw(moves: list[MoveStats], rng: np.random.Generator) -> MoveStats:
    """A move drawn in proportion to its visits. A proven win is played, and a proven loss only if there is no other."""
    sound = [move for move in moves if move.visits and move.plies is None]
    if moves[0].plies is not None or not sound:
        return moves[0]
    visits = np.array([move.visits for move in sound])
    return sound[rng.choice(len(sound), p=visits / visits.sum())]


def _black_centipawns(move: MoveStats, turn: int) -> int:
    """What a move made by `turn` (0 Black, 1 White) is worth, from Black's view; MATE_EVAL where a mate is proven."""
    if move.plies is not None:
        score = MATE_EVAL if move.plies > 0 else -MATE_EVAL
    else:
        score = centipawns(min(max(move.value, 1e-6), 1 - 1e-6), DEFAULT_EVAL_COEF)
    return -score if turn else score


def _play_and_write(
    number: int, out: Path, network: tuple[str, str], seed: int, settings: Settings, starts: Sequence[str]
) -> Ending:
    path = record_path(out, number)
    rng = np.random.default_rng((seed, number))
    game = play(_evaluator(*network, settings.batch), settings, rng, starts[int(rng.integers(len(starts)))])
    with replacing(path) as file:
        file.write(to_csa(game).encode())
    return game.ending


@cache
def _evaluator(modelfile: str, backend: str, batch: int) -> NetworkEvaluator:
    """The network of this worker process, loaded at its first game."""
    return NetworkEvaluator(load_backend(backend, modelfile, threads=1, batch_size=batch))


def _read_starts(parser: argparse.ArgumentParser, path: Path) -> list[str]:
    """The positions in `path`; where it is unusable the program ends with a line that says why."""
    try:
        starts = [line.strip() for line in path.read_text(encoding="ascii").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"{path}: {getattr(error, 'strerror', None) or error}")
    for start in starts:
        try:
            position = ShogiPosition(start)
        except ValueError as error:
            parser.error(f"{path}: {start}: {error}")
        if not len(position.board.legal_moves):
            parser.error(f"{path}: {start}: the game is over")
    if not starts:
        parser.error(f"{path} holds no position")
    return starts


def record_path(out: Path, number: int) -> Path:
    """Where game `number` is written."""
    return out / f"selfplay_{number:05}.csa"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    defaults = Settings()
    parser = argparse.ArgumentParser(description="Let the engine play itself and write the games as CSA records.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the records")
    parser.add_argument("--games", type=int, default=100, help="games in all (default %(default)s)")
    parser.add_argument("--modelfile", default="", help="the network (default: the one that comes with the package)")
    parser.add_argument("--backend", choices=BACKENDS, default="auto", help="what runs it (default %(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="processes that play (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="other seeds, other games (default %(default)s)")
    parser.add_argument("--playouts", type=int, default=defaults.playouts, help="per move (default %(default)s)")
    parser.add_argument("--batch", type=int, default=defaults.batch, help="positions at once (default %(default)s)")
    parser.add_argument(
        "--random-plies", type=int, default=defaults.random_plies, help="moves drawn by visits (default %(default)s)"
    )
    parser.add_argument("--starts", type=Path, help="file of positions to begin from, an sfen a line")
    parser.add_argument(
        "--blunders", type=int, default=defaults.blunders, help="random moves before the game, at most (default none)"
    )
    options = parser.parse_args(arguments)
    for name, least in (
        ("games", 1),
        ("workers", 1),
        ("playouts", 1),
        ("batch", 1),
        ("random_plies", 0),
        ("blunders", 0),
    ):
        if getattr(options, name) < least:
            parser.error(f"--{name.replace('_', '-')} must be at least {least}")
    settings = Settings(options.playouts, options.batch, options.random_plies, blunders=options.blunders)
    job = partial(
        _play_and_write,
        out=options.out,
        network=(options.modelfile or str(shipped_model() / SHIPPED_NETWORK), options.backend),
        seed=options.seed,
        settings=settings,
        starts=_read_starts(parser, options.starts) if options.starts else [START_SFEN],
    )

    def play_missing() -> None:
        options.out.mkdir(parents=True, exist_ok=True)
        missing = [number for number in range(1, options.games + 1) if not record_path(options.out, number).exists()]
        with workers(options.workers) as pool:
            bar = tqdm(pool.map(job, missing), total=len(missing), unit="game", dynamic_ncols=True)
            for ending in bar:
                bar.set_postfix_str(ending)

    resume = "the same command plays the games that are missing"
    return exit_status("selfplay", play_missing, BackendError, ModelError, resume=resume)


if __name__ == "__main__":
    sys.exit(main())
