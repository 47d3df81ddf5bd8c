"""A GTP engine that plays from a script: ANSWERS[ply] at each ply of the game, `resign` after the last.

Beside moves it knows: `die` (ends at once), `error` (GTP's `?`), `late=SECONDS=MOVE`.
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
    parser.add_argument("--log", help="file for every line that arrives")
    parser.add_argument(
        "--commands", default="name list_commands clear_board play genmove time_settings time_left quit"
    )
    parser.add_argument("--refuse", default="-", help="a move that it refuses")
    arguments = parser.parse_args()
    ply = 0
    for line in sys.stdin:
        if arguments.log:
            with Path(arguments.log).open("a") as log:
                log.write(line)
        command = line.split()[0]
        answer = ""
        if command not in arguments.commands.split():
            print("? unknown command\n", flush=True)
            continue
        match command:
            case "name":
                answer = arguments.name
            case "list_commands":
                answer = arguments.commands.replace(" ", "\n")
            case "clear_board":
                ply = 0
            case "play":
                ply += 1
                answer = "error" if line.split()[2] == arguments.refuse else ""
            case "genmove":
                answer = arguments.answers[ply] if ply < len(arguments.answers) else "resign"
                ply += 1
            case "quit":
                return
        if answer == "die":
            os._exit(1)
        if answer == "error":
            print("? out of ideas\n", flush=True)
            continue
        if answer.startswith("late="):
            _, seconds, answer = answer.split("=")
            time.sleep(float(seconds))
        print(f"\n\n= {answer}\n", flush=True)


if __name__ == "__main__":
    main()
