"""What needs the player: a `go`, and the questions that only the player can answer."""

from typing import TypeAlias

from pydlshogi.player.base_player import BasePlayer, BestMove, Checkmate, any_move
from pydlshogi.player.clock import Clock
from pydlshogi.usi.board import Board
from pydlshogi.usi.clocks import Clocks
from pydlshogi.usi.output import Output, Voice
from pydlshogi.usi.questions import OF_PLAYER


class Go:
    """A `go`."""

    def __init__(self, clock: Clock, board: Board, clocks: Clocks, output: Output) -> None:
        self.clock = clock
        self._board = board
        self._game = board.game
        self._clocks = clocks
        self._output = output
        self._voice = Voice(output)

    def begin(self, player: BasePlayer) -> None:
        """Let the player answer. If it fails, that is said, and the answer is a legal move, or `timeout`."""
        answer: BestMove | Checkmate | None = None
        position = None
        if not self._game.refused:
            try:
                position = self._board.position(self._game)
                answer = player.search(position, self.clock, self._voice.report)
            except Exception as error:
                self._output.blame(error)
        self._answer(answer or self._any_move())
        if position is not None:
            player.answered(position, self.clock)

    def give_up(self) -> None:
        """Do what can be done without a player."""
        self._answer(self._any_move())

    def _any_move(self) -> BestMove | Checkmate:
        """What is answered without thinking."""
        limits = self.clock.limits
        if limits.mate:
            return Checkmate("timeout")
        if self._game.refused:
            return BestMove("resign")
        return any_move(self._board.position(self._game), limits.searchmoves)

    def _answer(self, answer: BestMove | Checkmate) -> None:
        """Say the answer as soon as it may be said."""
        self.clock.wait_until_released()
        self._clocks.searched(self.clock)
        self._voice.answer(answer)


class PlayerQuestion:
    """A question of people, such as `eval`."""

    def __init__(self, command: str, text: str, clock: Clock, board: Board, clocks: Clocks, output: Output) -> None:
        """`command`: a key of OF_PLAYER; `text`: what follows it."""
        self.clock = clock
        self._command, self._text = command, text
        self._board = board
        self._game = board.game
        self._clocks = clocks
        self._output = output

    def begin(self, player: BasePlayer) -> None:
        """Answer. Raises what the player raises."""
        try:
            position = self._board.position(self._game)
            for line in OF_PLAYER[self._command](player, position, self._text, self.clock):
                self._output.say(line)
        finally:
            self._clocks.answered(self.clock)

    def give_up(self) -> None:
        self._clocks.answered(self.clock)


Asked: TypeAlias = Go | PlayerQuestion
