"""The rules of Othello: drawn positions, and Fairy-Stockfish as an independent program."""

import random

import pytest

from pydlshogi.games.othello.rules import PASS, START, IllegalMove, Position, move_name, parse_move, position_of


def squares(names: str) -> int:
    return sum(1 << parse_move(name) for name in names.split())


def test_black_begins_and_diagrams_are_read() -> None:
    assert [move_name(move) for move in START.moves()] == ["d3", "c4", "f5", "e6"]
    assert START.diagram() == "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27 + " X"
    text = "-XO*bw." + "-" * 57 + "w"
    assert position_of(text).diagram() == "-XOXXO" + "-" * 58 + " O"
    for wrong in ("", "X" * 64, "Q" * 64 + "X", "-" * 62 + "X X", "-" * 65 + "X", "-" * 65):
        with pytest.raises(ValueError, match="64 squares"):
            position_of(wrong)


def test_one_move_turns_discs_in_all_eight_directions() -> None:
    before = position_of(
        """
        X--X--X-
        -O-O-O--
        --OOO---
        XOO-OOOX
        --OOO---
        -O-O-O--
        X--O--X-
        ---X---- X
        """
    )
    after = before.play(parse_move("d4"))
    assert after.black == squares("a1 d1 g1 b2 d2 f2 c3 d3 e3 a4 b4 c4 d4 e4 f4 g4 h4 c5 d5 e5 b6 d6 f6 a7 d7 g7 d8")
    assert (after.white, after.over, after.black_to_move, after.score) == (0, True, False, -64)
    assert position_of("XXO" + "-" * 61 + " O").score == -62  # the winner has the empty squares
    assert position_of("XO" + "-" * 62 + " X").score == 0


def test_who_cannot_move_passes_and_two_passes_end_the_game() -> None:
    position = position_of("-OX" + "-" * 61 + " O")
    assert position.moves() == [parse_move("d1")]
    position = Position(squares("b1"), squares("a1"), black_to_move=False)
    assert position.moves() == [PASS]
    assert not position.over
    after = position.play(PASS)
    assert after == Position(squares("a1"), squares("b1"))
    end = after.play(parse_move("c1"))
    assert (end.over, end.moves()) == (True, [])
    with pytest.raises(IllegalMove, match="pass cannot be played"):
        end.play(PASS)


@pytest.mark.parametrize("move", ["d4", "a1", "pass"])
def test_a_move_that_turns_nothing_is_none(move: str) -> None:
    with pytest.raises(IllegalMove, match=f"{move} cannot be played"):
        START.play(parse_move(move))


def test_names() -> None:
    names = ("a1", "H1", "f5", "h8", "PA", "ps", "pass", "--")
    assert [parse_move(name) for name in names] == [0, 7, 37, 63, *[PASS] * 4]
    assert [move_name(move) for move in (0, 7, 37, 63, PASS)] == ["a1", "h1", "f5", "h8", "pass"]
    for wrong in ("", "a", "i1", "a9", "a0", "11", "f5d6"):
        with pytest.raises(ValueError, match="is no move"):
            parse_move(wrong)


@pytest.mark.parametrize("games", [6, pytest.param(300, marks=pytest.mark.long)])
def test_random_games_are_the_same_to_another_program(games: int) -> None:
    pyffish = pytest.importorskip("pyffish", reason="needs pyffish (the extra `test`)")
    rng = random.Random(1)
    start = pyffish.start_fen("flipello")
    passes = 0
    for _ in range(games):
        position, line = START, []
        while moves := position.moves():
            move, theirs = rng.choice(moves), pyffish.legal_moves("flipello", start, line)
            if moves == [PASS]:
                passes += 1
                (name,) = theirs
                assert name[:2] == name[2:], "a disc that stays where it is"
                line.append(name)
            else:
                assert sorted(theirs) == sorted(map(their_name, moves))
                line.append(their_name(move))
            position = position.play(move)
        assert their_diagram(pyffish.get_fen("flipello", start, line)) == position.diagram()[:64]
        assert all("@" not in name for name in pyffish.legal_moves("flipello", start, line))
    assert passes > games // 10


def their_name(square: int) -> str:
    """Their first rank is our last."""
    return f"P@{move_name(square)[0]}{9 - int(move_name(square)[1])}"


def their_diagram(fen: str) -> str:
    """Rows from ours first to last; Black is their White."""
    board = fen.split("[", maxsplit=1)[0].replace("/", "").replace("P", "X").replace("p", "O")
    return "".join("-" * int(each) if each.isdigit() else each for each in board)
