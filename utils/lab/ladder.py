"""How strong the skill levels of a game are: games of neighbours and against simple players, on one scale of Elo.

Anybody can build the simple players: `random` plays any move, `capture` takes something where it can, `1 ply` plays
for the most material after its move, `2 plies` after the best reply. Each opening of a few random moves is played twice
with colours changed.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import pairwise
from random import Random
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from tqdm import tqdm

from pydlshogi.catalogue import GAMES, engine_named
from pydlshogi.entry import Opponent
from pydlshogi.game import PlayedPosition
from pydlshogi.player.ask import ask
from pydlshogi.player.base_player import BasePlayer
from pydlshogi.player.clock import Clock, Limits
from pydlshogi.player.options import apply_settings
from pydlshogi.support.command_line import exit_status, parser_for
from pydlshogi.support.elo import Z95

Choose: TypeAlias = Callable[[PlayedPosition], str]
"""A player: its move, "resign" or "win"."""

LEVELS: Final = tuple(range(0, 20, 2))
OPENING_PLIES: Final = {"shogi": 6, "dobutsu": 2, "othello": 4}
LONGEST: Final = 320
"""Plies after which a game is drawn."""
VALUES: Final = {
    "shogi": {"P": 1, "L": 3, "N": 3, "S": 5, "G": 6, "B": 8, "R": 10, "K": 1000},
    "dobutsu": {"P": 1, "B": 3, "R": 3, "K": 1000},
    "othello": {"D": 1},
}
"""Of pieces, by their letters in an sfen."""
PROMOTED: Final = 3
"""What a promoted piece is worth more."""
VIRTUAL: Final = 1.0
"""Drawn games added to each pairing, so that no difference is infinite."""


class Played(NamedTuple):
    """One game."""

    black: str
    white: str
    score: float
    """Black's: 0, 0.5 or 1."""


class Rated(NamedTuple):
    """A player on the scale."""

    elo: float
    margin: float
    """Half the 95 % interval."""


class Simple:
    """A player that sees material, and two plies ahead at most."""

    def __init__(self, game: str, plies: int, rng: Random, *, greedy: bool = False) -> None:
        """0 plies: any move will do; `greedy`: any that wins something."""
        self._values, self._plies, self._rng, self._greedy = VALUES[game], plies, rng, greedy

    def __call__(self, position: PlayedPosition) -> str:
        moves: list[int] = position.legal_moves().tolist()
        if self._plies:
            worth = {move: self._worth(position, move, self._plies) for move in moves}
            least = self._balance(position) + 1 if self._greedy else max(worth.values())
            moves = [move for move in moves if worth[move] >= least] or moves
        return position.usi(self._rng.choice(moves))

    def _worth(self, position: PlayedPosition, move: int, plies: int) -> float:
        """For who makes the move."""
        position.push(move)
        replies = position.legal_moves().tolist() if plies > 1 else []
        worst = max((self._worth(position, reply, plies - 1) for reply in replies), default=self._balance(position))
        position.pop()
        return -worst

    def _balance(self, position: PlayedPosition) -> float:
        """What the side to move has more than the other."""
        board, _, hands, *_ = position.sfen().split()
        pieces = [(letter, PROMOTED if plus else 0, 1) for plus, letter in re.findall(r"(\+?)([A-Za-z])", board)]
        pieces += [(letter, 0, int(count or 1)) for count, letter in re.findall(r"(\d*)([A-Za-z])", hands)]
        black = sum(
            (self._values[letter.upper()] + more) * count * (1 if letter.isupper() else -1)
            for letter, more, count in pieces
        )
        return -black if position.turn else black


class Engined:
    """An opponent of the board."""

    def __init__(self, player: BasePlayer, opponent: Opponent) -> None:
        self._player, self._options = player, copy(player.options)
        apply_settings(self._options, opponent.settings)
        self._limits = Limits(movetime=opponent.movetime)

    def __call__(self, position: PlayedPosition) -> str:
        player = self._player
        player.options = self._options
        player.new_game()  # or it would know what another one has looked at
        return ask(player, position, Clock(self._limits)).move


def players_of(game: str, opponents: Mapping[str, Opponent], rng: Random) -> dict[str, Choose]:
    """The simple ones, then the opponents, the weakest first. Raises PlayerError."""
    simple: dict[str, Choose] = {"random": Simple(game, 0, rng), "capture": Simple(game, 1, rng, greedy=True)}
    simple |= {"1 ply": Simple(game, 1, rng), "2 plies": Simple(game, 2, rng)}
    players = {}
    for name in {opponent.engine for opponent in opponents.values()}:
        engine = engine_named(game, name)
        apply_settings(engine.options, {"Threads": "1", "USI_Hash": "16", "Resign_Threshold": "0"})
        players[name] = engine.load()
        players[name].prepare()
    return simple | {name: Engined(players[each.engine], each) for name, each in opponents.items()}


def pairings(names: Sequence[str], levels: int) -> Iterator[tuple[str, str]]:
    """Neighbours, the next but one, and every level against every simple player."""
    simple, ladder = names[: len(names) - levels], names[len(names) - levels :]
    for rungs in (simple, ladder):
        yield from pairwise(rungs)
        yield from zip(rungs, rungs[2:], strict=False)
    yield from ((anchor, level) for anchor in simple for level in ladder)


def play(start: PlayedPosition, opening: Sequence[int], black: Choose, white: Choose) -> float:
    """Black's score."""
    position = start.copy()
    for move in opening:
        position.push(move)
    for _ in range(LONGEST):
        ending = position.ending()
        if ending is not None:
            return 0.5 if ending.winner is None else 1.0 - ending.winner
        turn = position.turn
        chosen = (black, white)[turn](position)
        if chosen in ("resign", "win"):
            return float(turn == (chosen == "resign"))
        position.push(position.move_from_usi(chosen))
    return 0.5


def random_opening(game: str, start: PlayedPosition, rng: Random) -> list[int]:
    """Random moves after which nobody wins at once: else both games of a pair would be decided by it."""
    position, moves = start.copy(), list[int]()
    while len(moves) < OPENING_PLIES[game] and position.ending() is None:
        moves.append(rng.choice(position.legal_moves().tolist()))
        position.push(moves[-1])
    replies = position.legal_moves().tolist()
    decided = not replies or any(_ends(position, reply) for reply in replies)
    return random_opening(game, start, rng) if decided else moves


def _ends(position: PlayedPosition, move: int) -> bool:
    position.push(move)
    ending = position.ending()
    position.pop()
    return ending is not None


def rate(games: Sequence[Played]) -> dict[str, Rated]:
    """Bradley and Terry's ratings, where a draw is half a win; the average of all players is 0."""
    names = sorted({name for game in games for name in game[:2]})
    size = len(names)
    count, points = np.zeros((size, size)), np.zeros((size, size))
    for game in games:
        black, white = names.index(game.black), names.index(game.white)
        for first, second, score in ((black, white, game.score), (white, black, 1 - game.score)):
            count[first, second] += 1
            points[first, second] += score
    points += VIRTUAL / 2 * (count > 0)
    count += VIRTUAL * (count > 0)
    ratings = np.zeros(size)  # in natural units: a difference of 1 wins 73 %
    while True:
        expected = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))
        weights = count * expected * (1 - expected)
        information = np.diag(weights.sum(1)) - weights
        covariance = np.linalg.pinv(information)
        step = covariance @ (points - count * expected).sum(1)
        ratings += np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-6:
            break
    elo = 400 / np.log(10)
    margins = Z95 * np.sqrt(np.diag(covariance))
    return {name: Rated(elo * ratings[i], elo * margins[i]) for i, name in enumerate(names)}


def table(games: Sequence[Played], names: Sequence[str]) -> str:
    """A row for each player, the strongest last; Elo is counted from `random`."""
    ratings = rate(games)
    simple = names[:4]
    lines = [f"| | Elo | {' | '.join(simple)} |", "|---" * (len(simple) + 2) + "|"]
    for name in sorted(ratings, key=lambda name: ratings[name].elo):
        elo, margin = ratings[name]
        scores = [_score(games, name, other) for other in simple]
        lines.append(f"| {name} | {elo - ratings['random'].elo:+.0f} ± {margin:.0f} | {' | '.join(scores)} |")
    return "\n".join(lines)


def _score(games: Sequence[Played], name: str, other: str) -> str:
    """Points of games; empty where they have not met."""
    own = [game.score for game in games if game[:2] == (name, other)]
    own += [1 - game.score for game in games if game[:2] == (other, name)]
    return f"{sum(own):g} / {len(own)}" if own else ""


def climb(arguments: argparse.Namespace) -> None:
    """Play all games, and print the table."""
    game, rng, games = arguments.game, Random(arguments.seed), list[Played]()
    opponents = {f"level {level}": Opponent("mcts", {"Skill_Level": str(level)}) for level in arguments.levels}
    opponents |= {name: GAMES[game].opponents[name] for name in arguments.opponents}
    players, start = players_of(game, opponents, rng), GAMES[game].position()
    for pair in tqdm([*pairings([*players], len(opponents))], unit="pairing", disable=None):
        for number in range(arguments.games):
            opening = random_opening(game, start, Random(f"{arguments.seed} {number // 2}"))
            first, second = pair if number % 2 == 0 else pair[::-1]
            games.append(Played(first, second, play(start, opening, players[first], players[second])))
    print(table(games, [*players]))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("utils.lab.ladder", __doc__.splitlines()[0])
    parser.add_argument("game", choices=[*GAMES])
    parser.add_argument("--levels", type=int, nargs="+", default=LEVELS, metavar="N", help="of Skill_Level, 0 to 20")
    parser.add_argument(
        "--opponents", nargs="+", default=(), metavar="NAME", help="of the board, stronger than the levels"
    )
    parser.add_argument("--games", type=int, default=20, help="of each pairing, an even number")
    parser.add_argument("--seed", type=int, default=1)
    return exit_status("ladder", partial(climb, parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
