"""Conversations about Othello: GTP, NBoard's protocol, and a game at a terminal."""
