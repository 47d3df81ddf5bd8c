"""Command-line tools around pydlshogi: records, training data, plots, matches."""
