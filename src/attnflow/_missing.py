"""What is raised where data that cannot be computed is not on this machine."""


class MissingData(Exception):
    """A data set or file that is not there; the message says how to get it.

    A claim whose data is missing is `unchecked`, with this message as the reason.
    """
