"""Dobutsu shogi: four animals a side on three files and four ranks, by the official rules."""
