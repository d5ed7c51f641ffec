"""The tables, the self-scores behind them, and the weights behind those."""

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.observables.registry import observable
from attnflow.observables.view import View


@observable("head", "key", "query", about="scores, row = key, column = query")
def score(view: View) -> Array:  # noqa: D103
    return view.tables.scores


@observable("head", "token", about="value of each token")
def value(view: View) -> Array:  # noqa: D103
    return view.tables.values


@observable("head", "vocabulary", about="value of every token, also those not shown")
def vocabulary_value(view: View) -> Array:  # noqa: D103
    return view.vocabulary_values


@observable("head", "key", "query", about="inner products of keys with keys")
def key_self_score(view: View) -> Array:  # noqa: D103
    return view.self_scores.key


@observable("head", "key", "query", about="inner products of queries with queries")
def query_self_score(view: View) -> Array:  # noqa: D103
    return view.self_scores.query


@observable("head", "token", about="squared length of each token's key")
def key_square(view: View) -> Array:  # noqa: D103
    return jnp.diagonal(view.self_scores.key, axis1=-2, axis2=-1)


@observable("head", "token", about="squared length of each token's query")
def query_square(view: View) -> Array:  # noqa: D103
    return jnp.diagonal(view.self_scores.query, axis1=-2, axis2=-1)


@observable("head", "key", "query", about="A_V = W_Vᵀ W_V, for chains of values")
def value_self_score(view: View) -> Array:  # noqa: D103
    return view.value_self_scores


@observable("head", about="b = |β|², the readout's own score; |w_O|² where it is fixed")
def readout_gain(view: View) -> Array:  # noqa: D103
    return view.readout_gain


@observable(about="largest score in absolute value")
def largest_score(view: View) -> Array:  # noqa: D103
    return jnp.abs(view.tables.scores).max()


@observable("head", "width", "embed", about="key weights (form='weights' only)")
def W_K(view: View) -> Array:  # noqa: D103
    return _weights(view, "scores", "W_K")


@observable("head", "width", "embed", about="query weights (form='weights' only)")
def W_Q(view: View) -> Array:  # noqa: D103
    return _weights(view, "scores", "W_Q")


@observable("head", "embed", about="value weights (form='weights' only)")
def w(view: View) -> Array:  # noqa: D103
    return _weights(view, "values", "w")


def _weights(view: View, part: str, name: str) -> Array:
    state = view.state[part]
    if not isinstance(state, dict):
        raise ValueError(
            f"{name} can be recorded with form='weights' alone; this run uses "
            f"form={view.system.form.name!r}, which keeps no weights."
        )
    if name not in state:
        raise ValueError(
            f"{name} is not among the weights of the {part}, which are {sorted(state)}."
        )
    return state[name]
