"""What utils.match is made of, lowest first: engines, games, kinds, play_game, store, seats."""
