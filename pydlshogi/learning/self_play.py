"""Self-play: a set of games side by side, all their positions in one batch, each game in a tree of its own."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from pydlshogi.entry import GameEntry
from pydlshogi.game import PlayedPosition
from pydlshogi.learning.forest import many_trees, over, score_of_mover
from pydlshogi.learning.moves import Chooser
from pydlshogi.learning.played import Episode, PlayedGames, Sample, packed_games
from pydlshogi.learning.settings import SelfPlay
from pydlshogi.uct.batch import Batch, Evaluator
from pydlshogi.uct.root import Root

_MOST_OF_A_TREE: Final = 8
"""Playouts of one game in one batch, once the last games of a set are alone."""


@dataclass
class _Board:
    """A game under way."""

    position: PlayedPosition
    opening: int
    """How many of its first moves are not learned."""
    may_resign: bool
    moves: list[int] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    gave_up: int | None = None

    @property
    def side(self) -> int:
        return len(self.moves) % 2

    def push(self, move: int) -> None:
        self.position.push(move)
        self.moves.append(move)


class SelfPlayers:
    """Plays sets of games, one after the other, in the same trees."""

    def __init__(self, game: GameEntry, evaluator: Evaluator, settings: SelfPlay) -> None:
        self._game = game
        self._evaluator = evaluator
        self._settings = settings
        self._trees = min(settings.games, settings.side_by_side)
        encoding = evaluator.encoding
        assert encoding is not None, "what is learned is packed"
        self._search = many_trees(game, encoding, settings.puct(), settings.playouts, self._trees, settings.draw_ply)
        self._batch = Batch(self._trees, game.rules.most_moves, encoding)
        self._chooser = Chooser(game.rules, encoding, self._search, self._trees, settings.policy_temperature)

    def play(self, seed: tuple[int, ...]) -> PlayedGames:
        """A set of games, which `seed` decides, together with the evaluator and the settings."""
        rng = np.random.default_rng(seed)
        settings, search, decisions = self._settings, self._search, self._chooser.decisions
        search.clear()
        boards = [self._new_board(rng) for _ in range(self._trees)]
        ended: list[Episode] = []
        targets = np.zeros(self._trees, np.int32)
        fresh = np.ones(self._trees, np.bool_)
        alive = np.ones(self._trees, np.bool_)
        for tree, board in enumerate(boards):
            targets[tree] = self._begin(tree, board, rng)
        while alive.any():
            self._batch.clear()
            each = min(_MOST_OF_A_TREE, self._trees // int(alive.sum()))
            leaves = search.gather(self._batch, alive.astype(np.int32) * each)
            search.backup(leaves, self._evaluator.evaluate(self._batch))
            expanded, visits, proven = search.standings()
            new = np.flatnonzero(alive & fresh & expanded)
            fresh[new] = False
            self._chooser.explore(new[decisions.full[new]], settings.noise, settings.noise_total, rng)
            done = np.flatnonzero(alive & expanded & ((visits >= targets) | proven))
            decisions.draws[done] = rng.random(len(done))
            self._chooser.decide(done)
            for tree in done.tolist():
                if not self._move(tree, boards[tree], exact=bool(proven[tree])):
                    ended.append(self._ended(boards[tree]))
                    alive[tree] = len(ended) + alive.sum() <= settings.games
                    if not alive[tree]:
                        continue
                    boards[tree] = self._new_board(rng)
                targets[tree] = self._begin(tree, boards[tree], rng)
                fresh[tree] = True
        return packed_games(ended, self._batch.packed.shape[1])

    def _new_board(self, rng: np.random.Generator) -> _Board:
        settings = self._settings
        may_resign = settings.resign > 0 and rng.random() >= settings.play_on
        while True:
            opening = int(rng.exponential(settings.opening_plies)) if settings.opening_plies else 0
            board = _Board(self._game.position(draw_ply=settings.draw_ply), opening, may_resign)
            left = rng.binomial(opening, settings.opening_random)
            while left and not self._over(board):
                board.push(int(rng.choice(board.position.legal_moves())))
                left -= 1
            if not self._over(board):
                return board

    def _begin(self, tree: int, board: _Board, rng: np.random.Generator) -> int:
        """Search the next move of a game; returns how many visits its root is to get, with those it has already."""
        settings, decisions, ply = self._settings, self._chooser.decisions, len(board.moves)
        self._search.set_root(board.position, tree=tree)
        decisions.opening[tree], decisions.full[tree] = ply < board.opening, False
        if ply < board.opening:
            return 0
        cooled = 0.5 ** (ply / settings.halflife)
        temperature = settings.final_temperature + cooled * (settings.temperature - settings.final_temperature)
        decisions.sharpness[tree] = 1 / temperature
        decisions.full[tree] = full = bool(rng.random() < settings.full_share)
        return Root(self._search, tree).visits + (settings.playouts if full else settings.cheap_playouts)

    def _move(self, tree: int, board: _Board, *, exact: bool) -> bool:
        """Play the move that was chosen, and note what it teaches. Returns whether the game goes on."""
        settings, found, ply = self._settings, self._chooser.decisions, len(board.moves)
        value = float(found.value[tree])
        if found.full[tree]:
            learned = slice(found.learned[tree])
            labels, weights = found.labels[tree, learned].copy(), found.weights[tree, learned].copy()
            board.samples.append(Sample(found.packed[tree].copy(), labels, weights, value, exact, ply))
        if settings.resign and ply >= board.opening and value < settings.resign:
            board.gave_up = board.side if board.gave_up is None else board.gave_up
            if board.may_resign:
                return False
        board.push(int(found.move[tree]))
        return not self._over(board)

    def _over(self, board: _Board) -> bool:
        return over(board.position, foreseen=not self._settings.until_mated)

    def _ended(self, board: _Board) -> Episode:
        if board.gave_up is not None and board.may_resign:
            value = 0.0 if board.gave_up == board.side else 1.0
        else:
            value = score_of_mover(board.position)
        score = value if board.side == 0 else 1 - value
        return Episode(board.moves, board.samples, score, None if board.may_resign else board.gave_up)
