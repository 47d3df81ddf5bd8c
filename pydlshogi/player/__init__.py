"""Players: they turn a position, limits and a clock into a move."""
