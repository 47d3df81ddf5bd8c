"""Othello: its rules, its notation, its records and its encoding."""
