"""What shogi adds to the players of `pydlshogi.player`: options, books, mates."""
