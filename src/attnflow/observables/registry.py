"""The observables by name, with the dims that they have beside seed and time."""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array

from attnflow._suggest import look_up
from attnflow.observables.view import View


@dataclass(frozen=True)
class Observable:
    """A named quantity of a system in one state."""

    name: str
    dims: tuple[str, ...]
    about: str
    compute: Callable[[View], Array]


OBSERVABLES: dict[str, Observable] = {}


def observable(
    *dims: str, about: str
) -> Callable[[Callable[[View], Array]], Callable[[View], Array]]:
    """Register a function of a `View` under its own name."""

    def register(compute: Callable[[View], Array]) -> Callable[[View], Array]:
        name = compute.__name__
        OBSERVABLES[name] = Observable(name, dims, about, compute)
        return compute

    return register


def find(name: str) -> Observable:
    """The observable with this name."""
    return look_up("observable", name, OBSERVABLES)


@observable(about="mean loss under the samples' probabilities")
def loss(view: View) -> Array:  # noqa: D103
    return view.mean(view.losses)


@observable("group", about="mean loss within each group of samples")
def loss_by_group(view: View) -> Array:  # noqa: D103
    return view.by_group(view.losses)


@observable(about="probability of a positive margin; a margin of 0 is an error")
def accuracy(view: View) -> Array:  # noqa: D103
    return view.mean(_correct(view))


@observable("group", about="the same within each group of samples")
def accuracy_by_group(view: View) -> Array:  # noqa: D103
    return view.by_group(_correct(view))


@observable("sample", about="output of the model")
def output(view: View) -> Array:  # noqa: D103
    return view.outputs


@observable("sample", "head", about="output of each head")
def head_output(view: View) -> Array:  # noqa: D103
    return view.head_outputs


@observable(
    "sample",
    "head",
    "query_position",
    "key_position",
    about="attention p(key | query) at each sample's positions",
)
def attention(view: View) -> Array:  # noqa: D103
    return view.attention


@observable("head", "key", "query", about="scores, row = key, column = query")
def score(view: View) -> Array:  # noqa: D103
    return view.tables.scores


@observable("head", "token", about="value of each token")
def value(view: View) -> Array:  # noqa: D103
    return view.tables.values


@observable("head", "key", "query", about="inner products of keys with keys")
def key_self_score(view: View) -> Array:  # noqa: D103
    return view.self_scores.key


@observable("head", "key", "query", about="inner products of queries with queries")
def query_self_score(view: View) -> Array:  # noqa: D103
    return view.self_scores.query


@observable("head", "key", "query", about="time derivative of the scores (flow)")
def score_rate(view: View) -> Array:  # noqa: D103
    return view.table_rates.scores


@observable("head", "token", about="time derivative of the values (flow)")
def value_rate(view: View) -> Array:  # noqa: D103
    return view.table_rates.values


@observable("head", "key", "query", about="time derivative of the key self-scores")
def key_self_score_rate(view: View) -> Array:  # noqa: D103
    return view.self_score_rates.key


@observable("head", "key", "query", about="time derivative of the query self-scores")
def query_self_score_rate(view: View) -> Array:  # noqa: D103
    return view.self_score_rates.query


@observable(
    "sample",
    "head",
    "token",
    about="what each head reads: Σ_q weight_q Σ_k p(k|q) x_k, along the shown tokens",
)
def pooled_token(view: View) -> Array:  # noqa: D103
    data = view.data
    shown = data.tokens[jnp.asarray(data.shown)]
    tokens = (data.tokens @ shown.T)[data.key]
    return jnp.einsum("nq,nhqk,nkt->nht", data.query_weight, view.attention, tokens)


@observable("sample", about="label of each sample")
def label(view: View) -> Array:  # noqa: D103
    return view.data.label


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
    return state[name]


def _correct(view: View) -> Array:
    return jnp.where(view.data.label * view.outputs > 0, 1.0, 0.0)
