"""Alpha-beta over the patterns: principal variation search with a transposition table and Multi-ProbCut.

A position of depth 0 is evaluated, one of depth 1 is worth its best move's evaluation, and deeper ones are searched:
their first move with the whole window, the others with an empty one, and again if that was wrong. Before that, shallow
searches may show that the deep one would leave the window (Multi-ProbCut, Buro 1997). A pass is a ply, unless it were
the last.

A kernel may not call itself, so the path from the root is an array of frames, one a ply; a shallow search of a position
is a frame above it. That is why a search can be left after any number of evaluations and taken up again there.
"""

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.games.othello.engine.bounds import bucket
from pydlshogi.games.othello.engine.endgame import insert
from pydlshogi.games.othello.engine.patterns import (
    DISC,
    STAGES,
    WORDS,
    Judged,
    advance_numbers,
    evaluate,
    judged_by,
    pass_numbers,
    stage_of,
    write_numbers,
)
from pydlshogi.games.othello.rules import MOST_MOVES, PASS, Position, final_score, flips, mobility
from pydlshogi.games.othello.squares import ONE, ZERO, count, lowest
from pydlshogi.support.arrays import Int16Array, Records
from pydlshogi.support.kernels.compiled import compiled, inlined

DEEPEST: Final = 60
"""Plies of the deepest search."""

CUT: Final = np.dtype(
    [
        ("shallow", np.int32),  # depth of the shallow search; -1: there is none
        ("slope", np.float64),  # the deep search is expected to give slope x shallow value + offset,
        ("offset", np.float64),
        ("margin", np.float64),  # and is taken not to miss that by more than this
    ]
)
"""What a shallow search says of a deep one."""

_FRAME: Final = np.dtype(
    [
        ("mover", np.uint64),
        ("opponent", np.uint64),
        ("turned", np.uint64, MOST_MOVES),  # by each of its moves
        ("cost", np.int32, MOST_MOVES),  # of each move: what the position after it is worth to the opponent
        ("moves", np.uint8, MOST_MOVES),  # the most promising first
        ("count", np.int32),  # how many they are
        ("next", np.int32),  # which one is to be tried next
        ("again", np.bool_),  # it was tried with an empty window, and now is with the whole one
        ("probe", np.int32),  # which of its shallow searches is to be tried next
        ("probes", np.int32),  # two for each pair: first whether it is above beta, then whether below alpha
        ("done", np.bool_),  # `best` is its value
        ("depth", np.int32),
        ("floor", np.int32),  # the window's lower end
        ("alpha", np.int32),  # the same, raised by the moves tried
        ("beta", np.int32),
        ("best", np.int32),
        ("move", np.int32),  # that has the best value
    ],
    align=True,
)
"""A position on the path from the root: first its shallow searches are tried, then its moves are written, then tried;
at any of these steps it may be done."""
_ENTRY: Final = np.dtype(
    [
        ("mover", np.uint64),
        ("opponent", np.uint64),
        ("lower", np.int32),
        ("upper", np.int32),
        ("depth", np.int8),
        ("move", np.uint8),
        ("search", np.uint8),  # the number of the search that wrote it
    ],
    align=True,
)

INFINITE: Final = 10**6
"""Above every value."""
_OPEN: Final = 10**7
"""In place of a value: the moves have to be searched."""
_SLICE: Final = 20_000
"""Evaluations after which it asks again whether to stop: a few milliseconds."""
_NO_SQUARE: Final = np.uint64(PASS)


class Probing(NamedTuple):
    """How shallow searches cut (Multi-ProbCut)."""

    cuts: Records = np.zeros((STAGES, 1, 0), CUT)
    """[STAGES, depth + 1, pairs] of CUT, tried in turn."""
    everywhere: bool = True
    """In a window that is not empty too, that is on the principal variation."""


class _Tree(NamedTuple):
    """What a search works on."""

    frames: Records
    path: Judged
    table: Records
    cuts: Records
    everywhere: bool
    search: int
    """The number of the search, of one byte."""


class Found(NamedTuple):
    """What a search found."""

    value: int
    """For the side to move, in thousandths of a disc."""
    move: int
    depth: int
    evaluations: int


def depths_to(depth: int) -> range:
    """The depths of the searches that lead up to one of `depth`, the last of them.

    All are of one parity: the side that makes the last move seems better than it is.
    """
    return range(2 - depth % 2, depth + 1, 2)


class AlphaBeta:
    """A search and its transposition table."""

    def __init__(self, weights: Int16Array, probing: Probing | None = None, megabytes: int = 32) -> None:
        """`weights`: of the patterns, int16 [STAGES, NUMBERS]. Without `probing` the search is plain."""
        table: Records = np.zeros(1 << (megabytes * 2**20 // _ENTRY.itemsize).bit_length() - 1, _ENTRY)
        rows = 4 * DEEPEST  # a shallow search of a position is a frame of its own, and so is a pass
        frames: Records = np.zeros(rows, _FRAME)
        self._tree = _Tree(frames, judged_by(weights, rows), table, *(probing or Probing()), search=0)

    def clear(self) -> None:
        """Forget everything."""
        # Entry by entry it takes forty times as long.
        self._tree.table.view(np.uint8).fill(0)

    def search(
        self,
        position: Position,
        depth: int,
        alpha: int = -INFINITE,
        beta: int = INFINITE,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Found | None:
        """Search `position`, in which there is a move, `depth` plies deep, at least one. None once `stopped` says so.

        Outside of the window `alpha`..`beta` the value is a bound only.
        """
        _begin(self._tree, np.uint64(position.mover), np.uint64(position.opponent), depth, alpha, beta)
        self._tree = self._tree._replace(search=(self._tree.search + 1) % 256)
        ply = spent = 0
        while ply >= 0:
            if stopped():
                return None
            ply, value, evaluations = _search(self._tree, ply, _SLICE)
            spent += evaluations
        return Found(value, int(self._tree.frames[0]["move"]), depth, spent)

    @property
    def leader(self) -> int | None:
        """The best move of the search that was stopped, if it has found one that lies in its window."""
        root = self._tree.frames[0]
        return int(root["move"]) if root["best"] > root["floor"] else None

    def line(self, position: Position) -> list[int]:
        """How the table expects the game to go on from `position`."""
        moves: list[int] = []
        while len(moves) < DEEPEST:
            place = _find(self._tree.table, np.uint64(position.mover), np.uint64(position.opponent))
            move = int(self._tree.table[place]["move"]) if place >= 0 else PASS
            if move not in position.moves():
                break
            moves.append(move)
            position = position.play(move)
        return moves


@compiled
def _begin(tree: _Tree, mover: np.uint64, opponent: np.uint64, depth: int, alpha: int, beta: int) -> None:
    """Make the first frame the root of a search."""
    frame = tree.frames[0]
    frame.mover, frame.opponent, frame.depth = mover, opponent, depth
    frame.alpha, frame.beta = alpha, beta
    write_numbers(mover, opponent, tree.path.words)
    place = _find(tree.table, mover, opponent)
    frame.move = tree.table[place].move if place >= 0 else PASS
    _clear(frame)


@inlined
def _clear(frame: Any) -> None:
    """Nothing has been tried in this frame yet."""
    frame.floor, frame.best = frame.alpha, -INFINITE
    frame.count = frame.probe = frame.probes = 0
    frame.done = False


@compiled
def _search(tree: _Tree, ply: int, evaluations: int) -> tuple[int, int, int]:
    """Go on from `frames[ply]` for about `evaluations`.

    Returns the ply to go on from, or -1 and the value of the root; and the evaluations made.
    """
    frames, spent = tree.frames, 0
    while spent < evaluations:
        frame = frames[ply]
        if not frame.done and frame.probe == frame.probes and frame.count == 0:
            spent += _write_moves(frame, tree.path, ply)
            continue
        if not frame.done:
            if frame.probe < frame.probes:
                _probe(tree, ply)
            else:
                _play(tree, ply)
            value, cost = _open(tree, ply + 1)
            spent += cost
            if value == _OPEN:
                ply += 1
                continue
        else:
            value = int(frame.best)
            _remember(frame, tree.table, tree.search)
            ply -= 1
            if ply < 0:
                return ply, value, spent
        if frames[ply].probe < frames[ply].probes:
            _take_probe(frames[ply], tree.cuts, value)
        else:
            _take_move(frames[ply], -value)
    return ply, _OPEN, spent


@inlined
def _probe(tree: _Tree, ply: int) -> None:
    """Make the next frame a shallow search of the same position, with an empty window where it would cut."""
    frame, child, words = tree.frames[ply], tree.frames[ply + 1], tree.path.words
    child.mover, child.opponent = frame.mover, frame.opponent
    for word in range(WORDS):
        words[ply + 1, word] = words[ply, word]
    child.depth = _pair(frame, tree.cuts).shallow
    child.alpha = _bound(frame, tree.cuts) - (1 - frame.probe % 2)
    child.beta = child.alpha + 1


@inlined
def _play(tree: _Tree, ply: int) -> None:
    """Make the next frame the position after the next move."""
    frame, child, words = tree.frames[ply], tree.frames[ply + 1], tree.path.words
    turned, square = frame.turned[frame.next], np.uint64(frame.moves[frame.next])
    child.mover = frame.opponent ^ turned
    child.depth = frame.depth - 1
    if square == _NO_SQUARE:
        child.opponent = frame.mover
        child.depth = max(1, child.depth)
        pass_numbers(words, ply)
    else:
        child.opponent = frame.mover | turned | (ONE << square)
        advance_numbers(words, ply, square, turned)
    child.beta = -frame.alpha
    child.alpha = -frame.beta if frame.next == 0 or frame.again else -frame.alpha - 1


@compiled
def _open(tree: _Tree, ply: int) -> tuple[int, int]:
    """The value of a new frame's position, or _OPEN: it has to be searched; and the evaluations made."""
    frame = tree.frames[ply]
    mover, opponent = frame.mover, frame.opponent
    if frame.depth <= 0:
        if mover == ZERO:
            return -64 * DISC, 1
        return evaluate(tree.path.weights, count(mover | opponent), tree.path.numbers, ply), 1
    if frame.depth == 1:
        return _one_move_deep(tree.path, mover, opponent, ply, frame.beta)
    frame.move = PASS
    place = _find(tree.table, mover, opponent)
    if place >= 0:
        entry = tree.table[place]
        frame.move = entry.move
        if entry.depth >= frame.depth:
            if entry.lower >= frame.beta or entry.lower == entry.upper:
                return int(entry.lower), 0
            if entry.upper <= frame.alpha:
                return int(entry.upper), 0
    _clear(frame)
    moves = mobility(mover, opponent)
    if moves == ZERO:
        if mobility(opponent, mover) == ZERO:
            return DISC * final_score(mover, opponent), 1
    elif frame.depth < tree.cuts.shape[1] and (tree.everywhere or frame.alpha + 1 == frame.beta):
        _prepare_probes(frame, tree.cuts)
    return _OPEN, 0


@inlined
def _prepare_probes(frame: Any, cuts: Records) -> None:
    """Note which shallow searches may cut the frame."""
    pairs = cuts[stage_of(count(frame.mover | frame.opponent)), frame.depth]
    frame.probes = 2 * len(pairs)
    while frame.probes > 0 and pairs[frame.probes // 2 - 1].shallow < 0:
        frame.probes -= 2
    _skip_probes(frame, cuts)


@inlined
def _pair(frame: Any, cuts: Records) -> Any:
    """The pair whose shallow search is to be tried next."""
    return cuts[stage_of(count(frame.mover | frame.opponent)), frame.depth, frame.probe // 2]


@inlined
def _bound(frame: Any, cuts: Records) -> int:
    """What the shallow search must reach, from below or from above, for the deep one to be taken as known."""
    pair = _pair(frame, cuts)
    least: float = (frame.beta + pair.margin - pair.offset) / pair.slope
    most: float = (frame.alpha - pair.margin - pair.offset) / pair.slope
    return math.ceil(least) if frame.probe % 2 == 0 else math.floor(most)


@inlined
def _skip_probes(frame: Any, cuts: Records) -> None:
    """Pass over the shallow searches that cannot cut."""
    while frame.probe < frame.probes:
        if abs(_bound(frame, cuts)) < 64 * DISC:
            return
        frame.probe += 1


@inlined
def _take_probe(frame: Any, cuts: Records, value: int) -> None:
    """Take the value of a shallow search."""
    if frame.probe % 2 == 0 and value >= _bound(frame, cuts):
        frame.best, frame.done = frame.beta, True
    elif frame.probe % 2 == 1 and value <= _bound(frame, cuts):
        frame.best, frame.done = frame.alpha, True
    else:
        frame.probe += 1
        _skip_probes(frame, cuts)


@inlined
def _take_move(frame: Any, value: int) -> None:
    """Take the value of the next move."""
    if frame.next > 0 and not frame.again and frame.alpha < value < frame.beta:
        frame.again = True
        return
    frame.again = False
    if value > frame.best:
        frame.best = value
        frame.alpha = max(frame.alpha, value)
        # Of moves below the window no one is known to be better than the one expected to be best.
        if value > frame.floor or frame.move == PASS:
            frame.move = frame.moves[frame.next]
    frame.next += 1
    frame.done = frame.next == frame.count or frame.best >= frame.beta


@compiled
def _write_moves(frame: Any, path: Judged, ply: int) -> int:
    """Write the moves of a frame, best first by what the positions after them are worth; returns the evaluations."""
    mover, opponent = frame.mover, frame.opponent
    discs = count(mover | opponent) + 1
    guess = np.uint64(frame.move)
    frame.next = frame.count = 0
    frame.again = False
    moves = mobility(mover, opponent)
    if moves == ZERO:
        frame.moves[0], frame.turned[0], frame.count = PASS, ZERO, 1
        return 0
    while moves != ZERO:
        square = lowest(moves)
        moves &= moves - ONE
        turned = flips(mover, opponent, square)
        if square == guess or turned == opponent:
            cost = -INFINITE
        else:
            advance_numbers(path.words, ply, square, turned)
            cost = evaluate(path.weights, discs, path.numbers, ply + 1)
        insert(frame, square, turned, cost)
    return int(frame.count)


@compiled
def _one_move_deep(path: Judged, mover: np.uint64, opponent: np.uint64, ply: int, beta: int) -> tuple[int, int]:
    """The best evaluation after one move, or one that is `beta` at least; and the evaluations made."""
    if mobility(mover, opponent) != ZERO:
        return _best_evaluation(path, mover, opponent, ply, beta)
    if mobility(opponent, mover) == ZERO:
        return DISC * final_score(mover, opponent), 1
    pass_numbers(path.words, ply)
    value, spent = _best_evaluation(path, opponent, mover, ply + 1, INFINITE)
    return -value, spent


@compiled
def _best_evaluation(path: Judged, mover: np.uint64, opponent: np.uint64, ply: int, beta: int) -> tuple[int, int]:
    """The same where the side to move does not pass."""
    moves = mobility(mover, opponent)
    discs = count(mover | opponent) + 1
    best, spent = -INFINITE, 0
    while moves != ZERO and best < beta:
        square = lowest(moves)
        moves &= moves - ONE
        turned = flips(mover, opponent, square)
        if turned == opponent:
            return 64 * DISC, spent + 1
        advance_numbers(path.words, ply, square, turned)
        best = max(best, -evaluate(path.weights, discs, path.numbers, ply + 1))
        spent += 1
    return best, spent


@inlined
def _find(table: Records, mover: np.uint64, opponent: np.uint64) -> int:
    """The position's entry; -1: it has none."""
    first = bucket(table, mover, opponent)
    for place in (first, first + 1):
        if table[place].mover == mover and table[place].opponent == opponent:
            return int(place)
    return -1


@inlined
def _remember(frame: Any, table: Records, search: int) -> None:
    """Keep what was found. Of a bucket's two entries the first keeps what this search looked at more deeply."""
    place = _find(table, frame.mover, frame.opponent)
    if place < 0:
        place = bucket(table, frame.mover, frame.opponent)
        if table[place].search == search and table[place].depth > frame.depth:
            place += 1
        table[place].mover, table[place].opponent, table[place].depth = frame.mover, frame.opponent, -1
    entry = table[place]
    if entry.depth != frame.depth:
        entry.lower, entry.upper = -INFINITE, INFINITE
    if frame.best > frame.floor:
        entry.lower = frame.best
    if frame.best < frame.beta:
        entry.upper = frame.best
    entry.depth, entry.move, entry.search = frame.depth, frame.move, search
