"""An opening book from game records: `python -m utils.make_book kifu/selfplay --out book.db`.

Writes YaneuraOu's text format (DB2016), sorted, so that engines may search it on disk; Book_File takes it. Counted are
the moves of the first --plies plies of every game that has a result. The value of a move is what its player scored
with it, win 1 and draw 1/2, as centipawns; fifty draws are added to every move, so that a few games say little.
That value is the games' and not an engine's, which is why the depth is 0.
"""

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from tqdm import tqdm

from pydlshogi.games.shogi.engine.book_files import HEADER, BookError, BookMove, key_of
from pydlshogi.games.shogi.kifu.game import Game, replay
from pydlshogi.games.shogi.read_kifu import KifuError, read_list, read_many
from pydlshogi.player.lines import centipawns
from pydlshogi.player.mcts_options import GENERAL_EVAL_COEF
from pydlshogi.support.command_line import exit_status, parser_for, positive
from pydlshogi.support.files import check_writable, replacing
from utils.make_kifu_list import record_files

ADDED_DRAWS: Final = 50
"""What is known of a move before its first game: most opening moves win 43 to 57 %, a spread of 0.07, and that is
worth 0.25 / 0.07 ** 2 games."""


@dataclass
class MoveResults:
    """What the games say of one move."""

    games: int = 0
    points: float = 0.0
    """Of the player of the move: a win is 1, a draw 1/2."""
    replies: Counter[str] = field(default_factory=Counter)

    def value(self) -> int:
        """Centipawns for the player of the move."""
        return centipawns((self.points + ADDED_DRAWS / 2) / (self.games + ADDED_DRAWS), GENERAL_EVAL_COEF)


class BookMaker:
    """Positions and their moves, as games are added."""

    def __init__(self, plies: int) -> None:
        self.plies = plies
        self.games = 0
        """Counted: those with a result."""
        self.numbers: dict[bytes, int] = {}
        """The lowest move number of each position."""
        self.moves: defaultdict[bytes, dict[str, MoveResults]] = defaultdict(dict)

    def add(self, game: Game) -> None:
        """Count `game`, unless its result is unknown or says nothing."""
        if game.win is None:
            return
        self.games += 1
        usi = game.usi
        for ply, (position, _) in enumerate(replay(game)):
            if ply >= self.plies:
                break
            move, *reply = usi[ply : ply + 2]
            key = key_of(position.sfen().encode())
            self.numbers[key] = min(self.numbers.get(key, position.ply()), position.ply())
            played = self.moves[key].setdefault(move, MoveResults())
            played.games += 1
            played.points += 0.5 if game.win == "d" else float(game.win == "bw"[position.turn])
            played.replies.update(reply)

    def numbered(self, least_games: int) -> Iterator[tuple[bytes, int, list[BookMove]]]:
        """The positions, sorted, with their move numbers and the moves played in at least `least_games`."""
        for key in sorted(self.moves):
            moves = []
            for move, played in self.moves[key].items():
                if played.games >= least_games:
                    reply = min(played.replies, key=lambda usi: (-played.replies[usi], usi), default=None)
                    moves.append(BookMove(move, reply, played.value(), 0, played.games))
            if moves:
                yield key, self.numbers[key], sorted(moves, key=lambda move: (-move.value, -move.played, move.move))


def write(positions: Iterable[tuple[bytes, int, list[BookMove]]], out: Path) -> int:
    """Write a book of positions with their move numbers, as they come; returns how many there are."""
    count = 0
    with replacing(out) as file:
        file.write(HEADER + b"\n")
        for key, number, moves in positions:
            count += 1
            file.write(b"sfen %s %d\n" % (key, number))
            for move in moves:
                file.write(f"{move.move} {move.reply or 'none'} {move.value} {move.depth} {move.played}\n".encode())
    return count


def sources(paths: Iterable[Path]) -> list[Path]:
    """The record files that folders and lists name, each once. Raises OneLineError and KifuError."""
    files = (file for path in paths for file in (read_list(path) if path.is_file() else record_files(path)))
    return list({os.path.realpath(file): file for file in files}.values())


def collect(options: argparse.Namespace) -> None:
    """Make the book of games."""
    out: Path = options.out
    files = sources(options.source)
    maker = BookMaker(options.plies)
    unread = 0
    for _, games in tqdm(read_many(files, options.workers), total=len(files), unit="file", disable=None):
        if isinstance(games, KifuError):
            tqdm.write(f"make_book: {games}", file=sys.stderr)
            unread += 1
            continue
        for game in games:
            maker.add(game)
    if not any(played.games >= options.min_games for moves in maker.moves.values() for played in moves.values()):
        raise BookError(f"no move was played in {options.min_games} of {maker.games} games with a result: no book")
    positions = write(maker.numbered(options.min_games), out)
    print(f"{out}: {positions} positions from {maker.games} games; {unread} of {len(files)} files could not be read")


def _run(options: argparse.Namespace) -> None:
    if options.out.exists() and not options.overwrite:
        raise BookError(f"{options.out} exists (--overwrite replaces it)")
    check_writable(options.out)
    collect(options)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.make_book", __doc__.split(":", 1)[0])
    parser.add_argument(
        "source", type=Path, nargs="+", help="a folder with record files at any depth, or a list of them"
    )
    parser.add_argument("--out", type=Path, required=True, help="the book to write (.db)")
    parser.add_argument("--plies", type=positive, default=32, help="of every game")
    parser.add_argument("--min-games", type=positive, default=2, metavar="N", help="games a move must be played in")
    parser.add_argument("--workers", type=positive, default=os.cpu_count() or 1, help="processes (default: all cores)")
    parser.add_argument("--overwrite", action="store_true", help="replace a book that exists")
    options = parser.parse_args(arguments)
    return exit_status("make_book", partial(_run, options))


if __name__ == "__main__":
    sys.exit(main())
