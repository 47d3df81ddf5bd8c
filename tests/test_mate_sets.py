"""utils.lab.mate_sets: what an engine claims about mates is judged by others than itself."""

import shlex
import sys
from pathlib import Path

import pytest
from test_mate import MATES

from utils.lab import mate_sets
from utils.lab.mate_sets import Claim, MateJudge, Problem, main, read_problems, row

pytestmark = pytest.mark.lent_worker(mate_sets)


IN_ONE = MATES[0][0]
IN_THREE, _ = MATES[1]
ROOK_AND_GOLD = "4k4/9/9/9/9/9/9/9/K8 b RG 1"
"""R*5b gives check, G*4b mates after 5a4a, but the king may take the rook."""
BARE = "4k4/9/9/9/9/9/9/9/4K4 b - 1"
LIAR = """
for line in open(0):
    word = line.split()[0]
    if word == "quit":
        break
    print({"usi": "usiok", "isready": "readyok", "go": ANSWER}.get(word, ""), flush=True)
"""


def claim(*line: str, said: str = "") -> Claim:
    return Claim(line, "", said, 1.0)


@pytest.mark.parametrize(
    ("sfen", "line", "objection"),
    [(IN_ONE, "G*5b", ""), (IN_ONE, "G*5d", "G*5d gives no check"), (IN_ONE, "G*4b", "it does not end in mate"),
     (IN_ONE, "G*5c", "G*5c is illegal"), (IN_ONE, "mate", "mate is illegal"),
     ("7Bk/6G2/9/9/9/9/9/9/8K b Ps 1", "P*1b", "P*1b is illegal")],
)  # fmt: skip
def test_lines_are_played(sfen: str, line: str, objection: str) -> None:
    assert MateJudge(by_checks=True).objection(sfen, line.split()) == objection


@pytest.mark.parametrize(
    ("sfen", "line", "escape"),
    [
        (ROOK_AND_GOLD, "R*5b 5a4a G*4b", "5a5b instead of 5a4a is not mated"),
        # The loser's line: whatever White does, it is mated.
        ("4k4/9/3GPG3/9/9/9/9/9/4K4 w G 1", "5a6a G*6b", ""),
        ("4k4/9/9/9/9/9/9/9/4K4 w G 1", "5a6a G*6b", "5a4a instead of 5a6a is not mated"),
    ],
)
def test_other_evasions_are_tried(sfen: str, line: str, escape: str) -> None:
    """In a game a mate need not be by checks alone, so that df-pn cannot tell that an evasion helps."""
    strict, in_a_game, said = MateJudge(by_checks=True), MateJudge(by_checks=False), claim(*line.split())
    assert strict.escape(sfen, line.split()) == escape
    if sfen == ROOK_AND_GOLD:
        assert strict.verdict(Problem(sfen, False), said)[1:] == (escape, "")
        assert in_a_game.verdict(Problem(sfen, False), said)[1:] == ("", escape)
        assert in_a_game.objection(IN_ONE, ["G*5d"]) == "it does not end in mate"


def test_a_mate_that_is_there_must_not_be_denied_and_may_be_longer_than_the_shortest() -> None:
    judge = MateJudge(by_checks=True)
    for sfen, known, said, objection in [
        (IN_THREE, True, "nomate", "there is a mate"),
        (IN_THREE, False, "nomate", "there is a mate"),
        (BARE, False, "nomate", ""),
        (IN_THREE, True, "timeout", ""),
    ]:
        assert judge.verdict(Problem(sfen, known), claim(said=said)).objection == objection
    verdict = judge.verdict(Problem(IN_ONE, True), claim("G*5b"))
    longer = verdict._replace(claim=claim("G*5b", "5a5b", "G*5c"))
    assert row("set", [verdict, longer]) == "| set | 2 | 2 (100.0 %) | 0 | 0 | 1 | 1 |"


def test_positions_are_found_in_lines_of_all_kinds(tmp_path: Path) -> None:
    file = tmp_path / "set.sfen"
    unnumbered = IN_ONE.removesuffix(" 1")
    lines = f"# comment\n{IN_THREE} moves 1a1b 1b1c 1c1d\nsfen {IN_ONE}\n    - sfen: {BARE}\n      nomate: true\n"
    file.write_text(f"{lines}{unnumbered}\n")
    assert read_problems(file) == [Problem(IN_THREE, True), *(Problem(each, False) for each in (IN_ONE, BARE, IN_ONE))]


@pytest.mark.parametrize("way", [[], ["--byoyomi", "500"]])
def test_our_engine_finds_mates_and_claims_no_other(way: list[str], tmp_path: Path, capsys) -> None:
    mates, none = tmp_path / "mates", tmp_path / "none"
    mates.write_text("".join(f"{sfen} moves{' x' * plies}\n" for sfen, plies in MATES[:4]))
    none.write_text(f"{BARE}\n")
    options = [f"--option={option}" for option in ("Backend=uniform", "USI_Hash=16", "Const_Playout=10")]
    assert main([str(mates), str(none), *options, *way]) == 0
    first, second = capsys.readouterr().out.splitlines()[2:]
    assert first.startswith("| mates | 4 | 4 (100.0 %) | 0 | 0 |")
    assert second.startswith(f"| none | 1 | 0 (0.0 %) | {0 if way else 1} | 0 |")


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [("checkmate G*4b", "it does not end in mate"), ("checkmate nomate", "there is a mate"), ("checkmate G*5b", "")],
)
def test_a_wrong_claim_is_shown_and_counted(answer: str, wrong: str, tmp_path: Path, capsys) -> None:
    (tmp_path / "set").write_text(f"{IN_ONE}\n" * 2)
    engine = shlex.join([sys.executable, "-c", LIAR.replace("ANSWER", repr(answer))])
    assert main([str(tmp_path / "set"), "--engine", engine]) == (2 if wrong else 0)
    out = capsys.readouterr().out
    assert out.count("| 2 | 2 (100.0 %) |") == (not wrong)
    assert out.count(f"  {wrong}\n") == (2 if wrong else 0)
