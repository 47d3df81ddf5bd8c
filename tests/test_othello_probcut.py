"""Multi-ProbCut measured: lines through values that are known beforehand and files."""

from pathlib import Path

import numpy as np
import pytest
from othello_games import random_game

from pydlshogi.games.othello.engine.cuts import CutPair, Cuts, at_stage, probing_of, read_cuts, write_cuts
from pydlshogi.games.othello.engine.patterns import STAGES
from pydlshogi.games.othello.transcript import transcript
from utils.lab.othello_cuts import FORMS, fit
from utils.lab.othello_learn import main

STAGEWISE = FORMS["stages"]
PAIR = CutPair(5, 1, (1.0, 0.5), (100.0, -500.0), (2000.0, 4000.0), 77, 0.9)
CUTS = Cuts(1.5, False, (PAIR, PAIR._replace(depth=4, shallow=2), PAIR._replace(shallow=3)))


class TestFit:
    rng = np.random.default_rng(0)
    passed = rng.uniform(0.1, 0.8, 20_000)
    less = rng.normal(0, 8000, 20_000)

    def test_lines_and_deviations_change_with_the_game(self) -> None:
        noise = self.rng.normal(0, 1, 20_000) * (2000 + 3000 * self.passed)
        deep = (0.9 + 0.2 * self.passed) * self.less + 500 - 800 * self.passed + noise
        pair = fit(6, 2, deep, self.less, self.passed, STAGEWISE)
        assert pair.slope == (pytest.approx(0.9, abs=0.03), pytest.approx(1.1, abs=0.03))
        assert pair.offset == (pytest.approx(500, abs=200), pytest.approx(-300, abs=300))
        assert pair.deviation == (pytest.approx(2000, rel=0.1), pytest.approx(5000, rel=0.1))


class TestCuts:
    def test_a_search_gets_them_by_stage_and_depth(self) -> None:
        probing = probing_of(CUTS)
        assert not probing.everywhere
        assert probing.cuts.shape == (STAGES, 6, 2)
        assert probing.cuts["shallow"][0].tolist() == [[-1, -1]] * 4 + [[2, -1], [1, 3]]
        for stage in (0, 7, 14):
            row = probing.cuts[stage, 5, 0]
            assert row["slope"] == pytest.approx(at_stage(stage, (1.0, 0.5)))
            assert row["margin"] == pytest.approx(1.5 * at_stage(stage, (2000.0, 4000.0)))
        assert at_stage(0, (0.0, 60.0)) == 1.5
        assert at_stage(14, (0.0, 60.0)) == 57.5

    def test_written_and_read_again(self, tmp_path: Path) -> None:
        path = tmp_path / "cuts.toml"
        write_cuts(path, CUTS)
        assert read_cuts(path) == CUTS
        assert "depth = 5\nshallow = 1\nslope = [1.000, 0.500]\noffset = [100, -500]\n" in path.read_text()

    @pytest.mark.parametrize(
        ("before", "after", "reason"),
        [("deviations", "diversions", "holds no cuts: 'deviations'"),
         ("shallow = 1", "shallow = 5", "a shallow search is one of fewer plies"),
         ("[1.000, 0.500]", "[1.000, -0.500]", "slopes are above 0"), ("[[pair]]", "[pair", "holds no cuts"),
         ("depth = 5", "depth = inf", "holds no cuts: cannot convert"),
         ("[1.000, 0.500]", "[1.000, 1e300]", "a number that is none, or too large")],
    )  # fmt: skip
    def test_refusals(self, tmp_path: Path, before: str, after: str, reason: str) -> None:
        path = tmp_path / "cuts.toml"
        write_cuts(path, CUTS)
        path.write_text(path.read_text().replace(before, after, 1))
        with pytest.raises(ValueError, match=reason):
            read_cuts(path)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "games.txt").write_text("".join(f"{transcript(random_game(seed).moves)}\n" for seed in range(3)))
    out = tmp_path / "cuts.toml"
    assert main(["cuts", str(tmp_path / "games.txt"), "--out", str(out), "--depth", "4", "--workers", "1"]) == 0
    cuts = read_cuts(out)
    assert [(pair.depth, pair.shallow) for pair in cuts.pairs] == [(3, 1), (4, 2)]
    assert len(capsys.readouterr().out.splitlines()) == len(cuts.pairs)
