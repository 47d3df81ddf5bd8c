"""Mates by df-pn: looked for a bounded bit at a time, and believed only when every evasion has been played out.

It knows boards, and no search, player, clock or process. The df-pn search is cshogi's, which holds the GIL and forgets
everything between two calls: whoever calls bounds it by nodes and, if that was too few, tries again with many more.
Its word is not taken for a mate: it takes over proofs from positions with more in hand without asking how many plies
are left, and leaves needless non-promotions out of the evasions. So the tree behind its word is walked with the legal
moves of the rules, which also gives the line.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

import cshogi

from pydlshogi.games.shogi.tables import NO_SQUARE

MAX_PLIES: Final = 199
"""The longest mate looked for: df-pn recurses once a ply, and a thread's stack may be a single MiB."""

Line: TypeAlias = tuple[int, ...]
"""The moves of a mate, the attacker's first and last: its longest defence, as far as known. Empty: no mate."""

REPEATED: Final = {cshogi.REPETITION_DRAW, cshogi.REPETITION_WIN, cshogi.REPETITION_LOSE}

_GAP_NODES: Final = 4000
"""For a position that df-pn calls mated without having kept the moves."""


class Finding(NamedTuple):
    """What one look at a position brought."""

    line: Line = ()
    refuted: bool = False
    """There is no mate within the plies asked for."""
    nodes: int = 0
    """What it cost. df-pn makes some 400 of them in a millisecond."""
    lines: Mapping[int, Line] = MappingProxyType({})
    """The mates after all evasions, by zobrist_hash of the positions that they begin with; `line` is among them."""


def find_mate(board: Any, plies: int, nodes: int, solver_class: Any = cshogi.DfPn) -> Finding:
    """Look for a mate by the side to move of the cshogi board within `plies`.

    df-pn makes at most `nodes`, and if it claims a mate 1000 more than that may go into the proof, which also plays out
    evasions that df-pn passed over.
    `board` is moved and taken back. A mate that leads through a position played before is none. `solver_class` may be
    cshogi.OslDfPn, which finds more in millions of nodes but whose refutations are not believed.
    """
    if plies < 1 or board.king_square(1 - board.turn) == NO_SQUARE:
        return Finding(refuted=True)
    solver = solver_class(min(plies, MAX_PLIES), nodes)
    # df-pn takes a position that has come back for a draw, although the mate only begins here.
    mated = solver.search(cshogi.Board(board.sfen()) if board.is_draw() in REPEATED else board)
    used = int(solver.searched_node)
    if not mated:
        return Finding(refuted=used < nodes and solver_class is cshogi.DfPn, nodes=used)
    proof = _Proof(board, solver, allowance=1000 + nodes)
    line = proof.line(plies)
    if line:
        proof.lines[board.zobrist_hash()] = line
    return Finding(line, nodes=used + proof.nodes, lines=proof.lines)


def shorter_mates(board: Any, line: Line, nodes: int) -> Iterator[Finding]:
    """Ever shorter mates than `line`, each looked for with at most about `nodes` and as many for the proofs."""
    plies = len(line) - 2
    left = nodes
    while plies > 0 and left > 0:
        finding = find_mate(board, plies, left)
        if finding.line:
            yield finding
            plies = len(finding.line) - 2
            left = nodes
        elif finding.refuted:
            return
        else:
            plies -= 2  # df-pn's mate was a longer one; there may be a shorter one all the same
            left -= finding.nodes


class _Proof:
    """A walk through all evasions, the attacker's moves being those of a df-pn search that found a mate."""

    def __init__(self, board: Any, solver: Any, allowance: int) -> None:
        self._board = board
        self._solver = solver
        self._allowance = allowance
        self.lines: dict[int, Line] = {}
        self.nodes = 0

    def line(self, plies: int) -> Line:
        """A mate within `plies` from where the search began."""
        mate = 0 if self._board.is_check() else self._board.mate_move_in_1ply()
        return (mate,) if mate else self._play_out(self._solver.get_move(self._board), plies)

    def _attack(self, plies: int) -> Line:
        if plies < 1 or self.nodes >= self._allowance:
            return ()
        self.nodes += 1
        key = self._board.zobrist_hash()
        line = self.lines.get(key, ())
        if not line or len(line) > plies:
            line = self.line(plies) or self._anew(plies)
            if line:
                self.lines[key] = line
        return line

    def _play_out(self, move: int, plies: int) -> Line:
        """`move` and the longest defence, if it mates within `plies`."""
        board = self._board
        if not move or move not in board.legal_moves:
            return ()
        defence: Line = ()
        board.push(move)
        try:
            if not board.is_check() or board.is_draw() in REPEATED:
                return ()
            for evasion in board.legal_moves:
                board.push(evasion)
                try:
                    line = () if board.is_draw() in REPEATED else self._attack(plies - 2)
                finally:
                    board.pop()
                if not line:
                    return ()
                defence = max(defence, (evasion, *line), key=len)
        finally:
            board.pop()
        return (move, *defence)

    def _anew(self, plies: int) -> Line:
        left = self._allowance - self.nodes
        if left < 1:
            return ()
        finding = find_mate(self._board, plies, min(_GAP_NODES, left))
        self.nodes += finding.nodes
        self.lines = {**finding.lines, **self.lines}
        return finding.line
