"""Conversations about Othello: GTP and NBoard's protocol."""
