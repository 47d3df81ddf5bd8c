"""What positions are worth: means, verdicts of the rules and proofs; and how a value goes up the path of a playout.

A proof is coded as a verdict of `game.py` is: n + 1 a win within n plies, -(n + 1) a loss, 0 not known. One ply more to
the end is one more in it. A draw is never proven.
"""

from pydlshogi.game import DRAWN
from pydlshogi.support.arrays import Int32Array, Record, Records
from pydlshogi.support.compiled import compiled, inlined, rule, wide
from pydlshogi.uct.tree import NONE, TERMINAL, Tree


@inlined
def proven_value(proof: int) -> float:
    """What a proven win or loss is worth."""
    return 1.0 if proof > 0 else 0.0


@inlined
def mean(nodes: Records, node: int) -> float:
    """Mean of the node's own evaluations and of all values backed up; 1 or 0 where a win or a loss is proven."""
    if nodes[node].proof != 0:
        return proven_value(nodes[node].proof)
    return float(nodes[node].value_sum / (nodes[node].evaluations + nodes[node].visits - nodes[node].in_flight))


@rule
def value_of_verdict(verdict: int, puct: Record, depth: int) -> float:
    """What a verdict is worth to the side to move `depth` plies below the root."""
    if verdict != DRAWN:
        return proven_value(verdict)
    return float(puct.draw_value if depth % 2 == 0 else 1.0 - puct.draw_value)


@rule
def close(nodes: Records, node: int, verdict: int) -> None:
    """Make a node TERMINAL: the rules give its value."""
    nodes[node].state = TERMINAL
    nodes[node].evaluations = 1
    if verdict == DRAWN:
        nodes[node].value = 0.5
    else:
        nodes[node].value = proven_value(verdict)
        nodes[node].proof = verdict
    nodes[node].value_sum = nodes[node].value


@inlined
def back_up_path(tree: Tree, steps: Records, first: int, depth: int, end: int, value: float) -> None:
    """Back up `value`, for the side to move at node `end` (or NONE), along `depth` steps from `first` on.

    The value changes sides with every edge on the way up. A proof at the end goes up as far as it proves something,
    and from there on a win or a loss takes the place of the value.
    """
    nodes = tree.nodes
    child = end
    for level in range(first + depth - 1, first - 1, -1):
        node = wide(steps[level].node)
        value = 1.0 - value
        stat = nodes[node].stats + steps[level].edge
        tree.stats[stat].value_sum += value
        tree.stats[stat].squares += value * value
        nodes[node].value_sum += value
        nodes[node].in_flight -= 1
        if child != NONE and nodes[child].proof != 0 and _prove(tree, node, wide(nodes[child].proof)):
            value = proven_value(nodes[node].proof)
        child = node


@rule
def _prove(tree: Tree, node: int, child_proof: int) -> bool:
    """Let the proof of a child prove `node`, and return whether it does.

    A node is won as soon as one child is lost, and lost when all its children are won.
    """
    nodes = tree.nodes
    if child_proof < 0:
        _prove_win(nodes, node, 1 - child_proof)
        return True
    if nodes[node].visited_edges < nodes[node].count:
        return False
    longest = 0
    for stat in range(nodes[node].stats, nodes[node].stats + nodes[node].count):
        child = tree.stats[stat].child
        if child < 0 or nodes[child].proof <= 0:
            return False
        longest = wide(max(longest, nodes[child].proof))
    nodes[node].proof = -longest - 1
    return True


@rule
def _prove_win(nodes: Records, node: int, proof: int) -> None:
    """Give a node the `proof` of a win, unless it has a shorter one."""
    if nodes[node].proof <= 0 or proof < nodes[node].proof:
        nodes[node].proof = proof


@compiled
def prove_path(tree: Tree, path: Int32Array, proof: int) -> None:
    """Give the last node of `path` the `proof` of a win, and let it prove those before."""
    nodes = tree.nodes
    _prove_win(nodes, path[len(path) - 1], proof)
    for level in range(len(path) - 2, -1, -1):
        if not _prove(tree, wide(path[level]), wide(nodes[path[level + 1]].proof)):
            break
