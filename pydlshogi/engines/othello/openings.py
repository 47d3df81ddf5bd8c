"""Openings that are registered, and played from; they are registered by `python -m utils.othello.register`.

A file of openings has a line for each: a transcript, and by how many discs Black is expected to win after it. All
positions on the way are known, whichever way the board is turned. A move there is worth what the best replies to it
lead to; of those that are nearly as good as the best one is sampled, so that no game need be like the one before.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tqdm import tqdm

from pydlshogi.games.othello.rules import START, Position
from pydlshogi.games.othello.squares import Standing, standing
from pydlshogi.games.othello.transcript import RecordError, parse_transcript, transcript
from pydlshogi.support.files import read_plain, replacing

SHIPPED_OPENINGS: Final = "othello_openings.txt"
SPREAD: Final = 2.0
"""Discs by which a move that is played may be worse than the best."""

_LARGEST_FILE: Final = 1 << 26
"""Bytes."""


class RegisteredLine(NamedTuple):
    """A line that is registered."""

    moves: tuple[int, ...]
    lead: float
    """By how many discs Black is expected to win."""


class OpeningBook:
    """Registered openings by position."""

    def __init__(self, openings: Sequence[RegisteredLine]) -> None:
        # Positions are known as `standing` has them.
        self._after: dict[Standing, set[Standing]] = {}
        self._worth: dict[Standing, float] = {}
        ends: dict[Standing, float] = {}
        for opening in openings:
            position = START
            for move in opening.moves:
                before, position = position, position.play(move)
                self._after.setdefault(standing(before), set()).add(standing(position))
            ends[standing(position)] = opening.lead if position.black_to_move else -opening.lead
        if openings:
            self._judge(standing(START), ends)

    def _judge(self, key: Standing, ends: Mapping[Standing, float]) -> float:
        """Find out what a position and all after it are worth. A line that goes on is worth what it leads to."""
        if key not in self._worth:
            leads_to = self._after.get(key, ())
            self._worth[key] = max(-self._judge(after, ends) for after in leads_to) if leads_to else ends[key]
        return self._worth[key]

    def moves(self, position: Position) -> dict[int, float]:
        """The moves known in `position`, and by how many discs each is expected to win for the side to move."""
        known = self._after.get(standing(position), ()) if self._after else ()
        children = {move: standing(position.play(move)) for move in position.moves()} if known else {}
        return {move: -self._worth[child] for move, child in children.items() if child in known}

    def choose(self, position: Position, rng: random.Random) -> tuple[int, float] | None:
        """One of the moves that are nearly as good as the best known one, and its worth; None: there is none."""
        moves = self.moves(position)
        good = [move for move in moves if moves[move] >= max(moves.values()) - SPREAD]
        if not good:
            return None
        move = rng.choice(good)
        return move, moves[move]


def lines(plies: int, going_on: Callable[[Position], Iterable[int]]) -> list[tuple[tuple[int, ...], Position]]:
    """All lines of so many moves with the positions that they lead to, of equal positions one.

    `going_on` says with which moves a line goes on from a position. A bar shows the progress.
    """
    found: dict[Standing, tuple[tuple[int, ...], Position]] = {standing(START): ((), START)}
    for _ in range(plies):
        longer: dict[Standing, tuple[tuple[int, ...], Position]] = {}
        for moves, position in tqdm(found.values(), unit="position", leave=False, dynamic_ncols=True, disable=None):
            for move in going_on(position):
                child = position.play(move)
                longer.setdefault(standing(child), ((*moves, move), child))
        found = longer
    return list(found.values())


def read_openings(path: Path) -> list[RegisteredLine]:
    """The openings of a file. Raises RecordError, which names the line; OSError."""
    openings = []
    text = read_plain(path, _LARGEST_FILE).decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            moves, _, lead = line.strip().rpartition(" ")
            try:
                openings.append(RegisteredLine(parse_transcript(moves).moves, float(lead)))
            except ValueError as error:
                raise RecordError(f"{path}, line {number}: {error}") from error
    return openings


def write_openings(path: Path, openings: Iterable[RegisteredLine]) -> None:
    """Write a file of openings, in the order of their moves. Raises OSError."""
    lines = [f"{transcript(opening.moves)} {opening.lead:+.2f}\n" for opening in sorted(openings)]
    with replacing(path) as file:
        file.write(
            "".join(["# An opening, and by how many discs Black is expected to win after it.\n", *lines]).encode()
        )
