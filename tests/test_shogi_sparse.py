"""The features and labels of sparse networks for shogi, and the static exchange, beside slow versions of them.

The slow versions look at python-shogi's board square by square and share no table with the package.
"""

from itertools import islice

import numpy as np
import shogi
from positions import board_of, random_positions

from pydlshogi.encoding import labels_of
from pydlshogi.games.shogi.encodings import DLSHOGI
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.sparse import SPARSE

CENTIPAWNS = dict(zip(range(shogi.PAWN, shogi.KING), (90, 315, 405, 495, 540, 855, 990), strict=True))
CENTIPAWNS |= dict.fromkeys(range(shogi.PROM_PAWN, shogi.PROM_BISHOP), 540)
CENTIPAWNS |= {shogi.PROM_BISHOP: 945, shogi.PROM_ROOK: 1395}
_SIX = (shogi.PAWN, shogi.LANCE, shogi.KNIGHT, shogi.SILVER, shogi.BISHOP, shogi.ROOK)
BASIC = dict(zip(range(shogi.PROM_PAWN, shogi.PROM_ROOK + 1), _SIX, strict=True))
CSHOGI_KIND = {shogi.GOLD: 7, shogi.BISHOP: 5, shogi.ROOK: 6}
WEIGHTS = (
    (shogi.PAWN,),
    (shogi.LANCE, shogi.KNIGHT, shogi.SILVER),
    (shogi.GOLD, *range(shogi.PROM_PAWN, shogi.PROM_BISHOP)),
    (shogi.BISHOP, shogi.ROOK, shogi.PROM_BISHOP, shogi.PROM_ROOK),
    (shogi.KING,),
)
COSTS = (180, 810, 1080, 1900, 30000)
FIRST_HELD, CHECK, FIRST_LAST, FIRST_EXCHANGE, FIRST_NEAR, FIRST_AROUND = 11340, 11592, 11593, 11917, 12013, 14757


def swing(kind: int) -> int:
    """What the capture of a piece changes; nobody gives a king."""
    return 30000 if kind == shogi.KING else CENTIPAWNS[kind] + CENTIPAWNS[BASIC.get(kind, kind)]


def weight(kind: int) -> int:
    return next(number for number, kinds in enumerate(WEIGHTS) if kind in kinds)


def attackers(board: shogi.Board, side: int, square: int) -> list[int]:
    return list(board.attackers(side, square))


def kind_at(board: shogi.Board, square: int) -> int:
    return int(board.piece_at(square).piece_type)


def slow_exchange(board: shogi.Board, square: int, side: int) -> int:
    """What a side wins by beginning to capture on a square, or by leaving it, by trying all of it."""
    takers = attackers(board, side, square)
    if not takers:
        return 0
    taker = min(takers, key=lambda origin: (swing(kind_at(board, origin)), seen_kind(kind_at(board, origin))))
    kind, standing = kind_at(board, taker), kind_at(board, square)
    after = shogi.Board(board.sfen())
    after.remove_piece_at(taker)
    after.remove_piece_at(square)
    after.set_piece_at(square, shogi.Piece(kind, side))
    if kind == shogi.KING and attackers(board, 1 - side, square):
        return 0
    return max(0, swing(standing) - slow_exchange(after, square, 1 - side))


def seen_kind(kind: int) -> int:
    """cshogi's number of a kind."""
    return CSHOGI_KIND.get(kind, kind)


def seen(square: int, turn: int) -> int:
    """cshogi's number of python-shogi's square, as the side to move sees it."""
    number = 9 * (8 - square % 9) + square // 9
    return 80 - number if turn else number


def safety(board: shogi.Board, square: int) -> int:
    piece = board.piece_at(square)
    against, behind = attackers(board, 1 - piece.color, square), attackers(board, piece.color, square)
    if not against:
        return int(bool(behind))
    if not behind:
        return 4
    return 3 if min(weight(kind_at(board, origin)) for origin in against) < weight(piece.piece_type) else 2


def slow_rows(position: ShogiPosition) -> list[int]:
    """The rows, in no order."""
    board = shogi.Board(position.sfen())
    turn, rows = board.turn, []
    pieces = [square for square in range(81) if board.piece_at(square)]
    kings = {side: [s for s in pieces if board.piece_at(s) == shogi.Piece(shogi.KING, side)] for side in (0, 1)}
    for square in pieces:
        piece = board.piece_at(square)
        number = 14 * (piece.color != turn) + seen_kind(piece.piece_type) - 1
        place = seen(square, turn)
        rows.append((number * 81 + place) * 5 + safety(board, square))
        for whose in (0, 1):
            for king in kings[turn if whose == 0 else 1 - turn]:
                across = place // 9 - seen(king, turn) // 9
                along = place % 9 - seen(king, turn) % 9
                if max(abs(across), abs(along)) <= 3:
                    rows.append(FIRST_NEAR + (28 * whose + number) * 49 + 7 * (across + 3) + along + 3)
    for whose, side in enumerate((turn, 1 - turn)):
        for kind, many in board.pieces_in_hand[side].items():
            if many:
                rows.append(FIRST_HELD + (7 * whose + seen_kind(kind) - 1) * 18 + many - 1)
        for king in kings[side]:
            for beside in range(81):
                across = seen(beside, turn) // 9 - seen(king, turn) // 9
                along = seen(beside, turn) % 9 - seen(king, turn) % 9
                if beside == king or max(abs(across), abs(along)) > 1:
                    continue
                place = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)].index((across, along))
                many = min(2, len(attackers(board, 1 - side, beside)))
                guarded = any(kind_at(board, origin) != shogi.KING for origin in attackers(board, side, beside))
                rows.append(FIRST_AROUND + (8 * whose + place) * 6 + 2 * many + guarded)
        gains = [0, 0]
        for square in pieces:
            piece = board.piece_at(square)
            if piece.color != side and piece.piece_type != shogi.KING and attackers(board, side, square):
                guarded = attackers(board, 1 - side, square)
                gains.append(slow_exchange(board, square, side) if guarded else swing(piece.piece_type))
        for rank, gain in enumerate(sorted(gains, reverse=True)[:2]):
            rows.append(FIRST_EXCHANGE + (2 * whose + rank) * 24 + min(-(-gain // 100), 23))
    if board.is_check():
        rows.append(CHECK)
    for back, move in enumerate(board_of(position).history[:-3:-1]):
        to, origin = move & 127, move >> 7 & 127
        rows.append(FIRST_LAST + 81 * 2 * back + (80 - to if turn else to))
        if origin < 81:
            rows.append(FIRST_LAST + 81 * (2 * back + 1) + (80 - origin if turn else origin))
    return rows


def slow_label(position: ShogiPosition, board: shogi.Board, move: int, direction: int) -> int:
    """`direction`: the label of the move among those of dlshogi."""
    turn, played = board.turn, shogi.Move.from_usi(position.usi(move))
    to = played.to_square
    taken = board.piece_at(to)
    after = shogi.Board(board.sfen())
    if played.drop_piece_type:
        kind = becomes = played.drop_piece_type
        moving, exposed = 14 + seen_kind(kind) - 1, 0
        guards = attackers(board, turn, to)
    else:
        kind = kind_at(board, played.from_square)
        becomes = kind + 8 if played.promotion and kind <= shogi.SILVER else kind
        if played.promotion and kind in (shogi.BISHOP, shogi.ROOK):
            becomes = {shogi.BISHOP: shogi.PROM_BISHOP, shogi.ROOK: shogi.PROM_ROOK}[kind]
        moving, exposed = seen_kind(kind) - 1, (0, 0, 1, 2, 2)[safety(board, played.from_square)]
        guards = [origin for origin in attackers(board, turn, to) if origin != played.from_square]
        after.remove_piece_at(played.from_square)
    if taken:
        after.remove_piece_at(to)
    after.set_piece_at(to, shogi.Piece(becomes, turn))
    king = next(s for s in range(81) if (piece := board.piece_at(s)) and piece.piece_type == 8 and piece.color != turn)
    checks = to in attackers(after, turn, king)
    gain, danger = swing(taken.piece_type) if taken else 0, 0
    against = attackers(board, 1 - turn, to)
    if against:
        attacker = min(weight(kind_at(board, origin)) for origin in against)
        danger = 2 if attacker < weight(becomes) else 1
        if not guards:
            gain -= swing(becomes)
        elif attacker < 4:
            gain -= max(0, swing(becomes) - COSTS[attacker])
    fate = 0 if gain < 0 else 3 if checks else 2 if gain > 0 else 1
    history = board_of(position).history
    retakes = bool(history) and history[-1] & 127 == move & 127
    second = (moving * 15 + (seen_kind(taken.piece_type) if taken else 0)) * 2 + retakes
    third = ((weight(becomes) * 6 + 2 * danger + bool(guards)) * 3 + exposed) * 2 + checks
    return ((direction * 4 + fate) * 630 + second) * 180 + third


def test_rows_are_those_of_a_slow_count():
    for position in islice(random_positions(1, 4), 0, None, 19):
        words = np.zeros(SPARSE.words, np.uint32)
        SPARSE.pack(position.state, words)
        found = words[1 : 1 + words[0]].tolist()
        assert sorted(found) == sorted(slow_rows(position)), position.sfen()
        assert max(found) < SPARSE.features


def test_labels_are_those_of_a_slow_count():
    for position in islice(random_positions(2, 2), 0, None, 29):
        board, moves = shogi.Board(position.sfen()), position.legal_moves()
        if not len(moves):
            continue
        directions = labels_of(DLSHOGI, position.state, moves)
        pairs = zip(moves.tolist(), directions.tolist(), strict=True)
        expected = [slow_label(position, board, move, direction) for move, direction in pairs]
        assert labels_of(SPARSE, position.state, moves).tolist() == expected, position.sfen()
