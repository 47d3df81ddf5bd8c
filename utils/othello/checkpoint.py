"""What a run of learning has come to, so that the same command goes on, and no other."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydlshogi.support.arrays import Float32Array
from pydlshogi.support.arrays_file import ArraysError, read_arrays


@dataclass(frozen=True)
class Checkpoint:
    """What `write_arrays` keeps of a run."""

    run: Any
    """Which one, in words."""
    learned: Float32Array
    """Its weights."""
    rounds: Any
    """Epochs, or whatever it counts, that are done."""


def kept(path: Path, run: str, start: Float32Array) -> Checkpoint:
    """The checkpoint there, or that of a `start`. Raises ArraysError, also if it is another run's; OSError."""
    if not path.exists():
        return Checkpoint(run, start, 0)
    there = read_arrays(path, Checkpoint, "run of learning")
    if str(there.run) != run:
        raise ArraysError(f"{path} is of {there.run}, not of {run}: remove it, or choose another --out")
    return there
