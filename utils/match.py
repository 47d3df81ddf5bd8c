"""A match of two engines, USI (shogi, Dobutsu shogi) or GTP (Othello): paired openings, both colours, records, Elo.

Every opening is played twice with colours swapped, `--concurrency` games at a time, each by two engine processes of its
own, with `--cluster` on several machines. A finished game is a record (CSA, a line of USI, GGF) and one line of
OUT/games.jsonl; a match that was interrupted, however rudely, goes on after its finished games when the same command is
given again. Engines do not ponder. How a single game is played is in play_game.py.
"""

import argparse
import hashlib
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

from tqdm import tqdm

from pydlshogi.catalogue import GAMES
from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import add_cluster_option, exit_status, natural, parser_for, pool_of, positive
from pydlshogi.support.files import reserved
from pydlshogi.support.pool import WorkerPool
from utils.arena.games import Opening, check_room, kind_of, read_openings
from utils.arena.play_game import (
    SIDES,
    Contestant,
    Limit,
    MatchRules,
    Seats,
    Settings,
    Side,
    add_limits,
    in_range,
    pairings,
)
from utils.arena.store import Store, report, standing

EXAMPLES = """\
examples:
  ten games against Fairy-Stockfish (Debian: fairy-stockfish), one second a move:
    python -m utils.match bat/mcts_player.sh /usr/games/fairy-stockfish A.Threads=1 B.Threads=1 B.Hash=64 \\
        --games 10 --time 1000 --openings openings.sfen --out matches/fairy
  against GPSShogi (Debian: gpsshogi, gpsshogi-data), which knows byoyomi only and always takes 1.0 to 1.6 seconds:
    python -m utils.match bat/mcts_player.sh /usr/games/gpsusi B.Thread=1 --games 100 --time 1000 \\
        --tolerance 2000 --openings openings.sfen --out matches/gps
  what a change is worth:
    python -m utils.match "python -m pydlshogi.usi.usi_mcts_player" "python -m pydlshogi.usi.usi_mcts_player" \\
        A.C_init=150 --nodes 800 --games 2000 --concurrency 2 --openings openings.sfen --out matches/c_init
  records to learn from; Random_Ply, 9 by default, says how many first moves each engine draws by their visits:
    python -m utils.match bat/mcts_player.sh bat/mcts_player.sh A.Random_Ply=12 B.Random_Ply=12 --nodes 200 \\
        --games 600 --adjudicate 1200 8 --out matches/self --records kifu/self
  Dobutsu shogi against Fairy-Stockfish; the table has the score as Black and as White too, and White should win:
    python -m utils.match --game dobutsu bat/dobutsu.sh /usr/games/fairy-stockfish A.Threads=1 A.Network_Delay=10 \\
        B.Threads=1 B.UCI_Variant=dobutsu --time 200 --tolerance 100 --games 200 --out matches/dobutsu
  Othello against gtp-rhino (Debian: grhino), which keeps no time, from even openings:
    python -m utils.match --game othello bat/othello_alphabeta.sh "/usr/games/gtp-rhino -l 4" \\
        --a-time 1000 --b-time 60000 --openings kifu/othello_even.txt --out matches/rhino

Fairy-Stockfish turns to shogi by itself when it hears `usi`; gnushogi does not speak USI. A command is split as a shell
would, but run by none.
"""


def play(settings: Settings, openings: Sequence[Opening], store: Store, games: int, pool: WorkerPool) -> None:
    """Play what is missing of `games` games. Raises OneLineError, PoolError."""
    task = partial(Seats, settings, store.out.resolve())
    with tqdm(total=games, initial=len(store.games), unit="game", dynamic_ncols=True) as bar:
        for pairing, (names, played) in pool.map(task, pairings(openings, games, store.games)):
            store.add(pairing.number, pairing.black, names, played)
            bar.update()
            bar.set_postfix_str(standing(store.games))


def _limit(arguments: argparse.Namespace, side: Side) -> Limit:
    """The limit of one engine: its own if given, else that of both."""
    limit: Limit | None = getattr(arguments, f"{side.lower()}_limit") or arguments.limit
    if limit is None:
        raise OneLineError(f"nothing limits engine {side}: give --time, --fischer or --nodes")
    if kind_of(arguments.game).only_times and (limit.nodes or limit.increment_ms):
        raise OneLineError(f"engines of {arguments.game} know neither nodes nor increments: give --time")
    return limit


def _options(words: Sequence[str]) -> dict[Side, dict[str, str]]:
    options: dict[Side, dict[str, str]] = {side: {} for side in SIDES}
    for word in words:
        name, equals, value = word.partition("=")
        side, dot, option = name.partition(".")
        if not (equals and dot and option) or side not in options:
            raise OneLineError(f"{word} is no option; options look like A.Name=Value or B.Name=Value")
        options["A" if side == "A" else "B"][option] = value
    return options


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what a move may cost; times in milliseconds")
    for side, about in (("", None), ("a-", "engine A alone"), ("b-", "engine B alone")):
        add_limits(group.add_mutually_exclusive_group().add_argument, side, about)
    add = group.add_argument
    overruns = "longer overruns lose, shorter ones are only counted"
    add("--tolerance", type=in_range, default=1000.0, metavar="MS", help=overruns)
    silent = "an engine that is silent for so long after its time is up, or after `go nodes`, is killed and loses"
    add("--patience", type=in_range, default=60.0, metavar="S", help=silent)


def _add_openings(parser: argparse.ArgumentParser) -> None:
    title = "openings; the standard start position where nothing is said"
    add = parser.add_argument_group(title).add_argument
    lines = "one a line, `startpos moves ...` or sfen, may be .xz; for Othello any file of games"
    add("--openings", type=Path, metavar="FILE", help=lines)
    add("--opening-plies", type=natural, metavar="N", help="cut the openings of FILE after N moves")
    add("--seed", type=int, default=0, help="shuffles the openings")


def _add_ends(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("when a game ends early").add_argument
    add("--max-moves", type=positive, default=320, metavar="N", help="drawn after N moves")
    won = "won when both engines have said so: at least CP for the same side over the last PLIES moves"
    add("--adjudicate", type=int, nargs=2, metavar=("CP", "PLIES"), help=won)


def _settings(arguments: argparse.Namespace) -> Settings:
    if arguments.games % 2:
        raise OneLineError("--games must be even: every opening is played twice")
    options = _options(arguments.options)
    adjudicate_cp, adjudicate_plies = arguments.adjudicate or (None, 8)
    if min(adjudicate_cp or 0, adjudicate_plies) < 0 or 0 in (adjudicate_cp, adjudicate_plies):
        raise OneLineError("--adjudicate needs centipawns and plies above 0")
    if adjudicate_cp and kind_of(arguments.game).only_times:
        raise OneLineError(f"--adjudicate: engines of {arguments.game} do not say who wins")
    return Settings(
        A=Contestant(arguments.a, options["A"], _limit(arguments, "A")),
        B=Contestant(arguments.b, options["B"], _limit(arguments, "B")),
        rules=MatchRules(arguments.max_moves, arguments.tolerance, arguments.patience, adjudicate_cp, adjudicate_plies),
        openings=None if arguments.openings is None else str(arguments.openings),
        opening_plies=arguments.opening_plies,
        seed=arguments.seed,
        game=arguments.game,
    )


def _run(arguments: argparse.Namespace) -> None:
    settings = _settings(arguments)
    openings = [Opening(None, (), settings.game)]
    if arguments.openings:
        openings = read_openings(arguments.openings, arguments.opening_plies, settings.game)
    check_room(openings, arguments.max_moves)
    held = "\n".join(f"{opening.start} {' '.join(opening.moves)}" for opening in openings)
    settings = replace(settings, openings_digest=hashlib.sha256(held.encode()).hexdigest()[:16])
    Random(settings.seed).shuffle(openings)
    records = arguments.records or arguments.out / "records"
    with reserved(arguments.out), closing(Store(arguments.out, records, settings)) as store:
        try:
            with pool_of(arguments.concurrency, arguments.cluster) as pool:
                play(settings, openings, store, arguments.games, pool)
        finally:
            print(report(store.games, settings))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for(
        "utils.match", "A match between two engines: paired openings, colours swapped, Elo with error bars.", EXAMPLES
    )
    add = parser.add_argument
    add("a", metavar="ENGINE_A", help="command line of an engine: USI, or GTP for Othello")
    add("b", metavar="ENGINE_B", help="command line of its opponent")
    add("options", nargs="*", metavar="A.Name=Value", help="USI options of engine A, or B.Name=Value")
    add("--game", default="shogi", help=f"{', '.join(GAMES)}, or MODULE:NAME")
    add("--out", type=Path, required=True, help="folder of the match; give it again to go on with it")
    add("--records", type=Path, help="folder of the records (default: OUT/records)")
    add("--games", type=positive, default=100, help="an even number")
    add("--concurrency", type=positive, default=1, help="games at the same time")
    add_cluster_option(parser)
    _add_limits(parser)
    _add_openings(parser)
    _add_ends(parser)
    # Intermixed: options of the engines may follow options of the match.
    parsed = parser.parse_intermixed_args(arguments)
    return exit_status("match", partial(_run, parsed), resume="the same command goes on with it")


if __name__ == "__main__":
    sys.exit(main())
