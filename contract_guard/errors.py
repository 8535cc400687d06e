"""Errors that are the user's to mend."""


class UserError(Exception):
    """What was asked cannot be done. The message is one line: what is wrong, and what to do."""
