"""A game of Othello at a terminal: `python -m pydlshogi.protocols.play`

Moves are written `f5`, or `5,6`: row and column, as in IaGo. With --auto the engine plays both sides.
"""

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from typing import Final

from pydlshogi.games.othello.position import OthelloPosition
from pydlshogi.games.othello.rules import PASS, Position, parse_move
from pydlshogi.games.othello.transcript import transcript
from pydlshogi.player.base_player import Info
from pydlshogi.protocols.gtp import played
from pydlshogi.protocols.loaded_engine import LoadedEngine, add_engine_options, discs_of, engine_of
from pydlshogi.support.command_line import exit_status, parser_for

HELP: Final = """\
f5 or 5,6   play there (column and row, or row, column)
hint [N]    what the engine would play, and by how many discs the side to move would win
undo        take your last move back
quit        end the game here"""

_ROW_AND_COLUMN: Final = re.compile(r"([1-8])\s*,\s*([1-8])")


class PersonLeft(Exception):
    """The person has left the table."""


class TerminalGame:
    """One game between a person and an engine, or of an engine with itself."""

    def __init__(
        self,
        engine: LoadedEngine,
        person: frozenset[bool],
        ask: Callable[[str], str],
        tell: Callable[[str], None],
    ) -> None:
        """`person`: the colours that a person plays, True being Black. `ask` takes a prompt and returns a line; it may
        raise EOFError. `tell` shows a text.
        """
        self._engine, self._person = engine, person
        self._ask, self._tell = ask, tell
        self.moves: list[int] = []
        self._positions = [OthelloPosition()]

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self._positions[-1].now

    def play(self) -> None:
        """Play to the end. Raises PersonLeft."""
        self._show()
        while not self.position.over:
            mover = _colour(self.position.black_to_move)
            if self.position.moves() == [PASS]:
                self._tell(f"{mover} must pass.")
                self._make(PASS)
            elif self.position.black_to_move in self._person:
                self._make(self._asked(mover))
            else:
                answer = self._engine.ask(self._positions[-1])
                self._tell(f"{mover} plays {_described(answer.lines[0])}")
                self._make(parse_move(answer.move))
            self._show()
        self._tell(self.result())

    def result(self) -> str:
        """Who has won, or that nobody has yet."""
        position = self.position
        if not position.over:
            return "The game is not over."
        lead = position.lead
        return f"{_colour(lead > 0)} wins by {abs(lead)}." if lead else "A draw."

    def _show(self) -> None:
        self._tell("\n".join(self._positions[-1].describe()))

    def _make(self, move: int) -> None:
        self._positions.append(played(self._positions[-1], move))
        self.moves.append(move)

    def _asked(self, mover: str) -> int:
        """The move of a person, after all that came before it."""
        while True:
            try:
                words = self._ask(f"{mover}> ").split()
            except EOFError as error:
                raise PersonLeft from error
            match words:
                case []:
                    continue
                case ["help" | "?"]:
                    self._tell(HELP)
                case ["quit" | "exit" | "resign"]:
                    raise PersonLeft
                case ["undo"]:
                    self._undo()
                case ["hint", *count] if len(count) < 2:
                    self._hint(count)
                case _:
                    move = _move("".join(words))
                    if move in self.position.moves():
                        return move
                    self._tell("That is no legal move; they are marked with +, and `help` says what else can be said.")
            mover = _colour(self.position.black_to_move)

    def _undo(self) -> None:
        """Back to where the person had to choose the last time."""
        for ply in reversed(range(len(self.moves))):
            before = self._positions[ply].now
            if before.black_to_move in self._person and before.moves() != [PASS]:
                del self.moves[ply:], self._positions[ply + 1 :]
                self._show()
                return
        self._tell("There is nothing to take back.")

    def _hint(self, count: Sequence[str]) -> None:
        most = int(count[0][:3]) if count and count[0].isdecimal() else 1
        for info in self._engine.ask(self._positions[-1], lines=max(1, most)).lines:
            self._tell(_described(info))


def _move(text: str) -> int | None:
    """The move that a person has written; None: it is none."""
    if found := _ROW_AND_COLUMN.fullmatch(text):
        return 8 * (int(found[1]) - 1) + int(found[2]) - 1
    try:
        return parse_move(text)
    except ValueError:
        return None


def _colour(black: bool) -> str:
    return "Black (X)" if black else "White (O)"


def _described(info: Info) -> str:
    discs = discs_of(info)
    if discs is None:
        return info.pv[0]
    kind = "exactly" if info.exact else f"at depth {info.depth}" if info.depth else "as registered"
    return f"{info.pv[0]}, {discs:+.1f} discs {kind}: {' '.join(info.pv)}"


def log_lines(game: TerminalGame, names: tuple[str, str]) -> str:
    """Two lines of a file of transcripts: a comment, and the moves."""
    return f"# {date.today()} {names[0]} - {names[1]}: {game.result()}\n{transcript(game.moves)}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_for("pydlshogi.protocols.play", "Play Othello at a terminal.", HELP)
    sides = parser.add_mutually_exclusive_group()
    sides.add_argument("--white", action="store_true", help="you have White, and the engine begins")
    sides.add_argument("--auto", action="store_true", help="the engine plays both sides")
    parser.add_argument("--log", type=Path, help="append the game to this file of transcripts")
    add_engine_options(parser)
    options = parser.parse_args(arguments)
    person: frozenset[bool] = frozenset() if options.auto else frozenset([not options.white])

    def run() -> None:
        engine = engine_of(options)
        game = TerminalGame(engine, person, input, print)
        with options.log.open("a", encoding="utf-8") if options.log else nullcontext() as log:
            try:
                game.play()
            except PersonLeft:
                print(f"\n{game.result()}")
            finally:
                if log and game.moves:
                    black, white = ("you" if black in person else engine.name for black in (True, False))
                    log.write(log_lines(game, (black, white)))
                # Before the log is on the disk, which may be full; and if nobody reads this any more, the log is.
                print(transcript(game.moves))

    return exit_status("othello", run)


if __name__ == "__main__":
    sys.exit(main())
