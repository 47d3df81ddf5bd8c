"""The board as text, for people."""

from pydlshogi.games.othello.rules import Position


def board_of(position: Position) -> str:
    """Ten lines: the board with its coordinates, Black being X and White O, the side to move and the discs of both.

    Where the side to move may play there is a `+`.
    """
    squares = list(position.diagram()[:64].replace("-", "."))
    for move in position.moves():
        if move < 64:
            squares[move] = "+"
    rows = [" ".join([str(rank + 1), *squares[8 * rank : 8 * rank + 8]]) for rank in range(8)]
    turn = "over" if position.over else "Black to move" if position.black_to_move else "White to move"
    count = f"{turn}; Black (X) {position.black.bit_count()}, White (O) {position.white.bit_count()}"
    return "\n".join(["  a b c d e f g h", *rows, count])
