"""How far a run has come from where it began, as largest changes of entries.

Tables are compared on all of the basis, so that no token is left out; where the tokens
are the basis, its entries are theirs. A quotient is compared on the shown tokens, since
its blocks hold no entries of the tables.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.observables.registry import observable
from attnflow.observables.view import View


@observable(about="largest change of a score since the start")
def largest_score_change(view: View) -> Array:  # noqa: D103
    return _change(view, lambda v: v.every_score)


@observable(about="largest change of a key self-score since the start")
def largest_key_self_score_change(view: View) -> Array:  # noqa: D103
    return _change(view, lambda v: v.every_self_score.key)


@observable(about="largest change of a query self-score since the start")
def largest_query_self_score_change(view: View) -> Array:  # noqa: D103
    return _change(view, lambda v: v.every_self_score.query)


@observable(about="largest change of a value self-score since the start (chains)")
def largest_value_self_score_change(view: View) -> Array:  # noqa: D103
    return _change(view, lambda v: v.every_value_self_score)


@observable(about="largest change of an attention p(key | query) since the start")
def largest_attention_change(view: View) -> Array:  # noqa: D103
    return _change(view, lambda v: v.samples.attention)


def _change(view: View, quantity: Callable[[View], Array]) -> Array:
    return jnp.abs(quantity(view) - quantity(view.start)).max()
