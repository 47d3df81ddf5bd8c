"""The games that the board and the analysis server offer: their engines, opponents by name, and how they end in words.

Another game is another entry of `GAMES`. Light: what an entry needs is imported when it is used.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from pydlshogi.engines import dobutsu, othello, shogi
from pydlshogi.player.base_player import Engine, PlayedPosition
from pydlshogi.player.clock import Limits


class Opponent(NamedTuple):
    """An engine at some strength."""

    engine: str
    """One of those of the game."""
    settings: Mapping[str, str] = {}
    """Of its options, by name."""
    limits: Limits = Limits()
    """What a move may cost."""


class GameEnd(NamedTuple):
    """How a game ended."""

    reason: str
    winner: int | None
    """0 Black, 1 White, None nobody."""


class OfferedGame(NamedTuple):
    """A game, as the board and the analysis server see it."""

    engines: Mapping[str, Callable[[], Engine]]
    """The first is the one that analyses."""
    opponents: Mapping[str, Opponent]
    """The weakest first."""
    starts: Mapping[str, str | None]
    """Where a game may begin, as `Engine.set_up` takes it: the usual start first, then handicaps."""
    ending: Callable[[PlayedPosition], GameEnd | None]
    """How the game has ended with the last move; None: it goes on."""
    may_declare: Callable[[PlayedPosition], bool]
    """The side to move may win without a move."""
    judged_visits: int = 200
    """For each position of a game that is analysed as a whole."""
    judged_lines: int = 5
    """Candidates looked for then. A search of visits has them all anyway; one of alpha-beta does not."""
    has_policy: bool = True
    """The engine that analyses has an opinion of moves without a search."""
    in_discs: bool = False
    """Its evaluations are hundredths of a disc."""


def _searching(seconds: float) -> dict[str, Opponent]:
    """Opponents that search, from one for beginners to one that takes so many seconds a move."""
    levels = {
        name: Opponent("mcts", {"Skill_Level": str(skill)})
        for name, skill in (("beginner", 1), ("easy", 4), ("medium", 8), ("hard", 14))
    }
    return levels | {"full strength": Opponent("mcts", {}, Limits(movetime=round(1000 * seconds)))}


def _shogi_ending(position: PlayedPosition) -> GameEnd | None:
    from pydlshogi.games.shogi.position import ShogiPosition

    assert isinstance(position, ShogiPosition)
    if not len(position.legal_moves()):
        return GameEnd("mate", 1 - position.turn)
    repeated = position.fourfold()
    if repeated is None:
        return None
    if repeated.value == 0.5:
        return GameEnd("repetition", None)
    return GameEnd("perpetual check", position.turn if repeated.value else 1 - position.turn)


def _shogi_declares(position: PlayedPosition) -> bool:
    from pydlshogi.games.shogi.position import ShogiPosition

    return isinstance(position, ShogiPosition) and position.declares()


def _dobutsu_ending(position: PlayedPosition) -> GameEnd | None:
    from pydlshogi.games.dobutsu.position import DobutsuPosition

    assert isinstance(position, DobutsuPosition)
    if not len(position.legal_moves()):
        board, _, _, _ = position.sfen().split()
        tried = ("k" if position.turn else "K") in board
        return GameEnd("try" if tried else "lion caught", 1 - position.turn)
    return GameEnd("repetition", None) if position.threefold() else None


def _othello_ending(position: PlayedPosition) -> GameEnd | None:
    outcome = position.outcome()
    if outcome is None:
        return None
    full = not any(letter.isdigit() for letter in position.sfen().split()[0])
    where = "" if full else ", both pass"
    if outcome.value == 0.5:
        return GameEnd(f"equal discs{where}", None)
    return GameEnd(f"more discs{where}", position.turn if outcome.value > 0.5 else 1 - position.turn)


GAMES: Final[dict[str, OfferedGame]] = {
    "shogi": OfferedGame(
        engines={"mcts": shogi.mcts, "policy": shogi.policy, "search1": shogi.search1},
        opponents=_searching(2) | {"policy only": Opponent("policy"), "one move ahead": Opponent("search1")},
        starts={
            "even": None,
            "lance handicap": "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "bishop handicap": "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "rook handicap": "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "rook and lance": "lnsgkgsn1/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "two pieces": "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "four pieces": "1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "six pieces": "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        },
        ending=_shogi_ending,
        may_declare=_shogi_declares,
    ),
    "dobutsu": OfferedGame(
        engines={"mcts": dobutsu.mcts},
        opponents=_searching(1),
        starts={"even": None},
        ending=_dobutsu_ending,
        may_declare=lambda _: False,
    ),
    "othello": OfferedGame(
        engines={"alphabeta": othello.alphabeta, "mcts": othello.mcts, "iago": othello.iago},
        opponents={
            name: Opponent(engine, {option: str(level)})
            for name, engine, option, level in (
                ("beginner", "mcts", "Skill_Level", 1),
                ("easy", "mcts", "Skill_Level", 6),
                ("medium", "alphabeta", "Level", 2),
                ("hard", "alphabeta", "Level", 6),
            )
        }
        | {
            name: Opponent(engine, {}, Limits(movetime=2000))
            for name, engine in (("network search", "mcts"), ("IaGo", "iago"), ("full strength", "alphabeta"))
        },
        starts={"even": None},
        ending=_othello_ending,
        may_declare=lambda _: False,
        judged_visits=20_000,
        judged_lines=1,
        has_policy=False,
        in_discs=True,
    ),
}
