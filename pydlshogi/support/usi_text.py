"""Positions and games as USI writes them: the four fields of an sfen, and lines of moves.

A game is what follows `position`, and in a comment line below it what was thought of the moves:

    position startpos moves 7g7f 3c3d
    # evaluations 30 -12

Evaluations are Black's, in centipawns, `-` for none.
"""

import re
from collections import Counter
from collections.abc import Container, Sequence
from typing import Final, NamedTuple

_MOST_PLIES: Final = 10_000


def sfen_fields(sfen: str) -> tuple[str, str, str, int]:
    """The fields of an sfen, whose last may be missing: board, side to move (b or w), hands, number of the next move.

    Board and hands are not checked yet. ValueError with a reason.
    """
    if not sfen.isascii():
        raise ValueError("an sfen is plain ASCII")
    fields = sfen.split()
    if len(fields) == 3:
        fields.append("1")
    if len(fields) != 4:
        raise ValueError("an sfen has a board, a side to move, hands and a move number")
    rows, side, hands, number = fields
    if side not in ("b", "w"):
        raise ValueError(f"the side to move is b or w, not {side}")
    if not number.isdecimal() or int(number) > _MOST_PLIES:
        raise ValueError(f"{number} is not a move number")
    return rows, side, hands, int(number)


def pieces_on(rows: str, files: int, ranks: int, known: Container[str]) -> dict[tuple[int, int], str]:
    """The pieces of a board, by rank and file from the top left, each as it is written.

    ValueError unless it has all squares, and all pieces are `known`: in upper case, with + where promoted.
    """
    lines, pieces = rows.split("/"), {}
    if len(lines) != ranks:
        raise ValueError(f"the board has {len(lines)} ranks")
    for rank, row in enumerate(lines):
        file = 0
        for piece in re.findall(r"\+?.", row):
            if piece in "123456789":
                file += int(piece)
            elif piece.upper() in known:
                pieces[rank, file] = piece
                file += 1
            else:
                raise ValueError(f"{piece} is no piece")
        if file != files:
            raise ValueError(f"rank {'abcdefghi'[rank]} has {file} squares")
    return pieces


def held_in(hands: str, known: Container[str]) -> Counter[str]:
    """How many of each piece are in hand. ValueError unless all are `known`: in upper case."""
    held = Counter[str]()
    pieces = re.findall(r"(\d*)(\D)", "" if hands == "-" else hands)
    if not re.fullmatch(r"((?!0+\D)\d*\D)+", hands) or any(piece.upper() not in known for _, piece in pieces):
        raise ValueError(f"{hands} are no pieces in hand")
    for number, piece in pieces:
        held[piece] += int(number or 1)
    return held


def drawn(sfen: str, files: int) -> list[str]:
    """The board drawn, for people: Black's pieces as capitals, with the hands below."""
    board, _, hands, _ = sfen.split()
    spaced = re.sub(r"\d|\+?[A-Za-z]", lambda it: "  ." * int(it[0]) if it[0].isdigit() else it[0].rjust(3), board)
    rows = [f"{row}  {rank}" for row, rank in zip(spaced.split("/"), "abcdefghi", strict=False)]
    return ["".join(f"{file:3}" for file in range(files, 0, -1)), *rows, f"in hand: {hands}"]


# Games

_MOVE: Final = r"^\s*(?=\d[a-i]\d[a-i]\+?(?:\s|$))"
_LINE: Final = re.compile(rf"{_MOVE}|(?:position\s+)?(?:startpos\b|sfen\s|[A-Za-z1-9+]+(?:/[A-Za-z1-9+]+){{2,}} [bw] )")
_ENDS: Final = ("resign", "win", "draw", "rep_draw", "timeout", "break", "chudan")
_EVALUATIONS: Final = re.compile(r"#\s*evaluations((?:\s+(?:-|[+-]?\d{1,9}))+)\s*")


class UsiLine(NamedTuple):
    """A game, of which nobody knows whether it is legal."""

    start: str | None
    """None: the start of the game."""
    moves: Sequence[str]
    evaluations: Sequence[int | None] = ()
    end: str = ""
    """The word behind the moves by which some programs say how the game ended."""

    def __str__(self) -> str:
        """One line, with a second one where something was thought of it."""
        moves = [*self.moves, *self.end.split()]
        start = f"sfen {self.start}" if self.start else "startpos"
        text = " ".join(["position", start, *(["moves", *moves] if moves else [])]) + "\n"
        if any(each is not None for each in self.evaluations):
            thought = ("-" if each is None else str(each) for each in self.evaluations)
            text += f"# evaluations {' '.join(thought)}\n"
        return text


def holds_usi(text: str) -> bool:
    """Whether the first line that says something is a game."""
    lines = (line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return bool(_LINE.match(next(lines, "")))


def usi_lines(text: str) -> list[UsiLine]:
    """The games of a text."""
    games: list[UsiLine] = []
    for line in text.splitlines():
        if found := _EVALUATIONS.fullmatch(line.strip()):
            evaluations = [None if word == "-" else int(word) for word in found[1].split()]
            games[-1:] = [game._replace(evaluations=evaluations) for game in games[-1:]]
        elif line.strip() and not line.startswith("#"):
            games.append(read_line(line))
    return games


def read_line(line: str) -> UsiLine:
    """The game of one line, which may begin with its first move."""
    words = re.sub(_MOVE, "startpos moves ", line).split()
    for word in ("position", "sfen"):
        if words[:1] == [word]:
            del words[0]
    word = words.pop() if words[-1:] and words[-1] in _ENDS else ""
    end = words.index("moves") if "moves" in words else len(words)
    start = " ".join(words[:end])
    return UsiLine(None if start == "startpos" else start, words[end + 1 :], end=word)
