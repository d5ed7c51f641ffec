"""What is raised where data that cannot be computed is not on this machine."""


class MissingData(Exception):
    """A data set or file that is not there, and how to get it.

    A claim whose data is missing is `unchecked`, with this message as the reason.

    **Arguments:**

    - `what`: what is missing, and the short way to it.
    - `otherwise`: what to do where that way is closed; of this machine alone.
    """

    def __init__(self, what: str, otherwise: str = ""):
        super().__init__(what, otherwise)
        self.what = what
        self.otherwise = otherwise

    def __str__(self) -> str:
        return f"{self.what} {self.otherwise}".rstrip()
