"""Command-line tools around pydlshogi: records, training data, plots, matches."""

import pydlshogi  # noqa: F401  (it says how Ctrl-C ends a program)
