"""Othello: its rules, its records, and an engine of its own (alpha-beta with Multi-ProbCut)."""
