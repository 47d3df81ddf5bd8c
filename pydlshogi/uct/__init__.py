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

The lock. Whoever calls a function that is given a `Tree` holds its lock, or has no playout under way. Three take the
lock themselves, for these are what threads do at once: `select`, `enter` and `back_up`. What is given no tree works on
the arrays of its own thread. A new node, once the lock is released, belongs to the thread that asked for its evaluation
until that is backed up: no other looks at its edges or its state of the game.
"""
