"""Exact scores of end games, by null-window searches over a table of what is proven.

A search asks one question of every position: is the score above `alpha`? Its answer is a bound, which is remembered:
the score is at least, or at most, so much. A few questions at the root give the score itself (MTD(f), Plaat 1996).
Scores are even, because empty squares belong to the winner, and questions are asked at odd numbers.

A kernel may not call itself, so the path from the root is an array of frames, one a ply. That is why a search can be
left at any node and taken up again there, and so be stopped at any time.

Several threads search the same root over one table. Each sees the others' frames, and puts a move behind its brothers
while another thread is at it (as ABDADA does, Weill 1996); what one has proven all find in the table.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any, Final, NamedTuple

import numpy as np

from pydlshogi.games.othello.engine.bounds import (
    NOT_A,
    NOT_H,
    PROVEN,
    keep,
    known_bounds,
    lower_bound,
    packed,
    proving_move,
    stable_discs,
    upper_bound,
)
from pydlshogi.games.othello.engine.last_squares import LAST, exact_score, last_score, load_functions, odd_quadrants
from pydlshogi.games.othello.engine.patterns import (
    Judged,
    advance_numbers,
    evaluate,
    judged_by,
    load_weights,
    pass_numbers,
    write_numbers,
)
from pydlshogi.games.othello.rules import MOST_MOVES, PASS, Position, final_score, flips, mobility
from pydlshogi.games.othello.squares import ONE, ZERO, count, lowest
from pydlshogi.support.arrays import Int16Array, Records, Uint64Array
from pydlshogi.support.kernels.compiled import compiled, inlined, wide

_FRAME: Final = np.dtype(
    [
        ("mover", np.uint64),
        ("opponent", np.uint64),
        ("turned", np.uint64, MOST_MOVES),  # by each of its moves
        ("cost", np.int32, MOST_MOVES),  # of each move: what it leaves to the opponent
        ("moves", np.uint8, MOST_MOVES),  # the most promising first
        ("count", np.int8),  # how many they are
        ("next", np.int8),  # which one is to be tried next
        ("put_off", np.int8),  # how many were put behind the others, because another thread was at them
        ("empties", np.int8),
        ("alpha", np.int8),
        ("best", np.int8),  # bound of the score by the moves tried, _LEAST before any
        ("move", np.uint8),  # the one it comes from
    ],
    align=True,
)
_LEAST: Final = -65
"""Below every score."""
_OPEN: Final = 65
"""In place of an answer: the moves have to be tried."""
_STABLE: Final = 20
"""Discs. Where the search asks for this score or more, discs that the opponent can lose no more are counted."""
_JUDGED: Final = 12
"""Empty squares from which on moves are sorted by patterns too."""
_REPLIED: Final = 16
"""The same for sorting by what the patterns say after the best reply."""
_CHOICE: Final = 1000
"""What a choice of the opponent costs beside the evaluation."""
_FIRST: Final = 10**6
_SHARED: Final = 14
"""The same for putting off a move that another thread is at; below, one thread takes no longer."""
_SLICE: Final = 4_000
"""Positions after which it asks again whether to stop, or whether another thread has answered: a few milliseconds."""

_NO_SQUARE: Final = np.uint64(PASS)
_CORNERS: Final = np.uint64(0x8100000000000081)


class Solution(NamedTuple):
    """What perfect play leads to."""

    score: int
    """For the side to move: discs less the opponent's, the winner having the empty squares too."""
    move: int
    """One of the best."""
    nodes: int
    """Positions looked at, but for those with seven empty squares or fewer."""


class _Answer(NamedTuple):
    """Of one question."""

    score: int | None
    """A bound; None: it was stopped."""
    move: int
    nodes: int


class Solver:
    """A table of proven bounds; they hold for ever, whatever is asked next."""

    def __init__(self, megabytes: int = 64, weights: Int16Array | None = None, threads: int = 1) -> None:
        """`weights`: of the patterns, by which moves are sorted; None: the shipped ones. Raises OSError, ValueError.

        With several `threads` the nodes, and which of the best moves is found, differ from time to time.
        """
        load_functions()
        weights = load_weights("") if weights is None else weights
        entries = 1 << (megabytes * 2**20 // PROVEN.itemsize).bit_length() - 1
        self._table: Records = np.zeros(entries, PROVEN)
        self._frames: Records = np.zeros((threads, 130), _FRAME)  # two a square, for passes
        self._paths = [judged_by(weights, 130) for _ in range(threads)]
        self._helpers = ThreadPoolExecutor(threads - 1, "solver") if threads > 1 else None
        self.leader: int | None = None
        """What the last `solve` had proven to be worth the most, also where it was stopped; None: nothing yet."""

    def solve(
        self,
        position: Position,
        high: int = 64,
        guess: int = 0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Solution | None:
        """The score and a move that leads to it; None once `stopped` says so. Raises ValueError where the game is over.

        A score of `high`, an even number, or more is only a bound. A good `guess` saves time.
        """
        self.leader = None
        moves = position.moves()
        if not moves:
            raise ValueError("the game is over")
        if position.empties <= LAST:
            scores = {move: -exact_score(position.play(move)) for move in moves}
            best = max(scores, key=scores.__getitem__)
            return Solution(scores[best], best, len(scores))
        move, nodes, low = moves[0], 0, -64
        guess &= ~1
        while low < high:
            alpha = max(min(guess, high), low + 2) - 1
            answer = self._above(position, alpha, stopped)
            nodes += answer.nodes
            if answer.score is None:
                return None
            if answer.score > alpha:
                low, move = answer.score, answer.move
                self.leader = move
            else:
                high = answer.score
            guess = answer.score
        return Solution(guess, move, nodes)

    def _above(self, position: Position, alpha: int, stopped: Callable[[], bool]) -> _Answer:
        """A bound that says whether the score is above `alpha`, and the move that proves it if it is.

        All threads ask the same; the first that knows ends the others.
        """
        if self._helpers is None or position.empties <= _SHARED:
            return self._answer(0, position, alpha, stopped)
        known = Event()
        helpers = [
            self._helpers.submit(self._answer, thread, position, alpha, known.is_set)
            for thread in range(1, len(self._frames))
        ]
        try:
            own = self._answer(0, position, alpha, lambda: any(helper.done() for helper in helpers) or stopped())
        finally:
            known.set()
            wait(helpers)
        answers = [own, *(helper.result() for helper in helpers)]
        first = next((answer for answer in answers if answer.score is not None), own)
        return first._replace(nodes=sum(answer.nodes for answer in answers))

    def _answer(self, thread: int, position: Position, alpha: int, stopped: Callable[[], bool]) -> _Answer:
        """The same by one thread."""
        root, path = self._frames[thread, 0], self._paths[thread]
        root["mover"], root["opponent"], root["alpha"] = position.mover, position.opponent, alpha
        write_numbers(root["mover"], root["opponent"], path.words)
        answer, ply, nodes = int(_ask(self._frames[thread], path, self._table, 0)), 0, 1
        if answer == _OPEN:
            while ply >= 0:
                if stopped():
                    return _Answer(None, PASS, nodes)
                ply, answer, looked_at = _search(self._frames, path, self._table, thread, ply, _SLICE)
                nodes += looked_at
        return _Answer(answer, int(root["move"]), nodes)


@compiled
def _search(everyone: Records, path: Judged, table: Records, thread: int, ply: int, nodes: int) -> tuple[int, int, int]:
    """Go on from `everyone[thread, ply]`, over about `nodes` positions.

    Returns the ply to go on from, or -1 and the answer about the root; and the positions looked at.
    """
    frames, looked_at = everyone[thread], 0
    if len(everyone) > 1:
        ply = _first_answered(frames, table, ply)
    while looked_at < nodes:
        frame = frames[ply]
        if frame.next < frame.count and frame.best <= frame.alpha:
            if len(everyone) > 1 and frame.empties >= _SHARED:
                _put_off(everyone, thread, ply)
            _play(frames, path.words, ply)
            frame.next += 1
            looked_at += 1
            answer = _ask(frames, path, table, ply + 1)
            if answer == _OPEN:
                ply += 1
                continue
        else:
            answer = int(frame.best)
            _remember(frame, table)
            ply -= 1
            if ply < 0:
                return ply, answer, looked_at
            frame = frames[ply]
        if -answer > frame.best:
            frame.best = -answer
            frame.move = frame.moves[frame.next - 1]
    return ply, _OPEN, looked_at


@compiled
def _first_answered(frames: Records, table: Records, ply: int) -> int:
    """The first ply up to `ply` whose question another thread has answered meanwhile; `ply` where there is none."""
    for above in range(ply + 1):
        frame = frames[above]
        bounds = known_bounds(table, frame.mover, frame.opponent)
        if bounds == ZERO:
            continue
        if lower_bound(bounds) > frame.alpha:
            frame.best, frame.move = lower_bound(bounds), proving_move(bounds)
            return above
        if upper_bound(bounds) <= frame.alpha:
            frame.best, frame.next = upper_bound(bounds), frame.count
            return above
    return ply


@compiled
def _put_off(everyone: Records, thread: int, ply: int) -> None:
    """Put the next move behind the others if another thread is at it: later its answer may be in the table.

    The first move is everyone's: often it is enough.
    """
    frame = everyone[thread, ply]
    for other in range(len(everyone)):
        if not 0 < frame.next < frame.count - frame.put_off - 1:
            return
        move, turned = frame.moves[frame.next], frame.turned[frame.next]
        if other == thread or everyone[other, ply + 1].mover != frame.opponent ^ turned:
            continue
        if everyone[other, ply + 1].opponent != frame.mover | turned | ONE << np.uint64(move):
            continue
        for n in range(frame.next, frame.count - 1):
            frame.moves[n], frame.turned[n] = frame.moves[n + 1], frame.turned[n + 1]
        frame.moves[frame.count - 1], frame.turned[frame.count - 1] = move, turned
        frame.put_off += 1


@inlined
def _play(frames: Records, words: Uint64Array, ply: int) -> None:
    """Make the next frame the position after the next move."""
    frame, child = frames[ply], frames[ply + 1]
    turned = frame.turned[frame.next]
    square = np.uint64(frame.moves[frame.next])
    child.mover = frame.opponent ^ turned
    child.opponent = frame.mover | turned | (ZERO if square == _NO_SQUARE else ONE << square)
    child.alpha = -frame.alpha - 1
    if frame.empties > _JUDGED:
        if square == _NO_SQUARE:
            pass_numbers(words, ply)
        else:
            advance_numbers(words, ply, square, turned)


@compiled
def _ask(frames: Records, path: Judged, table: Records, ply: int) -> int:
    """The answer of a new frame's position: a bound above its `alpha` or not. _OPEN: its moves are written."""
    frame = frames[ply]
    mover, opponent = frame.mover, frame.opponent
    empty = ~(mover | opponent)
    empties = count(empty)
    if frame.alpha >= _STABLE:
        most = 64 - 2 * count(stable_discs(opponent, empty))
        if most <= frame.alpha:
            return most
    if empties == LAST:
        return last_score(mover, opponent, empty, odd_quadrants(empty), int(frame.alpha))
    guess = _NO_SQUARE
    bounds = known_bounds(table, mover, opponent)
    if bounds != ZERO:
        guess = proving_move(bounds)
        frame.move = guess
        if lower_bound(bounds) > frame.alpha:
            return lower_bound(bounds)
        if upper_bound(bounds) <= frame.alpha:
            return upper_bound(bounds)
    moves = mobility(mover, opponent)
    frame.empties, frame.best, frame.next, frame.put_off = empties, _LEAST, 0, 0
    if moves == ZERO:
        if mobility(opponent, mover) == ZERO:
            return final_score(mover, opponent)
        frame.moves[0], frame.turned[0], frame.count = _NO_SQUARE, ZERO, 1
    else:
        _write_moves(frame, path, ply, moves, odd_quadrants(empty), guess)
        if empties >= _JUDGED:
            return _answer_of_a_child(frame, table)
    return _OPEN


@compiled
def _write_moves(frame: Any, path: Judged, ply: int, moves: np.uint64, odd: np.uint64, guess: np.uint64) -> None:
    """Write the moves: `guess` first, then those that leave the opponent the fewest replies, now and later. Where many
    squares are empty, what patterns say of the positions after the moves counts too."""
    frame.count = 0
    discs = count(frame.mover | frame.opponent) + 1
    while moves != ZERO:
        square = lowest(moves)
        moves &= moves - ONE
        disc, turned = ONE << square, flips(frame.mover, frame.opponent, square)
        mover, opponent = frame.opponent ^ turned, frame.mover | turned | disc
        cost = _choices(mover, opponent)
        if frame.empties < _JUDGED:
            cost -= 2 * count(disc & _CORNERS) + count(disc & odd)
        else:
            advance_numbers(path.words, ply, square, turned)
            if frame.empties >= _REPLIED:
                worth = _worth_after_reply(path, mover, opponent, ply + 1)
            else:
                worth = evaluate(path.weights, discs, path.numbers, ply + 1)
            cost = worth + _CHOICE * cost
        insert(frame, square, turned, cost if square != guess else -_FIRST)


@compiled
def _worth_after_reply(path: Judged, mover: np.uint64, opponent: np.uint64, row: int) -> int:
    """What the patterns say of a position, in a row of `path`, after the best of its moves."""
    discs, moves = count(mover | opponent), mobility(mover, opponent)
    if moves == ZERO:
        return evaluate(path.weights, discs, path.numbers, row)
    best = -_FIRST
    while moves != ZERO:
        square = lowest(moves)
        moves &= moves - ONE
        advance_numbers(path.words, row, square, flips(mover, opponent, square))
        best = max(best, -evaluate(path.weights, discs + 1, path.numbers, row + 1))
    return best


@inlined
def _choices(mover: np.uint64, opponent: np.uint64) -> int:
    """How free the side to move is: its moves, corners twice, and half of the squares beside the other's discs."""
    replies = mobility(mover, opponent)
    return 2 * count(replies) + 2 * count(replies & _CORNERS) + count(_around(opponent) & ~(mover | opponent))


@inlined
def insert(frame: Any, square: np.uint64, turned: np.uint64, cost: int) -> None:
    """Write one more move, behind those that cost no more."""
    place = int(frame.count)
    while place > 0 and frame.cost[place - 1] > cost:
        frame.cost[place] = frame.cost[place - 1]
        frame.moves[place] = frame.moves[place - 1]
        frame.turned[place] = frame.turned[place - 1]
        place -= 1
    frame.cost[place], frame.moves[place], frame.turned[place] = cost, square, turned
    frame.count += 1


@compiled
def _answer_of_a_child(frame: Any, table: Records) -> int:
    """The answer that the table gives because it knows a child of the frame; _OPEN where it knows none."""
    for n in range(frame.count):
        turned = frame.turned[n]
        after = frame.opponent ^ turned, frame.mover | turned | ONE << np.uint64(frame.moves[n])
        bounds = known_bounds(table, *after)
        if bounds != ZERO and -upper_bound(bounds) > frame.alpha:
            frame.move = frame.moves[n]
            return -upper_bound(bounds)
    return _OPEN


@inlined
def _around(discs: np.uint64) -> np.uint64:
    """`discs` and the squares beside them."""
    wide = discs | ((discs << ONE) & NOT_A) | ((discs >> ONE) & NOT_H)
    return wide | (wide << np.uint64(8)) | (wide >> np.uint64(8))


@compiled
def _remember(frame: Any, table: Records) -> None:
    """Keep what the frame has proven."""
    bounds = known_bounds(table, frame.mover, frame.opponent)
    lower, upper, move = -64, 64, np.uint64(frame.move)
    if bounds != ZERO:
        lower, upper, move = lower_bound(bounds), upper_bound(bounds), proving_move(bounds)
    if frame.best > frame.alpha:
        lower, move = max(lower, wide(frame.best)), np.uint64(frame.move)
    else:
        upper = min(upper, wide(frame.best))
    keep(table, frame.mover, frame.opponent, packed(lower, upper, move, frame.empties))
