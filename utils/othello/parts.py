"""What each part of the engines is worth: `python -m utils.othello.parts FILE`

For each row of the table two engines play each other, every opening twice with colours swapped, with equal time of the
processor for a move. A game is a line of FILE once it is finished, so that the same command goes on where it was broken
off. The table is printed at the end, for all games that are there.
"""

import hashlib
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from tqdm import tqdm

from pydlshogi.games.othello.engine.cuts import TUTORIAL_CUTS
from pydlshogi.games.othello.game import GAME
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.records import read_from_start
from pydlshogi.games.othello.transcript import Transcript, transcript
from pydlshogi.player.ask import ask
from pydlshogi.player.base_player import BasePlayer, Engine
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.option_settings import apply_settings
from pydlshogi.support.command_line import bounded, exit_status, parser_for, positive
from pydlshogi.support.elo import estimate, histogram_of_pairs, mean_score
from pydlshogi.support.errors import OneLineError
from pydlshogi.support.files import digest, shipped_model
from utils.arena.finished import FinishedGames

_MEGABYTES: Final = 64


class Side(NamedTuple):
    """Who plays, and what it has for a move other than the time that both have."""

    player: BasePlayer
    limits: Limits | None = None


class Pairing(NamedTuple):
    """Two engines, in words and as they are made."""

    first: str
    second: str
    make: tuple[Callable[[], Side], Callable[[], Side]]


def _loaded(engine: Engine, settings: dict[str, str], limits: Limits | None = None) -> Side:
    apply_settings(engine.options, settings)
    player = engine.load()
    player.prepare()
    return Side(player, limits)


def _searching(limits: Limits | None = None, **settings: str) -> Callable[[], Side]:
    return lambda: _loaded(GAME.mcts(), {"Threads": "1", "USI_Hash": f"{_MEGABYTES}", **settings}, limits)


def _cutting(**settings: str) -> Callable[[], Side]:
    return lambda: _loaded(
        GAME.alphabeta(), {"Threads": "1", "Openings": "false", "USI_Hash": f"{_MEGABYTES // 2}", **settings}
    )


_IAGO: Final = _searching(IaGo="true")
_VALUES: Final = _searching(IaGo="true", Rollouts="0")
_ALPHAZERO: Final = _searching()

ROWS: Final = {
    "policy": Pairing("IaGo's search without rollouts", "the policy alone", (_VALUES, _searching(Limits(nodes=1)))),
    "half": Pairing("IaGo's search, rollouts 0.5", "without rollouts", (_IAGO, _VALUES)),
    "whole": Pairing("IaGo's search, rollouts 0.5", "rollouts alone", (_IAGO, _searching(IaGo="true", Rollouts="100"))),
    "constants": Pairing("IaGo's constants, no rollouts", "AlphaZero's", (_VALUES, _ALPHAZERO)),
    "alphabeta": Pairing("AlphaZero's constants", "alpha-beta", (_ALPHAZERO, _cutting())),
    "alphabeta-iago": Pairing("alpha-beta", "IaGo's search, rollouts 0.5", (_cutting(), _IAGO)),
    "tutorial": Pairing(
        "alpha-beta",
        "in the form of the ProbCut tutorial",
        (_cutting(), _cutting(Cuts=f"{shipped_model() / TUTORIAL_CUTS}")),
    ),
    "plain": Pairing("alpha-beta", "without Multi-ProbCut", (_cutting(), _cutting(Plain="true"))),
}


def row_with(network: Path) -> dict[str, Pairing]:
    """The row of a network."""
    row = Pairing("tables of people's games", f"{network}", (_ALPHAZERO, _searching(modelfile=f"{network}")))
    return {f"network {network}": row}


def play(sides: Sequence[Side], opening: Transcript, seconds: float) -> dict[str, Any]:
    """A game, the first of the sides having Black: its moves, and by how many discs Black wins."""
    position, moves = OthelloPosition(), list(opening.moves)
    for move in moves:
        position.push(move)
    for side in sides:
        side.player.new_game()
    equal = Limits(movetime=round(1000 * seconds))
    while len(position.legal_moves()):
        player, limits = sides[position.turn]
        answer = ask(player, position, Clock(limits or equal, now=lambda: 1000 * time.process_time()))
        moves.append(position.move_from_usi(answer.move))
        position.push(moves[-1])
    return {"moves": transcript(moves), "black_leads": position.now.lead}


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
                share = f"{mean_score(counts):.1%} | {estimate(counts)}"
                lines.append(f"| {row.first} | {row.second} | {2 * pairs} | {seconds:g} | {share} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.othello.parts", "Play for what each part of the search is worth.")
    parser.add_argument("file", type=Path, help="of the games")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--rows", nargs="*", choices=ROWS, default=list(ROWS), help="of the table (default: all)")
    which.add_argument("--network", type=Path, help="another row: against the tables", metavar="FILE")
    parser.add_argument("--games", type=positive, default=200, help="for each row")
    parser.add_argument("--seconds", type=bounded(0.001, kind=float), default=0.1, help="of the processor for a move")
    parser.add_argument("--openings", type=Path, default=Path("kifu/othello_even.txt"), help="file of transcripts")
    options = parser.parse_args(arguments)
    rows = {name: ROWS[name] for name in options.rows} if options.network is None else row_with(options.network)

    def run() -> None:
        openings = read_from_start(options.openings)
        network = digest(options.network) if options.network else ""
        held = " ".join([network, *(transcript(opening.moves) for opening in openings)])
        parameters = hashlib.sha256(held.encode()).hexdigest()[:16]
        tasks = [(row, options.seconds, number) for row in rows for number in range(options.games)]
        made: dict[str, list[Side]] = {}
        with closing(FinishedGames(options.file, ("row", "number", "seconds", "black_leads"))) as finished:
            if any(game["row"] in rows and game.get("parameters") != parameters for game in finished.games):
                raise OneLineError(f"{options.file} holds games of another network or openings: choose another file")
            there = {(game["row"], game["seconds"], game["number"]) for game in finished.games}
            missing = [task for task in tasks if task not in there]
            for row, seconds, number in tqdm(missing, unit="game", disable=None):
                if row not in made:
                    made = {row: [make() for make in rows[row].make]}
                sides = made[row] if number % 2 == 0 else made[row][::-1]
                game = play(sides, openings[number // 2 % len(openings)], seconds)
                finished.add({"row": row, "number": number, "seconds": seconds, "parameters": parameters, **game})
            print(table(finished.games, {**ROWS, **rows}))

    return exit_status("parts", run, resume="the same command goes on")


if __name__ == "__main__":
    sys.exit(main())
