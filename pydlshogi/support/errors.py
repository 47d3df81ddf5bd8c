"""The class of errors that are said to a user as they are."""


class OneLineError(Exception):
    """Something cannot be done; the message is one line that says why."""
