"""The engines that people start: for each game what it adds to the players of `pydlshogi.player`."""
