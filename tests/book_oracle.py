"""The encoding of the book over python-shogi: slow, obvious, and written without a look at the package's."""

import numpy as np
import shogi

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
