"""What was fitted for a network and lies beside it: `net.json` beside `net.npz` and `net.onnx`.

Training writes it: {"options": {"Eval_Coef": 275, "temperature": 100}, ...}. That temperature is the one at which the
policy predicts moves best; with which one a search plays best is another question, so nobody asks for it. Beside a
network of another program stands what its user wrote, and there it is the search's.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydlshogi.support.files import read_plain, write_whole

_LARGEST: Final = 1 << 20


class FittedError(ValueError):
    """Nothing usable lies beside the network; the message is one line that says why."""


def fitted_option(modelfile: Path, name: str) -> int:
    """An option of the engine as it was fitted for a network, 1 to 10000. Raises FittedError."""
    file = modelfile.with_suffix(".json")
    try:
        content = json.loads(read_plain(file, _LARGEST))
    except FileNotFoundError:
        raise FittedError(f"there is no {file.name} beside {modelfile.name}") from None
    except OSError as error:
        raise FittedError(f"{file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FittedError(f"{file} is no JSON") from error
    options = content.get("options") if isinstance(content, dict) else None
    value = options.get(name) if isinstance(options, dict) else None
    if type(value) is not int or not 1 <= value <= 10000:
        raise FittedError(f"{file} holds no {name} from 1 to 10000")
    return value


def write_fitted(path: Path, options: Mapping[str, int], validation: Mapping[str, object]) -> None:
    """Write what was fitted, and how well the network did in validation, to the `.json` at `path`."""
    write_whole(path, json.dumps({"options": options, "validation": validation}, indent=1).encode() + b"\n")
