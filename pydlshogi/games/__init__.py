"""The games: the rules, the notation and the encodings of each."""
