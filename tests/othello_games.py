"""Random games of Othello, and engines that think of nothing, for tests of what lies around an engine."""

import queue
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from pydlshogi.game import PlayedPosition
from pydlshogi.games.othello.engine.options import OthelloOptions
from pydlshogi.games.othello.engine.patterns import CLASSES, NUMBERS, STAGES
from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.protocols.loaded_engine import LoadedEngine
from pydlshogi.games.othello.rules import START, Position, move_name
from pydlshogi.games.othello.squares import turned
from pydlshogi.games.othello.transcript import Transcript, game_of
from pydlshogi.player.base_player import BasePlayer, BestMove, Checkmate, Engine, Info, Report
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.support.arrays import Int16Array


def random_game(seed: int, start: Position = START) -> Transcript:
    """A game of random moves to its end."""
    rng = random.Random(seed)
    moves = []
    position = start
    while legal := position.moves():
        moves.append(rng.choice(legal))
        position = position.play(moves[-1])
    return game_of(moves, start)


def random_position(seed: int, empties: int) -> Position:
    """A position of a random game with that many empty squares, in which the side to move can play somewhere."""
    for each in range(seed, seed + 100):
        position = START
        for move in random_game(each).moves:
            if position.empties == empties and position.moves()[0] < 64:
                return position
            position = position.play(move)
    raise AssertionError("no game came that far")


def lying(position: Position, turn: int) -> Position:
    """The position on a board that lies as TURNED[turn] says."""
    mover, opponent = (int(turned(np.uint64(discs), turn)) for discs in (position.mover, position.opponent))
    return Position(mover, opponent, position.black_to_move)


def number_on(position: Position, squares: tuple[int, ...]) -> int:
    """What stands on the squares of a pattern: 0 the opponent, 1 nothing, 2 the side to move."""
    digits = [1 + (position.mover >> square & 1) - (position.opponent >> square & 1) for square in squares]
    return sum(digit * 3**place for place, digit in enumerate(digits))


def random_weights(seed: int) -> Int16Array:
    """Small weights for all patterns, of no meaning but the same for symmetric ones."""
    sampled = np.random.default_rng(seed).integers(-300, 300, (STAGES, NUMBERS)).astype(np.int16)
    return np.ascontiguousarray(sampled[:, CLASSES])


class LowestSquare(BasePlayer):
    """Plays the legal move that comes first, and thinks that a square is worth its number in discs."""

    name = "lowest"
    options: OthelloOptions

    def __init__(self) -> None:
        super().__init__(OthelloOptions())
        self.asked: list[tuple[Limits, int]] = []
        """The limits of all questions, and the level."""
        self.games = 0

    def new_game(self) -> None:
        self.games += 1

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        self.asked.append((clock.limits, self.options.level))
        lines = self.options.multi_pv
        for rank, move in enumerate(position.now.moves()[:lines], 1):
            line, multipv = (move_name(move),), rank if lines > 1 else None
            report(Info(depth=3, nodes=7, multipv=multipv, score_cp=100 * move, win_rate=0.5, pv=line))
        return BestMove(move_name(position.now.moves()[0]))


class Waiting(LowestSquare):
    """Answers when it is stopped, and not before."""

    name = "waiting"

    def __init__(self) -> None:
        super().__init__()
        self.thinking = threading.Event()

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        self.thinking.set()
        assert clock.wait(60_000), "nobody stopped it"
        return super().think(position, clock, report)


class Broken(LowestSquare):
    """Fails to think."""

    name = "broken"

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error or RuntimeError("no idea\nat all")

    def think(self, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        raise self.error


@contextmanager
def speaking(serve: Callable[[Iterator[str]], object]) -> Iterator[Callable[[str], None]]:
    """A thread in which lines are served until the block is left: a function that sends one."""
    lines = queue.SimpleQueue[str | None]()
    thread = threading.Thread(target=lambda: serve(iter(lines.get, None)), daemon=True)
    thread.start()
    yield lines.put
    lines.put(None)
    thread.join(60)
    assert not thread.is_alive()


def loaded(player: LowestSquare, level: int = 5) -> LoadedEngine:
    """The player as protocols have it in hand."""
    OthelloPosition().legal_moves()  # its kernel is loaded at the first call
    return LoadedEngine(Engine(player.name, player.options, OthelloPosition, lambda: player), level)
