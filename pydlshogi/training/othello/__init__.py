"""Games of Othello as what a network learns from."""
