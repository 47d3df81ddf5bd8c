"""The df-pn search: its mates are walked by cshogi's rules, its refutations compared with cshogi's df-pn."""

import lzma
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import cshogi
import pytest
from positions import state_of
from test_mate import BACK_AND_FORTH, BY_WAY_OF_REPETITIONS, HARD, MATES, NO_MATES, PLAYED_BEFORE, is_mate, usi

from pydlshogi.games.shogi.dfpn import ENDLESS, Line, MateSearch, Verdict
from pydlshogi.games.shogi.position import ShogiPosition

MANY = 200_000
"""Nodes."""
NINE_PAWNS = ("7k1/5+Bp2/7Ss/9/9/9/1n7/9/9 b 9p 1", "7k1/5+Bp2/7Ss/9/9/9/1n7/9/8K b 9p 1")
"""White runs along a file, and puts a pawn between at each step: a mate in more than 200 plies."""
CLAIMS = {Verdict.MATE: True, Verdict.NO_MATE: False}


def look(sfen: str, search: MateSearch, nodes: int = MANY, plies: int = ENDLESS) -> Verdict:
    return search.look(state_of(cshogi.Board(sfen)), nodes, plies)


def walk(board: cshogi.Board, search: MateSearch) -> int:
    """Play out every evasion of the mate that the search has found; returns the plies of its longest line."""
    walked: dict[int, int] = {}

    def plies() -> int:
        key = board.zobrist_hash()
        if key not in walked:
            line = search.line(state_of(board), MANY)
            assert 0 < len(line) <= search.plies(state_of(board))
            move = board.move_from_move16(line[0])
            assert move in board.legal_moves
            board.push(move)
            assert board.is_check()
            longest = 0
            for evasion in list(board.legal_moves):
                board.push(evasion)
                longest = max(longest, 1 + plies())
                board.pop()
            board.pop()
            walked[key] = longest + 1
            assert walked[key] <= len(line)
        return walked[key]

    return plies()


def line_of(sfen: str, search: MateSearch) -> Line:
    line = search.line(state_of(cshogi.Board(sfen)), MANY)
    assert is_mate(sfen, usi(line))
    return line


def small_positions(seed: int) -> Iterator[str]:
    """Without end: few pieces around White's king, the rest in White's hand or nowhere."""
    rng = random.Random(seed)
    board = cshogi.Board()
    while True:
        pieces = [0] * 81
        king = rng.choice([0, 1, 9, 10, 19, 36, 40])
        pieces[king] = cshogi.WKING
        near = [s for s in range(81) if abs(s // 9 - king // 9) < 4 and abs(s % 9 - king % 9) < 4 and s != king]
        for square in rng.sample(near, rng.randrange(2, 6)):
            kind = rng.choice([2, 3, 4, 5, 6, 7, 9, 13, 14])
            pieces[square] = kind + 16 * rng.randrange(2)
        far = [s for s in range(81) if s not in near and not pieces[s]]
        pieces[rng.choice(far)] = cshogi.BKING
        hands = [rng.randrange(2) for _ in range(7)], [rng.randrange(3) for _ in range(7)]
        board.set_pieces(pieces, hands)
        board.turn = cshogi.BLACK
        sfen = board.sfen()
        board.turn = cshogi.WHITE
        knights = [s for s, piece in enumerate(pieces) if piece == cshogi.BKNIGHT and s % 9 < 2]
        lances = [s for s, piece in enumerate(pieces) if piece == cshogi.BLANCE and s % 9 < 1]
        if not board.is_check() and not knights and not lances:
            yield sfen


def problems(folder: Path, name: str) -> list[str]:
    file = folder / "tests" / name
    text = lzma.decompress(file.read_bytes()).decode() if name.endswith(".xz") else file.read_text()
    return [line.split(" moves")[0].removeprefix("sfen ") for line in text.splitlines()]


@pytest.mark.parametrize(("sfen", "plies"), MATES)
def test_a_mate_is_found_with_its_whole_line_and_then_the_shortest(sfen: str, plies: int) -> None:
    search = MateSearch(1)
    states = state_of(cshogi.Board(sfen))
    assert look(sfen, search) == Verdict.MATE
    line = line_of(sfen, search)
    assert walk(cshogi.Board(sfen), search) == len(line)
    for shorter in search.shorter(states, line, 20_000, 20_000):
        assert len(shorter) < len(line)
        line = shorter
    assert len(line) == plies
    assert is_mate(sfen, usi(line))
    assert search.look(states, MANY, plies) == Verdict.MATE
    assert search.look(states, MANY, plies - 2) == Verdict.NO_MATE


@pytest.mark.parametrize("sfen", NO_MATES)
def test_what_cannot_be_mated_is_refuted(sfen: str) -> None:
    """By drop pawn mate and by repetition too."""
    assert look(sfen, MateSearch(1)) == Verdict.NO_MATE


@pytest.mark.parametrize("name", ["mate3", "mate5", "mate7", "mate9", "mate11", "mate_lines_50k.sfen.xz"])
@pytest.mark.parametrize("count", [25, pytest.param(1000, marks=pytest.mark.long)])
def test_mates_of_the_sets_are_mates_whatever_white_does(name: str, count: int, shared_data: Path) -> None:
    search = MateSearch(16)
    for sfen in problems(shared_data, name if "." in name else f"{name}.sfen")[:count]:
        assert look(sfen, search, 1_000_000) == Verdict.MATE, sfen
        assert walk(cshogi.Board(sfen), search) == len(line_of(sfen, search))


def test_a_mate_by_way_of_repetitions_is_not_refuted() -> None:
    search = MateSearch(16)
    assert look(BY_WAY_OF_REPETITIONS, search, 1_000_000) == Verdict.MATE
    assert walk(cshogi.Board(BY_WAY_OF_REPETITIONS), search) == len(line_of(BY_WAY_OF_REPETITIONS, search))


@pytest.mark.parametrize("sfen", NINE_PAWNS)
def test_a_mate_may_take_more_than_two_hundred_plies(sfen: str) -> None:
    search = MateSearch()
    assert look(sfen, search) == Verdict.MATE
    line = line_of(sfen, search)
    assert len(line) > 199
    assert len(line) == search.plies(state_of(cshogi.Board(sfen)))


def compared(positions: Iterator[str], search: MateSearch, nodes: int) -> Counter[Verdict]:
    """The verdicts on positions, which cshogi's df-pn must not contradict."""
    verdicts: Counter[Verdict] = Counter()
    for sfen in positions:
        verdict = look(sfen, search, nodes)
        verdicts[verdict] += 1
        if verdict in CLAIMS:
            judge = cshogi.DfPn(199, MANY)
            mated = judge.search(cshogi.Board(sfen))
            assert mated == CLAIMS[verdict] or (not mated and judge.searched_node >= MANY), sfen
        if verdict == Verdict.MATE and (line := search.line(state_of(cshogi.Board(sfen)), nodes)):
            assert is_mate(sfen, usi(line))
    return verdicts


@pytest.mark.parametrize("count", [100, pytest.param(5000, marks=pytest.mark.long)])
def test_verdicts_on_small_positions_are_those_of_another_search(count: int) -> None:
    verdicts = compared(islice(small_positions(1), count), MateSearch(4), 5000)
    assert min(verdicts[Verdict.MATE], verdicts[Verdict.NO_MATE]) > count / 10
    assert verdicts[Verdict.OPEN] < count / 2


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_no_mate_in_one_of_real_games(count: int, shared_data: Path) -> None:
    positions = problems(shared_data, "no-mate-1-ply.sfen")[:count]
    verdicts = compared(iter(positions), MateSearch(16), MANY)
    assert verdicts[Verdict.NO_MATE] > 0.98 * len(positions)


def test_a_table_that_is_full_makes_no_verdict_wrong() -> None:
    """Of 64 entries, in which a mate may be lost and found again, and of 1024."""
    for kilobytes in (2, 32):
        verdicts = compared(islice(small_positions(2), 100), MateSearch(kilobytes / 1024), 3000)
        assert min(verdicts[Verdict.MATE], verdicts[Verdict.NO_MATE]) > 10
    search = MateSearch(32 / 1024)
    for sfen, plies in MATES:
        assert look(sfen, search) == Verdict.MATE
        line = search.line(state_of(cshogi.Board(sfen)), MANY)
        assert len(line) >= plies
        assert is_mate(sfen, usi(line))


@pytest.mark.parametrize("room", [{"plies": 4}, {"plies": 6}, {"children": 20}, {"children": 60}])
def test_a_cut_is_no_refutation(room: dict[str, int]) -> None:
    """Nor is it kept as one: the table is the same for all."""
    search = MateSearch(4, **room)
    cuts = 0
    for sfen in [*(sfen for sfen, _ in MATES), HARD, *islice(small_positions(3), 50)]:
        for _ in range(2):
            verdict = look(sfen, search, 2000)
            cuts += verdict == Verdict.CUT
            if verdict in CLAIMS:
                assert look(sfen, MateSearch(1)) in {verdict, Verdict.OPEN}
    assert cuts > 10


def test_a_look_goes_on_where_the_last_one_ended() -> None:
    search = MateSearch(4)
    assert look(HARD, search, 100) == Verdict.OPEN
    assert 100 <= search.nodes < 110
    while look(HARD, search, 100) == Verdict.OPEN:
        assert search.nodes < MANY
    sliced, search = search.nodes, MateSearch(4)
    assert look(HARD, search) == Verdict.MATE
    assert sliced < 2 * search.nodes
    before = search.nodes
    assert look(HARD, search) == Verdict.MATE
    assert search.nodes <= before + 1
    search.forget()
    assert search.plies(state_of(cshogi.Board(HARD))) == 0


def test_both_sides_and_other_sets_of_pieces_share_a_table() -> None:
    """The last of MATES is won with what White has in hand here and has not there."""
    search = MateSearch(1)
    for sfen, verdict in [
        ("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", Verdict.MATE),
        ("4k4/9/4P4/9/9/9/9/9/4K4 w G 1", Verdict.NO_MATE),
        ("4k4/9/9/9/9/4p4/9/9/4K4 w g 1", Verdict.NO_MATE),
        ("4k4/9/9/9/9/9/4p4/9/4K4 w g 1", Verdict.MATE),
        ("7k1/9/7P1/9/9/9/9/9/K6R1 b L 1", Verdict.MATE),
        ("7k1/9/7P1/9/9/9/9/9/K6R1 b Lg 1", Verdict.MATE),
    ]:
        assert look(sfen, search) == look(sfen, MateSearch(1)) == verdict, sfen


@pytest.mark.parametrize(
    "board",
    ["3bk4/5r3/2+p4+B1/5B3/3K5/9/9/9/9", "4n4/7k1/9/5S2g/9/9/9/9/1K7", "7k1/9/6L2/4l1+P2/9/9/9/8K/9",
     "9/7k1/4l3R/9/9/9/3K5/9/9"],
)  # fmt: skip
def test_two_golds_mate_where_one_does_not(board: str) -> None:
    search = MateSearch(1)
    for hands, verdict in [("G2g", Verdict.NO_MATE), ("2Gg", Verdict.MATE), ("G2g", Verdict.NO_MATE)]:
        assert look(f"{board} b {hands} 1", search) == verdict


def test_whether_a_mate_may_lead_through_what_was_played() -> None:
    board = cshogi.Board(PLAYED_BEFORE)
    search = MateSearch(1)
    assert search.look(state_of(board), MANY, 3) == Verdict.MATE
    assert usi(search.line(state_of(board), MANY))[0] == "7f8f"
    for move in BACK_AND_FORTH:
        board.push_usi(move)
    past = ShogiPosition(PLAYED_BEFORE, BACK_AND_FORTH).states[:-1]
    assert search.may_repeat(state_of(board), 3, past)
    assert not search.may_repeat(state_of(board), 3, past[:1])
    assert not search.may_repeat(state_of(board), 3, past[3:])


def test_searches_in_threads_know_nothing_of_each_other() -> None:
    searches = [MateSearch(4) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(look, [HARD] * 3, searches))
    assert {len(line_of(HARD, search)) for search in searches} == {len(line_of(HARD, searches[0]))}
    assert len({search.nodes for search in searches}) == 1
