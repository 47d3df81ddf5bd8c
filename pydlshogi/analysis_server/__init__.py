"""Many positions judged at once, the urgent ones first: `pool.py` for programs in Python, JSON lines for all others."""
