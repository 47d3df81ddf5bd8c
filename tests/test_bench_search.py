"""The search of the book, against which ours is timed: it asks about the right moves and searches soundly."""

import re
from pathlib import Path

import pytest
import shogi
from networks import RESNET, network

from pydlshogi.bench import END_GAME, NullEvaluator
from pydlshogi.evaluator import HashEvaluator
from pydlshogi.games.shogi.encodings import MOVES
from pydlshogi.games.shogi.position import ShogiPosition
from pydlshogi.network.weights import write_weights
from pydlshogi.uct.batch import Batch
from utils import bench_search


def test_the_books_search_knows_every_move_and_its_prior() -> None:
    """What the evaluator says of a move in our order arrives at the same move in python-shogi's."""
    search = bench_search.BookSearch(END_GAME, HashEvaluator(MOVES))
    position, batch = ShogiPosition(END_GAME), Batch(1, 600, MOVES)
    moves = position.legal_moves()
    batch.add(position, moves)
    priors, values, _ = HashEvaluator(MOVES).evaluate(batch)
    assert len(set(priors.tolist())) > 10
    ours = dict(zip(map(position.usi, moves.tolist()), priors.tolist(), strict=True))
    theirs = dict(zip([move.usi() for move in search.root.moves], search.root.priors.tolist(), strict=True))
    assert theirs == ours
    assert search.root.value == values[0]


def test_the_books_search_counts_every_playout_and_takes_its_moves_back() -> None:
    search = bench_search.BookSearch(END_GAME, NullEvaluator())
    before = search.board.sfen()
    for _ in range(60):
        search.playout()
    root = search.root
    assert search.board.sfen() == before
    assert root.visits.sum() == 60
    assert root.priors.sum() == pytest.approx(1.0)
    assert (root.wins <= root.visits).all()
    for visits, child in zip(root.visits, root.children, strict=True):
        assert (child is None) == (visits == 0)
        if child is not None:
            assert child.visits.sum() >= visits - 1  # it may be reached by another order of moves too


def test_a_mated_side_has_lost() -> None:
    """Black mates by dropping its gold before the king."""
    search = bench_search.BookSearch("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", NullEvaluator())
    search.root.priors[:] = 0.01
    for _ in range(200):
        search.playout()
    mate = search.root.moves.index(shogi.Move.from_usi("G*5b"))
    assert search.root.wins[mate] == search.root.visits[mate] > 50


def test_every_way_is_printed_with_its_ratio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.npz"
    write_weights(path, network(RESNET))
    assert bench_search.main(["--modelfile", str(path), "--backend", "onnx", "--seconds", "0.01"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert lines[0].startswith("the search alone")
    assert "ONNX Runtime" in lines[4]
    for line in lines[1:4] + lines[5:]:
        assert re.fullmatch(r"  [a-z, ']+\d* +[\d,]+ playouts/s +[\d.]+ x", line)
    assert lines[1].endswith(" 1.0 x")
    assert lines[5].endswith(" 1.0 x")


def test_what_cannot_be_measured_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench_search.main(["--modelfile", "/no.npz"]) == 1
    assert capsys.readouterr() == ("", "bench_search: /no.npz: No such file or directory\n")
    with pytest.raises(SystemExit):
        bench_search.main(["--seconds", "0"])
    assert "--seconds is above 0" in capsys.readouterr().err
