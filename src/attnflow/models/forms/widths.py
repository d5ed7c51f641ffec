"""Widths of weights, which reduced states do not hold and their curvature asks for."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from jax.typing import ArrayLike

from attnflow.models.forms.initial import Initial
from attnflow.models.forms.initial_chains import Chain, Neurons

Width = int | Literal["infinite"]


class Widths(NamedTuple):
    """Widths of drawn weights: rows of `W_K` and `W_Q`, and of `W_V` in a chain.

    `None` where it is not known: plain weights hold it themselves, and values or scores
    that are linear in one set of weights have none.
    """

    scores: Width | None = None
    values: Width | None = None


UNKNOWN = Widths()


def widths_of(
    initial: Initial, weights: Mapping[str, ArrayLike] | None = None
) -> Widths:
    """The widths of weights that are drawn by this law, or of those that are given."""
    values = initial.values
    chain = isinstance(values, Chain | Neurons)
    scores = None if initial.merged else initial.width
    widths = Widths(scores, values.width if chain else None)
    if weights is None:
        return widths
    rows = {"scores": weights.get("W_K"), "values": weights.get("W_V")}
    own = {name: np.shape(x)[1] for name, x in rows.items() if x is not None}
    return widths._replace(
        **{name: own.get(name, x) for name, x in widths._asdict().items() if x}
    )
