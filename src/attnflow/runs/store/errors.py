"""What can go wrong between a run and a disk."""


class StoreError(OSError):
    """A run could not be written or read; the message says where, why and what to do.

    It is raised with one argument, so `str` gives the message alone.
    """


class StoreWarning(UserWarning):
    """The store could not be used, and the work went on without it."""
