"""Huffman codes of positions against cshogi, which wrote them."""

import random
from typing import Any

import cshogi
import numpy as np
import pytest

from pydlshogi.games.shogi.state import STATE
from pydlshogi.games.shogi.training.huffman import MAILBOX, lay, mirrored_move
from pydlshogi.support.arrays import Record
from tests.positions import mirrored, mirrored_usi, state_of

HANDICAPS = [
    "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "8k/9/9/9/9/9/9/9/K8 b 2R2B4G4S4N4L18P 1",
    "8k/9/9/9/9/9/9/9/K8 w RBGgrb2s3nl7p 1",
]


def laid(board: Any, *, as_mirrored: bool) -> Record:
    code, before = np.zeros(32, np.uint8), np.zeros(2, np.uint16)
    board.to_hcp(code)
    for i, move in enumerate(board.history[:-3:-1]):
        before[i] = move & 0xFFFF
    states = np.zeros(1, STATE)
    states["low"] = states["steps"] = 77  # whatever was there before
    lay(code.view(np.uint32), before, int(as_mirrored), np.zeros(1, MAILBOX)[0], states[0])
    return states[0]


@pytest.mark.parametrize("seed", range(6))
def test_states_are_those_of_the_boards(seed: int) -> None:
    generator = random.Random(seed)
    board = cshogi.Board((*HANDICAPS, cshogi.STARTING_SFEN)[min(seed, 4)])
    for _ in range(70):
        steps = [cshogi.move_to_usi(move) for move in board.history[:-3:-1]]
        assert laid(board, as_mirrored=False) == after(board, steps)
        steps = list(map(mirrored_usi, steps))
        assert laid(board, as_mirrored=True) == after(cshogi.Board(mirrored(board.sfen())), steps)
        legal = list(board.legal_moves)
        if not legal:
            break
        board.push(generator.choice(legal))


def after(board: cshogi.Board, steps: list[str]) -> Record:
    """The state of a board to which these moves led, the last one first."""
    states = state_of(board)
    for i, usi in enumerate(steps):
        for place, name in enumerate((usi[2:4], usi[:2])):
            if "*" not in name:
                states["steps"][0, 2 * i + place] = 1 + 9 * (int(name[0]) - 1) + "abcdefghi".index(name[1])
    return states[0]


def test_mirrored_moves_are_those_of_the_mirrored_board() -> None:
    for sfen in (cshogi.STARTING_SFEN, *HANDICAPS):
        board = cshogi.Board(sfen)
        other_side = {move & 0xFFFF for move in cshogi.Board(mirrored(board.sfen())).legal_moves}
        assert {mirrored_move(move & 0xFFFF) for move in board.legal_moves} == other_side
