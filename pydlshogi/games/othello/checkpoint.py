"""What a run of learning has come to, so that the same command goes on, and no other."""

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from pydlshogi.support.files import replacing


def keep(path: Path, run: str, **values: Any) -> None:
    """Write arrays and numbers of the run that `run` describes. Raises OSError."""
    with replacing(path) as file:
        np.savez_compressed(file, run=run, **values)


def kept(path: Path, run: str) -> dict[str, Any]:
    """What `keep` wrote there; nothing if it did not. Raises ValueError where it was another run's, OSError."""
    if not path.exists():
        return {}
    try:
        with np.load(path, allow_pickle=False) as file:
            values = {name: file[name] for name in file.files}
        other = str(values.pop("run"))
    except (ValueError, LookupError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path} is no checkpoint: {error}") from error
    if other != run:
        raise ValueError(f"{path} is of {other}, not of {run}: remove it, or choose another --out")
    return values
