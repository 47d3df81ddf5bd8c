"""What people at a terminal may ask, beside what GUIs send: the board, legal moves, `eval`, `bench`, `perft`, options.

Each question is answered by lines, until its clock is stopped. It raises PlayerError where there is no answer.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from pydlshogi.game import PlayedPosition
from pydlshogi.player.base_player import BasePlayer, PlayerError
from pydlshogi.player.clock import Clock
from pydlshogi.player.options import EngineOptions, UnknownOption

_HELP: Final = """\
usi, isready, usinewgame, setoption name N value V, quit: as every GUI sends them
position startpos [moves ...], position sfen ...
go [btime MS wtime MS] [byoyomi MS] [binc MS winc MS] [movetime MS] [nodes N] [infinite] [ponder] [searchmoves ...]
go mate [MS], go perft N, stop, ponderhit, gameover win|lose|draw
d: the board; sfen; key; moves: the legal ones; eval: what the network thinks
getoption [N]; bench [SECONDS]; perft N; license; help"""

_LICENSE: Final = """\
Copyright the pydlshogi authors. This program is free software: you can redistribute it and/or modify it under the
terms of version 3 of the GNU General Public License. It comes with no warranty. See the file LICENSE."""


def _describe(position: PlayedPosition) -> Iterator[str]:
    yield from position.describe()
    yield f"sfen {position.sfen()}"


def _legal_moves(position: PlayedPosition) -> str:
    return " ".join(position.usi(move) for move in position.legal_moves().tolist())


def _get_option(options: EngineOptions, name: str) -> Iterator[str]:
    """One option, or all."""
    for each in [name] if name else [option.usi_name for option in options.declared()]:
        try:
            yield f"{options.find(each).usi_name} {options.get(each)}"
        except UnknownOption:
            raise PlayerError(f"there is no option {each}") from None


def _perft(position: PlayedPosition, text: str, clock: Clock) -> Iterator[str]:
    """The leaves of the tree of legal moves at a depth of at most 99: by first move, and in all."""
    if not text.isdecimal():
        raise PlayerError("perft wants a depth")
    depth = min(int(text[:3]), 99)

    def leaves(depth: int) -> int:
        if depth <= 0 or clock.stopped:
            return 1
        moves = position.legal_moves()
        if depth == 1:
            return len(moves)
        count = 0
        for move in moves.tolist():
            position.push(move)
            count += leaves(depth - 1)
            position.pop()
        return count

    total = 0
    for move in position.legal_moves().tolist() if depth else ():
        usi = position.usi(move)
        position.push(move)
        count = leaves(depth - 1)
        position.pop()
        if clock.stopped:
            return
        total += count
        yield f"{usi}: {count}"
    yield f"total: {total if depth else 1}"


OF_PLAYER: Final[Mapping[str, Callable[[BasePlayer, PlayedPosition, str, Clock], Iterable[str]]]] = {
    "eval": lambda player, position, _text, _clock: player.evaluate(position),
    "bench": lambda player, position, text, clock: player.bench(position, text.split(), clock),
}
"""By command: what only a player that has loaded can answer, given what follows the command."""

_SetUp: TypeAlias = Callable[[], PlayedPosition]
OTHERS: Final[Mapping[str, Callable[[EngineOptions, _SetUp, str, Clock], Iterable[str]]]] = {
    "d": lambda _options, set_up, _text, _clock: _describe(set_up()),
    "sfen": lambda _options, set_up, _text, _clock: [set_up().sfen()],
    "key": lambda _options, set_up, _text, _clock: [f"{set_up().key():016x}"],
    "moves": lambda _options, set_up, _text, _clock: [_legal_moves(set_up())],
    "perft": lambda _options, set_up, text, clock: _perft(set_up(), text, clock),
    "getoption": lambda options, _set_up, text, _clock: _get_option(options, text),
    "help": lambda options, _set_up, _text, _clock: [*_HELP.splitlines(), "", *options.help_lines()],
    "license": lambda _options, _set_up, _text, _clock: _LICENSE.splitlines(),
}
"""By command: what can be answered at once, given what sets up the position, and what follows the command."""
