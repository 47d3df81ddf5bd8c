"""A USI engine as a teacher of shogi: `python -m utils.lab.teach ENGINE [Name=Value ...] --nodes N --out FOLDER`

    python -m utils.lab.teach "sh -c 'cd YaneuraOu && exec ./YaneuraOu'" Threads=1 USI_Hash=16 USI_OwnBook=false \\
        --nodes 500 --records games.jsonl.xz --odd 2000 --openings openings.sfen --games 500 --out taught
    python -m pydlshogi.train --kind sparse --train games.jsonl.xz --taught taught --out runs/sparse --hours 2

It judges positions one or two odd moves beside the games of `--records`, which no player would reach, and plays games
with itself from real openings, with some random moves. What it says of a position is what it expects and its best move.
Random moves teach no policy, and results before them say nothing of a position. A set is a file in the folder: 1,024
odd positions, or 16 games. Sets that are there are not made again.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import cshogi
import numpy as np
from tqdm import tqdm

from pydlshogi.games.shogi.training.formats import load
from pydlshogi.games.shogi.training.records import DRAW, LOSS, MAX_EVAL, NO_RESULT, OWN, POSITION, WIN, Positions
from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import exit_status, natural, parser_for, pool_of, positive
from pydlshogi.support.files import cache_folder, write_whole
from utils.arena.engines import EngineError, UsiEngine
from utils.arena.games import STANDARD, Opening, Referee, Verdict, other, read_openings

ODD_POSITIONS: Final = 1024
"""Of a set."""
GAMES: Final = 16
"""Of a set."""
_ODD_MOVES: Final = (1, 1, 2)
_CAPTURES: Final = 0.35
"""Share of the odd moves that are captures where there are some: what a cheap value misjudges is what hangs."""
_FIRST_RANDOM: Final = (0, 0, 1, 2, 4)
"""Random moves after the opening."""
_RANDOM_RATES: Final = (0.0, 0.03, 0.08)
"""And later, for each move of a game."""
_LONGEST_GAME: Final = 320
_DECIDED_CP: Final = 2000
_DECIDED_PLIES: Final = 6
"""A game is over when the engine has seen the same side ahead by that much, in that many plies..."""
_PLAYED_OUT: Final = 0.15
"""...but for this share of games."""
_PATIENCE: Final = 60.0
"""Seconds for an answer."""


class TaughtMove(NamedTuple):
    """What the engine says of a position."""

    move: int
    """Its best move, 0 where it would play none."""
    cp: int
    """For the side to move."""
    declares: bool = False


class Item(NamedTuple):
    """A set to be made."""

    number: int
    seed: str
    positions: Positions | None = None
    """Those of records beside which odd ones are to be judged; or none, and games are to be played."""
    openings: Sequence[Opening] = ()
    """One for each game."""

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{'games' if self.positions is None else 'odd'}-{self.number:05}{OWN}"


Ask = Callable[[Any, str, Sequence[str]], TaughtMove | None]
"""(board, its start, the moves since): what the engine says; None where that makes no sense."""


def asked(engine: UsiEngine, nodes: int, board: Any, start: str, moves: Sequence[str]) -> TaughtMove | None:
    """See `Ask`. Raises EngineError."""
    answer = engine.go(start, moves, {"nodes": nodes}, _PATIENCE)
    if answer.bestmove in ("resign", "win"):
        declares = answer.bestmove == "win"
        return TaughtMove(0, MAX_EVAL if declares else -MAX_EVAL, declares)
    legal = {cshogi.move_to_usi(move): cshogi.move16(move) for move in board.legal_moves}
    if answer.cp is None or answer.bestmove not in legal:
        return None
    return TaughtMove(legal[answer.bestmove], max(-MAX_EVAL, min(MAX_EVAL, answer.cp)))


@contextmanager
def teaching(command: str, options: dict[str, str], nodes: int) -> Iterator[Callable[[Item], Positions]]:
    """A task of a pool: what the engine says of the positions of a set."""
    with closing(UsiEngine(command, Path(os.devnull))) as engine:
        engine.prepare(options)
        engine.new_game()
        ask = partial(asked, engine, nodes)

        def taught(item: Item) -> Positions:
            random = Random(item.seed)
            if item.positions is None:
                return np.concatenate([played(ask, opening, random) for opening in item.openings])
            return np.concatenate([odd(ask, position, random) for position in item.positions])

        yield taught


def recorded(board: Any, taught: TaughtMove, moves: Sequence[int], ply: int) -> Positions:
    """A position after these moves, in 16 bits, with what the engine says of it: POSITION [1]."""
    position = np.zeros(1, POSITION)
    board.to_hcp(position["hcp"][0])
    position["move"], position["eval"], position["ply"], position["result"] = taught.move, taught.cp, ply, NO_RESULT
    position["before"][0, : len(moves)] = moves[:-3:-1]
    return position


def odd(ask: Ask, beside: Any, random: Random) -> Positions:
    """A position beside one of a record, as `recorded`; none where it is mate, or the engine does not judge it."""
    board: Any = cshogi.Board()
    board.set_hcp(np.ascontiguousarray(beside["hcp"]))
    moves = [move for move in reversed(beside["before"].tolist()) if move]
    nothing = np.zeros(0, POSITION)
    count = random.choice(_ODD_MOVES)
    for _ in range(count):
        legal = list(board.legal_moves)
        if not legal:
            return nothing
        captures = [move for move in legal if cshogi.move_cap(move)]
        move = random.choice(captures if captures and random.random() < _CAPTURES else legal)
        board.push(move)
        moves.append(cshogi.move16(move))
    if not len(board.legal_moves):
        return nothing
    taught = ask(board, f"sfen {board.sfen()}", ())
    return nothing if taught is None else recorded(board, taught, moves[-2:], int(beside["ply"]) + count)


def played(ask: Ask, opening: Opening, random: Random) -> Positions:
    """The positions of a game from somewhere in the opening on, as `recorded`, with its result where that counts.

    Where the engine says nothing sensible, the game ends without one.
    """
    referee = Referee(opening.sfen or cshogi.STARTING_SFEN, _LONGEST_GAME)
    verdict: Verdict | None = None
    for move in opening.moves[: random.randint(0, len(opening.moves))]:
        referee.play(move)
    for _ in range(random.choice(_FIRST_RANDOM)):
        verdict = verdict or referee.play(cshogi.move_to_usi(random.choice(list(referee.board.legal_moves))))
    rate, played_out = random.choice(_RANDOM_RATES), random.random() < _PLAYED_OUT
    rows, random_plies, ahead = list[Positions](), list[int](), 0
    while not verdict:
        board = referee.board
        taught = ask(board, opening.start, referee.moves)
        if taught is None:
            break
        moves = [cshogi.move16(move) for move in board.history[-2:]]
        rows.append(recorded(board, taught, moves, len(referee.moves)))
        black = taught.cp if referee.turn == "b" else -taught.cp
        ahead = 0 if abs(black) < _DECIDED_CP else max(ahead, 0) + 1 if black > 0 else min(ahead, 0) - 1
        if taught.declares:
            verdict = referee.declare()
        elif not taught.move or (abs(ahead) >= _DECIDED_PLIES and not played_out):
            winner = referee.turn if taught.cp > 0 else other(referee.turn)
            verdict = Verdict(winner, "resign" if not taught.move else "adjudication")
        elif random.random() < rate:
            random_plies.append(len(rows) - 1)
            verdict = referee.play(cshogi.move_to_usi(random.choice(list(board.legal_moves))))
        else:
            verdict = referee.play(cshogi.move_to_usi(board.move_from_move16(taught.move)))
    game = np.concatenate([np.zeros(0, POSITION), *rows])
    if verdict and verdict.ending != "false_declaration":
        movers = np.where(game["hcp"][:, 0] & 1, "w", "b")  # the lowest bit of the code
        game["result"] = np.where(movers == verdict.winner, WIN, LOSS) if verdict.winner else DRAW
    if random_plies:
        game["result"][: max(random_plies) + 1] = NO_RESULT
    game["length"] = len(referee.moves)
    return game


def items(options: argparse.Namespace) -> Iterator[Item]:
    """The sets that are wanted: games and odd positions in turns."""
    openings = read_openings(options.openings) if options.openings else [STANDARD]
    positions = load(options.records, "train", cache_folder()) if options.records else None
    for number in range(max(options.games, options.odd)):
        if number < options.games:
            seed = f"{options.seed} games {number}"
            yield Item(number, seed, None, Random(f"{seed} openings").choices(openings, k=GAMES))
        if number < options.odd and positions is not None:
            rows = np.random.default_rng((options.seed, number)).integers(0, len(positions), ODD_POSITIONS)
            yield Item(number, f"{options.seed} odd {number}", np.array(positions[rows]))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.teach", "Have a USI engine judge positions of shogi, to learn from it.")
    parser.add_argument("engine", metavar="ENGINE", help="its command line, split as a shell would but run by none")
    parser.add_argument("options", nargs="*", metavar="Name=Value", help="its USI options")
    parser.add_argument("--nodes", type=positive, required=True, metavar="N", help="for each position")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of the sets")
    parser.add_argument("--odd", type=natural, default=0, metavar="N", help="sets of odd positions, of --records")
    parser.add_argument("--records", type=Path, help="beside them: games.jsonl(.xz), or a list of record files")
    parser.add_argument("--games", type=natural, default=0, metavar="N", help="sets of games")
    parser.add_argument("--openings", type=Path, help="of the games, as for utils.match (default: the start position)")
    parser.add_argument("--seed", type=natural, default=0)
    parser.add_argument("--workers", type=natural, default=0, help="processes; 0: one for each core")
    options = parser.parse_args(arguments)

    def run() -> None:
        options.out.mkdir(parents=True, exist_ok=True)
        task = partial(teaching, options.engine, dict(word.split("=", 1) for word in options.options), options.nodes)
        missing = (item for item in items(options) if not (options.out / item.name).exists())
        try:
            with pool_of(options.workers, None) as pool:
                for item, positions in tqdm(pool.map(task, missing), unit="set", disable=None):
                    write_whole(options.out / item.name, positions.tobytes())
        except EngineError as error:
            raise OneLineError(f"engine `{options.engine}` {error}") from error
        print(f"{options.out} holds {len(list(options.out.glob(f'*{OWN}')))} sets")

    return exit_status("teach", run)


if __name__ == "__main__":
    sys.exit(main())
