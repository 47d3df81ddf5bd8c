"""Learning from nothing: games a network plays against itself, what it learns from them, and whether it got better."""
