"""What a server proposes: a Game_Summary, from its lines to `Terms`."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from pydlshogi.games.shogi.kifu import csa
from pydlshogi.games.shogi.kifu.game import Game, RecordError

SIGNS: Final = "+-"
"""Of Black and White."""
_NUMBER: Final = re.compile(r"\d{1,9}", re.ASCII)
_UNIT: Final = re.compile(r"([1-9]\d{0,5})?(msec|sec|min)", re.ASCII)
_MILLISECONDS: Final = {"msec": 1, "sec": 1000, "min": 60_000}


class TermsError(ValueError):
    """What is proposed cannot be played; the message says why, in one line."""


class SideClock(NamedTuple):
    """The clock of one side, in milliseconds. All 0: there is none."""

    unit: int
    """Of the numbers that the server tells."""
    total: int
    byoyomi: int
    delay: int
    """At the beginning of each move, not counted."""
    increment: int
    """Gained by each move, and to be spent on that very move."""

    def after(self, left: int, units: int) -> int:
        """What is left once a move has taken `units`."""
        return max(0, left + self.increment - max(0, units * self.unit - self.delay))

    def most(self, left: int) -> int | None:
        """What the next move may take; None: any time."""
        return left + self.increment + self.byoyomi + self.delay if any(self[1:]) else None


class Terms(NamedTuple):
    """Of one game. Pairs are (Black, White)."""

    game_id: str
    names: tuple[str, str]
    own: int
    """The side that we play: 0 Black, 1 White."""
    times: tuple[SideClock, SideClock]
    max_moves: int
    """The game is drawn after as many moves; 0: no such rule."""
    start: Game
    """The position, with the moves that have been made: of an opening, or of a game that goes on after a break."""

    @property
    def left(self) -> list[int]:
        """Milliseconds on both clocks.

        Servers do not agree whether the moves of an opening have counted, so increments give no more than there was.
        """
        left = [control.total for control in self.times]
        first = "bw".index(self.start.start_sfen.split()[1])
        for number, spent in enumerate(self.start.times):
            side = (first + number) % 2
            left[side] = min(left[side], self.times[side].after(left[side], int(spent or 0)))
        return left


def parse_terms(lines: Iterable[str]) -> Terms:
    """What stands between the first and the last line of a Game_Summary. Raises TermsError."""
    fields, times, position = dict[str, str](), (dict[str, str](), dict[str, str]()), list[str]()
    section = ""
    for line in lines:
        word, _, rest = line.partition(" ")
        key, _, value = line.partition(":")
        if word in {"BEGIN", "END"}:
            section = rest if word == "BEGIN" else ""
        elif section == "Position":
            position.append(line)
        elif section.startswith("Time"):
            for side in (0, 1):
                if section in {"Time", f"Time{SIGNS[side]}"}:
                    times[side][key] = value
        else:
            fields[key] = value
    own = fields.get("Your_Turn", "")
    if own not in {*SIGNS}:
        raise TermsError(f"it says no side: Your_Turn:{own[:40]}")
    try:
        (start,) = csa.parse("\n".join(position))
    except RecordError as error:
        raise TermsError(f"the position: {error}") from None
    if start.ending != "unknown":
        raise TermsError("the position: the game has ended there")
    black, white = map(_time_control, times)
    names = fields.get("Name+", ""), fields.get("Name-", "")
    return Terms(
        fields.get("Game_ID", ""), names, SIGNS.index(own), (black, white), _number(fields, "Max_Moves"), start
    )


def _time_control(fields: Mapping[str, str]) -> SideClock:
    text = fields.get("Time_Unit", "1sec").strip()
    unit = _UNIT.fullmatch(text)
    if unit is None:
        raise TermsError(f"a unit of time that is unknown: {text[:40]}")
    milliseconds = int(unit[1] or 1) * _MILLISECONDS[unit[2]]
    keys = ("Total_Time", "Byoyomi", "Delay", "Increment")
    return SideClock(milliseconds, *(milliseconds * _number(fields, key) for key in keys))


def _number(fields: Mapping[str, str], key: str) -> int:
    text = fields.get(key, "0").strip()
    if not _NUMBER.fullmatch(text):
        raise TermsError(f"no number: {key}:{text[:40]}")
    return int(text)
