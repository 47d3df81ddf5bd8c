"""The search: a table of nodes and the PUCT rules over it."""
