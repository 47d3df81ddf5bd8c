"""The search: PUCT over a graph of nodes. From the lowest to the highest:

    puct        the selection formula and its constants
    tree        nodes, edges, what is known of them, and playouts under way, as arrays
    uct_node    the table: nodes found by hash, room for edges, what is freed
    backup      add_leaves, expand, backup: what becomes of the ends, and the way up
    selection   select: the way down
    batch       positions as an evaluator takes them, and its answer
    boards      the rules of a game under a search
    search      gather leaves, back up their evaluations
    pipeline    gather, evaluate, backup, in one thread or several
    root        what a search has found out

The lock. Several threads `select`, `add_leaves`, `expand` and `backup` at once: these take the lock of the tree
themselves. Every other function that has a `Tree` is called by one of them, by who holds the lock (`Root`), or while no
playout is under way (`Search.set_root`). The rules run without the lock: rows and steps belong to their thread, the
nodes of a path are not freed while it is under way, and a node that awaits its evaluation belongs to the thread that
has asked for it.
"""
