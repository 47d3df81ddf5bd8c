"""What utils.match is made of, lowest first: referee, openings, engine_process, usi_engine, play_game, gtp_engine,
othello and dobutsu (the same for other games), games, store, seats, report."""
