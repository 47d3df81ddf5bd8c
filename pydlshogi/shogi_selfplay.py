"""The engine plays itself and writes records of shogi: `python -m pydlshogi.selfplay --games 100 --out own`

A small driver over the search: gather, evaluate, backup, and a move sampled by visits while the game is young, so that
games differ. With --starts and --blunders they begin from positions that no player would choose: what a lost piece
costs, a network learns only from games in which one was lost. The seed and the number of a game determine the game,
given the same network. A game that is on disk already is not played again, so the same command continues an
interrupted run.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import date
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from tqdm import tqdm

from pydlshogi.engines.shogi.players import ShogiPlayer
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.games.catalogue import game_named
from pydlshogi.games.shogi.encodings import ENCODINGS
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.rules import RULES
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.kifu.game import MATE_EVAL, Ending, Game, Win
from pydlshogi.learning.tasks import deadline, load_network
from pydlshogi.network.architecture import ModelError
from pydlshogi.network.backend import BackendError
from pydlshogi.network.choices import BACKENDS
from pydlshogi.network.loading import encoding_of
from pydlshogi.player.choice import draw
from pydlshogi.player.lines import centipawns
from pydlshogi.read_kifu import to_csa
from pydlshogi.support.command_line import add_pool_options, exit_status, pool_of, positive
from pydlshogi.support.files import digest, read_plain, replacing, reserved, shipped_model
from pydlshogi.support.settings import SettingError, add_options, check, setting, settle
from pydlshogi.training.shogi.evaluations import DEFAULT_EVAL_COEF
from pydlshogi.uct.batch import Batch, Evaluator
from pydlshogi.uct.root import MoveStats, Root
from pydlshogi.uct.search import stored_search

_LARGEST_FILE: Final = 1 << 26
"""Bytes of positions to begin from."""


@dataclass(frozen=True)
class Settings:
    """How the games are played."""

    playouts: int = setting(64, "for every move, those of the tree that was kept included", low=1)
    batch: int = setting(8, "positions that the network is asked about at once", low=1)
    random_plies: int = setting(24, "first moves that are sampled by visits; later ones are the best", low=0)
    blunders: int = setting(0, "random moves before the game, at most; they are no part of the record", low=0)
    resign_below: float = setting(0.03, "win rate below which a side resigns", low=0, high=1)
    max_plies: int = setting(320, "moves after which a game is drawn", low=1)


def play(evaluator: Evaluator, settings: Settings, rng: Random, start: str = START_SFEN) -> Game:
    """One game of `evaluator` against itself."""
    if settings.blunders:
        start = _blundered(start, rng.randint(0, settings.blunders), rng)
    position = ShogiPosition(start)
    search = stored_search(RULES, position.settings, evaluator.encoding, megabytes=16)
    root = Root(search)
    batch = Batch(settings.batch, RULES.most_moves, evaluator.encoding)
    moves: list[int] = []
    evals: list[int | None] = []
    end: tuple[Ending, Win] | None = None
    while end is None:
        search.set_root(position)
        # The search goes on beyond its playouts while the best move has no visits, because all that have are proven to
        # lose: it would be judged, and played, without a look at it.
        while root.plies is None and (root.visits < settings.playouts or not root.moves()[0].visits):
            batch.clear()
            leaves = search.gather(batch, settings.batch)
            search.backup(leaves, evaluator.evaluate(batch))
        ranked = root.moves()
        best = ranked[0]
        if best.plies is None and best.value < settings.resign_below:
            end = "resign", _opponent(position)
        else:
            chosen = draw(ranked, 1.0, rng) if len(moves) < settings.random_plies else best
            evals.append(_black_centipawns(best, position.turn))
            position.push(chosen.move)
            moves.append(position.last_move())
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


def _blundered(start: str, count: int, rng: Random) -> str:
    """The sfen after `count` random legal moves from `start`, or after fewer if they end the game."""
    position = ShogiPosition(start)
    for _ in range(count):
        before = str(position.board.sfen())
        position.push(rng.choice(position.legal_moves().tolist()))
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


def _black_centipawns(move: MoveStats, turn: int) -> int:
    """What a move made by `turn` (0 Black, 1 White) is worth, from Black's view; MATE_EVAL where a mate is proven."""
    if move.plies is not None:
        score = MATE_EVAL if move.plies > 0 else -MATE_EVAL
    else:
        score = centipawns(move.value, DEFAULT_EVAL_COEF)
    return -score if turn else score


@contextmanager
def playing(
    network: tuple[bytes, str, str], seed: int, settings: Settings, starts: Sequence[str]
) -> Iterator[Callable[[int], Game]]:
    """A task of a pool: the games of these numbers, by the network in the bytes of a file, its suffix and backend."""
    content, suffix, backend = network
    loaded = load_network(game_named("shogi"), content, settings.batch, backend=backend, suffix=suffix)
    evaluator = NetworkEvaluator(loaded)

    def play_numbered(number: int) -> Game:
        rng = Random(f"{seed} {number}")
        return play(evaluator, settings, rng, rng.choice(starts))

    yield play_numbered


def _read_starts(parser: argparse.ArgumentParser, path: Path) -> list[str]:
    """The positions in `path`; where it is unusable the program ends with a line that says why."""
    try:
        text = read_plain(path, _LARGEST_FILE).decode("ascii")
        starts = [line.strip() for line in text.splitlines() if line.strip()]
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
    parser = argparse.ArgumentParser(
        prog="python -m pydlshogi.selfplay",
        description="Let the engine play itself and write the games as CSA records of shogi.",
        epilog="Many games at once, to learn from, and of any game: python -m pydlshogi.selfplay GAME --help",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the records")
    parser.add_argument("--games", type=positive, default=100, help="games in all (default %(default)s)")
    parser.add_argument("--modelfile", default="", help="the network (default: the one that comes with the package)")
    parser.add_argument("--backend", choices=BACKENDS, default="auto", help="what runs it (default %(default)s)")
    add_pool_options(parser, workers=1)
    parser.add_argument("--seed", type=int, default=0, help="other seeds, other games (default %(default)s)")
    parser.add_argument("--starts", type=Path, help="file of positions to begin from, an sfen a line")
    add_options(parser, Settings)
    options = parser.parse_args(arguments)
    given = vars(options)
    settings = Settings(**{each.name: given[each.name] for each in fields(Settings) if each.name in given})
    network = Path(options.modelfile or shipped_model() / ShogiPlayer.shipped)
    starts = _read_starts(parser, options.starts) if options.starts else [START_SFEN]

    def play_missing() -> None:
        check(settings)
        if network.suffix != ".onnx":
            encoding_of(network, ENCODINGS)  # or the workers would complain of a file of theirs
        out, content = options.out, network.read_bytes()
        loaded = content, network.suffix, options.backend
        task = partial(playing, network=loaded, seed=options.seed, settings=settings, starts=starts)
        longest = deadline(settings.max_plies, settings.playouts, len(content))
        out.mkdir(parents=True, exist_ok=True)
        decides = {"network": digest(network), "seed": options.seed, "starts": starts, **asdict(settings)}
        with reserved(out), pool_of(options.workers, options.cluster) as pool:
            settle(out / "selfplay.json", decides)
            missing = [number for number in range(1, options.games + 1) if not record_path(out, number).exists()]
            with tqdm(total=len(missing), unit="game", dynamic_ncols=True, disable=None if missing else True) as bar:
                for number, game in pool.map(task, missing, longest):
                    with replacing(record_path(out, number)) as file:
                        file.write(to_csa(game).encode())
                    bar.update()
                    bar.set_postfix_str(game.ending)
        played = f"{len(missing)} played now" if missing else "nothing was left to play"
        print(f"{out} holds the {options.games} games asked for; {played}")

    resume = "the same command plays the games that are missing"
    return exit_status("selfplay", play_missing, BackendError, ModelError, SettingError, resume=resume)


if __name__ == "__main__":
    sys.exit(main())
