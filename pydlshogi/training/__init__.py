"""How networks learn, from whatever and whatever game: examples, batches, gradients, runs. No search, no player."""
