"""The UctNode table: names, the index, edges, statistics, room, and what is freed, against a naive walk."""

import random
from typing import NamedTuple

import numpy as np
import pytest

from pydlshogi.support.kernels.compiled import compiled
from pydlshogi.uct import uct_node
from pydlshogi.uct.tree import EXPANDED, NONE
from pydlshogi.uct.uct_node import UctNodeTable, free_unreferenced, unlink

Name = tuple[int, int]
"""Key and ply of a node."""
AVERAGE_MOVES, MOST_MOVES = 80, 593


def a_table(megabytes: int, state_bytes: int = 0) -> UctNodeTable:
    return UctNodeTable(megabytes, AVERAGE_MOVES, MOST_MOVES, state_bytes)


@compiled
def _add(tree, key, ply, moves, priors):  # type: ignore[no-untyped-def]
    """What `add_leaves` and `expand` do: a new node, with its edges if there is room for them."""
    node = uct_node.insert(tree, uct_node.slot_of(tree, key, ply), key, key, ply)
    if node == NONE:
        return node
    first = uct_node.reserve_edges(tree, len(moves))
    if first == NONE:
        return node
    tree.nodes[node].state = EXPANDED
    tree.nodes[node].first = first
    tree.nodes[node].count = len(moves)
    for edge in range(len(moves)):
        tree.moves[first + edge] = moves[edge]
        tree.priors[first + edge] = priors[edge]
    uct_node.bring_best(tree, first, first + len(moves))
    return node


@compiled
def _visit(tree, node, edge, child):  # type: ignore[no-untyped-def]
    """What `select` and `add_leaves` do: the first visit of an edge, which leads to `child`; the edge's new number."""
    new = uct_node.add_stat(tree, node, edge)
    if new != NONE:
        stat = tree.nodes[node].stats + new
        tree.stats[stat].visits = 1
        tree.stats[stat].child = child
        if child != NONE:
            tree.nodes[child].references += 1
    return new


def add(table: UctNodeTable, name: Name, moves: list[int], priors: list[float] | None = None) -> int:
    """A new node with these edges, all alike without `priors`; NONE if there is no room for it."""
    given = np.array(priors if priors else [0.5] * len(moves), np.float32)
    return int(_add(table.tree, np.uint64(name[0]), name[1], np.array(moves, np.uint16), given))


def visit(table: UctNodeTable, node: int, edge: int, child: int = NONE) -> int:
    return int(_visit(table.tree, node, edge, child))


def moves_of(table: UctNodeTable, node: int) -> list[int]:
    record = table.tree.nodes[node]
    return table.tree.moves[record["first"] : record["first"] + record["count"]].tolist()


def stats_of(table: UctNodeTable, node: int) -> np.ndarray:
    record = table.tree.nodes[node]
    return table.tree.stats[record["stats"] : record["stats"] + record["visited_edges"]]


def root(table: UctNodeTable, name: Name) -> int:
    return table.link_root(name[0], name[0], name[1])


FIELDS = ("value_sum", "visits", "in_flight", "value", "proof", "state", "visited_policy")


class Copy(NamedTuple):
    """All a table knows of a node, with the names of its children in place of their numbers."""

    node: tuple[object, ...]
    edges: list[tuple[int, float]]
    stats: list[tuple[object, ...]]
    """The visited edges: value sum, visits, child."""

    def children(self) -> list[Name]:
        return [child for *_, child in self.stats if child is not None]  # type: ignore[misc]


def contents(table: UctNodeTable) -> dict[Name, Copy]:
    """The table by name, as its index leads to it."""
    tree = table.tree
    numbers = [int(node) for node in tree.slots if node != NONE]
    assert len(set(numbers)) == len(numbers) == len(table)
    names = {node: (int(tree.nodes[node]["key"]), int(tree.nodes[node]["ply"])) for node in numbers}
    copies = {}
    for node, name in names.items():
        assert table.find(*name) == node
        record = tree.nodes[node]
        priors = tree.priors[record["first"] : record["first"] + record["count"]].tolist()
        copies[name] = Copy(
            tuple(record[field].item() for field in FIELDS),
            list(zip(moves_of(table, node), priors, strict=True)),
            [
                (float(stat["value_sum"]), int(stat["visits"]), names[stat["child"]] if stat["child"] >= 0 else None)
                for stat in stats_of(table, node)
            ],
        )
    return copies


def reached(copies: dict[Name, Copy], root: Name) -> set[Name]:
    """The naive walk."""
    found, to_look_at = {root}, [root]
    while to_look_at:
        for child in copies[to_look_at.pop()].children():
            if child not in found:
                found.add(child)
                to_look_at.append(child)
    return found


def random_table(rng: random.Random, size: int) -> tuple[UctNodeTable, list[Name]]:
    """Nodes on eight plies, their edges tied to any nodes one ply on, some to none; the first `ply` each has a root.

    Returns it with the names of the roots: every node is below one of them.
    """
    table = a_table(1)
    names = [(key, rng.randint(0, 7)) for key in range(size)]
    roots = []
    for name in sorted(names, key=lambda name: -name[1]):
        moves = rng.sample(range(2**16), rng.randint(1, 12))
        node = add(table, name, moves, [rng.random() for _ in moves])
        record = table.tree.nodes[node]
        for field in ("visits", "in_flight", "value", "value_sum", "visited_policy"):
            record[field] = rng.randint(0, 1000)
        later = [table.find(*other) for other in names if other[1] == name[1] + 1]
        for _ in range(rng.randint(0, len(moves))):
            visited = int(table.tree.nodes[node]["visited_edges"])
            visit(table, node, rng.randrange(visited, len(moves)), rng.choice([*later, NONE]))
        stats_of(table, node)["value_sum"] = [rng.random() for _ in range(len(stats_of(table, node)))]
    for name in names:
        if table.tree.nodes[table.find(*name)]["references"] == 0:
            roots.append(name)
            root(table, name)
    return table, roots


@pytest.mark.parametrize("seed", range(2))
def test_the_index_is_a_dictionary(seed: int) -> None:
    """Nodes come and go in a table that is nearly full: what is taken out leaves no gap that hides another."""
    rng = random.Random(seed)
    table = a_table(0)  # the least there is: 64 nodes
    known: dict[Name, int] = {}
    for step in range(3000):
        if known and (len(known) == 64 or rng.random() < 0.4):
            name = rng.choice(sorted(known))
            unlink(table.tree, known.pop(name))
            free_unreferenced(table.tree, 1)
        else:
            name = (rng.getrandbits(63) if rng.random() < 0.5 else rng.randrange(100), rng.randrange(3))
            if name not in known:
                known[name] = root(table, name)
        assert len(table) == len(known)
        if step % 50 == 0:
            assert {name: table.find(*name) for name in known} == known
            assert [table.find(key, 3) for key, _ in known] == [NONE] * len(known)
    assert len(set(known.values())) == len(known)


def test_a_full_table_finds_but_does_not_grow() -> None:
    table = a_table(0)  # the least there is: 64 nodes
    for key in range(64):
        assert not table.full
        assert add(table, (key, 0), [1]) != NONE
    assert (table.full, table.fullness) == (True, 1.0)
    assert add(table, (64, 0), [1]) == NONE
    with pytest.raises(MemoryError):
        root(table, (64, 0))
    assert root(table, (63, 0)) == table.find(63, 0) != NONE
    unlink(table.tree, table.find(63, 0))
    assert table.full
    assert root(table, (64, 0)) != NONE  # it takes the place of what waits to be freed
    assert (table.find(63, 0), len(table)) == (NONE, 64)


@pytest.mark.parametrize("seed", range(2))
def test_edges_and_statistics_come_and_go_without_touching_those_of_others(seed: int) -> None:
    rng = random.Random(seed)
    table = a_table(0)
    kept: dict[Name, tuple[set[int], list[int]]] = {}
    without_edges = without_statistics = 0
    for key in range(400):
        moves = rng.sample(range(2**16), rng.choice((1, 8, 9, 40, 100, 300, MOST_MOVES)))
        node = add(table, (key, 0), moves)
        placed = set(moves_of(table, node))
        assert placed in (set(), set(moves))
        for edge in range(min(len(placed), rng.choice((0, 1, 5, 30)))):
            if visit(table, node, edge) == NONE:
                without_statistics += 1
                break
        stats = stats_of(table, node)
        assert stats["visits"].tolist() == [1] * len(stats)
        stats["visits"] = rng.sample(range(2**16), len(stats))
        without_edges += not placed
        kept[key, 0] = placed, stats["visits"].tolist()
        root(table, (key, 0))
        while len(kept) > rng.randint(0, 60):
            name = rng.choice(sorted(kept))
            unlink(table.tree, table.find(*name))
            free_unreferenced(table.tree, 1)
            del kept[name]
        for name, before in kept.items():
            node = table.find(*name)
            assert (set(moves_of(table, node)), stats_of(table, node)["visits"].tolist()) == before
    assert min(without_edges, without_statistics) > 10
    for name in kept:
        unlink(table.tree, table.find(*name))
        free_unreferenced(table.tree, 1)
    assert table.fullness == 0
    node = add(table, (9999, 0), list(range(MOST_MOVES)))
    assert [visit(table, node, edge) for edge in range(30)] == list(range(30))
    assert moves_of(table, node) == list(range(MOST_MOVES))


@pytest.mark.parametrize("megabytes", [1, 16, 300])
def test_the_size_is_about_what_was_asked_for(megabytes: int) -> None:
    """All arrays, and the states that lie elsewhere."""
    table = a_table(megabytes, 136)
    arrays = (array for array in table.tree if isinstance(array, np.ndarray) and array.base is None)
    used = sum(array.nbytes for array in arrays) + 136 * table.most_nodes
    assert 0.98 * megabytes * 2**20 <= used <= 1.02 * megabytes * 2**20 + 8192


@pytest.mark.parametrize("seed", range(20))
def test_what_no_root_leads_to_is_freed_and_nothing_else(seed: int) -> None:
    rng = random.Random(seed)
    table, roots = random_table(rng, size=rng.choice((1, 5, 60, 300)))
    before = contents(table)
    new = rng.choice(sorted(before, key=lambda name: name[1])[: 1 + len(before) // 4])
    root(table, new)
    for name in roots:
        unlink(table.tree, table.find(*name))
    expected = reached(before, new)
    free_unreferenced(table.tree, len(before))
    assert contents(table) == {name: before[name] for name in expected}


def test_it_is_freed_bit_by_bit() -> None:
    table, roots = random_table(random.Random(7), size=100)
    for name in roots:
        unlink(table.tree, table.find(*name))
    sizes = [len(table)]
    while len(table):
        before = contents(table)
        free_unreferenced(table.tree, 3)
        after = contents(table)
        assert after.items() <= before.items()
        sizes.append(len(table))
    assert sizes == [*range(100, 0, -3), 0]


def test_what_is_reached_again_before_it_was_freed_stays() -> None:
    table = a_table(1)
    parent, child = add(table, (1, 0), [10, 11]), add(table, (2, 1), [20])
    visit(table, parent, 0, child)
    root(table, (1, 0))
    unlink(table.tree, parent)
    other = add(table, (3, 0), [30])
    root(table, (3, 0))
    visit(table, other, 0, parent)
    before = contents(table)
    free_unreferenced(table.tree, 100)
    assert contents(table) == before
    unlink(table.tree, other)
    free_unreferenced(table.tree, 100)
    assert len(table) == 0
