"""How rules, search and networks become machine code: numba, and the few things that it lacks."""
