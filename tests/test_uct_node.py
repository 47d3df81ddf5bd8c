"""The UctNode table: names, edges, room, and what `keep` keeps against a naive walk of the graph."""

import random
from typing import NamedTuple

import numpy as np
import pytest

from pydlshogi.uct.uct_node import EXPANDED, MAX_BATCH, NONE, TERMINAL, UctNodeTable, most_nodes


def insert(table: UctNodeTable, key: int, ply: int, moves: list[int]) -> int:
    node, new = table.find_or_insert(key, ply)
    assert new
    as_int32 = [np.array(numbers, np.int32) for numbers in ([node], [len(moves)], moves)]
    table.reserve(as_int32[0], np.array([key], np.int64), as_int32[1], as_int32[2])
    return node


class Copy(NamedTuple):
    """All a table knows of a node, with the names of its children in place of their numbers."""

    node: tuple[object, ...]
    edges: list[tuple[object, ...]]


def contents(table: UctNodeTable) -> dict[tuple[int, int], Copy]:
    """The table by (key, ply)."""
    names = {node: (name >> 16, name & 0xFFFF) for name, node in table._index.items()}
    assert sorted(names) == list(range(len(table)))
    copies = {}
    for node, name in names.items():
        record = table.nodes[node]
        edges = table.edges[record["first"] : record["first"] + record["count"]]
        copies[name] = Copy(
            tuple(record[field].item() for field in record.dtype.names if field != "first"),
            [
                (
                    *(edge[field].item() for field in ("value_sum", "move", "prior", "visits")),
                    names.get(int(edge["child"])),
                )
                for edge in edges
            ],
        )
    return copies


def reached(copies: dict[tuple[int, int], Copy], root: tuple[int, int]) -> set[tuple[int, int]]:
    """The naive walk."""
    found, to_look_at = {root}, [root]
    while to_look_at:
        for edge in copies[to_look_at.pop()].edges:
            child = edge[-1]
            if child is not None and child not in found:
                found.add(child)
                to_look_at.append(child)
    return found


def random_table(rng: random.Random, size: int) -> UctNodeTable:
    """Nodes on eight plies, inserted in any order, their edges tied to any nodes one ply on, some to none."""
    table = UctNodeTable(1)
    plies = [rng.randint(0, 7) for _ in range(size)]
    for key, ply in enumerate(plies):
        if rng.random() < 0.2:
            node, _ = table.find_or_insert(key, ply)
            table.close(node, key, value=1.0, proof=2)
        else:
            insert(table, key, ply, [rng.randrange(2**31) for _ in range(rng.randint(1, 12))])
    for node, ply in enumerate(plies):
        record = table.nodes[node]
        for field in ("visits", "unpaid", "value", "value_sum", "seen", "proof"):
            record[field] = rng.randint(0, 1000)
        later = [other for other, other_ply in enumerate(plies) if other_ply == ply + 1]
        for edge in range(record["first"], record["first"] + record["count"]):
            table.edges[edge]["visits"] = rng.randint(0, 1000)
            table.edges[edge]["prior"] = rng.random()
            table.edges[edge]["value_sum"] = rng.random()
            if later and rng.random() < 0.3:
                table.edges[edge]["child"] = rng.choice(later)
    return table


def test_a_node_is_a_position_at_a_ply() -> None:
    table = UctNodeTable(1)
    assert table.find(7, 3) == NONE
    node, new = table.find_or_insert(7, 3)
    assert new
    assert table.find_or_insert(7, 3) == (node, False)
    assert table.find(7, 3) == node
    assert table.find(7, 5) == NONE
    other, new = table.find_or_insert(7, 5)
    assert new
    assert other != node
    assert len(table) == 2


def test_keys_of_63_bits_and_plies_of_10000_do_not_run_into_one_another() -> None:
    table = UctNodeTable(1)
    names = [(key, ply) for key in (0, 1, 2**47, 2**62, 2**63 - 1) for ply in (0, 1, 10_000)]
    nodes = [table.find_or_insert(key, ply)[0] for key, ply in names]
    assert len(set(nodes)) == len(names)
    assert [table.find(key, ply) for key, ply in names] == nodes


def test_new_edges_are_unvisited_and_lead_nowhere_whatever_was_there_before() -> None:
    table = UctNodeTable(1)
    insert(table, 1, 0, [10, 11])
    table.edges["visits"][:5] = 9
    table.edges["value_sum"][:5] = 9.0
    table.edges["child"][:5] = 0
    for field in ("visits", "unpaid", "value_sum", "seen", "proof"):
        table.nodes[field][:5] = 9
    table.clear()
    assert len(table) == 0
    assert table.find(1, 0) == NONE
    node = insert(table, 2, 1, [20, 21, 22])
    record = table.nodes[node]
    assert (record["key"], record["count"]) == (2, 3)
    assert [record[field] for field in ("visits", "unpaid", "value_sum", "seen", "proof")] == [0] * 5
    edges = table.edges[record["first"] : record["first"] + 3]
    assert edges["move"].tolist() == [20, 21, 22]
    assert edges["visits"].tolist() == [0, 0, 0]
    assert edges["value_sum"].tolist() == [0, 0, 0]
    assert edges["child"].tolist() == [NONE, NONE, NONE]


def test_reserve_passes_over_what_found_no_room() -> None:
    """Three positions, the second without a node: its moves are skipped, the third gets its own."""
    table = UctNodeTable(1)
    first, _ = table.find_or_insert(1, 0)
    third, _ = table.find_or_insert(3, 0)
    table.reserve(
        np.array([first, NONE, third], np.int32),
        np.array([1, 2, 3], np.int64),
        np.array([2, 3, 1], np.int32),
        np.array([10, 11, 20, 21, 22, 30], np.int32),
    )
    moves = {key: [edge[1] for edge in copy.edges] for (key, _), copy in contents(table).items()}
    assert moves == {1: [10, 11], 3: [30]}


def test_a_closed_node_has_its_verdict_and_no_edges() -> None:
    table = UctNodeTable(1)
    node, _ = table.find_or_insert(5, 2)
    table.close(node, 5, value=1.0, proof=2)
    record = table.nodes[node]
    assert (record["state"], record["value"], record["value_sum"], record["proof"]) == (TERMINAL, 1.0, 1.0, 2)
    assert (record["key"], record["count"], record["visits"]) == (5, 0, 0)


def test_a_full_table_finds_but_does_not_grow() -> None:
    table = UctNodeTable(0)  # the least there is: 64 nodes
    for key in range(64):
        assert not table.full
        insert(table, key, 0, [1])
    assert table.full
    assert table.fullness == 1.0
    assert table.find_or_insert(64, 0) == (NONE, False)
    assert table.find_or_insert(63, 0) == (63, False)
    assert len(table) == 64


def test_fullness_is_the_share_of_nodes_or_edges_in_use_whichever_is_greater() -> None:
    table = UctNodeTable(0)  # 64 nodes, 64 x 80 edges
    insert(table, 0, 0, [1])
    assert table.fullness == 1 / 64
    insert(table, 1, 0, list(range(511)))
    assert table.fullness == 512 / 5120
    for key in range(2, 11):
        insert(table, key, 0, list(range(512)))
        assert table.full is (key == 10)
    assert table.fullness == 1.0


def test_a_batch_of_the_most_moves_fits_into_the_last_free_edge() -> None:
    """One edge is left; a batch of MAX_BATCH nodes comes all the same as far as there are nodes."""
    table = UctNodeTable(1)
    moves = list(range(593))
    while (len(table) + 1) * len(moves) < table._most_edges:
        insert(table, len(table), 0, moves)
    nodes, keys = [], []
    while not table.full and len(nodes) < MAX_BATCH:
        keys.append(1000 + len(nodes))
        nodes.append(table.find_or_insert(keys[-1], 1)[0])
    count = len(nodes)
    assert count > 100
    table.reserve(
        np.array(nodes, np.int32),
        np.array(keys, np.int64),
        np.full(count, len(moves), np.int32),
        np.tile(np.array(moves, np.int32), count),
    )
    last = table.nodes[nodes[-1]]
    assert last["first"] + last["count"] <= len(table.edges)
    assert table.edges["move"][last["first"] : last["first"] + last["count"]].tolist() == moves
    assert table.full


@pytest.mark.parametrize("megabytes", [0, 1, 16, 300])
def test_the_size_is_about_what_was_asked_for(megabytes: int) -> None:
    """Nodes, edges and the index (counted with 150 bytes an entry), without the spare room for one batch."""
    table = UctNodeTable(megabytes)
    used = table._most_nodes * (table.nodes.itemsize + 150) + table._most_edges * table.edges.itemsize
    assert 0.99 * megabytes * 2**20 <= used <= max(1.0 * megabytes * 2**20, 64 * 4096)


@pytest.mark.parametrize("seed", range(20))
def test_keep_keeps_what_the_root_reaches_and_nothing_else(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng, size=rng.choice((1, 5, 60, 300)))
    before = contents(table)
    root = rng.choice(sorted(before, key=lambda name: name[1])[: 1 + len(before) // 4])
    expected = reached(before, root)
    name_of_root = table.keep(table.find(*root))
    assert table.find(*root) == name_of_root
    after = contents(table)
    assert after.keys() == expected
    for name in expected:
        assert after[name] == before[name]
    assert len(table) == len(expected)


def test_what_keep_gives_back_can_be_used_again() -> None:
    rng = random.Random(99)
    table = random_table(rng, size=300)
    root = min(contents(table), key=lambda name: name[1])
    table.keep(table.find(*root))
    before = contents(table)
    used = sum(len(copy.edges) for copy in before.values())
    node = insert(table, 5000, 9, [1, 2, 3])
    assert table.nodes[node]["first"] == used
    table.nodes[node]["state"] = EXPANDED
    after = contents(table)
    del after[5000, 9]
    assert after == before


def test_edges_of_the_largest_table_have_names_of_32_bits() -> None:
    assert most_nodes(1) == 2**20 // 2118
    assert most_nodes(2**20) * 80 + MAX_BATCH * 600 <= 2**31
