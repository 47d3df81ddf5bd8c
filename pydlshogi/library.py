"""pydlshogi for programs in Python: `from pydlshogi import Engine, analyse, read`."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from queue import SimpleQueue
from typing import Any, Self
from weakref import finalize

from pydlshogi.analysis_server.pool import Answer, Pool, Question
from pydlshogi.analysis_server.server import VISITS
from pydlshogi.games.shogi.kifu.game import Game
from pydlshogi.games.shogi.read_kifu import read
from pydlshogi.player.base_player import PlayerError

__all__ = ["Answer", "Engine", "Game", "analyse", "read"]


class Engine:
    """The engines of all games, loaded when they are first asked. Close it, or use it in a `with` statement."""

    def __init__(self, searches: int = 1, **options: object) -> None:
        """`searches`: how many at once. `options`: see docs/play.md, as modelfile="net.npz". Raises OptionError."""
        self.pool = Pool(searches, {name: str(value) for name, value in options.items()})
        # A program that forgets to close it does not wait for a search at its end.
        finalize(self, self.pool.close, cancel=True)

    def ask(
        self, moves: Sequence[str] | Game = (), start: str | None = None, game: str = "shogi", **wanted: Any
    ) -> Answer:
        """What is thought of the position after `moves` from `start`, None for the usual one. Raises PlayerError.

        `moves`: as USI writes them, or a whole game as `read` gives it.
        `wanted`: fields of `Question`, such as visits=500, time=1000 (milliseconds), lines=3, policy=True.

        >>> with Engine(Backend="hash", Threads=1) as engine:
        ...     answer = engine.ask(["7g7f"], visits=20, lines=600, policy=True)
        >>> len(answer.policy), answer.lines[0].nodes
        (30, 20)
        """
        if isinstance(moves, Game):
            start, moves = moves.start_sfen, moves.usi
        if wrong := [move for move in moves if not isinstance(move, str)]:
            raise PlayerError(f"{wrong[0]!r} is no move in USI; those of a record are in its `usi`")
        if not wanted.keys() & {"visits", "time", "opponent"}:
            wanted["visits"] = VISITS
        return next(self.ask_all([Question(game, start, tuple(moves), **wanted)]))

    def ask_all(self, questions: list[Question]) -> Generator[Answer]:
        """The answers in the order of the questions. Raises PlayerError."""
        heard = [SimpleQueue[Answer]() for _ in questions]
        tasks = [self.pool.ask(question, queue.put) for question, queue in zip(questions, heard, strict=True)]
        try:
            for queue in heard:
                while not (answer := queue.get()).final:
                    pass
                if answer.error:
                    raise PlayerError(answer.error)
                yield answer
        finally:
            for task in tasks:
                self.pool.cancel(task)

    def close(self) -> None:
        self.pool.close(cancel=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def analyse(
    engine: Engine, game: Game, visits: int = 200, *, lines: int = 1, policy: bool = False
) -> Generator[Answer]:
    """What is thought of every position of a game of shogi, from its start to its end. Raises PlayerError."""
    question = Question("shogi", game.start_sfen, game.usi, visits=visits, lines=lines, policy=policy)
    return engine.ask_all([replace(question, after=plies) for plies in range(len(game.moves) + 1)])
