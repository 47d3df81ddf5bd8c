"""Games for tests of the training: random legal moves, with made-up evaluations and results."""

import json
import random
from collections.abc import Iterable
from pathlib import Path

import cshogi

from pydlshogi.games.shogi.kifu.game import Game, moves_of


def random_games(count: int, *, plies: int, seed: int, start: str = cshogi.STARTING_SFEN) -> list[Game]:
    """`count` games of `plies` half moves (fewer where there is mate), the same for the same seed."""
    generator = random.Random(seed)
    games = []
    for _ in range(count):
        board = cshogi.Board(start)
        moves: list[str] = []
        while len(moves) < plies and (legal := [cshogi.move_to_usi(move) for move in board.legal_moves]):
            moves.append(generator.choice(legal))
            board.push_usi(moves[-1])
        win, evals = generator.choice(("b", "w")), tuple(generator.randrange(-500, 500) for _ in moves)
        games.append(Game(start, moves_of(start, moves), win, "resign", evals, (None,) * len(moves)))
    return games


def write_jsonl(path: Path, train: Iterable[Game], val: Iterable[Game]) -> None:
    """The games as one JSON object a line."""
    with path.open("w") as file:
        for split, games in (("train", train), ("val", val)):
            for game in games:
                evals = " ".join(map(str, game.evals))
                record = {"split": split, "win": game.win, "end": game.ending, "moves": " ".join(game.usi)}
                file.write(json.dumps({**record, "evals": evals}) + "\n")
