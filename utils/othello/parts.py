"""What each part of the engines is worth: `python -m utils.othello.parts FILE`

For each row of the table two engines play each other, every opening twice with colours swapped, with equal time of the
processor for a move. A game is a line of FILE once it is finished, so that the same command goes on where it was broken
off. The table is printed at the end, for all games that are there.
"""

import argparse
import hashlib
import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from tqdm import tqdm

from pydlshogi.engines.othello.clock import Clock, Effort
from pydlshogi.engines.othello.engine import EngineError, OthelloEngine, unheard
from pydlshogi.engines.othello.player import TUTORIAL_CUTS, AlphaBetaEngine
from pydlshogi.engines.othello.search import Mind, SearchEngine
from pydlshogi.games.othello.records import read_from_start
from pydlshogi.games.othello.transcript import RecordError, Transcript, transcript
from pydlshogi.support.command_line import exit_status
from pydlshogi.support.elo import estimate, histogram_of_pairs, mean_score
from pydlshogi.support.files import digest, shipped_model
from utils.othello.finished import FinishedGames, TableError

_MEGABYTES: Final = 64


class Pairing(NamedTuple):
    """Two engines, in words and as they are made."""

    first: str
    second: str
    make: tuple[Callable[[], OthelloEngine], Callable[[], OthelloEngine]]


def _searching(**mind: Any) -> Callable[[], OthelloEngine]:
    return lambda: SearchEngine(Mind(megabytes=_MEGABYTES, **mind))


def _cutting(**settings: Any) -> Callable[[], OthelloEngine]:
    return lambda: AlphaBetaEngine(megabytes=_MEGABYTES // 4, **settings)


_IAGO: Final = _searching(iago=True, rollouts=0.5)
_VALUES: Final = _searching(iago=True)
_ALPHAZERO: Final = _searching()

ROWS: Final = {
    "policy": Pairing("IaGo's search without rollouts", "the policy alone", (_VALUES, _searching(playouts=1))),
    "half": Pairing("IaGo's search, rollouts 0.5", "without rollouts", (_IAGO, _VALUES)),
    "whole": Pairing("IaGo's search, rollouts 0.5", "rollouts alone", (_IAGO, _searching(iago=True, rollouts=1.0))),
    "constants": Pairing("IaGo's constants, no rollouts", "AlphaZero's", (_VALUES, _ALPHAZERO)),
    "alphabeta": Pairing("AlphaZero's constants", "alpha-beta", (_ALPHAZERO, _cutting())),
    "alphabeta-iago": Pairing("alpha-beta", "IaGo's search, rollouts 0.5", (_cutting(), _IAGO)),
    "tutorial": Pairing(
        "alpha-beta",
        "in the form of the ProbCut tutorial",
        (_cutting(), _cutting(cuts=shipped_model() / TUTORIAL_CUTS)),
    ),
    "plain": Pairing("alpha-beta", "without Multi-ProbCut", (_cutting(), _cutting(plain=True))),
}


def row_with(network: Path) -> dict[str, Pairing]:
    """The row of a network of `pydlshogi.cycle othello`."""
    row = Pairing("tables of people's games", f"{network}", (_ALPHAZERO, _searching(network=network)))
    return {f"network {network}": row}


def play(engines: Sequence[OthelloEngine], opening: Transcript, seconds: float) -> dict[str, Any]:
    """A game, the first of the engines having Black: its moves, and by how many discs Black wins."""
    position, moves = opening.end, list(opening.moves)
    for engine in engines:
        engine.new_game()
    effort = Effort(optimum=seconds, maximum=seconds)
    while position.moves():
        engine = engines[0 if position.black_to_move else 1]
        move = engine.choose(position, Clock(effort, now=time.process_time), unheard).move
        moves.append(move)
        position = position.play(move)
    lead = position.score if position.black_to_move else -position.score
    return {"moves": transcript(moves), "black_leads": lead}


def counts_of(games: Sequence[dict[str, Any]]) -> list[int]:
    """How many pairs of games brought the first engine 0, 0.5, 1, 1.5 and 2 points."""
    leads = {game["number"]: game["black_leads"] * (-1) ** game["number"] for game in games}
    return histogram_of_pairs({number: 0.5 + 0.5 * float(np.sign(lead)) for number, lead in leads.items()})


def table(games: Sequence[dict[str, Any]], rows: dict[str, Pairing]) -> str:
    """The table in Markdown, of the pairs that are complete."""
    lines = ["| | against | games | seconds a move | points | Elo |", "|---|---|---|---|---|---|"]
    for name, row in rows.items():
        for seconds in sorted({game["seconds"] for game in games if game["row"] == name}):
            counts = counts_of([game for game in games if (game["row"], game["seconds"]) == (name, seconds)])
            if pairs := sum(counts):
                share, elo = mean_score(counts), estimate(counts)
                margin = (
                    f"{elo.difference:+.0f} ± {elo.margin:.0f}" if math.isfinite(elo.difference + elo.margin) else "-"
                )
                lines.append(f"| {row.first} | {row.second} | {2 * pairs} | {seconds:g} | {share:.1%} | {margin} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m utils.othello.parts", description="Play for what each part of the search is worth."
    )
    parser.add_argument("file", type=Path, help="of the games")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--rows", nargs="*", choices=ROWS, default=list(ROWS), help="of the table (default: all)")
    which.add_argument("--network", type=Path, help="of `pydlshogi.cycle othello`: another row", metavar="FILE")
    parser.add_argument("--games", type=int, default=200, help="for each row (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.1, help="of the processor for a move (default %(default)s)")
    parser.add_argument("--openings", type=Path, default=Path("kifu/othello_even.txt"), help="file of transcripts")
    options = parser.parse_args(arguments)
    if options.games < 1 or not 0 < options.seconds < float("inf"):
        parser.error("--games and --seconds are above 0")
    rows = {name: ROWS[name] for name in options.rows} if options.network is None else row_with(options.network)

    def run() -> None:
        openings = read_from_start(options.openings)
        network = digest(options.network) if options.network else ""
        held = " ".join([network, *(transcript(opening.moves) for opening in openings)])
        parameters = hashlib.sha256(held.encode()).hexdigest()[:16]
        tasks = [(row, options.seconds, number) for row in rows for number in range(options.games)]
        engines: dict[str, list[OthelloEngine]] = {}
        with closing(FinishedGames(options.file, ("row", "number", "seconds", "black_leads"))) as finished:
            if any(game["row"] in rows and game.get("parameters") != parameters for game in finished.games):
                raise TableError(f"{options.file} holds games of another network or openings: choose another file")
            there = {(game["row"], game["seconds"], game["number"]) for game in finished.games}
            missing = [task for task in tasks if task not in there]
            for row, seconds, number in tqdm(missing, unit="game", disable=None):
                if row not in engines:
                    engines = {row: [make() for make in rows[row].make]}
                    for engine in engines[row]:
                        engine.prepare()
                sides = engines[row] if number % 2 == 0 else engines[row][::-1]
                game = play(sides, openings[number // 2 % len(openings)], seconds)
                finished.add({"row": row, "number": number, "seconds": seconds, "parameters": parameters, **game})
            print(table(finished.games, {**ROWS, **rows}))

    return exit_status("parts", run, EngineError, RecordError, TableError, resume="the same command goes on")


if __name__ == "__main__":
    sys.exit(main())
