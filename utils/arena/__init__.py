"""What utils.match is made of, lowest first: referee, openings, usi_engine, play_game, elo, store, workers, report."""
