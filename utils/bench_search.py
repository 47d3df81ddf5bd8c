"""How fast the search is, against that of the python-dlshogi book: `python -m utils.bench_search`.

The book's search makes one playout after the other on python-shogi's board, asks the network about one position at a
time and keeps a node as an object with a few numpy arrays. Here both ask the same evaluator in one thread, and it is
shown positions by the same encoding, so that what differs is the search. Ours does more at each new position: it sees
repetitions, declarations and short mates.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import shogi

from pydlshogi.bench import END_GAME, NullEvaluator, new_search, speeds_in_turns
from pydlshogi.engines.shogi.options import MCTSPlayerOptions
from pydlshogi.engines.shogi.players import ShogiMCTSPlayer
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.rules import RULES
from pydlshogi.network.choices import BACKENDS
from pydlshogi.player.base_player import PlayerError
from pydlshogi.support.arrays import Float32Array
from pydlshogi.support.command_line import exit_status
from pydlshogi.uct.batch import Batch, Evaluator
from pydlshogi.uct.pipeline import Pipeline


@dataclass(slots=True)
class Node:
    """A position as the book keeps it."""

    moves: list[shogi.Move]
    priors: Float32Array
    value: float
    visits: npt.NDArray[np.int32]
    wins: Float32Array
    children: list["Node | None"]


class BookSearch:
    """PUCT as in the book: C_PUCT 1, a move without visits counts as even, equal positions share a node."""

    def __init__(self, sfen: str, evaluator: Evaluator) -> None:
        self._sfen = sfen
        self.board = shogi.Board(sfen)
        self._evaluator = evaluator
        self._batch = Batch(1, RULES.most_moves, evaluator.encoding)
        self._nodes: dict[tuple[int, int], Node] = {}
        self.root = self._node()

    def playout(self) -> None:
        """Walk down to a position without a node, make it one, and walk back."""
        path: list[tuple[Node, int]] = []
        node = self.root
        while node.moves:
            best = self._select(node)
            path.append((node, best))
            self.board.push(node.moves[best])
            child = node.children[best]
            if child is None:
                node.children[best] = node = self._node()
                break
            node = child
        value = node.value
        for node, chosen in reversed(path):
            value = 1.0 - value
            node.visits[chosen] += 1
            node.wins[chosen] += value
            self.board.pop()

    @staticmethod
    def _select(node: Node) -> int:
        q = np.divide(node.wins, node.visits, out=np.full(len(node.moves), 0.5, np.float32), where=node.visits != 0)
        u = np.sqrt(np.float32(node.visits.sum())) / (1 + node.visits)
        return int(np.argmax(q + node.priors * u))

    def _node(self) -> Node:
        board = self.board
        key = (board.zobrist_hash(), board.move_number)
        if key not in self._nodes:
            moves = list(board.legal_moves)
            priors, value = self._evaluate(moves) if moves else (np.zeros(0, np.float32), 0.0)
            visits, wins = np.zeros(len(moves), np.int32), np.zeros(len(moves), np.float32)
            self._nodes[key] = Node(moves, priors, value, visits, wins, [None] * len(moves))
        return self._nodes[key]

    def _evaluate(self, moves: list[shogi.Move]) -> tuple[Float32Array, float]:
        position = ShogiPosition(self._sfen)
        for move in self.board.move_stack:
            position.push_usi(move.usi())
        legal = position.legal_moves()
        self._batch.clear()
        self._batch.add(position, legal)
        priors, values, _ = self._evaluator.evaluate(self._batch)
        by_name = dict(zip(map(position.usi, legal.tolist()), priors.tolist(), strict=True))
        return np.array([by_name[move.usi()] for move in moves], np.float32), float(values[0])


def by_the_book(sfen: str, evaluator: Evaluator) -> Callable[[], int]:
    """A function that makes a playout of the book's search and says how many it made: one."""
    search = BookSearch(sfen, evaluator)

    def work() -> int:
        search.playout()
        return 1

    return work


def by_ours(sfen: str, evaluator: Evaluator, batch: int) -> Callable[[], int]:
    """A function that makes a batch of playouts of ours and says how many they were."""
    search = new_search(sfen, evaluator.encoding, 512)
    pipeline = Pipeline(search, evaluator, batch)

    def work() -> int:
        if search.table.full:
            search.clear()
            search.set_root(ShogiPosition(sfen))
        before = search.playouts
        pipeline.step(lambda _: batch)
        return search.playouts - before

    return work


def report(player: ShogiMCTSPlayer, seconds: float, sfen: str = END_GAME) -> Iterator[str]:
    """The lines of the whole bench. Raises PlayerError where the network of `player` cannot be loaded."""
    player.prepare()
    evaluator, batch = player.evaluator, player.batch_size
    null = NullEvaluator()
    alone = {
        "the book's": by_the_book(sfen, null),
        "ours, batches of 1": by_ours(sfen, null, 1),
        "ours, batches of 32": by_ours(sfen, null, 32),
    }
    with_network = {
        "the book's": by_the_book(sfen, evaluator),
        "ours, batches of 1": by_ours(sfen, evaluator, 1),
        f"ours, batches of {batch}": by_ours(sfen, evaluator, batch),
    }
    for title, ways in (
        ("the search alone, under a network that costs nothing", alone),
        (player.description, with_network),
    ):
        yield title
        speeds = speeds_in_turns(ways, seconds)
        slow = next(iter(speeds.values()))
        for name, speed in speeds.items():
            yield f"  {name:20} {speed:8,.0f} playouts/s {speed / slow:7.1f} x"


def main(arguments: list[str] | None = None) -> int:
    """Print playouts per second of the book's search and of ours, and the ratio."""
    parser = argparse.ArgumentParser(prog="python -m utils.bench_search", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--modelfile", default="", help="the network (default: the one that the engine takes)")
    parser.add_argument("--backend", default="auto", choices=BACKENDS, help="what runs it (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each of six ways (default: %(default)s)")
    given = parser.parse_args(arguments)
    if not 0 < given.seconds < math.inf:
        parser.error("--seconds is above 0")
    options = MCTSPlayerOptions()
    for name, value in (("modelfile", given.modelfile), ("Backend", given.backend)):
        if complaint := options.set(name, value):
            parser.error(complaint)

    def show() -> None:
        for line in report(ShogiMCTSPlayer(options), given.seconds):
            print(line, flush=True)

    return exit_status("bench_search", show, PlayerError)


if __name__ == "__main__":
    sys.exit(main())
