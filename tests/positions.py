"""Shogi positions for the tests: mirrored, reached by random play, and as the book's network sees them.

The encoding of the book is slow and obvious here, and written without a look at the package's.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import cshogi
import numpy as np
import shogi

from pydlshogi.games.shogi.names import HELD
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sfen import START_SFEN
from pydlshogi.games.shogi.state import set_up
from pydlshogi.support.arrays import Records

SQUARES = [f"{file}{rank}" for rank in "abcdefghi" for file in "987654321"]
"""The squares in the order of the network: 0 = 9a, 8 = 1a, 80 = 1i."""


def mirrored(sfen: str) -> str:
    """The position with left and right exchanged."""
    ranks, *rest = sfen.split()
    return " ".join(["/".join("".join(re.findall(r"\+?.", rank)[::-1]) for rank in ranks.split("/")), *rest])


def mirrored_usi(usi: str) -> str:
    """The move with left and right exchanged."""
    return re.sub("[1-9]", lambda file: str(10 - int(file[0])), usi)


def random_positions(seed: int, games: int, plies: int = 150, start: str = START_SFEN) -> Iterator[ShogiPosition]:
    """Every position of some random games, each as the game stands (it moves on afterwards)."""
    rng = random.Random(seed)
    for _ in range(games):
        position = ShogiPosition(start)
        for _ in range(plies):
            moves = position.legal_moves().tolist()
            if not moves:
                break
            yield position
            position.push(rng.choice(moves))


def state_of(board: cshogi.Board) -> Records:
    """One record of STATE, without a past."""
    hands = [dict(zip(HELD, hand, strict=True)) for hand in board.pieces_in_hand]
    return set_up(board.pieces, hands, board.turn)


def board_of(position: ShogiPosition) -> cshogi.Board:
    """The same game by cshogi."""
    before, moves = position.copy(), []
    while len(before.states) > 1:
        moves.append(before.last_move())
        before.pop()
    board = cshogi.Board(before.sfen())
    for move in reversed(moves):
        board.push(board.move_from_move16(move))
    return board


def recorded(position: np.void) -> cshogi.Board:
    """The board of a recorded position."""
    board = cshogi.Board()
    board.set_hcp(np.ascontiguousarray(position["hcp"]))
    return board


def mates_within(board: cshogi.Board, plies: int) -> bool:
    """Whether there is a mate within `plies`, by trying every check and every evasion."""
    for move in list(board.legal_moves) if plies > 0 else ():
        board.push(move)
        mated = board.is_check() and all(mated_after(board, evasion, plies - 2) for evasion in list(board.legal_moves))
        board.pop()
        if mated:
            return True
    return False


def mated_after(board: cshogi.Board, evasion: int, plies: int) -> bool:
    board.push(evasion)
    mated = mates_within(board, plies)
    board.pop()
    return mated


def rows_of(path: Path) -> Iterator[list[str]]:
    """The rows of a table, without its comments."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


MOST_IN_HAND = dict(
    zip((shogi.PAWN, shogi.LANCE, shogi.KNIGHT, shogi.SILVER, shogi.GOLD), (18, 4, 4, 4, 4), strict=True)
)
MOST_IN_HAND |= {shogi.BISHOP: 2, shogi.ROOK: 2}
DIRECTIONS = ["UP", "UP LEFT", "UP RIGHT", "LEFT", "RIGHT", "DOWN", "DOWN LEFT", "DOWN RIGHT", "UP2 LEFT", "UP2 RIGHT"]


def seen(square: int, turn: int) -> tuple[int, int]:
    """Row and column of a square of python-shogi as the side to move sees it."""
    return divmod(square if turn == shogi.BLACK else 80 - square, 9)


def naive_planes(board: shogi.Board) -> np.ndarray:
    planes = []
    for side in (board.turn, 1 - board.turn):
        pieces = {piece_type: np.zeros((9, 9)) for piece_type in shogi.PIECE_TYPES}
        for square in shogi.SQUARES:
            piece = board.piece_at(square)
            if piece and piece.color == side:
                pieces[piece.piece_type][seen(square, board.turn)] = 1
        planes += [pieces[piece_type] for piece_type in sorted(pieces)]
        for piece_type, most in MOST_IN_HAND.items():
            held = board.pieces_in_hand[side][piece_type]
            planes += [np.full((9, 9), int(n < held)) for n in range(most)]
    return np.array(planes, np.float32)


def naive_label(move: shogi.Move, turn: int) -> int:
    row, column = seen(move.to_square, turn)
    if move.drop_piece_type:
        plane = 20 + list(MOST_IN_HAND).index(move.drop_piece_type)
    else:
        from_row, from_column = seen(move.from_square, turn)
        down, right = row - from_row, column - from_column
        knight = down == -2 and abs(right) == 1
        words = ["UP2" if knight else "UP" if down < 0 else "DOWN" if down > 0 else ""]
        words += ["LEFT" if right < 0 else "RIGHT" if right > 0 else ""]
        plane = DIRECTIONS.index(" ".join(filter(None, words))) + (10 if move.promotion else 0)
    return plane * 81 + row * 9 + column
