"""What a match has come to so far, as a table. It knows no engines."""

from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import Any, Literal

from pydlshogi.support.elo import Sprt, estimate, histogram_of_pairs, superiority
from utils.arena.play_game import Limit
from utils.arena.store import SIDES, Settings, Side


class Score:
    """The games of a match, counted."""

    def __init__(self, games: Mapping[int, Mapping[str, Any]]) -> None:
        self.results: dict[Side, Counter[str]] = {side: Counter() for side in SIDES}
        """win, draw, loss of A, by the colour A had: "A" when A was Black."""
        for game in games.values():
            self.results[game["black"]][_result(game)] += 1
        points = {"win": 1.0, "draw": 0.5, "loss": 0.0}
        firsts = [first for first in games if first % 2 and first + 1 in games]
        played = {number: (game["sfen"], game["moves"], game["winner"]) for number, game in games.items()}
        different = {(played[first], played[first + 1]): first for first in firsts}
        self.repeated = len(firsts) - len(different)
        """How many pairs repeat another, move by move: they prove no more."""
        counted = [first + second for first in different.values() for second in (0, 1)]
        self.pairs = histogram_of_pairs({number - 1: points[_result(games[number])] for number in counted})
        """How many of the others gave A 0, 1/2, 1, 3/2 and 2 points."""

    @property
    def total(self) -> Counter[str]:
        return self.results["A"] + self.results["B"]


def _result(game: Mapping[str, Any]) -> Literal["win", "draw", "loss"]:
    return "draw" if game["winner"] is None else "win" if game["winner"] == "A" else "loss"


def report(games: Mapping[int, Mapping[str, Any]], settings: Settings, sprt: Sprt | None) -> str:
    """The final table."""
    if not games:
        return "no game finished"
    score = Score(games)
    names = games[max(games)]["names"]
    lines = [f"{side}  {names[side]}, {describe(settings.contestant(side).limit)}" for side in SIDES]
    total = score.total
    colours = "; ".join(
        f"as {colour} {_wdl(score.results[side])}" for side, colour in zip(SIDES, ("Black", "White"), strict=True)
    )
    points = total["win"] + total["draw"] / 2
    lines.append(f"A against B in {len(games)} games: {_wdl(total)} = {100 * points / len(games):.1f} % ({colours})")
    if sum(score.pairs):
        elo = estimate(score.pairs)
        lines.append(
            f"Elo difference {elo.difference:+.0f}{f' +- {elo.margin:.0f}' if isfinite(elo.margin) else ''} "
            f"(95 %: {elo.low:+.0f} to {elo.high:+.0f}), "
            f"likelihood of superiority {100 * superiority(score.pairs):.1f} %"
        )
        lines.append(f"from {sum(score.pairs)} pairs with 0, 1/2, 1, 3/2, 2 points: {' '.join(map(str, score.pairs))}")
        if score.repeated:
            lines.append(f"{score.repeated} pairs repeat another, move by move, and do not count")
    if sprt is not None:
        low, high = sprt.bounds
        verdict = sprt.verdict(score.pairs)
        lines.append(
            f"SPRT of {sprt.elo0:g} against {sprt.elo1:g} Elo: LLR {sprt.llr(score.pairs):+.2f} "
            f"({low:+.2f} to {high:+.2f}), "
            + ("undecided" if verdict is None else f"accepted {getattr(sprt, verdict):g}")
        )
    endings = Counter(game["ending"] for game in games.values())
    lines.append("endings: " + ", ".join(f"{ending} {count}" for ending, count in endings.most_common()))
    for side in SIDES:
        overruns = [ms for game in games.values() for _, late, ms in game["overruns"] if late == side]
        if overruns:
            lines.append(f"{side} overran its time {len(overruns)} times, by {max(overruns)} ms at most")
    return "\n".join(lines)


def standing(games: Mapping[int, Mapping[str, Any]]) -> str:
    """The same in a few words, for a progress bar."""
    score = Score(games)
    elo = f", Elo {estimate(score.pairs).difference:+.0f}" if sum(score.pairs) else ""
    return f"A {_wdl(score.total)}{elo}"


def _wdl(counts: Mapping[str, int]) -> str:
    return f"+{counts.get('win', 0)} ={counts.get('draw', 0)} -{counts.get('loss', 0)}"


def describe(limit: Limit) -> str:
    if limit.nodes:
        return f"{limit.nodes} nodes a move"
    if limit.increment_ms:
        return f"{limit.main_ms} ms + {limit.increment_ms} ms a move"
    return (
        f"{limit.main_ms} ms, then {limit.byoyomi_ms} ms a move" if limit.main_ms else f"{limit.byoyomi_ms} ms a move"
    )
