"""Widths: the one thing that curvature needs and a reduced state does not hold."""

from typing import Literal, NamedTuple

from attnflow.models.forms import Chain, Initial, Neurons

Width = int | Literal["infinite"]


class Widths(NamedTuple):
    """Rows of `W_K` and `W_Q`, and rows of `W_V` where the values are a chain.

    `None` where it is not known: plain weights tell it themselves, and values or scores
    that are linear in one set of weights have none.
    """

    scores: Width | None = None
    values: Width | None = None


UNKNOWN = Widths()


def widths_of(initial: Initial) -> Widths:
    """The widths of weights that are drawn by this law.

    Given weights may have widths of their own: then say `Widths(scores, values)`.
    """
    values = initial.values
    chain = isinstance(values, Chain | Neurons)
    scores = None if initial.merged else initial.width
    return Widths(scores, values.width if chain else None)


def free_rows(what: str, width: Width | None, rows: int) -> float:
    """How many directions of the hidden space the weights do not reach.

    **Arguments:**

    - `rows`: rows of a factor of the weights' Gram matrix.
    """
    if width is None:
        raise ValueError(
            f"The width of the {what} is not known, and a reduced state does not hold "
            "it. Give widths=widths_of(initial), or widths=Widths(scores, values)."
        )
    if width == "infinite":
        return float("inf")
    if width < rows:
        raise ValueError(
            f"The width of the {what} is given as {width}, but their state has {rows} "
            "rows: no weights of that width have this state. Give the width with which "
            "it was drawn."
        )
    return float(width - rows)
