"""A network plays itself, many games at once: `python -m pydlshogi.selfplay dobutsu --out own`

The games of a set are played side by side, and all their positions make one batch. A set is a file, own/00001.npz, with
what the searches found out (see learning/played.py); own/games.jsonl has the moves of all games and what was expected
of them. The network, the seed and the number of a set determine it. A set that is there is not played again, so the
same command continues an interrupted run.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Final

from tqdm import tqdm

from pydlshogi.catalogue import game_named
from pydlshogi.entry import GameEntry
from pydlshogi.learning.played import PlayedGames
from pydlshogi.learning.run_folder import numbered
from pydlshogi.learning.settings import SelfPlay, add_game_options
from pydlshogi.learning.tasks import playing
from pydlshogi.network.loading import encoding_of
from pydlshogi.player.lines import centipawns
from pydlshogi.support.arrays import write_arrays
from pydlshogi.support.command_line import (
    SettingError,
    add_pool_options,
    check,
    exit_status,
    parser_for,
    pool_of,
    setting,
    settle,
)
from pydlshogi.support.files import replacing, reserved, shipped_model
from pydlshogi.support.pool import WorkerPool

_WINNERS: Final = {1.0: "b", 0.5: "d", 0.0: "w"}
"""By the score of the side that moves first."""
_EVAL_COEF: Final = 600
"""As most records have it."""


@dataclass(frozen=True)
class Settings(SelfPlay):
    """How many games, and how they are played."""

    sets: int = setting(1, "sets of games in all", low=1, high=10**5)
    seed: int = setting(0, "other seeds, other games", low=0)


def play(game: GameEntry, network: bytes, out: Path, settings: Settings, pool: WorkerPool) -> str:
    """Play the sets that `out` lacks. Returns what it holds then, in one line. Raises SettingError, ArraysError."""
    about = {"game": game.name, "network": hashlib.sha256(network).hexdigest(), **asdict(settings)}
    del about["sets"]
    settle(out / "selfplay.json", about)
    files = {number: out / f"{number:05}.npz" for number in range(1, settings.sets + 1)}
    missing = [number for number, path in files.items() if not path.exists()]
    moves = out / "games.jsonl"
    seeds = [(settings.seed, number) for number in missing]
    with tqdm(total=settings.sets, initial=settings.sets - len(missing), unit="set", disable=None) as bar:
        task = partial(playing, game.name, network, settings)
        for (_, number), (played, _) in pool.map(task, seeds):
            write_arrays(files[number], played)
            bar.update()
    # With fewer --sets than before, the others are there all the same.
    there = numbered(out).values()
    games = positions = 0
    with replacing(moves) as file:
        for played in map(PlayedGames.read, there):
            file.writelines(lines(game, settings, played))
            games += len(played.lengths)
            positions += len(played)
    return (
        f"{out} holds {games} games of {game.name} in {len(there)} sets, with {positions:,} positions to learn from; "
        f"{moves} has their moves; "
        + (f"{len(missing)} sets were played now" if missing else "nothing was left to play")
    )


def lines(game: GameEntry, settings: SelfPlay, played: PlayedGames) -> Iterator[bytes]:
    """Each game as JSON: the moves in USI, the winner, and what was expected in centipawns of the side that began, as
    pydlshogi.train reads games of shogi."""
    for number, (moves, score) in enumerate(zip(played.games(), played.scores.tolist(), strict=True)):
        # The last position has no move: in it somebody may have given up.
        position, words, evals = game.position(draw_ply=settings.draw_ply), [], ["-"] * (len(moves) + 1)
        for move in moves:
            words.append(position.usi(move))
            position.push(move)
        here = played.game == number
        for ply, value in zip(played.plies[here].tolist(), played.searched[here].tolist(), strict=True):
            evals[ply] = str(centipawns(1 - value if ply % 2 else value, _EVAL_COEF))
        line = {"moves": " ".join(words), "win": _WINNERS[score], "end": "unknown", "evals": " ".join(evals[:-1])}
        yield json.dumps(line).encode() + b"\n"


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    parser = parser_for("pydlshogi.selfplay", "Many games of a network with itself.")
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="for the games")
    parser.add_argument("--modelfile", type=Path, help="the network (.npz), of a cycle (default: the one that ships)")
    add_pool_options(parser)
    add_game_options(parser, Settings, words)
    options = parser.parse_args(words)

    def run() -> None:
        game, out = game_named(options.game), options.out
        said, names = {**game.learning, **vars(options)}, {each.name for each in fields(Settings)}
        settings = Settings(**{name: said[name] for name in names & said.keys()})
        check(settings)
        if not (options.modelfile or game.network):
            raise SettingError(f"--modelfile is missing: no network of {game.name} ships")
        network = options.modelfile or shipped_model() / game.network
        encoding_of(network, game.encodings)  # or the workers would complain of a file of theirs
        with reserved(out), pool_of(options.workers, options.cluster) as pool:
            print(play(game, network.read_bytes(), out, settings, pool))

    return exit_status("selfplay", run, resume="the same command plays the games that are missing")


if __name__ == "__main__":
    sys.exit(main())
