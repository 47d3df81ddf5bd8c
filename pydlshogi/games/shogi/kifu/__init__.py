"""Game records: what a record says (`game`), the bytes it is written in (`encoding`), and its formats (`formats`).

Knows the rules of shogi, and nothing of networks, searches or files.
"""
