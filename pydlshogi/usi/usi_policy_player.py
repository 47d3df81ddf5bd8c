"""The engine a GUI registers to play with PolicyPlayer over USI."""

from pydlshogi.player.policy_player import PolicyPlayer
from pydlshogi.usi.usi import run


def main() -> None:
    """Speak USI on stdin and stdout."""
    run(PolicyPlayer)


if __name__ == "__main__":
    main()
