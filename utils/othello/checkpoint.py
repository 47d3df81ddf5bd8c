"""What a run of learning has come to, so that the same command goes on, and no other."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydlshogi.support.arrays_file import ArraysError, read_arrays


@dataclass(frozen=True)
class Checkpoint:
    """What `write_arrays` keeps of a run."""

    run: Any
    """Which one, in words."""
    learned: Any
    """float32: its weights."""
    rounds: Any
    """Epochs, or whatever it counts, that are done."""


def kept(path: Path, run: str) -> Checkpoint | None:
    """The checkpoint there, None if there is no file. Raises ValueError where it is another run's, OSError."""
    if not path.exists():
        return None
    try:
        there = read_arrays(path, Checkpoint, "run of learning")
    except ArraysError as error:
        raise ValueError(f"{path} is no checkpoint: {error}") from error
    if str(there.run) != run:
        raise ValueError(f"{path} is of {there.run}, not of {run}: remove it, or choose another --out")
    return there
