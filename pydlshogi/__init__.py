"""pydlshogi: a shogi engine that searches with PUCT and judges positions with a policy-value network."""

__version__ = "0.1.0"
