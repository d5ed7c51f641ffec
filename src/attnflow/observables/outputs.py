"""Outputs, losses, margins and what each sample pulls with."""

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.observables.registry import observable
from attnflow.observables.view import View


@observable(about="mean loss under the samples' probabilities")
def loss(view: View) -> Array:  # noqa: D103
    return view.samples.mean(view.samples.losses)


@observable("group", about="mean loss within each group of samples", group_means="data")
def loss_by_group(view: View) -> Array:  # noqa: D103
    return view.samples.by_group(view.samples.losses)


@observable(about="probability of a positive margin; a margin of 0 is an error")
def accuracy(view: View) -> Array:  # noqa: D103
    return view.samples.mean(view.samples.correct)


@observable("group", about="the same within each group of samples", group_means="data")
def accuracy_by_group(view: View) -> Array:  # noqa: D103
    return view.samples.by_group(view.samples.correct)


@observable("sample", about="output of the model")
def output(view: View) -> Array:  # noqa: D103
    return view.samples.outputs


@observable("sample", "head", about="output of each head")
def head_output(view: View) -> Array:  # noqa: D103
    return view.samples.head_outputs


@observable("sample", about="label of each sample")
def label(view: View) -> Array:  # noqa: D103
    return view.data.label


@observable("sample", about="label times output")
def margin(view: View) -> Array:  # noqa: D103
    return view.samples.margins


@observable("sample", about="|∂l/∂f|, how hard each sample pulls on its output")
def pull(view: View) -> Array:  # noqa: D103
    return view.samples.pulls


@observable("group", about="sum of probability times pull over each group of samples")
def pull_by_group(view: View) -> Array:  # noqa: D103
    return view.samples.group_weights @ view.samples.pulls


@observable(
    "sample",
    "head",
    "query_position",
    "key_position",
    about="attention p(key | query) at each sample's positions",
)
def attention(view: View) -> Array:  # noqa: D103
    return view.samples.attention


@observable(
    "sample",
    "head",
    "query_position",
    "key_position",
    about="scores at each sample's positions",
)
def pair_score(view: View) -> Array:  # noqa: D103
    return view.samples.pairs.scores


@observable(
    "sample",
    "head",
    "key_position",
    about="values of the tokens at each sample's positions, without payloads",
)
def pair_value(view: View) -> Array:  # noqa: D103
    return view.samples.pairs.values


@observable(
    "sample",
    "head",
    "token",
    about="what each head reads: Σ_q weight_q Σ_k p(k|q) x_k, along the shown tokens",
)
def pooled_token(view: View) -> Array:  # noqa: D103
    data = view.data
    tokens = view.products[data.key]
    return jnp.einsum(
        "nq,nhqk,nkt->nht", data.query_weight, view.samples.attention, tokens
    )
