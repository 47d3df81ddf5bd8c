"""What utils.match is made of, lowest first: referee, openings, engine_process, usi_engine, play_game, gtp_engine and
othello (the same for Othello), games, store, seats, report."""
