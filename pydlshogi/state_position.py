"""A `Position` over the compiled rules of any game: the states it has been through, one after the other."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, Self

import numpy as np

from pydlshogi.game import UNDECIDED, Outcome, Rules, outcome_of
from pydlshogi.support.arrays import Int32Array, Int64Array, Record, Records, Uint16Array, Uint64Array
from pydlshogi.support.kernels.compiled import compiled_for, rule_of_game


class StatePosition:
    """A position that moves forward and back over a list of states."""

    white_begins = False

    def __init__(self, rules: Rules, start: Record, ply: int, settings: Records) -> None:
        """Begin at the state `start` with move number `ply`. `settings`: one record of the rules' settings."""
        self.rules = rules
        self.settings = settings
        self._states = np.zeros(64, rules.state)
        self._states[0] = start
        self._count = 1
        self._moves: list[int] = []
        self._first_ply = ply
        self._kernels = _kernels_of(rules)

    @property
    def states(self) -> Records:
        return self._states[: self._count]

    @property
    def state(self) -> Record:
        """The present state."""
        return self._states[self._count - 1]

    @property
    def turn(self) -> int:
        """0: Black is to move, 1: White."""
        return self.white_begins ^ (self._count - 1) % 2

    def copy(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._states, twin._moves = self.states.view(np.uint8).copy().view(self.rules.state), self._moves.copy()
        return twin

    def push(self, move: int) -> None:
        self._make_room(1)
        self._kernels.play(self._states, self._count, move & 0xFFFF)
        self._count += 1
        self._moves.append(move)

    def _make_room(self, moves: int) -> None:
        """For the states after that many more moves."""
        if self._count + moves > len(self._states):
            states = np.zeros(2 * (self._count + moves), self.rules.state)
            states.view(np.uint8)[: self._states.nbytes] = self._states.view(np.uint8)  # numpy copies records slowly
            self._states = states

    def pop(self) -> None:
        self._count -= 1
        self._moves.pop()

    def last_move(self) -> int:
        """The move that led here. IndexError at the start."""
        return self._moves[-1]

    def legal_moves(self) -> Int32Array:
        moves = np.empty(self.rules.most_moves, np.uint16)
        return moves[: self._kernels.legal_moves(self.states, moves)].astype(np.int32)

    def outcome(self) -> Outcome | None:
        """The verdict of the rules; on a position that has occurred before that on repetition."""
        return self._judged(self.states)

    def _judged(self, states: Records) -> Outcome | None:
        """The verdict on the last of these states, the present one."""
        moves = np.empty(self.rules.most_moves, np.uint16)
        verdict, by_path = self._kernels.judge(
            states, self.ply(), moves, self.settings, np.zeros(1, self.rules.scratch), self.rules.repeats
        )
        return outcome_of(verdict, by_path=by_path)

    def declares(self) -> bool:
        """Few games know that: the side to move may win without a move."""
        return False

    def outcome_to_learn(self) -> Outcome | None:
        """The same: a position that came back once would come back again."""
        return self.outcome()

    def occasions(self) -> Int64Array:
        """After how many moves the present position stood with the same side to move; the last is now."""
        keys = self._keys(self.states)[:, 0]
        same = keys == keys[-1]
        same[-2::-2] = False
        return np.flatnonzero(same)

    def key(self) -> int:
        return int(self._keys(self.states[-1:])[0, 0])

    def board_key(self) -> int:
        return int(self._keys(self.states[-1:])[0, 1])

    def past_board_keys(self) -> list[int]:
        return [int(key) for key in self._keys(self.states[:-1])[:, 1]]

    def _keys(self, states: Records) -> Uint64Array:
        """uint64 [states, 2]: key and board key of each."""
        keys = np.empty((len(states), 2), np.uint64)
        self._kernels.keys(states, keys)
        return keys

    def ply(self) -> int:
        return self._first_ply + self._count - 1


class _Kernels(NamedTuple):
    play: Callable[..., None]
    legal_moves: Callable[..., int]
    judge: Callable[..., tuple[int, bool]]
    keys: Callable[..., None]


@cache
def _kernels_of(rules: Rules) -> _Kernels:
    return _Kernels(
        play=compiled_for(rules.name, _play, play=rules.play),
        legal_moves=compiled_for(rules.name, _legal_moves, legal_moves=rules.legal_moves),
        judge=compiled_for(
            rules.name,
            _judge,
            board_key_of=rules.board_key,
            legal_moves=rules.legal_moves,
            verdict=rules.verdict,
            repetition=rules.repetition,
        ),
        keys=compiled_for(rules.name, _keys, key_of=rules.key, board_key_of=rules.board_key),
    )


# What follows are the places of a game's functions in the kernels: see `compiled_for`.
play = verdict = repetition = key_of = board_key_of = rule_of_game
legal_moves: Callable[[Record, Uint16Array], int] = rule_of_game


def _play(states: Records, count: int, move: int) -> None:
    play(states[count - 1], move, states[count])


def _legal_moves(states: Records, moves: Uint16Array) -> int:
    return legal_moves(states[-1], moves)


def _judge(
    states: Records, ply: int, moves: Uint16Array, settings: Records, scratch: Records, repeats: bool
) -> tuple[int, bool]:
    """The verdict on the last of the states, and whether it follows from those before."""
    last = len(states) - 1
    here = board_key_of(states[last])
    for distance in range(2, last + 1 if repeats else 0, 2):
        if board_key_of(states[last - distance]) == here:
            found = repetition(states[last - distance :], distance)
            if found != UNDECIDED:
                return found, True
    number = legal_moves(states[last], moves)
    return verdict(states[last], ply, moves, number, settings[0], scratch[0]), False


def _keys(states: Records, keys: Uint64Array) -> None:
    for i in range(len(states)):
        keys[i, 0], keys[i, 1] = key_of(states[i]), board_key_of(states[i])
