"""Values of vectors under initial weights, or rows of a chain that gives them."""

from functools import lru_cache
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.models.forms.chains import ChainTransport
from attnflow.models.forms.initialise import Initial
from attnflow.models.forms.values import ValueTable
from attnflow.schema.identity import Same

# As many draws are kept as in `attnflow.models.forms.token_draws`.
KEPT = 2


class Values(NamedTuple):
    """Values of all vectors, or rows of a chain and its output; and the gain."""

    rows: np.ndarray
    gain: Array
    output: np.ndarray | None


def values_in(part: Any, state: Any) -> Values:
    """The values that a part of a form over a basis holds."""
    if isinstance(part, ValueTable):
        return Values(np.asarray(state), part.gain, None)
    if isinstance(part, ChainTransport):
        whole = np.asarray(state)
        return Values(whole[..., :-1].swapaxes(-1, -2), part.gain, whole[..., -1])
    raise ValueError(
        f"Values that are a {type(part).__name__} are not known to form='tokens'. Use "
        "form='transport'."
    )


def values_of(
    initial: Initial, weights: Same, vectors: Same, test: Same | None
) -> Values:
    """Values, or rows of a chain, of the training vectors and then of the test's."""
    tests = 0 if test is None else len(test.array)
    count, embed = vectors.array.shape
    if embed > count + tests:
        every = vectors.array
        if test is not None:
            every = jnp.concatenate([every, test.array])
        return values_in(*initial.values.reduced(weights.array, every, gram=False))
    unit = _unit_values(initial, weights, embed)
    rows = [_read(Same(unit), vectors)]
    if test is not None:
        rows.append(_test_read(Same(unit), test))
    return unit._replace(rows=np.concatenate(rows, axis=1))


@lru_cache(maxsize=KEPT)
def _unit_values(initial: Initial, weights: Same, embed: int) -> Values:
    """The same of unit vectors, which tell those of all others."""
    return values_in(*initial.values.reduced(weights.array, jnp.eye(embed), gram=False))


def _read(unit: Same, vectors: Same) -> np.ndarray:
    rows = np.asarray(unit.array.rows)
    turned = rows.swapaxes(1, -1) if rows.ndim > 2 else rows
    found = turned @ np.asarray(vectors.array).T
    return found.swapaxes(1, -1) if rows.ndim > 2 else found


_test_read = lru_cache(maxsize=KEPT)(_read)
