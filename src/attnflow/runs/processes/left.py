"""How long the rest of some work may take, in words."""


def time_left(spent: float, share: float) -> str:
    """What is left after a `share` of the work took `spent` seconds.

    !!! example

        ```python
        time_left(60.0, 0.25)  # about 3 min left
        ```
    """
    seconds = spent * (1.0 - share) / share
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min left"
    return f"about {seconds / 3600:.1f} h left"
