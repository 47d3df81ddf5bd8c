"""The games: the rules, the notation and the encodings of each, and Othello's alpha-beta with its protocols."""
