"""The search: PUCT over a graph of nodes.

It is understood from these, in this order; examples/search_in_a_page.py does the same, one playout at a time:

    search      gather leaves, back up their evaluations
    selection   select: the way down
    puct        the formula by which it chooses, and the constants of that
    backup      add_leaves, expand, backup: the ends of the paths become nodes, and values go up the paths

They work on:

    tree        nodes, edges, and the playouts under way, as arrays
    boards      the rules of a game at the ends of the paths
    batch       positions as an evaluator takes them, and its answer
    uct_node    memory alone: nodes found by hash, room for edges, what is freed

Players use:

    pipeline    gather, evaluate, backup, in one thread or several
    root        what a search has found out

Functions under `@compiled`, `@rule` or `@inlined` are compiled by numba, see support/kernels/compiled.py; `wide` makes
an integer of 64 bits. `nodes[node].visits` is a field of a record, and tree.py says what each field holds.

The lock. Several threads `select`, `add_leaves`, `expand` and `backup` at once: these take the lock of the table
themselves. Every other function that has a `Tree` is called by one of them, by a thread that holds the lock (`Root`),
or while no playout is under way (`Search.set_root`). The rules run without the lock and need none. Rows and steps
belong to their thread. The nodes of a path are not freed while it is under way. A node that awaits its evaluation
belongs to the thread that has asked for it.
"""
