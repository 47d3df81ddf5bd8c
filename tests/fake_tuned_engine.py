"""A USI engine that lasts the longer the higher its option Stamina: it resigns after that many moves of its own.

Until then it moves its rook to and fro. `--die` ends it when it is asked for its third move. With `--complains` it has
DebugMessage, and then complains of options that it does not know; one of its options, Hidden, is not declared.
"""

import sys

MOVES = ("2h3h", "8b7b", "3h2h", "7b8b")


def main() -> None:
    stamina, hidden, ply, asked, debug = 0, 0, 0, 0, False
    for line in sys.stdin:
        match line.split():
            case ["usi"]:
                print("id name tuned\noption name Stamina type spin default 0 min 0 max 5")
                if "--complains" in sys.argv:
                    print("option name DebugMessage type check default false")
                print("usiok")
            case ["isready"]:
                print("readyok")
            case ["setoption", "name", "Stamina", "value", value]:
                stamina = int(value)
            case ["setoption", "name", "Hidden", "value", value]:
                hidden = int(value)
            case ["setoption", "name", "DebugMessage", "value", value]:
                debug = value == "true"
            case ["setoption", "name", name, *_] if debug:
                print(f"info string what is {name}?")
            case ["position", *words]:
                ply = len(words[words.index("moves") + 1 :]) if "moves" in words else 0
            case ["go", *_]:
                asked += 1
                if "--die" in sys.argv and asked == 3:
                    return
                print(f"bestmove {'resign' if ply // 2 >= stamina + hidden else MOVES[ply % 4]}")
            case ["quit"]:
                return
        sys.stdout.flush()


if __name__ == "__main__":
    main()
