"""What utils.match is made of, lowest first: engines, games, play_game, store."""
