"""How fast the search is, against that of the python-dlshogi book: `python -m utils.bench_search`.

The book's search makes one playout after the other on python-shogi's board, sets its planes square by square, asks the
network about one position at a time and keeps a node as an object with a few numpy arrays. Here both ask the same
network through the same backend, so that what differs is the search. Ours does more at each new position: it sees
repetitions, declarations and mates in one.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import shogi

from pydlshogi.bench import END_GAME, NullBackend, speeds_in_turns
from pydlshogi.command_line import exit_status
from pydlshogi.common import MAX_PIECES_IN_HAND, NUM_PLANES
from pydlshogi.evaluator import NetworkEvaluator
from pydlshogi.features import Float32Array
from pydlshogi.games.shogi import ShogiPosition
from pydlshogi.network.backend import BACKENDS
from pydlshogi.player.base_player import PlayerError
from pydlshogi.player.mcts_player import MCTSOptions, MCTSPlayer
from pydlshogi.player.pipeline import Pipeline
from pydlshogi.uct.search import Search
from pydlshogi.uct.uct_node import UctNodeTable
from utils.bench_read_kifu import label_of, turned


def planes_by_python_shogi(board: shogi.Board) -> Float32Array:
    """The planes of `board`, float32 [104, 9, 9], by the arithmetic of the book."""
    planes = []
    sides = (board.turn, board.turn ^ 1)
    for side in sides:
        for pieces in board.piece_bb[1:]:
            bitboard = pieces & board.occupied[side]
            if board.turn == shogi.WHITE:
                bitboard = turned(bitboard)
            plane = np.zeros(81, np.float32)
            for square in shogi.SQUARES:
                if bitboard & shogi.BB_SQUARES[square] > 0:
                    plane[square] = 1
            planes.append(plane)
        for kind, most in enumerate(MAX_PIECES_IN_HAND, 1):
            held = board.pieces_in_hand[side].get(kind, 0)
            planes += [np.full(81, float(number < held), np.float32) for number in range(most)]
    return np.array(planes).reshape(NUM_PLANES, 9, 9)


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

    def __init__(self, sfen: str, backend: Any) -> None:
        self._board = shogi.Board(sfen)
        self._backend = backend
        self._nodes: dict[tuple[int, int], Node] = {}
        self.root = self._node()

    def playout(self) -> None:
        """Walk down to a position without a node, make it one, and walk back."""
        path: list[tuple[Node, int]] = []
        node = self.root
        while node.moves:
            best = self._select(node)
            path.append((node, best))
            self._board.push(node.moves[best])
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
            self._board.pop()

    @staticmethod
    def _select(node: Node) -> int:
        q = np.divide(node.wins, node.visits, out=np.full(len(node.moves), 0.5, np.float32), where=node.visits != 0)
        u = np.sqrt(np.float32(node.visits.sum())) / (1 + node.visits)
        return int(np.argmax(q + node.priors * u))

    def _node(self) -> Node:
        board = self._board
        key = (board.zobrist_hash(), board.move_number)
        if key not in self._nodes:
            moves = list(board.legal_moves)
            priors, value = self._opinion(moves) if moves else (np.zeros(0, np.float32), 0.0)
            visits, wins = np.zeros(len(moves), np.int32), np.zeros(len(moves), np.float32)
            self._nodes[key] = Node(moves, priors, value, visits, wins, [None] * len(moves))
        return self._nodes[key]

    def _opinion(self, moves: list[shogi.Move]) -> tuple[Float32Array, float]:
        policy, value = self._backend.infer(planes_by_python_shogi(self._board)[None])
        logits = policy[0][[label_of(move, self._board.turn) for move in moves]]
        priors = np.exp(logits - logits.max())
        return priors / priors.sum(), 1.0 / (1.0 + math.exp(-float(value[0])))


def by_the_book(sfen: str, backend: Any) -> Callable[[], int]:
    """A function that makes a playout of the book's search and says how many it made: one."""
    search = BookSearch(sfen, backend)

    def work() -> int:
        search.playout()
        return 1

    return work


def by_ours(sfen: str, backend: Any, batch: int) -> Callable[[], int]:
    """A function that makes a batch of playouts of ours and says how many they were."""
    search = Search(UctNodeTable(512))
    position = ShogiPosition(sfen)
    pipeline = Pipeline(NetworkEvaluator(backend), batch)
    search.set_root(position)

    def work() -> int:
        if search.table.full:
            search.table.clear()
            search.set_root(position)
        before = search.playouts
        pipeline.step(search, batch)
        return search.playouts - before

    return work


def report(player: MCTSPlayer, seconds: float, sfen: str = END_GAME) -> Iterator[str]:
    """The lines of the whole bench. Raises PlayerError where the network of `player` cannot be loaded."""
    player.prepare()
    backend, batch = player.evaluator.backend, player.batch_size
    null = NullBackend()
    alone = {
        "the book's": by_the_book(sfen, null),
        "ours, batches of 1": by_ours(sfen, null, 1),
        "ours, batches of 32": by_ours(sfen, null, 32),
    }
    with_network = {
        "the book's": by_the_book(sfen, backend),
        "ours, batches of 1": by_ours(sfen, backend, 1),
        f"ours, batches of {batch}": by_ours(sfen, backend, batch),
    }
    for title, ways in (
        ("the search alone, under a network that costs nothing", alone),
        (backend.description, with_network),
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
    options = MCTSOptions()
    for name, value in (("modelfile", given.modelfile), ("Backend", given.backend)):
        if complaint := options.set(name, value):
            parser.error(complaint)

    def show() -> None:
        for line in report(MCTSPlayer(options), given.seconds):
            print(line, flush=True)

    return exit_status("bench_search", show, PlayerError)


if __name__ == "__main__":
    sys.exit(main())
