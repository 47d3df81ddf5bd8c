"""The engines of Othello: alpha-beta over patterns, and what is special to its search with PUCT."""
