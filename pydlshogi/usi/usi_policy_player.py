"""PolicyPlayer over USI."""

from pydlshogi.usi.__main__ import program

main = program("shogi", "policy")

if __name__ == "__main__":
    main()
