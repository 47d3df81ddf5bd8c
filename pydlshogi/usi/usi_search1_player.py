"""Search1Player over USI."""

from pydlshogi.usi.__main__ import program

main = program("shogi", "search1")

if __name__ == "__main__":
    main()
