"""The whole search on a page, one playout at a time. 探索のすべてを一ページで：1プレイアウトずつ進めます。

    python -m examples.search_in_a_page          tic-tac-toe, with numpy alone        三目並べ（numpyだけで動きます）
    python -m examples.search_in_a_page shogi    shogi, with the shipped network      将棋（付属のネットワーク）
    python -m examples.search_in_a_page shogi runs/both/net.npz   with another one      別のネットワーク

The engine computes the same, compiled, in batches and in several threads: tests/test_search.py compares both, move by
move. エンジン本体は同じ計算をコンパイルし、まとめて、複数スレッドで行います（tests/test_search.pyが両者を比べます）。

Letters are those of the AlphaGo Zero paper (Silver et al. 2017). 記号はAlphaGo Zeroの論文と同じです。
    N  visits of a move 訪問回数    W  sum of their values 価値の合計    Q = W / N  mean 平均価値    P  prior 方策の確率
Values are win rates of the side to move, 0 to 1. 価値は手番側から見た勝率（0～1）です。
"""

import math
import sys
from typing import Any, NamedTuple

import numpy as np


class Constants(NamedTuple):
    """Of selection. 選択の定数。 -> pydlshogi/uct/puct.py, which says what each is for"""

    c_init: float = 1.44
    c_base: float = 28288.0
    fpu_reduction: float = 0.27
    c_init_root: float = 1.16
    c_base_root: float = 25617.0
    fpu_reduction_root: float = 0.0
    unvisited: float = math.nan
    u_offset: float = 1.0
    prior_bonus: float = 0.0
    expand_at: int = 1


class Node:
    """A position that was met. 一度現れた局面。 -> pydlshogi/uct/tree.py"""

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome  # of the game, if the rules end it here, else None 終局ならその結果
        decided = outcome and outcome.value != 0.5
        self.proof = (outcome.value == 1, outcome.plies) if decided else None  # (won?, plies) 勝敗が確定
        self.values: list[float] = []  # what the network said of it ネットワークの評価
        self.moves: list[int] = []  # legal moves, once it is expanded 展開後の合法手
        self.children: list[Node | None] = []
        self.P = self.N = self.W = np.zeros(0)

    def mean(self) -> float:
        """The value of the position after all playouts through it. この局面を通った全プレイアウトの平均。"""
        if self.proof:
            return float(self.proof[0])
        return float((sum(self.values) + self.W.sum()) / (len(self.values) + self.N.sum()))


class Search:
    def __init__(self, game: Any, network: Any, constants: Any = Constants()) -> None:  # noqa: B008
        """`network`: (game, legal moves) -> (a prior for each of them, value). 方策と価値を返す関数。"""
        self.game, self.network, self.constants = game, network, constants
        self.nodes: dict[tuple[int, int], Node] = {}  # a position that two ways lead to is one node 合流は一つの節点
        self.root = self.node_here()
        self.expand(self.root, self.evaluate(self.root)[0])

    def node_here(self) -> Node:
        key = (self.game.key(), self.game.ply())
        return self.nodes.setdefault(key, Node(self.game.outcome()))

    def select(self, node: Node) -> int:
        """The move with the highest Q + U [PUCT]. Q + Uが最大の手を選ぶ。 -> pydlshogi/uct/selection.py"""
        c = self.constants
        at_root = node is self.root
        c_init, c_base, reduction = c[3:6] if at_root else c[:3]
        total = node.N.sum()
        first = c.unvisited  # Q of a move without visits: a little below its node 未訪問の手は親より少し低く見る
        if math.isnan(first):
            first = max(0.0, node.mean() - reduction * math.sqrt(node.P[node.N > 0].sum()))
        Q = np.where(node.N > 0, node.W / np.maximum(node.N, 1), first)
        U = (
            (c_init + math.log((total + c_base + 1) / c_base))
            * node.P
            * math.sqrt(max(1, total))
            / (c.u_offset + node.N)
        )
        score = Q + U
        for i, child in enumerate(node.children):
            if child and child.proof:  # proven moves need no average 勝敗が確定した手
                score[i] = -1 + node.P[i] * 1e-9 if child.proof[0] else math.inf
        return int(score.argmax())

    def expand(self, node: Node, priors: Any) -> None:
        """Give a leaf its moves. 葉に合法手を与える。 -> pydlshogi/uct/backup.py"""
        node.moves = self.game.legal_moves().tolist()
        node.children = [None] * len(node.moves)
        node.P = np.asarray(priors, np.float64) + np.float32(self.constants.prior_bonus)
        node.N, node.W = np.zeros(len(node.moves)), np.zeros(len(node.moves))

    def evaluate(self, node: Node) -> tuple[Any, float]:
        """Ask the network. ネットワークに評価させる。 -> pydlshogi/evaluator.py"""
        priors, value = self.network(self.game, self.game.legal_moves())
        node.values.append(float(value))
        return priors, float(value)

    def backup(self, path: list[tuple[Node, int]], value: float) -> None:
        """Take the value up the path, changing sides. 価値を反転しながら根まで伝える。 -> pydlshogi/uct/backup.py"""
        for node, i in reversed(path):
            value = 1 - value
            node.N[i] += 1
            node.W[i] += value
            child = node.children[i]
            assert child is not None
            if child.proof and not child.proof[0]:  # the opponent has lost: won 相手の負けが確定なら勝ち
                plies = 1 + child.proof[1]
                node.proof = (True, plies if not node.proof else min(plies, node.proof[1]))
                value = 1.0
            elif child.proof and all(each and each.proof and each.proof[0] for each in node.children):
                node.proof = (False, 1 + max(each.proof[1] for each in node.children if each and each.proof))
                value = 0.0  # whatever is played the opponent wins どう指しても負け

    def playout(self) -> None:
        """Down to a leaf, ask, and up again. 葉まで下り、評価し、根まで戻る。"""
        node, path = self.root, list[tuple[Node, int]]()
        while True:
            i = self.select(node)
            self.game.push(node.moves[i])
            first_visit = node.N[i] == 0
            child = node.children[i] = self.node_here()
            path.append((node, i))
            node = child
            if node.outcome:
                value = node.outcome.value
            elif not node.moves:  # a leaf 葉
                priors, value = self.evaluate(node)
                if len(node.values) == self.constants.expand_at:
                    self.expand(node, priors)
            elif first_visit or node.proof:  # another way has led here before 別の手順ですでに調べた局面
                value = node.mean()
            else:
                continue
            break
        for _ in path:
            self.game.pop()
        self.backup(path, value)

    def go(self, playouts: int) -> int:
        """The most visited move. 最も多く訪問した手。 -> pydlshogi/player/choice.py, where lower bounds decide"""
        while self.root.N.sum() < playouts:
            self.playout()
        return self.root.moves[int(self.root.N.argmax())]


class Outcome(NamedTuple):
    value: float
    plies: int = 0


class TicTacToe:
    """Cells 0 to 8; who has three in a row has won. 三目並べ：マスは0～8。"""

    LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def __init__(self, *moves: int) -> None:
        self.played = [*moves]
        self.push, self.pop = self.played.append, self.played.pop

    def legal_moves(self) -> Any:
        return np.setdiff1d(np.arange(9), self.played)

    def outcome(self) -> Outcome | None:
        if any({*line} <= {*self.played[-1::-2]} for line in self.LINES):
            return Outcome(0.0)  # the side to move has lost 手番側の負け
        return Outcome(0.5) if len(self.played) == 9 else None

    def key(self) -> int:
        return sum((1 + number % 2) * 3**cell for number, cell in enumerate(self.played))

    def ply(self) -> int:
        return len(self.played)

    def usi(self, move: int) -> str:
        return str(move)


def table(search: Search, playouts: int) -> None:
    """The table of the book. 本と同じ表を表示する。"""
    best, root = search.go(playouts), search.root
    for i in np.argsort(-root.N, kind="stable")[:10]:
        rate = root.W[i] / max(1, root.N[i])
        name = search.game.usi(root.moves[i])
        print(f"{i:3}:{name:5} move_count:{root.N[i]:4.0f} nn_rate:{root.P[i]:.5f} win_rate:{rate:.5f}")
    print(f"bestmove {search.game.usi(best)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["shogi"]:
        from pydlshogi.games.shogi.game import GAME
        from pydlshogi.player.mcts_options import NetworkOptions
        from pydlshogi.player.network_player import Network

        options, network = NetworkOptions(), Network(GAME)
        (options.modelfile,) = sys.argv[2:] or [""]
        network.prepare(options)
        table(Search(GAME.position(), network.evaluate), 300)
    else:  # without a network: all moves alike, every game even ネットワークなし：どの手も同じ、価値は0.5
        table(Search(TicTacToe(0, 1), lambda _, moves: (np.full(len(moves), 1 / len(moves)), 0.5)), 1000)
