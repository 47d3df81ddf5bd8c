"""Positions of old games searched anew: what the newest network has to say of them replaces what was learned."""

from dataclasses import replace

from pydlshogi.games.catalogue import GameEntry, LearnedPosition
from pydlshogi.learning.forest import Forest
from pydlshogi.learning.gumbel import improved_policy
from pydlshogi.learning.played import Lesson, PlayedGames, searched_columns
from pydlshogi.learning.settings import SelfPlay
from pydlshogi.learning.targets import lesson_of, pruned_visits
from pydlshogi.uct.batch import Evaluator


def reanalysed(game: GameEntry, evaluator: Evaluator, settings: SelfPlay, played: PlayedGames) -> PlayedGames:
    """The same games and results, with policies and expected scores by full searches of now [MuZero 2021]."""
    puct = settings.puct()
    forest = Forest(game, evaluator, puct, settings.playouts, settings.side_by_side, settings.draw_ply)
    positions = _positions(game, settings, played)
    lessons: list[Lesson] = []
    for first in range(0, len(positions), settings.side_by_side):
        part = dict(enumerate(positions[first : first + settings.side_by_side]))
        found = forest.search(part, settings.playouts)
        for tree, position in part.items():
            # Gumbel's policy is better than the priors whichever moves a search has looked at.
            weights = improved_policy(found[tree]) if settings.gumbel else pruned_visits(found[tree], puct)
            lessons.append(lesson_of(evaluator.encoding, position, 0, forest.root(tree), found[tree], weights))
    return replace(played, **searched_columns(lessons))


def _positions(game: GameEntry, settings: SelfPlay, played: PlayedGames) -> list[LearnedPosition]:
    """The positions that were learned, with their past."""
    positions = []
    for number, moves in enumerate(played.games()):
        wanted = set(played.plies[played.game == number].tolist())
        position = game.start(settings.draw_ply)
        for ply in range(len(moves) + 1):
            if ply in wanted:
                positions.append(position.copy())
            if ply < len(moves):
                position.push(moves[ply])
    return positions
