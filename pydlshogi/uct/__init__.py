"""The search: PUCT over a graph of nodes. From the lowest to the highest:

    puct        the selection formula and its constants
    tree        nodes, edges and what is known of them, as arrays
    edges       room for edges and their statistics
    uct_node    the table: nodes found by hash, and freed
    past        boards that stood before
    values      means, verdicts and proofs; how they go up a path
    playouts    what kernels know of a batch of playouts
    selection   the way down
    backup      what becomes of the ends, and the way up
    batch       positions as evaluators want them
    boards      the rules of a game under a search
    search      gather leaves, back up their evaluations
    pipeline    the same in several threads
    root        what a search has found out

The lock. `select`, `enter` and `back_up` are what several threads do at once, and take the lock of the tree themselves.
All else that is given a `Tree` is called by one of them, by who holds the lock (`Root`), or while no playout is under
way (`Search.set_root`). The rules run without it: rows and steps are their thread's own, the nodes of a path are not
freed while it is under way, and a node whose evaluation is awaited belongs to the thread that has asked for it.
"""
