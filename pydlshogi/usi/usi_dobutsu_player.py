"""The engine of Dobutsu shogi over USI."""

from pydlshogi.usi.__main__ import program

main = program("dobutsu")

if __name__ == "__main__":
    main()
