"""What every room needs and no room owns: files, processes, compiled kernels, the command line."""

__version__ = "0.2.0"
"""Of the package: the one place where it stands."""


class OneLineError(Exception):
    """Something cannot be done; the message is one line that says why, for a user to read as it is."""
