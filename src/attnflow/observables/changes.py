"""How far a run has come from where it began, as largest changes of entries.

Tables are compared on all of the basis, so that no token is left out; where the tokens
are the basis, its entries are theirs. A quotient is compared on the shown tokens, since
its blocks hold no entries of the tables.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.forms import TokenForm
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


@observable("head", about="|W_K − W_K(0)|, the norm of all entries' changes")
def key_weight_change(view: View) -> Array:  # noqa: D103
    return _weight_change(view, "W_K", "key")


@observable("head", about="|W_Q − W_Q(0)|, the norm of all entries' changes")
def query_weight_change(view: View) -> Array:  # noqa: D103
    return _weight_change(view, "W_Q", "query")


def _weight_change(view: View, weight: str, side: str) -> Array:
    """From weights, or `tr(aᵀ X Xᵀ a)` of the sums a over the tokens X of samples."""
    form, state = view.system.form, view.state["scores"]
    if isinstance(form, TokenForm):
        sums = state[f"{side}_sums"]
        token = getattr(form.scores, "keys" if side == "key" else "queries").token
        place = token.reshape(-1)
        moved = form.scores.gram[place[:, None], place] @ sums
        # A decay also moves what the sums do not know.
        known = jnp.where(state["share"] == 1, 1.0, jnp.nan)
        return known * jnp.sqrt((sums * moved).sum(axis=(1, 2)))
    if not isinstance(state, dict) or weight not in state:
        raise ValueError(
            f"The change of {weight} is not known to form={form.name!r}: use "
            "form='tokens' or 'weights'."
        )
    return jnp.linalg.norm(
        state[weight] - view.start.state["scores"][weight], axis=(1, 2)
    )
