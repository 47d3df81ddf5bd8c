"""A USI engine that judges by what it is asked: the same answer to the same position, always.

Its best move is one of the legal ones, by the length of the question, worth as many centipawns. Each `--every`
questions it may talk `--nonsense` (a move that is not legal). Each question is a line of `--log`.
"""

import argparse
import sys
from pathlib import Path

import cshogi


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log")
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("--nonsense", action="store_true")
    arguments = parser.parse_args()
    board, question, asked = cshogi.Board(), "", 0
    for line in sys.stdin:
        match line.split():
            case ["usi"]:
                print("id name judge\noption name Threads type spin default 1 min 1 max 9\nusiok")
            case ["isready"]:
                print("readyok")
            case ["position", *words]:
                question = " ".join(words)
                board.set_position(question)
            case ["go", "nodes", nodes]:
                asked += 1
                if arguments.log:
                    with Path(arguments.log).open("a") as log:
                        log.write(f"{nodes} {question}\n")
                misbehaves = arguments.every and asked % arguments.every == 0
                legal = sorted(map(cshogi.move_to_usi, board.legal_moves))
                best = legal[len(question) % len(legal)]
                print(f"info depth 1 score cp {len(question)} pv {best}")
                print("bestmove 1a1a" if misbehaves and arguments.nonsense else f"bestmove {best}")
            case ["quit"]:
                return
        sys.stdout.flush()


if __name__ == "__main__":
    main()
