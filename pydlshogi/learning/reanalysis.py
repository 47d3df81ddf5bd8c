"""Positions of old games searched anew: what the newest network has to say of them replaces what was learned."""

from dataclasses import replace
from typing import Any

import numpy as np

from pydlshogi.games.catalogue import Game
from pydlshogi.learning.forest import Forest
from pydlshogi.learning.played import Lesson, Played
from pydlshogi.learning.settings import SelfPlay
from pydlshogi.learning.targets import lesson_of, pruned_visits
from pydlshogi.uct.batch import Evaluator


def reanalysed(game: Game, evaluator: Evaluator, settings: SelfPlay, played: Played) -> Played:
    """The same games and results, with policies and expected scores by full searches of now [MuZero 2021]."""
    puct = settings.puct()
    forest = Forest(game, evaluator, puct, settings.playouts, settings.games, settings.draw_ply)
    positions = _positions(game, settings, played)
    lessons: list[Lesson] = []
    for first in range(0, len(positions), settings.games):
        part = dict(enumerate(positions[first : first + settings.games]))
        found = forest.search(part, settings.playouts)
        for tree, position in part.items():
            weights = pruned_visits(found[tree], puct)
            lessons.append(lesson_of(game, position, 0, forest.root(tree), found[tree], weights))
    return replace(
        played,
        firsts=np.cumsum([0, *(len(lesson.labels) for lesson in lessons)]),
        labels=np.concatenate([np.zeros(0, np.int32), *(lesson.labels for lesson in lessons)]),
        weights=np.concatenate([np.zeros(0, np.float32), *(lesson.weights for lesson in lessons)]),
        searched=np.array([lesson.searched for lesson in lessons], np.float32),
        exact=np.array([lesson.exact for lesson in lessons], np.float32),
    )


def _positions(game: Game, settings: SelfPlay, played: Played) -> list[Any]:
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
