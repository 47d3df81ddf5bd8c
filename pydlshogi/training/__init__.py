"""How networks learn, whatever the game and wherever the examples come from: examples, batches, gradients, runs.

No search, no player.
"""
