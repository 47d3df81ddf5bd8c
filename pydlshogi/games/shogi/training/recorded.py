"""Recorded positions as examples, in any encoding of shogi: what was played there, or what a search or a teacher made
of them, and how the game stood. Of positions that were searched anew the shares of all moves teach."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from tqdm import tqdm

from pydlshogi.encoding import Encoding
from pydlshogi.games.shogi.moves import MOST_MOVES, legal_moves
from pydlshogi.games.shogi.state import STATE
from pydlshogi.games.shogi.training.fixed_formats import Part, chosen
from pydlshogi.games.shogi.training.formats import read_parts
from pydlshogi.games.shogi.training.huffman import MAILBOX, lay, mirrored_move, words_of
from pydlshogi.games.shogi.training.records import MAX_EVAL, NO_EVAL, NO_RESULT, WIN, Positions
from pydlshogi.support.arrays import (
    BoolArray,
    Float32Array,
    Int16Array,
    Int32Array,
    Int64Array,
    Records,
    Uint16Array,
    Uint32Array,
    entries_of,
    read_arrays,
)
from pydlshogi.support.kernels.compiled import compiled_for, rule_of_game
from pydlshogi.training.examples import Examples, joined
from pydlshogi.training.settings import DatasetError
from pydlshogi.training.validation import Legal

DEFAULT_EVAL_COEF: Final = 600
"""The python-dlshogi book's."""
_LARGEST_LEAD: Final = 0.5 - 1e-9
"""Of a mean win rate over a half: a mate is no infinite evaluation."""
EVAL_COEF_OF_DLSHOGI: Final = 756.0864962951762
"""By which dlshogi makes evaluations of win rates."""


def win_rates(evals: Int16Array, eval_coef: float) -> Float32Array:
    """Expected scores 0..1 of evaluations in centipawns: 1 / (1 + exp(-eval / eval_coef))."""
    return (0.5 + 0.5 * np.tanh(evals / (2.0 * eval_coef))).astype(np.float32)


@dataclass(frozen=True)
class ValueTarget:
    """How the expected score is made of a game's result and the record's evaluation.

    `val_lambda` x result + (1 - `val_lambda`) / (1 + exp(-eval / `eval_coef`)), or the one that is known."""

    val_lambda: float
    eval_coef: float

    def __call__(self, rows: Positions) -> tuple[Float32Array, Float32Array]:
        """Expected scores and their weights, float32 [B] each; where neither is known the weight is 0."""
        has_result, has_eval = rows["result"] != NO_RESULT, rows["eval"] != NO_EVAL
        results = (rows["result"].astype(np.float32) + 1.0) / 2.0
        shares = np.where(has_result, np.where(has_eval, self.val_lambda, 1.0), 0.0)
        values = shares * results + (1.0 - shares) * win_rates(rows["eval"], self.eval_coef)
        return values.astype(np.float32), (has_result | has_eval).astype(np.float32)


def averaged_evals(positions: Positions, plies: int, eval_coef: float) -> Int16Array:
    """For each position the mean, taken of win rates, of the evaluations of `plies` positions of its game from it on.

    int16, NO_EVAL where none of them is known; `positions` whose plies go on are those of one game, in order. Two
    players judge a game with two programs, so the mean is nearer to the truth than the mover's evaluation alone.
    """
    known = positions["eval"] != NO_EVAL
    side = np.where(positions["ply"] % 2 == 0, 1.0, -1.0)
    leads = np.where(known, side * (win_rates(positions["eval"], eval_coef) - 0.5), 0.0)
    game = np.cumsum(np.diff(positions["ply"].astype(np.int64), prepend=-1) != 1)
    totals, counts = np.zeros(len(leads)), np.zeros(len(leads))
    for ahead in range(min(plies, len(leads))):
        here, there = slice(len(leads) - ahead), slice(ahead, None)
        counted = known[there] & (game[there] == game[here])
        totals[here] += counted * leads[there]
        counts[here] += counted
    leads = side * totals / counts.clip(1.0)
    evals = 2.0 * eval_coef * np.arctanh(2.0 * leads.clip(-_LARGEST_LEAD, _LARGEST_LEAD))
    return np.where(counts > 0, evals.round(), NO_EVAL).astype(np.int16)


def fit_eval_coef(positions: Positions) -> float:
    """The `eval_coef` with which the records' evaluations predict their results best (least cross entropy).

    DEFAULT_EVAL_COEF where no position has both.
    """
    known = (np.abs(positions["result"]) == WIN) & (np.abs(positions["eval"].astype(np.int64)) <= MAX_EVAL)
    evals, won = positions["eval"][known], positions["result"][known] == WIN
    if not len(evals):
        return float(DEFAULT_EVAL_COEF)

    def cross_entropy(eval_coef: float) -> float:
        rates = win_rates(evals, eval_coef).clip(1e-3, 1 - 1e-3)
        return float(-np.log(np.where(won, rates, 1 - rates)).mean())

    return float(min(range(100, 1501, 10), key=cross_entropy))


@dataclass(frozen=True)
class Searched:
    """A set of positions with what a search found out."""

    positions: Positions
    """POSITION [n]: as they were recorded."""
    counts: Int64Array
    """int64 [n]: moves of each that have a share."""
    moves: Uint16Array
    """uint16 [all]: the moves, as cshogi writes them in 16 bits."""
    weights: Float32Array
    """float32 [all]: their shares of the policy; those of a position sum to 1."""
    values: Float32Array
    """float32 [n]: expected score of the side to move, 0 to 1."""
    exact: BoolArray
    """bool [n]: the search has proven it."""

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def firsts(self) -> Int64Array:
        """int64 [n + 1]: where the moves of each begin, and the last end."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several sets, at least one, as a single set."""
        return cls(**{each.name: np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)})


def read_sets(source: Path, say: Callable[[str], None] = tqdm.write) -> Searched:
    """All sets in a folder of `utils.lab.search_records`, or the positions of an .hcpe3 whose visits are known.

    Raises ArraysError, DatasetError, OSError.
    """
    if source.suffix == ".hcpe3":
        sets = [_visited(part) for part in read_parts(source, say)]
    else:
        sets = [read_arrays(path, Searched, "searched positions") for path in sorted(source.glob("*.npz"))]
    if not sum(map(len, sets)):
        raise DatasetError(f"{source} holds no searched positions")
    return Searched.joined(sets)


def _visited(part: Part) -> Searched:
    totals = np.bincount(np.repeat(np.arange(len(part.counts)), part.counts), part.visits, len(part.counts))
    positions, counts, moves, visits = chosen(part, totals > 0)
    weights = visits / np.repeat(np.add.reduceat(visits, np.cumsum(counts) - counts, dtype=np.float64), counts)
    values = win_rates(positions["eval"], EVAL_COEF_OF_DLSHOGI)
    return Searched(positions, counts, moves, weights.astype(np.float32), values, np.zeros(len(counts), np.bool_))


class Policies(NamedTuple):
    """Moves of a number of positions, and how much of the policy each is to have."""

    firsts: Int64Array
    """int64 [n + 1]."""
    moves: Uint16Array
    weights: Float32Array


def played(positions: Positions) -> Policies:
    """The move of each position, where it has one."""
    moves = np.ascontiguousarray(positions["move"])
    return Policies(np.arange(len(moves) + 1), moves, (moves != 0).astype(np.float32))


class Recorded:
    """Recorded positions as examples. Where they were searched, what that found stands for the moves played."""

    def __init__(
        self, data: Positions | Searched, encoding: Encoding, target: ValueTarget, search_value: float = 1.0
    ) -> None:
        """`target` says what the records know of a value. What a search expects has a share of `search_value` in it,
        and all of it where that is proven, or the records know nothing."""
        self._searched = data if isinstance(data, Searched) else None
        self._positions = data.positions if isinstance(data, Searched) else data
        self._encoding, self._target, self._share = encoding, target, np.float32(search_value)

    def __len__(self) -> int:
        return len(self._positions)

    def examples(self, rows: Int64Array, mirrored: BoolArray | None = None) -> Examples:
        """The positions with these numbers, in this order, those `mirrored` with left and right exchanged."""
        positions = shown(self._positions, rows)
        values, known = self._target(positions)
        if self._searched is None:
            policies = played(positions)
        else:
            firsts, entries = entries_of(self._searched.firsts, rows)
            policies = Policies(firsts, self._searched.moves[entries], self._searched.weights[entries])
            share = np.where(self._searched.exact[rows] | (known == 0), np.float32(1), self._share)
            values, known = values + share * (self._searched.values[rows] - values), np.ones_like(known)
        packed, firsts, labels, weights = with_legal_moves(positions, self._encoding, policies, mirrored)
        if self._encoding.planes:  # A sparse network learns from the labels of all legal moves.
            taught = weights > 0
            firsts, labels, weights = np.concatenate([[0], np.cumsum(taught)])[firsts], labels[taught], weights[taught]
        return Examples(packed, firsts, labels, weights, values, known)


class Several:
    """Several of these, one after the other."""

    def __init__(self, sources: Sequence[Recorded]) -> None:
        self._sources = sources
        self._ends = np.cumsum([len(source) for source in sources])

    def examples(self, rows: Int64Array, mirrored: BoolArray | None = None) -> Examples:
        """As of `Recorded`."""
        which = np.searchsorted(self._ends, rows, side="right")
        chosen = [np.flatnonzero(which == number) for number in range(len(self._sources))]
        parts = [
            source.examples(rows[part] - end + len(source), None if mirrored is None else mirrored[part])
            for source, part, end in zip(self._sources, chosen, self._ends, strict=True)
            if len(part)
        ]
        return joined(parts).examples(np.argsort(np.concatenate(chosen)))


def shown(positions: Positions, rows: Int64Array) -> Positions:
    """Those with these numbers as they are learned from: every tenth is shown without the moves that led to it, and the
    next one only with the last.

    For a position that somebody sets up has no past.
    """
    chosen = np.array(positions[rows])
    chosen["before"][rows % 10 == 0] = 0
    chosen["before"][rows % 10 == 1, 1] = 0
    return chosen


def with_legal_moves(
    positions: Positions, encoding: Encoding, policies: Policies | None = None, mirrored: BoolArray | None = None
) -> Legal:
    """All of `positions`, those `mirrored` with left and right exchanged, and the weights that `policies`, or the moves
    played, give their legal moves: 0 for most."""
    if policies is None:
        policies = played(positions)
    turned = np.zeros(len(positions), np.bool_) if mirrored is None else mirrored
    packed = np.zeros((len(positions), encoding.words), np.uint32)
    firsts = np.zeros(len(positions) + 1, np.int64)
    # Most of it is never touched: a position has some 80 moves.
    most = len(positions) * MOST_MOVES
    labels, weights = np.empty(most, np.int32), np.empty(most, np.float32)
    fill: Any = compiled_for(encoding.name, _fill, pack=encoding.pack, label_moves=encoding.label_moves)
    fill(
        words_of(positions["hcp"]),
        np.ascontiguousarray(positions["before"]),
        turned,
        *policies,
        np.zeros(1, MAILBOX),
        np.zeros(1, STATE),
        np.empty(MOST_MOVES, np.uint16),
        packed,
        firsts,
        labels,
        weights,
    )
    return packed, firsts, labels[: firsts[-1]].copy(), weights[: firsts[-1]].copy()


pack: Callable[..., None] = rule_of_game
label_moves: Callable[..., None] = rule_of_game


def _fill(
    codes: Uint32Array,
    before: Uint16Array,
    mirrored: BoolArray,
    given: Int64Array,
    given_moves: Uint16Array,
    given_weights: Float32Array,
    boards: Records,
    states: Records,
    legal: Uint16Array,
    packed: Uint32Array,
    firsts: Int64Array,
    labels: Int32Array,
    weights: Float32Array,
) -> None:
    first = 0
    for i in range(len(codes)):
        turned = 1 if mirrored[i] else 0
        lay(codes[i], before[i], turned, boards[0], states[0])
        pack(states[0], packed[i])
        count = legal_moves(states[0], legal)
        label_moves(states[0], legal, count, labels[first : first + count])
        weights[first : first + count] = 0
        for entry in range(given[i], given[i + 1]):
            move = mirrored_move(given_moves[entry]) if turned else given_moves[entry]
            for m in range(count):
                if legal[m] == move:
                    weights[first + m] += given_weights[entry]
        first += count
        firsts[i + 1] = first
