"""What train.py is made of. Knows networks as PyTorch modules and records as packed positions; no search, no player."""
