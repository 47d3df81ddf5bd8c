"""MCTSPlayer of shogi over USI."""

from pydlshogi.usi.__main__ import program

main = program("shogi", "mcts")

if __name__ == "__main__":
    main()
