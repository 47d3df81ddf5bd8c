"""The policy-value networks and the frameworks that run them: packed positions in, priors and win rates out."""
