"""Options of a USI engine, tuned by games against itself: paired openings, simultaneous perturbation (SPSA).

    python -m utils.lab.tune bat/mcts_player.sh C_init=70,30,300 C_fpu_reduction=37,0,60 \\
        --time 1000 --pairs 1000 --openings openings.sfen > pairs.jsonl

Each option has its start and the range that it may take. In every pair of games the engine plays against itself with
each option a little above or below its present value, at random, its opponent with the opposite; the values then move
towards the winner's. A finished pair is a line.

The steps are those of Spall (1998), with the exponents that he recommends and that chess engines are tuned by: in pair
k options are changed by c / k^0.101, and the values move by the result, -1 to 1, times a / (A + k)^0.602, in units of
that change; A is a tenth of all pairs. `--step` and `--rate` are what c and a have become at the end. Whether what is
found is stronger than the start, only a match of its own (utils.match) tells.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from math import floor, pow
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tqdm import tqdm

from pydlshogi.player.options import add_option_setting, option_settings
from pydlshogi.support import OneLineError
from pydlshogi.support.command_line import exit_status, natural, parser_for, pool_of, positive
from utils.arena.engines import EngineError, UsiEngine
from utils.arena.games import STANDARD, Opening, read_openings
from utils.arena.play_game import Limit, MatchRules, add_limits, play_game

_STEP_FALLS: Final = 0.101
_RATE_FALLS: Final = 0.602

Values = dict[str, float]


class Tuned(NamedTuple):
    """An option: its name, where it starts, and its range."""

    name: str
    start: int
    low: int
    high: int


@dataclass(frozen=True)
class Spsa:
    """How far options are changed in each pair, and their values moved after it."""

    tuned: tuple[Tuned, ...]
    pairs: int
    step: float
    """At the last pair, as a share of the option's range."""
    rate: float
    """At the last pair: see the module's docstring."""
    seed: int

    def signs(self, pair: int) -> list[int]:
        """For each option whether it is above (1) or below (-1) its value in pair 1, 2, ..."""
        return [Random(f"{self.seed} {pair} {option.name}").choice((-1, 1)) for option in self.tuned]

    def change(self, option: Tuned, pair: int) -> float:
        """How far it is changed."""
        return self.step * (option.high - option.low) * pow(self.pairs / pair, _STEP_FALLS)

    def options(self, values: Values, pair: int, side: int) -> dict[str, str]:
        """What one side plays with: 1 with the changes, -1 with the opposite. Rounded up or down at random."""
        result = {}
        for option, sign in zip(self.tuned, self.signs(pair), strict=True):
            wanted = values[option.name] + side * sign * self.change(option, pair)
            rounding = Random(f"{self.seed} {pair} {option.name} {side}").random()
            result[option.name] = str(floor(min(max(wanted, option.low), option.high) + rounding))
        return result

    def moved(self, values: Values, pair: int, points: float) -> Values:
        """The values after a pair that gave the changes `points`, 0 to 2."""
        shift = self.pairs / 10
        rate = self.rate * pow((shift + self.pairs) / (shift + pair), _RATE_FALLS)
        result = {}
        for option, sign in zip(self.tuned, self.signs(pair), strict=True):
            wanted = values[option.name] + rate * (points - 1) * sign * self.change(option, pair)
            result[option.name] = min(max(wanted, option.low), option.high)
        return result


class GamePair(NamedTuple):
    """Two games from one opening, each side once with the changes."""

    number: int
    opening: Opening
    options: tuple[Mapping[str, str], Mapping[str, str]]
    """With the changes, and with the opposite."""


@contextmanager
def duel(
    command: str, fixed: Mapping[str, str], limit: Limit, rules: MatchRules
) -> Iterator[Callable[[GamePair], float]]:
    """A task of a pool: pairs of games between two engines; how many points the changes made, 0 to 2."""
    with (
        TemporaryDirectory() as folder,
        closing(UsiEngine(command, Path(folder, "changed"))) as changed,
        closing(UsiEngine(command, Path(folder, "opposite"))) as opposite,
    ):
        for engine in (changed, opposite):
            engine.prepare(fixed)

        def play(pair: GamePair) -> float:
            for engine, options in zip((changed, opposite), pair.options, strict=True):
                engine.configure(options)
            points = 0.0
            for black, white in ((changed, opposite), (opposite, changed)):
                for engine in (black, white):
                    engine.new_game()
                played = play_game({"b": black, "w": white}, {"b": limit, "w": limit}, pair.opening, rules)
                if played.verdict.ending == "crash" or not (black.alive() and white.alive()):
                    settings = " against ".join(map(str, pair.options))
                    raise OneLineError(f"`{command}` died or fell silent in pair {pair.number}, {settings}")
                winner = played.verdict.winner
                points += 0.5 if winner is None else float((winner == "b") == (black is changed))
            return points

        yield play


def tune(arguments: argparse.Namespace) -> None:
    """Play all pairs, a line for each."""
    openings = read_openings(arguments.openings) if arguments.openings else [STANDARD]
    Random(arguments.seed).shuffle(openings)
    spsa = Spsa(tuple(arguments.tuned), arguments.pairs, arguments.step, arguments.rate, arguments.seed)
    rules = MatchRules(max_moves=arguments.max_moves)
    task = partial(duel, arguments.engine, option_settings(arguments.option), arguments.limit, rules)
    values: Values = {option.name: option.start for option in spsa.tuned}

    def pairs() -> Iterator[GamePair]:
        """Each is made when somebody is free to play it, from the values of that moment."""
        for number in range(1, spsa.pairs + 1):
            both = spsa.options(values, number, 1), spsa.options(values, number, -1)
            yield GamePair(number, openings[number % len(openings)], both)

    try:
        with pool_of(arguments.workers, None) as pool:
            played = pool.map(task, pairs())
            for pair, points in tqdm(played, total=spsa.pairs, unit="pair", disable=None):
                values = spsa.moved(values, pair.number, points)
                both = {"changed": pair.options[0], "opposite": pair.options[1]}
                print(json.dumps({"pair": pair.number, "points": points, **both, "values": values}), flush=True)
    except EngineError as error:
        raise OneLineError(f"engine `{arguments.engine}` {error}") from error


def _tuned(text: str) -> Tuned:
    name, _, numbers = text.partition("=")
    start, low, high = map(int, numbers.split(","))
    return Tuned(name, start, low, high)


def main(words: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.tune", __doc__)
    parser.add_argument("engine", help="command line of the engine")
    parser.add_argument("tuned", nargs="+", type=_tuned, metavar="NAME=START,LOW,HIGH", help="options to tune")
    add_option_setting(parser)
    limits = parser.add_mutually_exclusive_group(required=True)
    add_limits(limits.add_argument, about="of a move, as in utils.match")
    parser.add_argument("--pairs", type=positive, default=1000, help="pairs of games")
    parser.add_argument("--step", type=float, default=0.1, help="change of an option at the end, a share of its range")
    parser.add_argument("--rate", type=float, default=0.03, help="of a change, what a won pair moves at the end")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="as in utils.match (default: the start position)")
    parser.add_argument("--max-moves", type=positive, default=320, metavar="N", help="drawn then")
    parser.add_argument("--seed", type=int, default=0, help="of all that is random")
    parser.add_argument("--workers", type=natural, default=0, help="games at once; 0: one for each core")
    return exit_status("tune", partial(tune, parser.parse_intermixed_args(words)))


if __name__ == "__main__":
    sys.exit(main())
