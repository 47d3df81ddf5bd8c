"""A USI engine that plays from a script: ANSWERS[ply] at each ply of the game, `resign` after the last.

Beside moves, `resign` and `win` it knows: `die` (ends at once), `silent` (never answers), `late=SECONDS=MOVE`,
`hold=FIFO` (opens FIFO and never answers: FIFO is closed when the process ends) and `block=FIFO` (the same, and ends
only when killed).
"""

import argparse
import os
import sys
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("answers", nargs="*")
    parser.add_argument("--cycle", action="store_true", help="start again after the last answer")
    parser.add_argument("--cp", help="score of every move, for the side to move")
    parser.add_argument("--log", help="file for every line that arrives")
    arguments = parser.parse_args()
    moves = []
    print("started", file=sys.stderr, flush=True)
    for line in sys.stdin:
        if arguments.log:
            with Path(arguments.log).open("a") as log:
                log.write(line)
        words = line.split()
        match words:
            case ["usi"]:
                print(f"id name {arguments.name}")
                print("option name Strength of Play type spin default 1 min 0 max 9")
                print("option name MultiPV type spin default 1 min 1 max 99\nusiok")
            case ["isready"]:
                sys.stdout.flush()
                sys.stdout.buffer.write(b"info string caf\xe9, which is not ASCII\nreadyok\n")
            case ["position", *_]:
                moves = words[words.index("moves") + 1 :] if "moves" in words else []
            case ["go", *_]:
                answer(arguments, len(moves))
            case ["quit"]:
                return
        sys.stdout.flush()


def answer(arguments: argparse.Namespace, ply: int) -> None:
    answers = arguments.answers or ["resign"]
    if arguments.cycle:
        ply %= len(answers)
    word, *values = answers[ply].split("=") if ply < len(answers) else ["resign"]
    if word == "die":
        os._exit(1)
    if word == "silent":
        return
    if word in ("hold", "block"):
        os.open(values[0], os.O_WRONLY)
        while word == "block":
            time.sleep(60)
        return
    if word == "late":
        time.sleep(float(values[0]))
        word = values[1]
    if arguments.cp:
        print(f"info depth 1 score cp {arguments.cp} pv {word} 9i9h")
    print(f"bestmove {word}")


if __name__ == "__main__":
    main()
