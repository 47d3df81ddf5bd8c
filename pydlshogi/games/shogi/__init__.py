"""Shogi: the game, its notation of positions, mates, and its rules compiled."""
