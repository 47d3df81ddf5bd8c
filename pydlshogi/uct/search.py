"""PUCT over the UctNode table: `gather` hands out leaves, `backup` takes back opinions.

The search never calls a network, never reads a clock and never prints. A player, a self-play loop and a test are
small drivers over it:

    while there is time:
        leaves = search.gather(requests, 32)
        search.backup(leaves, evaluator.evaluate(requests))

A playout walks down from the root along the edges of highest score until it meets a position without a node. Its
visits are counted on the way down and its score is paid on the way up; in between, a visit that has not been paid yet
is the virtual loss that sends the other playouts of the batch elsewhere.
"""

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pydlshogi.compiled import compiled, inlined
from pydlshogi.game import MATED, Outcome, Position
from pydlshogi.uct.uct_node import (
    AWAITED,
    EXPANDED,
    MAX_BATCH,
    NONE,
    TERMINAL,
    Float32Array,
    Float64Array,
    Int32Array,
    Records,
    UctNodeTable,
)

BoolArray = npt.NDArray[np.bool_]

MAX_DEPTH: Final = 256
"""A playout that gets this deep is paid with what the node there is worth."""

_MAX_DESCENTS: Final = 2 * MAX_BATCH + 1  # a batch, and as many collisions until it is cut short

_FOLLOWED: Final = -2  # `child` of an edge that a playout of this batch took first, until `_settle` links it to its end

# How a playout ended.
_DESCENDING: Final = -1
_NEW: Final = 0  # at an edge that leads to no node yet
_REPEATED: Final = 1  # at a position that occurred before on its own path
_COLLIDED: Final = 2  # at a node that awaits its evaluation
_PAID: Final = 3  # at a known value

# What becomes of a playout at the end of `gather`.
_UNDO: Final = 0  # it ended where an evaluation is awaited already: its visits are taken back
_PAY: Final = 1  # its value is known
_WAIT: Final = 2  # its value comes with the evaluation of this batch


class Puct(NamedTuple):
    """The constants of selection: a playout follows the edge of the highest score. The defaults are dlshogi's.

    score = Q + c(N) P sqrt(N) / (1 + n), c(N) = c_init + ln((N + c_base + 1) / c_base)   [AlphaZero 2018]

    N is the visits of the node; under the root sign it counts as 1 while it is 0, so that the priors decide. n, Q and
    P are the visits, the mean value and the prior of the edge. An edge without visits has as its Q `unvisited`, or,
    where that is nan, max(0, mean of the node - fpu_reduction sqrt(sum of the priors of its visited edges))   [Leela
    Chess Zero].
    """

    c_init: float = 1.44
    c_base: float = 28288.0
    fpu_reduction: float = 0.27
    c_init_root: float = 1.16
    c_base_root: float = 25617.0
    fpu_reduction_root: float = 0.0
    unvisited: float = math.nan
    """Q of unvisited edges, 0 to 1. nan: by fpu_reduction."""
    draw_value: float = 0.5
    """What a draw is worth to the side to move at the root."""


DEFAULT_PUCT: Final = Puct()


class Requests:
    """A notebook for the positions of one batch: the search writes it, an evaluator reads it.

    Here are their legal moves only. A subclass, which comes from its evaluator, overrides `clear` and `note` to note
    what else that evaluator wants to know of a position.
    """

    def __init__(self) -> None:
        self.counts: Int32Array = np.zeros(0, np.int32)
        """int32 [positions]: how many legal moves each position has, at least one."""
        self.moves: Int32Array = np.zeros(0, np.int32)
        """int32 [sum of counts]: the legal moves, position after position."""

    def __len__(self) -> int:
        return len(self.counts)

    def clear(self) -> None:
        """Called at the start of a batch."""

    def note(self, position: Position) -> None:
        """Called for each position in turn; it will move on, so what is needed of it must be noted now."""


class Evaluations(NamedTuple):
    """What an evaluator thinks of the positions of one batch, in the order of its requests."""

    priors: Float32Array
    """float32 [sum of counts], in the order of `Requests.moves`; they sum to 1 for each position."""
    values: Float32Array
    """float32 [positions]: win rate of the side to move, 0 to 1."""


_CONSTANTS: Final = np.dtype([(name, np.float64) for name in Puct._fields])
_STEP: Final = np.dtype([("node", np.int32), ("edge", np.int32)])
_PATH: Final = np.dtype([("length", np.int32), ("ending", np.int32)])


class Leaves:
    """A batch of playouts that wait for an evaluation, and the positions they wait for. To be handed to `backup`."""

    def __init__(self) -> None:
        # The paths walked down, one a row.
        self._paths = np.zeros(_MAX_DESCENTS, _PATH)
        self._steps: Records = np.zeros((_MAX_DESCENTS, MAX_DEPTH), _STEP)
        self._path_moves = np.zeros(_MAX_DESCENTS * MAX_DEPTH, np.int32)
        """The moves of all paths, one path after the other."""

        # The positions asked about, in the order of the requests.
        self._nodes: list[int] = []
        """NONE where the table had no room: the playout is paid, the evaluation is not kept."""
        self._keys: list[int] = []
        self._moves: list[Int32Array] = []
        self._counts = np.zeros(0, np.int32)
        """Number of moves of each."""

        # The playouts that wait.
        self._rows: list[int] = []
        """The row of each one's path."""
        self._requests: list[int] = []
        """Which of the positions each one waits for."""

    def __len__(self) -> int:
        """Number of positions asked about."""
        return len(self._nodes)

    def _clear(self) -> None:
        for notes in (self._nodes, self._keys, self._moves, self._rows, self._requests):
            notes.clear()


class MoveStats(NamedTuple):
    """What the search knows of one move."""

    move: int
    visits: int
    value: float
    """Mean value for the side that plays it; nan without visits."""
    prior: float
    plies: int | None
    """Proven: it wins in this many plies (> 0), or loses in this many (< 0). None: not proven."""

    @property
    def rank(self) -> tuple[int, int, float]:
        """The greatest rank is the best move: the shortest proven win, else the most visits, else the longest loss."""
        if self.plies is None:
            return 1, self.visits, self.prior
        return (2 if self.plies > 0 else 0), -self.plies, self.prior


class Search:
    """A root, the graph below it and the playouts under way."""

    def __init__(self, table: UctNodeTable, puct: Puct = DEFAULT_PUCT) -> None:
        self.table = table
        self.puct = puct
        self.playouts = 0
        """Playouts begun since the root was set, without those that were undone."""
        self.deepest = 0
        """Plies from the root to the deepest leaf looked at since the root was set."""
        self._position: Position
        self._root = NONE
        self._root_ply = 0
        self._only: tuple[int, ...] = ()
        """The moves that may be searched at the root; empty: all."""
        self._allowed: BoolArray = np.ones(0, np.bool_)
        """The same, one for each edge of the root."""
        self._spare: list[Leaves] = []
        """Used before and free again: their arrays are large."""
        self._awaited = 0
        """Batches that were gathered and not yet backed up."""

    @property
    def puct(self) -> Puct:
        """The constants of selection. New ones hold from the next batch on."""
        return self._puct

    @puct.setter
    def puct(self, puct: Puct) -> None:
        self._puct = puct
        self._constants = np.array([puct], _CONSTANTS)

    def set_root(self, position: Position, only: Iterable[int] = (), past: Iterable[int] = ()) -> None:
        """Search from `position`. The search plays moves on it and takes them back.

        What the table knows of it and below it is kept, the rest is given back. `only`, if not empty, names the moves
        that may be searched at the root; ValueError if none of them is legal. `past` holds the keys of the positions
        that the game has been through: a move to one of them is a repetition from now on. RuntimeError if leaves have
        been gathered and not yet backed up.
        """
        if self._awaited:
            raise RuntimeError("leaves are still under way")
        only = tuple(only)
        if only and not np.isin(position.legal_moves(), only).any():
            raise ValueError("none of the moves asked for is legal")
        self._position = position
        self._root_ply = position.ply()
        self._only = only
        self.playouts = 0
        self.deepest = 0
        self._root = self.table.find(position.key(), self._root_ply)
        # A TERMINAL node has no edges (a mate in one ended it, say), and a root needs them: it is expanded anew.
        if self._root == NONE or self.table.nodes[self._root]["state"] == TERMINAL:
            self.table.clear()
            self._root = NONE
        else:
            self._root = self.table.keep(self._root)
            repeated = np.isin(self.table.nodes["key"][: len(self.table)], np.fromiter(past, np.int64))
            _forget_repetitions(self.table.nodes, self.table.edges, self._root, repeated)
            self._restrict()

    def advance(self, move: int) -> None:
        """Play `move` at the root: its subtree is kept, the rest is given back."""
        self._position.push(move)
        self.set_root(self._position)

    def gather(self, requests: Requests, playouts: int) -> Leaves:
        """Begin up to `playouts` playouts (at most MAX_BATCH); `requests` gets the positions they wait for.

        Playouts that end at a known value are paid at once. Those that collide, which is to meet a node whose
        evaluation is awaited, are undone, and the batch is cut short when more than `playouts` did. The first batch is
        the root alone, and the batches are empty until that is backed up. Raises ValueError if the root has no legal
        move.
        """
        requests.clear()
        leaves = self._spare.pop() if self._spare else Leaves()
        if self._root == NONE:
            self._ask_root(requests, leaves)
        else:
            rows, paid = _select(
                self.table.nodes,
                self.table.edges,
                self._root,
                self._allowed,
                self._constants,
                leaves._paths,
                leaves._steps,
                leaves._path_moves,
                min(playouts, MAX_BATCH),
            )
            self.playouts += paid + self._look_at(rows, requests, leaves)
        self._awaited += 1
        return leaves

    def backup(self, leaves: Leaves, evaluations: Evaluations) -> None:
        """Expand the nodes of `leaves` and pay the playouts that waited for them. First gathered, first backed up."""
        _expand_and_pay(
            self.table.nodes,
            self.table.edges,
            _int32(leaves._nodes),
            leaves._counts,
            evaluations.priors,
            evaluations.values,
            leaves._paths,
            leaves._steps,
            _int32(leaves._rows),
            _int32(leaves._requests),
        )
        leaves._clear()
        self._spare.append(leaves)
        self._awaited -= 1

    @property
    def expanded(self) -> bool:
        """The root has been evaluated."""
        return self._root != NONE and bool(self.table.nodes[self._root]["state"] == EXPANDED)

    @property
    def root_visits(self) -> int:
        """Visits of all moves at the root, those of earlier searches included."""
        return int(self.table.nodes[self._root]["visits"]) if self._root != NONE else 0

    def lead(self) -> int | None:
        """How many visits the most visited move at the root is ahead of the second.

        Moves proven to lose do not count. None: there is no second.
        """
        visits = np.sort(self._not_lost()["visits"])
        return int(visits[-1] - visits[-2]) if len(visits) > 1 else None

    def leader(self) -> int | None:
        """The most visited move at the root that is not proven to lose; None where none has visits."""
        edges = self._not_lost()
        if not edges["visits"].any():
            return None
        return int(edges["move"][edges["visits"].argmax()])

    @property
    def root_value(self) -> float:
        """Mean value of the root for its side to move: its own evaluation and all playouts paid. nan before any."""
        return self._mean(self._root) if self._root != NONE else math.nan

    @property
    def root_plies(self) -> int | None:
        """The root's side to move is proven to win in this many plies (> 0), or to lose (<= 0); None: not proven.

        By the moves that may be searched: what the others prove is another question's answer.
        """
        if self._only and self.expanded:
            return self.root_moves()[0].plies
        proof = int(self.table.nodes[self._root]["proof"]) if self._root != NONE else 0
        return (proof - 1 if proof > 0 else proof + 1) if proof else None

    def root_moves(self) -> list[MoveStats]:
        """The moves searched at the root, the best first; empty before the root is evaluated."""
        return self._ranked(self._root) if self.expanded else []

    def line(self, move: int) -> list[int]:
        """The line the search expects after `move` at the root, `move` itself first."""
        line = [move]
        node = self._child(self._root, move)
        while node != NONE and self.table.nodes[node]["visits"] and len(line) < MAX_DEPTH:
            best = self._ranked(node)[0].move
            line.append(best)
            node = self._child(node, best)
        return line

    def prove(self, moves: Iterable[int], plies: int) -> None:
        """Note what a mate solver found: after `moves` from the root, the side to move there wins within `plies`.

        Where a position on the way has no node, nothing is noted.
        """
        path = [self._root]
        for move in moves:
            child = self._child(path[-1], move)
            if child < 0:
                return
            path.append(child)
        _prove_path(self.table.nodes, self.table.edges, _int32(path), plies + 1)

    def _mean(self, node: int) -> float:
        return float(_mean_of(self.table.nodes, node))

    def _child(self, node: int, move: int) -> int:
        edges = self._edges_of(node)
        return int(edges["child"][edges["move"] == move][0])

    def _not_lost(self) -> Records:
        """Edges of the root that may be searched and are not proven to lose."""
        edges = self._edges_of(self._root)[self._allowed]
        children = edges["child"]
        lost = (children >= 0) & (self.table.nodes["proof"][children] > 0)
        return np.compress(~lost, edges)

    def _edges_of(self, node: int) -> Records:
        first = int(self.table.nodes[node]["first"])
        return self.table.edges[first : first + int(self.table.nodes[node]["count"])]

    def _ranked(self, node: int) -> list[MoveStats]:
        """The moves of `node`, the best first; at the root only those that may be searched."""
        edges = self._edges_of(node)
        children = edges["child"]
        proofs = np.where(children == NONE, 0, self.table.nodes["proof"][children]).tolist()
        # A child's proof n + 1 (its side to move wins in n plies) makes the move a loss in n + 1; likewise for wins.
        columns = (edges[name].tolist() for name in ("move", "visits", "value_sum", "prior"))
        stats = [
            MoveStats(move, visited, total / visited if visited else math.nan, prior, -proof or None)
            for move, visited, total, prior, proof in zip(*columns, proofs, strict=True)
            if not self._only or node != self._root or move in self._only
        ]
        return sorted(stats, key=lambda stat: stat.rank, reverse=True)

    def _restrict(self) -> None:
        """Set `_allowed`, now that the root has edges."""
        moves = self._edges_of(self._root)["move"]
        self._allowed = np.isin(moves, self._only) if self._only else np.ones(len(moves), np.bool_)

    def _ask_root(self, requests: Requests, leaves: Leaves) -> None:
        """Make the root a node and ask for its evaluation."""
        moves = self._position.legal_moves()
        if not len(moves):
            raise ValueError("the root has no legal move")
        key = self._position.key()
        self._root, _ = self.table.find_or_insert(key, self._root_ply)
        requests.note(self._position)
        leaves._nodes.append(self._root)
        leaves._keys.append(key)
        leaves._moves.append(moves)
        self._reserve(leaves, requests)
        self._restrict()

    def _reserve(self, leaves: Leaves, requests: Requests) -> None:
        """Complete `requests` with the moves of the positions in `leaves`, and give the new nodes their edges."""
        leaves._counts = requests.counts = _int32([len(moves) for moves in leaves._moves])
        requests.moves = np.concatenate(leaves._moves) if len(leaves) else _int32([])
        self.table.reserve(_int32(leaves._nodes), np.array(leaves._keys, np.int64), requests.counts, requests.moves)

    def _worth(self, outcome: Outcome, depth: int) -> float:
        """The value of a verdict `depth` plies below the root, with a draw worth what the root's side says."""
        if outcome.value != 0.5:
            return outcome.value
        return self.puct.draw_value if depth % 2 == 0 else 1.0 - self.puct.draw_value

    def _look_at(self, rows: int, requests: Requests, leaves: Leaves) -> int:
        """Walk the first `rows` paths of `leaves` on the board, and settle what their ends tell.

        At each end the rules are asked first. Where they have no verdict, the position becomes a node and is asked
        about in `requests`, unless it is one already. Returns the number of playouts that were not undone.
        """
        push, pop, outcome, key_of = self._position.push, self._position.pop, self._position.outcome, self._position.key
        find_or_insert = self.table.find_or_insert
        lengths: list[int] = leaves._paths["length"][:rows].tolist()
        endings: list[int] = leaves._paths["ending"][:rows].tolist()
        self.deepest = max(self.deepest, *lengths, 0)
        moves_of_paths: list[int] = leaves._path_moves[: sum(lengths)].tolist()
        ends = [NONE] * rows
        fates = [_UNDO] * rows
        values = [0.0] * rows
        request_of: dict[int, int] = {}
        stop = 0
        for row, length in enumerate(lengths):
            start, stop = stop, stop + length
            if endings[row] == _COLLIDED:
                continue
            path = moves_of_paths[start:stop]
            for move in path:
                push(move)
            verdict = outcome()
            node, new, key = NONE, False, 0
            # A verdict that follows from the path must not be kept in a node, which other paths reach too.
            if verdict is None or not verdict.by_path:
                key = key_of()
                node, new = find_or_insert(key, self._root_ply + length)
            if verdict is None and (new or node == NONE):
                moves = self._position.legal_moves()
                if len(moves):
                    request_of[node] = len(leaves)
                    leaves._nodes.append(node)
                    leaves._keys.append(key)
                    leaves._moves.append(moves)
                    requests.note(self._position)
                else:
                    verdict = MATED
            if verdict is not None:
                fates[row] = _PAY
                values[row] = self._worth(verdict, length)
                if new:
                    self.table.close(node, key, verdict.value, _proof(verdict))
            elif node in request_of:
                fates[row] = _WAIT
                leaves._rows.append(row)
                leaves._requests.append(request_of[node])
            elif self.table.nodes[node]["state"] == EXPANDED:
                # A known position, reached by another order of moves.
                fates[row] = _PAY
                values[row] = self._mean(node)
            ends[row] = node
            for _ in path:
                pop()
        self._reserve(leaves, requests)
        _settle(
            self.table.nodes,
            self.table.edges,
            leaves._paths,
            leaves._steps,
            _int32(ends),
            np.array(fates, np.int8),
            np.array(values),
        )
        return rows - fates.count(_UNDO)


def _int32(numbers: list[int]) -> Int32Array:
    return np.array(numbers, np.int32)


def _proof(verdict: Outcome) -> int:
    """A verdict as the field `proof` of a node: n + 1 for a win within n plies, -(n + 1) for a loss, 0 for a draw."""
    if verdict.value == 0.5:
        return 0
    return verdict.plies + 1 if verdict.value > 0.5 else -verdict.plies - 1


@inlined
def _mean(nodes: Records, node: int) -> float:
    """Mean of the node's own value and all that was paid below it; 1 or 0 where a win or a loss is proven."""
    if nodes[node].proof != 0:
        return 1.0 if nodes[node].proof > 0 else 0.0
    return float(nodes[node].value_sum / (1 + nodes[node].visits - nodes[node].unpaid))


@compiled
def _mean_of(nodes: Records, node: int) -> float:
    return _mean(nodes, node)


@inlined
def _best_edge(nodes: Records, edges: Records, node: int, at_root: bool, allowed: BoolArray, puct: Records) -> int:
    """The edge that the next playout follows: a proven win, else the highest score among those not proven lost."""
    constants = puct[0]
    c_init, c_base, reduction = constants.c_init, constants.c_base, constants.fpu_reduction
    if at_root:
        c_init, c_base, reduction = constants.c_init_root, constants.c_base_root, constants.fpu_reduction_root
    visits = nodes[node].visits
    exploration = (c_init + math.log((visits + c_base + 1) / c_base)) * math.sqrt(max(visits, 1))
    unvisited = constants.unvisited
    if math.isnan(unvisited):
        # Taking collisions back can leave `seen` a rounding error below zero.
        unvisited = max(0.0, _mean(nodes, node) - reduction * math.sqrt(max(0.0, nodes[node].seen)))
    first = nodes[node].first
    best = NONE
    best_score = -math.inf
    for edge in range(first, first + nodes[node].count):
        if at_root and not allowed[edge - first]:
            continue
        visited = edges[edge].visits
        score = unvisited
        if visited > 0:
            child = edges[edge].child
            score = edges[edge].value_sum / visited
            if child >= 0 and nodes[child].proof != 0:
                if nodes[child].proof < 0:
                    return int(edge)
                # Lost: below every other score, and without exploration, so that it is taken only if all are lost.
                score = -0.5
                visited = 2**30
        score += exploration * edges[edge].prior / (1 + visited)
        if score > best_score or best == NONE:
            best_score = score
            best = edge
    return int(best)


@compiled
def _select(
    nodes: Records,
    edges: Records,
    root: int,
    allowed: BoolArray,
    puct: Records,
    paths: Records,
    steps: Records,
    path_moves: Int32Array,
    playouts: int,
) -> tuple[int, int]:
    """Walk down `playouts` times, counting visits.

    Paths that end at a known value are paid at once. The others fill `paths`, `steps` and `path_moves` of Leaves.
    Returns how many rows they take, and how many playouts were paid.
    """
    rows = 0
    paid = 0
    collisions = 0
    moves = 0
    if nodes[root].state == AWAITED:
        playouts = 0
    while rows - collisions + paid < playouts and collisions <= playouts:
        node = root
        depth = 0
        ending = _DESCENDING
        value = 0.0
        while ending == _DESCENDING:
            edge = _best_edge(nodes, edges, node, node == root, allowed, puct)
            if edges[edge].visits == 0:
                nodes[node].seen += edges[edge].prior
            edges[edge].visits += 1
            nodes[node].visits += 1
            nodes[node].unpaid += 1
            steps[rows, depth].node = node
            steps[rows, depth].edge = edge
            path_moves[moves + depth] = edges[edge].move
            depth += 1
            node = edges[edge].child
            if node == NONE:
                edges[edge].child = _FOLLOWED
                ending = _NEW
            elif node == _FOLLOWED or nodes[node].state == AWAITED:
                ending = _COLLIDED
            elif nodes[node].state == TERMINAL:
                value = nodes[node].value
                if value == 0.5:
                    value = puct[0].draw_value if depth % 2 == 0 else 1.0 - puct[0].draw_value
                ending = _PAID
            elif nodes[node].proof != 0 or depth == MAX_DEPTH:
                value = _mean(nodes, node)
                ending = _PAID
            else:
                # The same key earlier on this path is a repetition. Only those are found here. The same board with
                # more or less in hand (a superior or inferior repetition) has another key; the board finds it when a
                # path first ends here, and it is missed only where an earlier path without it has linked this edge
                # to a node. To find those too, every node would need a second key, and the edge would still mix the
                # scores of both kinds of path.
                for earlier in range(depth - 2, -1, -2):
                    if nodes[steps[rows, earlier].node].key == nodes[node].key:
                        ending = _REPEATED
                        break
        if ending == _PAID:
            _pay(nodes, edges, steps[rows], depth, node, value)
            paid += 1
            continue
        paths[rows].length = depth
        paths[rows].ending = ending
        moves += depth
        rows += 1
        if ending == _COLLIDED:
            collisions += 1
    return rows, paid


@compiled
def _settle(
    nodes: Records,
    edges: Records,
    paths: Records,
    steps: Records,
    ends: Int32Array,
    fates: npt.NDArray[np.int8],
    values: Float64Array,
) -> None:
    """Link each path to its end; pay the paths whose value is known and take back those that collided."""
    for row in range(len(ends)):
        depth = paths[row].length
        if paths[row].ending == _NEW:
            edges[steps[row, depth - 1].edge].child = ends[row]
        if fates[row] == _PAY:
            _pay(nodes, edges, steps[row], depth, ends[row], values[row])
        elif fates[row] == _UNDO:
            for level in range(depth):
                edge = steps[row, level].edge
                node = steps[row, level].node
                edges[edge].visits -= 1
                nodes[node].visits -= 1
                nodes[node].unpaid -= 1
                if edges[edge].visits == 0:
                    nodes[node].seen -= edges[edge].prior


@inlined
def _pay(nodes: Records, edges: Records, steps: Records, depth: int, end: int, value: float) -> None:
    """Pay a playout of `depth` edges that ended at node `end` (or NONE) with `value` for the side to move there.

    The value changes sides with every edge on the way up. A proof at the end goes up as far as it proves something,
    and from there on a win or a loss is paid in place of the value.
    """
    child = end
    for level in range(depth - 1, -1, -1):
        node = steps[level].node
        edge = steps[level].edge
        value = 1.0 - value
        edges[edge].value_sum += value
        nodes[node].value_sum += value
        nodes[node].unpaid -= 1
        if child != NONE and nodes[child].proof != 0 and _prove(nodes, edges, node, nodes[child].proof):
            value = 1.0 if nodes[node].proof > 0 else 0.0
        child = node


@inlined
def _prove(nodes: Records, edges: Records, node: int, child_proof: int) -> bool:
    """Let the proof of a child prove `node`, and return whether it does.

    A node is won as soon as one child is lost, and lost when all its children are won. One ply more to the end is one
    more in the coding of `proof`.
    """
    if child_proof < 0:
        proof = 1 - child_proof
        if nodes[node].proof <= 0 or proof < nodes[node].proof:
            nodes[node].proof = proof
        return True
    longest = 0
    for edge in range(nodes[node].first, nodes[node].first + nodes[node].count):
        child = edges[edge].child
        if child < 0 or nodes[child].proof <= 0:
            return False
        longest = max(longest, nodes[child].proof)
    nodes[node].proof = -longest - 1
    return True


@compiled
def _prove_path(nodes: Records, edges: Records, path: Int32Array, proof: int) -> None:
    """Give the last node of `path` the `proof` of a win, unless it has a shorter one, and let it prove those before."""
    last = path[len(path) - 1]
    if nodes[last].proof <= 0 or proof < nodes[last].proof:
        nodes[last].proof = proof
    for level in range(len(path) - 2, -1, -1):
        if not _prove(nodes, edges, path[level], nodes[path[level + 1]].proof):
            break


@compiled
def _expand_and_pay(
    nodes: Records,
    edges: Records,
    new_nodes: Int32Array,
    counts: Int32Array,
    priors: Float32Array,
    values: Float32Array,
    paths: Records,
    steps: Records,
    rows: Int32Array,
    requests: Int32Array,
) -> None:
    """Give the new nodes their priors and values, then pay the playouts that waited for them."""
    taken = 0
    for i in range(len(new_nodes)):
        node = new_nodes[i]
        if node != NONE:
            first = nodes[node].first
            for offset in range(counts[i]):
                edges[first + offset].prior = priors[taken + offset]
            nodes[node].state = EXPANDED
            nodes[node].value = values[i]
            nodes[node].value_sum = values[i]
        taken += counts[i]
    for i in range(len(rows)):
        row = rows[i]
        # NONE as the end: a node that was just expanded proves nothing.
        _pay(nodes, edges, steps[row], paths[row].length, NONE, values[requests[i]])


@compiled
def _forget_repetitions(nodes: Records, edges: Records, root: int, repeated: BoolArray) -> None:
    """Make edges unvisited again whose playouts were paid when the game had another past.

    At the root these are the edges that lead to no node: a repetition, which the position may no longer be from the new
    root, or a position the full table had no room for, which it may have now. Anywhere they are the edges to a node
    that is `repeated`, bool [nodes]: the game has been there since, so moving there is a repetition now. Edges to a
    proven node stay: a mate is a mate whatever was played before, and the proofs above rest on it.
    """
    for edge in range(nodes[root].first, nodes[root].first + nodes[root].count):
        if edges[edge].child == NONE:
            _unvisit(nodes, edges, root, edge)
    if not repeated.any():
        return
    for node in range(len(repeated)):
        for edge in range(nodes[node].first, nodes[node].first + nodes[node].count):
            child = edges[edge].child
            if child != NONE and repeated[child] and nodes[child].proof == 0:
                _unvisit(nodes, edges, node, edge)
                edges[edge].child = NONE


@inlined
def _unvisit(nodes: Records, edges: Records, node: int, edge: int) -> None:
    """Take back all visits of an edge of `node`, and what they were paid."""
    if edges[edge].visits > 0:
        nodes[node].visits -= edges[edge].visits
        nodes[node].value_sum -= edges[edge].value_sum
        nodes[node].seen -= edges[edge].prior
        edges[edge].visits = 0
        edges[edge].value_sum = 0.0
