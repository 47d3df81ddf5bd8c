"""Analysis of records: assessments, what moves cost, the table, and the files beside the record."""

import json
import re
from dataclasses import replace
from pathlib import Path

import cshogi
import pytest
from cshogi import CSA, KIF
from thinker import Thinker

from pydlshogi import analyze
from pydlshogi.analysis import MATE_EVAL, AnalysedMove, Assessment, Judgement, summary
from pydlshogi.game import PlayedPosition
from pydlshogi.games.shogi.analysis import judge, think
from pydlshogi.games.shogi.kifu.csa import to_csa
from pydlshogi.games.shogi.kifu.game import Game, moves_of
from pydlshogi.games.shogi.kifu.kif_writer import candidate_lines, to_kif
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.games.shogi.read_kifu import parse, read
from pydlshogi.player.base_player import HIGHEST_CP, BestMove, Checkmate, PlayerError, Report
from pydlshogi.player.clock import Clock
from pydlshogi.player.mcts_player import MCTSPlayer

font_manager = pytest.importorskip("matplotlib.font_manager", reason="needs matplotlib (the extra `train`)")

FIXTURES = Path(__file__).parent / "fixtures" / "kifu"
START = cshogi.STARTING_SFEN
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"  # G*5b
DECLARABLE = "2GK1+L3/2+P+S+R1G+N1/3+B1GG2/9/9/1+bs6/+p+p3+n3/2+n2k3/6+p2 b R2SN7P3l7p 375"


def game(moves: str, sfen: str = START) -> Game:
    played = moves_of(sfen, moves.split())
    nothing = (None,) * len(played)
    return Game(sfen, played, None, "unknown", nothing, nothing)


def judged(before: float, after: float, move: str = "7g7f", best: str = "2g2f", turn: int = 0) -> Judgement:
    """A move after which its maker's win rate is `after`."""
    return Judgement(1, turn, move, Assessment(100, before, (best,)), Assessment(-40, 1 - after, ("3c3d",)))


@pytest.mark.parametrize(
    ("before", "after", "loss", "mark"),
    [(0.6, 0.6, 0.0, ""), (0.6, 0.7, 0.0, ""), (0.6, 0.56, 0.04, ""), (0.6, 0.54, 0.06, "?!"), (0.6, 0.49, 0.11, "?"),
     (0.6, 0.39, 0.21, "??"), (1.0, 0.0, 1.0, "??")],
)  # fmt: skip
def test_what_a_move_costs(before: float, after: float, loss: float, mark: str) -> None:
    for turn in (0, 1):
        move = judged(before, after, turn=turn)
        assert (move.loss, move.mark) == (pytest.approx(loss), mark)
    assert judged(0.9, 0.1, move="2g2f").loss == 0  # the player's own move


def test_rows_and_evaluations_which_are_blacks() -> None:
    black, white = judged(0.5, 0.3), judged(0.5, 0.3, turn=1)
    assert (black.evaluation, black.win_rate) == (40, pytest.approx(0.3))
    assert (white.evaluation, white.win_rate) == (-40, pytest.approx(0.7))
    assert analyze.row(judged(0.6, 0.39)) == "     1  +7g7f       +40       39.0%  2g2f    21.0% ??"
    assert analyze.row(judged(0.6, 0.6, move="2g2f")) == "     1  +2g2f       +40       60.0%  2g2f"
    assert len(analyze.HEADING) == len(analyze.row(judged(0.6, 0.6)))


def test_a_side_is_summed_up() -> None:
    moves = [judged(0.6, 0.3), judged(0.5, 0.5, move="2g2f"), judged(0.5, 0.38, turn=1)]
    assert summary(moves, ("taro", "")) == [
        "Black (taro): best move 1 of 2 times, 15.0% of winning lost per move; "
        "inaccuracies (?!): 0, mistakes (?): 0, blunders (??): 1",
        "  how many moves lost how much: "
        "under 1%: 1, 1% to 2%: 0, 2% to 5%: 0, 5% to 10%: 0, 10% to 20%: 0, 20% or more: 1",
        "White: best move 0 of 1 times, 12.0% of winning lost per move; "
        "inaccuracies (?!): 0, mistakes (?): 1, blunders (??): 0",
        "  how many moves lost how much: "
        "under 1%: 0, 1% to 2%: 0, 2% to 5%: 0, 5% to 10%: 0, 10% to 20%: 1, 20% or more: 0",
    ]


def test_a_missed_mate_is_a_blunder() -> None:
    (first, second) = judge(Thinker().player, game("G*1h 5a4a", MATE_IN_ONE), 100)
    assert (first.best, first.before.evaluation, first.before.win_rate) == ("G*5b", MATE_EVAL - 1, 1.0)
    assert first.mark == "??"
    assert (second.number, second.turn, second.before) == (2, 1, first.after)


def test_a_mated_side_has_lost_and_a_declaration_wins() -> None:
    ready = Thinker().player
    mate = game("G*5b", MATE_IN_ONE)
    assert think(ready, mate, 1, 10) == Assessment(-MATE_EVAL, 0.0)
    (move,) = judge(ready, mate, 10)
    assert (move.evaluation, move.win_rate, move.loss) == (MATE_EVAL, 1.0, 0.0)
    assert think(ready, game("", DECLARABLE), 0, 10) == Assessment(MATE_EVAL - 1, 1.0)


def test_a_repetition_is_worth_what_the_rules_say() -> None:
    """A rook more is worth nothing then, though it would be if the game went on."""
    ready, start = Thinker().player, "8k/9/9/9/9/9/9/7R1/4K4 b - 1"
    draw, lost = (game(moves * 3, start) for moves in ("5i5h 1a1b 5h5i 1b1a ", "2h1h 1a2a 1h2h 2a1a "))
    assert think(ready, draw, 12, 10) == Assessment(0, 0.5)
    assert think(ready, lost, 12, 10) == Assessment(-HIGHEST_CP, 0.0)
    assert think(ready, draw, 11, 10).line


RECORD = replace(game("7g7f 3c3d"), evals=(40, -30), times=(1, 2))
LINES = [("8c8d", "2g2f"), ("2g2f",)]


def test_lines_and_comments_in_records() -> None:
    said = "+7776FU T1 '** 40 -8384FU +2726FU -3334FU T2 '** -30 +2726FU '*mistake"
    assert " ".join(to_csa(replace(RECORD, comments=("", "", "mistake")), LINES).splitlines()[3:]) == said
    record = replace(game("7g7f 3c3d 8h2b+"), evals=(None, None, 0))
    assert " 読み筋 △同　銀(31)\n" in to_kif(record, [(), (), ("3a2b",)])


def test_candidates_in_kif() -> None:
    position, move = ShogiPosition(RECORD.start_sfen), RECORD.moves[0]
    first = tuple(candidate_lines(position, [AnalysedMove(70, ("2g2f",), 9)]))
    position.push(move)
    second = candidate_lines(position, [AnalysedMove(40, ("8c8d", "2g2f")), AnalysedMove(-5, ("3c3d",))], move)
    game = replace(RECORD, comments=("", "", "悪手"), analysis=(first, tuple(second)))
    text = to_kif(game, LINES)
    assert text.splitlines()[3:] == [
        "手数----指手---------消費時間--",
        "**解析 候補1 ノード数 9 評価値 70 読み筋 ▲２六歩(27)",
        "   1 ７六歩(77)   ( 0:01/00:00:01)",
        "**解析 候補1 評価値 40 読み筋 △８四歩(83) ▲２六歩(27)",
        "**解析 候補2 評価値 -5 読み筋 △３四歩(33)",
        "   2 ３四歩(33)   ( 0:02/00:00:02)",
        "**対局 時間 0:02 評価値 -30 読み筋 ▲２六歩(27)",
        "*悪手",
    ]
    (read_again,) = parse(text.encode(), "x.kif")
    assert read_again.evals == RECORD.evals  # of the candidates the first counts


@pytest.mark.parametrize("kif", [False, True])
def test_a_record_that_is_judged_again_says_its_own_once_and_keeps_what_people_said(kif: bool) -> None:
    played = replace(game("7g7f 3c3d"), comments=("", "good", "and\nbad"))
    second = Judgement(2, 1, "3c3d", Assessment(0, 0.6, ("8c8d", "2g2f")), Assessment(0, 0.7, ("2g2f",)))
    text = analyze.annotated(played, [judged(0.5, 0.5), second], kif)
    (again,) = parse(text.encode(), "x.kif" if kif else "x.csa")
    assert analyze.annotated(replace(again, evals=played.evals), [judged(0.5, 0.5), second], kif) == text
    assert analyze.annotated(replace(again, evals=played.evals), [judged(0.5, 0.5)], kif).count("-30.0%") == 1


OPTIONS = ["--nodes", "32", "--option", "Backend=hash", "--option", "USI_Hash=8"]


def run(record: Path, *arguments: str) -> int:
    return analyze.main([str(record), *OPTIONS, *arguments])


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "game.csa"
    path.write_bytes((FIXTURES / "floodgate.csa").read_bytes())
    return path


def test_a_record_analysed(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original = record.read_bytes()
    assert run(record) == 0
    heading, *rows, black, _, white, _, first, second = capsys.readouterr().out.splitlines()
    (before,), (after,) = read(record), read(record.with_name("game.analysed.csa"))
    assert heading == analyze.HEADING
    assert [line.split()[1] for line in rows] == [f"{'+-'[ply % 2]}{move}" for ply, move in enumerate(before.usi)]
    assert [analyze.score(evaluation or 0) for evaluation in after.evals] == [line.split()[2] for line in rows]
    assert black.startswith("Black (first_engine): ")
    assert white.startswith("White (second_engine): ")
    assert replace(after, evals=before.evals, comments=()) == replace(before, event=after.event)
    assert [first, second] == [str(record.with_name(f"game.analysed.{suffix}")) for suffix in ("csa", "png")]
    assert Path(second).read_bytes().startswith(b"\x89PNG")
    assert record.read_bytes() == original
    assert {path.name for path in record.parent.iterdir()} == {"game.csa", "game.analysed.csa", "game.analysed.png"}


def test_the_numbers_for_programs(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(record, "--no-record", "--no-graph", "--json") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:13]]
    written = json.loads(record.with_name("game.analysed.json").read_text(encoding="utf-8"))
    assert written["names"] == ["first_engine", "second_engine"]
    moves = [[str(move["number"]), f"{'+-'['bw'.index(move['side'])]}{move['move']}"] for move in written["moves"]]
    assert moves == [row[:2] for row in rows]
    scores = [[analyze.score(move["evaluation"]), f"{move['winRate']:.1%}"] for move in written["moves"]]
    assert scores == [row[2:4] for row in rows]
    assert run(record, "--no-record", "--no-graph", "--json") == 1  # it exists


@pytest.mark.parametrize("name", ["branches.kif", "diagram.kifu", "relative.ki2", "floodgate.csa"])
def test_other_programs_read_what_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes((FIXTURES / name).read_bytes())
    assert run(path, "--no-graph") == 0
    (before,) = read(path)
    (written,) = tmp_path.glob("*.analysed.*")
    (after,) = read(written)
    said = [line for text in after.comments for line in text.split("\n")]
    own = [line for line in said if line and not re.search("勝率-|win rate -", line)]
    assert own == "\n".join(before.comments).split()
    assert replace(after, evals=before.evals, event="", comments=()) == replace(before, event="", comments=())
    assert None not in after.evals
    if before.start_sfen != START:
        return  # cshogi does not read hands beside a diagram
    data = written.read_bytes()
    if written.suffix == ".csa":
        (parsed,) = CSA.Parser.parse_str(data.decode())
    else:
        declared = "cp932" if b"Shift_JIS" in data else "utf-8"
        parsed = KIF.Parser.parse_str(data.decode(declared))
    assert [cshogi.move_to_usi(move) for move in parsed.moves] == list(before.usi)


def test_names_may_be_any(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Shift_JIS has no letter for the first, and no name is a formula of the graph."""
    path = tmp_path / "game.kif"
    path.write_text(to_kif(replace(RECORD, names=("Łukasz", r"$\frac{x$"))), encoding="utf-8")
    assert run(path) == 0
    assert read(tmp_path / "game.analysed.kif")[0].names == ("Łukasz", r"$\frac{x$")
    assert "Łukasz" in capsys.readouterr().out
    assert (tmp_path / "game.analysed.png").exists()


@pytest.mark.parametrize(
    ("trouble", "status", "reason"), [(KeyboardInterrupt(), 130, "stopped"), (PlayerError("no more"), 1, "no more")]
)
def test_what_was_judged_before_trouble_is_kept(record: Path, monkeypatch, capsys, trouble, status, reason) -> None:
    original = MCTSPlayer.think

    def interrupted(self: MCTSPlayer, position: PlayedPosition, clock: Clock, report: Report) -> BestMove | Checkmate:
        if position.ply() == 6:
            raise trouble
        return original(self, position, clock, report)

    monkeypatch.setattr(MCTSPlayer, "think", interrupted)
    assert run(record) == status
    assert capsys.readouterr().err == f"analyze: {reason}; 4 of 12 moves are judged\n"
    (after,) = read(record.with_name("game.analysed.csa"))
    assert [evaluation is None for evaluation in after.evals] == [False] * 4 + [True] * 8
    assert record.with_name("game.analysed.png").exists()


def test_nothing_is_overwritten_unasked(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = record.with_name("game.analysed.csa")
    mine.write_text("mine")
    assert run(record, "--no-graph") == 1
    assert capsys.readouterr().err == f"analyze: {mine} exists (--overwrite replaces it)\n"
    assert mine.read_text() == "mine"
    assert run(record, "--no-graph", "--no-record") == 0
    assert mine.read_text() == "mine"
    assert run(record, "--no-graph", "--overwrite") == 0
    assert read(mine)


def test_a_graph_without_matplotlib_is_said_and_left_out(record: Path, monkeypatch, capsys, caplog) -> None:
    monkeypatch.setattr(analyze, "find_spec", lambda name: name != "matplotlib" or None)
    assert run(record) == 0
    assert capsys.readouterr().err.startswith("analyze: no graph without Matplotlib: run `sh bat/environment.sh train`")
    assert not record.with_name("game.analysed.png").exists()
    monkeypatch.undo()
    monkeypatch.setattr(analyze, "title", lambda _names: ("Black - White", "no font of this machine"))
    assert run(record, "--overwrite") == 0
    assert caplog.messages == []  # with it nothing is said


def test_one_game_of_several(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record.write_text(f"{to_csa(RECORD)}/\n{to_csa(game('2g2f'))}-8382FU\n")
    assert run(record, "--no-graph", "--game", "2") == 0
    remarks = ["game 2 of 2 (--game chooses)", "move 2, -8382FU, is illegal: the moves before it are kept"]
    assert capsys.readouterr().err.splitlines() == [f"analyze: {remark}" for remark in remarks]
    assert read(record.with_name("game.analysed.csa"))[0].usi == ("2g2f",)


@pytest.mark.parametrize(
    ("text", "arguments", "reason"),
    [("PI\n+\n+7775FU\n", [], "game.csa: move 1, +7775FU, is illegal"), ("", [], "game.csa: empty"),
     ("f5d6c3\n", [], "game.csa: a game of othello, not of shogi: the board opens it, `python -m pydlshogi.web`"),
     ("position startpos moves 1d1c 3a3b\n", [], "game.csa: a game of dobutsu, not of shogi: the board opens it"),
     ("PI\n+\n%CHUDAN\n", [], "game.csa: there are no moves to judge"),
     ("PI\n+\n+7776FU\n", ["--game", "2"], "game.csa: there is no game 2, it holds 1"),
     ("PI\n+\n+7776FU\n", ["--option", "Bakend=hash"], "there is no option Bakend"),
     ("PI\n+\n+7776FU\n", ["--option", "Backend"], "--option Backend: NAME=VALUE is wanted"),
     ("PI\n+\n+7776FU\n", ["--option", "Backend=x"], "option Backend: x is refused"),
     ("PI\n+\n+7776FU\n", ["--option", "Backend=onnx", "--option", "modelfile=/no.npz"], "/no.npz")],
)  # fmt: skip
def test_what_cannot_be_analysed_is_one_line(record: Path, capsys, text: str, arguments, reason: str) -> None:
    record.write_text(text)
    assert run(record, *arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("analyze: ")
    assert reason in line
    assert [path.name for path in record.parent.iterdir()] == ["game.csa"]


@pytest.mark.parametrize("name", ["game.analysed.csa", "game.analysed.png"])
def test_what_cannot_be_written_is_said_before_the_thinking(record: Path, monkeypatch, capsys, name: str) -> None:
    monkeypatch.setattr(MCTSPlayer, "think", None)
    record.with_name(name).mkdir()
    assert run(record, "--overwrite") == 1
    assert capsys.readouterr().err == f"analyze: {record.with_name(name)}: Is a directory\n"
