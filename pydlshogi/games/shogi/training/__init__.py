"""What networks learn shogi from: recorded games, with the evaluations of those who played them."""
