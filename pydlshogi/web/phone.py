"""The way to the board for a phone in the same network: the address of this machine there, and that as a QR code."""

import socket
from typing import Any


def own_address() -> str:
    """The address of this machine in its local network. Raises OSError where it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # which sends nothing, but finds the way out
        address: str = probe.getsockname()[0]
        return address


def code(address: str) -> list[str]:
    """The rows of the QR code, 1 for dark; none where segno is not installed."""
    made = _made(address)
    return [] if made is None else ["".join(map(str, row)) for row in made.matrix]


def print_code(address: str) -> bool:
    """Whether it could be shown in the terminal."""
    made = _made(address)
    if made is not None:
        made.terminal(compact=True)
    return made is not None


def _made(address: str) -> Any:
    try:
        import segno
    except ImportError:
        return None
    return segno.make_qr(address)
