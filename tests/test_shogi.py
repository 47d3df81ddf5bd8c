"""The rules of shogi: python-shogi as second opinion, repetitions, declaration, the last move, broken input."""

import random
import re
from pathlib import Path

import pytest
import shogi
from positions import SQUARES, board_of, mates_within, random_positions, rows_of

from pydlshogi.game import Outcome
from pydlshogi.games.shogi.encodings import BOOK
from pydlshogi.games.shogi.engine.book import flip_move
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.rules import RULES
from pydlshogi.games.shogi.sfen import START_SFEN, turned
from pydlshogi.uct.batch import Batch

FULL_HANDS = "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1"
MOST_MOVES = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"
"""The position with 593 legal moves."""
UCHIFUZUME = "7lk/9/8S/9/9/9/9/7L1/8K b P 1"
PINNED = "4k4/9/9/9/4r4/9/4G4/9/4K4 b 2Pgn 1"
LAST_RANKS = "8k/PP1L5/2NPN4/9/9/9/3n5/6l1p/K8 b 2P2p 1"
ROOK_CHECKS = "4k4/9/9/9/9/9/9/9/K4R3 b - 1"
CAMP = "RB+P+P+P+P+P+P1/K+P+P6/9/9/9/9/9/9/8k"
"""Of a king that declares: rook, bishop, eight pawns, which are 18 points."""
AT_ODDS = "4K4/9/9/9/9/9/ggggnn3/ssss1k3/9"
"""Ten white pieces; a rook and a bishop are missing, which are 10 points."""
HANDICAPS = (
    "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "3gkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
)
"""Lance, two pieces, eight pieces."""

MATE_IN_ONE = DECLARED = Outcome(1.0, plies=1)
DRAW = Outcome(0.5)
PATH_DRAW = Outcome(0.5, by_path=True)
PATH_LOSS = Outcome(0.0, by_path=True)


@pytest.mark.parametrize("sfen", [START_SFEN, UCHIFUZUME, PINNED, LAST_RANKS, MOST_MOVES, *HANDICAPS])
def test_every_move_that_can_be_written_is_legal_or_refused(sfen: str) -> None:
    """All 13,122 moves from square to square and all 567 drops: what python-shogi calls legal and nothing else."""
    position = ShogiPosition(sfen)
    written = [start + end + plus for start in SQUARES for end in SQUARES for plus in ("", "+")]
    written += [f"{piece}*{end}" for piece in "PLNSGBR" for end in SQUARES]
    legal = {move.usi() for move in shogi.Board(sfen).legal_moves}
    for usi in written:
        if usi in legal:
            assert position.usi(position.move_from_usi(usi)) == usi
        else:
            with pytest.raises(ValueError, match="is not a legal move"):
                position.move_from_usi(usi)


@pytest.mark.parametrize("usi", ["", "7g", "7g7f++", "7g7f ", " 7g7f", "7g7x", "0g7f", "K*5e", "P*", "resign", "７g7f"])
def test_what_is_no_move_is_refused(usi: str) -> None:
    with pytest.raises(ValueError, match="is not a legal move"):
        ShogiPosition().move_from_usi(usi)


SHUFFLE = ["2h3h", "8b7b", "3h2h", "7b8b"]
CHECKS = ["4i5i", "5a4a", "5i4i", "4a5a"]  # rook and king go to and fro, every move of the rook a check
QUIET = ["9i8i", "5a6a", "8i9i", "6a5a"]  # back to the same position without a check


def test_sennichite_takes_four_occurrences_at_the_game_and_two_in_the_tree() -> None:
    position = ShogiPosition()
    for ply, move in enumerate(3 * SHUFFLE, start=1):
        position.push_usi(move)
        assert position.fourfold() == (PATH_DRAW if ply == 12 else None)
        assert position.outcome() == (PATH_DRAW if ply >= 4 else None)


@pytest.mark.parametrize(
    ("moves", "verdict"),
    [(2 * CHECKS, None), (3 * CHECKS, PATH_LOSS), (QUIET + 2 * CHECKS, PATH_DRAW), (2 * CHECKS + QUIET, PATH_DRAW),
     (3 * QUIET, PATH_DRAW), (2 * CHECKS + CHECKS[:3], None)],
)  # fmt: skip
@pytest.mark.parametrize("colour", ["Black", "White"])
def test_who_gives_check_with_every_move_loses(colour: str, moves: list[str], verdict: Outcome | None) -> None:
    """Seen by the side to move, which gives the checks in most."""
    black = ShogiPosition(ROOK_CHECKS, moves)
    white = ShogiPosition(turned(ROOK_CHECKS), map(flip_move, moves))
    assert (black if colour == "Black" else white).fourfold() == verdict


def test_a_quiet_start_saves_nobody_from_a_perpetual_check() -> None:
    """One quiet move of Black's, then a perpetual check."""
    position = ShogiPosition("3k5/9/9/9/9/9/9/9/K4R3 b - 1", ["9i9h", "6a5a", *CHECKS, *CHECKS, *CHECKS])
    assert position.fourfold() == PATH_LOSS


def test_fourfold_of_real_games(shared_data: Path) -> None:
    """The verdict comes with the fourth occurrence and not a move before."""
    rows = list(rows_of(shared_data / "tests" / "repetition_fourfold_real_games.tsv"))
    assert len(rows) == 17
    for verdict, _, _, ply, *_, moves in rows:
        assert verdict == "sennichite_draw"
        position = ShogiPosition()
        for played, move in enumerate(moves.split()[: int(ply)], start=1):
            assert position.fourfold() is None, played
            position.push_usi(move)
        assert position.fourfold() == PATH_DRAW


@pytest.mark.parametrize(
    ("sfen", "by_27", "by_24"),
    [
        (f"{CAMP} b RBP 1", True, False),  # 18 + 11 = 29
        (f"{CAMP} b RB 1", True, False),  # 28: just enough for Black
        (f"{CAMP} b R4P 1", False, False),  # 27
        (f"{CAMP} b RB3P 1", True, True),  # 31
        (turned(f"{CAMP} b R4P 1"), True, False),  # 27: just enough for White
        (turned(f"{CAMP} b R3P 1"), False, False),  # 26
        (turned(f"{CAMP} b RB3P 1"), True, True),
        ("RB+P+P+P+P+P+P1/K+P7/9/9/9/9/9/9/8k b RB4P 1", False, False),  # nine pieces besides the king
        ("RB+P+P+P+P+P+P1/K+P7/9/P8/9/9/9/9/8k b RB3P 1", False, False),  # the tenth stands outside
        ("RB+P+P+P+P+P+P1/1+P+P6/9/K8/9/9/9/9/8k b RB3P 1", False, False),  # the king stands outside
        (CAMP.replace("+P+P6/9", "+P+P6/1s7") + " b RB3P 1", False, False),  # in check
    ],
)
def test_declaration(sfen: str, by_27: bool, by_24: bool) -> None:
    """King and ten others in the enemy's camp, not in check; 28 points for Black, 27 for White, or 31 for either."""
    assert ShogiPosition(sfen).declares() is by_27
    assert ShogiPosition(sfen, declaration=24).declares() is by_24


@pytest.mark.parametrize(
    ("sfen", "by_27", "by_24"),
    [
        (f"{AT_ODDS} w RB2N4L11P7p 1", True, False),  # 10 + 7 + 10 = 27: just enough
        (f"{AT_ODDS} w RB2N4L12P6p 1", False, False),  # 26
        (f"{AT_ODDS} w RB2N4L7P11p 1", True, True),  # 31
        (f"{AT_ODDS} w RB2N4L8P10p 1", True, False),  # 30
        (f"{AT_ODDS} w RBrb2N4L17Pp 1", False, False),  # nothing is missing: 21
        (f"{AT_ODDS} w RBrb2N4L11P7p 1", True, False),  # nothing is missing: 27
        (AT_ODDS.replace("ggggnn3", "ggggn4") + " w RB2N4L7P11pn 1", False, False),  # nine pieces besides the king
        (AT_ODDS.replace("9/ggggnn3/ssss1k3", "4k4/ggggnn3/ssss5") + " w RB2N4L7P11p 1", False, False),  # outside
        (AT_ODDS.replace("ssss1k3/9", "ssss1k3/5L3") + " w RB2N3L7P11p 1", False, False),  # in check
        (turned(f"{AT_ODDS} w RB2N4L7P11p 1"), False, False),  # Black takes odds, and has 21
    ],
)
def test_declaration_of_the_side_that_gives_odds(sfen: str, by_27: bool, by_24: bool) -> None:
    for law, expected in ((27, by_27), (24, by_24)):
        position = ShogiPosition(sfen, declaration=law, odds_count=True)
        assert position.declares() is expected
        assert (position.outcome() == DECLARED) is expected


def test_odds_are_those_of_the_start_whatever_was_played_since() -> None:
    start = f"{AT_ODDS[:-1]}6P2 w RB2N4L11P6p 1"
    assert not ShogiPosition(start, odds_count=True).declares()  # 10 + 6 + 10 = 26
    assert not ShogiPosition(start, ["4h4i", "5a4a"], odds_count=True).declares()
    assert ShogiPosition(start, ["4h3i", "5a4a"], odds_count=True).declares()  # the pawn was taken: 27


def test_declaration_of_real_games(shared_data: Path) -> None:
    rows = list(rows_of(shared_data / "tests" / "nyugyoku_real_games.tsv"))
    assert len(rows) == 103
    for declarable, sfen, *_ in rows:
        assert ShogiPosition(sfen).declares() is (declarable == "1"), sfen


def test_mates_in_three_are_those_of_a_naive_search() -> None:
    seen = overlooked = 0
    for position in random_positions(9, games=25):
        position.settings["mate_plies"] = 3
        outcome = position.outcome()
        if outcome in (None, Outcome(1.0, plies=3)):
            if outcome:
                assert mates_within(board_of(position), 3), position.sfen()
                seen += 1
            elif position.ply() % 4 == 0:
                overlooked += mates_within(board_of(position), 3)
    assert seen > 20
    assert overlooked == 0


def test_short_mate_problems(shared_data: Path) -> None:
    """Of mates in three, no longer and no shorter."""
    for line in (shared_data / "tests" / "mate3.sfen").read_text().splitlines()[:500]:
        position = ShogiPosition(line.partition(" moves")[0], mate_plies=3)
        assert position.outcome() == Outcome(1.0, plies=3), line
        position.settings["mate_plies"] = 2
        assert position.outcome() is None, line


def test_a_mate_after_the_last_move_is_none(shared_data: Path) -> None:
    line = (shared_data / "tests" / "mate3.sfen").read_text().splitlines()[0]
    sfen = line.partition(" moves")[0]
    last = ShogiPosition(sfen).ply() + 2
    assert ShogiPosition(sfen, mate_plies=3, draw_ply=last).outcome() == Outcome(1.0, plies=3)
    assert ShogiPosition(sfen, mate_plies=3, draw_ply=last - 1).outcome() is None


def test_where_a_king_is_missing_only_mates_in_one_are_looked_for(shared_data: Path) -> None:
    for line in (shared_data / "tests" / "mate5.sfen").read_text().splitlines()[:200]:
        rows, *rest = line.partition(" moves")[0].split()
        for king in "Kk":
            try:
                position = ShogiPosition(" ".join((rows.replace(king, "1"), *rest)), mate_plies=3)
            except ValueError:
                continue  # without its piece of cover the other king is in check
            assert position.outcome() in (None, MATE_IN_ONE)


def test_what_counts_after_the_last_move_of_the_game() -> None:
    position = ShogiPosition(draw_ply=2)
    for move, verdict in (("7g7f", None), ("3c3d", DRAW)):
        assert position.outcome() is None
        position.push_usi(move)
        assert position.outcome() == verdict
    position.pop()
    assert position.outcome() is None
    assert ShogiPosition(moves=["7g7f", "3c3d"]).outcome() is None
    # Move 256 of 256. G*1b mates; 1i1h and S*2b do not; before it, mate in one still counts.
    position = ShogiPosition("7lk/9/8S/9/9/9/9/7L1/8K b G 256", draw_ply=256)
    assert position.outcome() == MATE_IN_ONE
    for move, verdict in (("G*1b", None), ("1i1h", DRAW), ("G*2b", DRAW)):  # the last is a check, but 2b is taken
        position.push_usi(move)
        assert position.outcome() == verdict
        assert (len(position.legal_moves()) == 0) is (verdict is None)
        position.pop()
    assert ShogiPosition(f"{CAMP} b RB 257", draw_ply=256).outcome() == DRAW
    assert ShogiPosition(f"{CAMP} b RB 256", draw_ply=256).outcome() == DECLARED
    assert ShogiPosition("7lk/9/8S/9/9/9/9/7L1/8K b G 257", draw_ply=256).outcome() == DRAW
    assert ShogiPosition(ROOK_CHECKS, CHECKS, draw_ply=4).outcome() == PATH_LOSS
    assert ShogiPosition(ROOK_CHECKS, CHECKS, draw_ply=5).outcome() == PATH_LOSS


KINGS = "4k4/9/9/9/9/9/9/9/4K4"


@pytest.mark.parametrize(
    ("sfen", "reason"),
    [("", "an sfen has a board, a side to move, hands and a move number"),
     (f"{KINGS} x - 1", "the side to move is b or w, not x"), (f"{KINGS} b - x", "x is not a move number"),
     (f"{KINGS} b - 99999999999", "99999999999 is not a move number"),
     ("4k4/9/9/9/9/9/9/4K4 b - 1", "the board has 8 ranks"), ("4k4/9/9/9/8/9/9/9/4K4 b - 1", "rank e has 8 squares"),
     ("4k4/9/9/9/4X4/9/9/9/4K4 b - 1", "X is no piece"), ("4k4/9/9/9/0P8/9/9/9/4K4 b - 1", "0 is no piece"),
     ("4k3P/9/9/9/9/9/9/9/4K4 b - 1", "P can never move from rank a"),
     ("4k4/9/9/9/9/9/9/n8/4K4 b - 1", "n can never move from rank h"),
     ("4k4/9/9/P8/P8/9/9/9/4K4 b - 1", "two pawns of one side stand on one file"),
     ("4k4/9/9/9/4K4/9/9/9/4K4 b - 1", "one side has two kings"),
     ("9/9/9/9/9/9/9/9/9 b - 1", "neither side has a king"), (f"{KINGS} b K 1", "K are no pieces in hand"),
     (f"{KINGS} b +P 1", r"\+P are no pieces in hand"), (f"{KINGS} b R0G 1", "R0G are no pieces in hand"),
     (f"{KINGS} b 2Rr 1", "3 pieces of kind R: a set has 2"),
     ("4k4/9/9/3R5/9/5r3/9/9/4K4 b R 1", "3 pieces of kind R: a set has 2"),
     ("4k4/9/4R4/9/9/9/9/9/4K4 b - 1", "the side that is not to move is in check"),
     ("4k4/4K4/9/9/9/9/9/9/9 b - 1", "the kings touch"), ("４k4/9/9/9/9/9/9/9/4K4 b - 1", "an sfen is plain ASCII")],
)  # fmt: skip
def test_a_broken_sfen_is_refused_with_a_reason(sfen: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ShogiPosition(sfen)


@pytest.mark.parametrize(
    "sfen",
    [
        "4k4/9/9/9/9/9/9/9/9 b 2R2B4G4S4N4L18P 1",  # mate problems have one king
        "4k4/9/9/P1P1P1P1P/9/9/9/9/4K4 b 16P 1",  # a pawn or three too many
        "4k4/9/4r4/9/9/9/9/9/4K4 b - 1",  # the side to move is in check
        f"{KINGS} w 1P1p",
        f"{KINGS} b - 0",
        f"{KINGS} b - 10000",
    ],
)
def test_odd_positions_are_taken(sfen: str) -> None:
    use(ShogiPosition(sfen))


def test_a_piece_named_twice_in_hand_is_added_up_and_a_missing_move_number_is_1() -> None:
    position = ShogiPosition(f"{KINGS} w RP2b3Ppp")
    assert position.sfen() == f"{KINGS} w R4P2b2p 1"
    assert position.ply() == 1


def hands_of(sfen: str) -> list[str]:
    """In no order."""
    return sorted(re.findall(r"\d*[A-Za-z]", sfen.split()[2]))


def use(position: ShogiPosition) -> None:
    """What a search does with a position."""
    position.outcome()
    position.fourfold()
    Batch(1, RULES.most_moves, BOOK).add(position, position.legal_moves())
    for move in position.legal_moves().tolist()[:20]:
        position.push(move)
        position.outcome()
        position.legal_moves()
        position.pop()


def test_mutated_sfens_are_refused_or_taken_as_they_are_written(capfd: pytest.CaptureFixture[str]) -> None:
    """Either a ValueError of one line or a usable board that python-shogi reads alike; and nothing is printed."""
    rng = random.Random(9)
    seeds = [START_SFEN, FULL_HANDS, MOST_MOVES, PINNED, LAST_RANKS, *HANDICAPS, f"{CAMP} b RB 1"]
    seeds += [turned(sfen) for sfen in seeds]
    alphabet = "123456789+PLNSGBRKplnsgbrk/ -bw0x"
    taken = 0
    refusals = set()
    for _ in range(4000):
        characters = list(rng.choice(seeds))
        for _ in range(rng.choice((1, 1, 2, 3))):
            at = rng.randrange(len(characters))
            characters[at : at + rng.randint(0, 1)] = rng.choice(alphabet) * rng.randint(0, 1)
        sfen = "".join(characters)
        try:
            position = ShogiPosition(sfen)
        except ValueError as error:
            refusals.add(str(error))
            continue
        taken += 1
        use(position)
        rows, side, hands, *_ = sfen.split()
        # python-shogi reads empty squares that lie side by side in one number.
        rows = re.sub(r"\d+", lambda digits: str(sum(map(int, digits[0]))), rows)
        expected = shogi.Board(f"{rows} {side} {hands} 1")
        assert position.sfen().split()[:2] == expected.sfen().split()[:2], sfen
        assert hands_of(position.sfen()) == hands_of(expected.sfen()), sfen
    assert taken > 500
    assert len(refusals) > 50
    assert not any("\n" in refusal or "codec" in refusal for refusal in refusals)
    assert capfd.readouterr() == ("", "")
