"""The policy-value networks and the frameworks that run them: planes in, raw logits out."""
