"""Observables of samples: outputs, losses, margins and attention, in training and test.

Those named `test_…` are of samples that are never trained on.
"""

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.observables.registry import declare
from attnflow.observables.view import View


def _pooled_token(view: View) -> Array:
    data = view.data
    tokens = view.products[data.key]
    return jnp.einsum(
        "nq,nhqk,nkt->nht", data.query_weight, view.samples.attention, tokens
    )


declare(
    loss=(
        "mean loss under the samples' probabilities",
        lambda v: v.samples.mean(v.samples.losses),
    ),
    accuracy=(
        "probability of a positive margin; a margin of 0 is an error",
        lambda v: v.samples.mean(v.samples.correct),
    ),
    test_loss=("mean loss on the test samples", lambda v: v.test.mean(v.test.losses)),
    test_accuracy=(
        "accuracy on the test samples",
        lambda v: v.test.mean(v.test.correct),
    ),
)
declare(
    "group",
    group_means="data",
    loss_by_group=(
        "mean loss within each group of samples",
        lambda v: v.samples.by_group(v.samples.losses),
    ),
    accuracy_by_group=(
        "the same within each group of samples",
        lambda v: v.samples.by_group(v.samples.correct),
    ),
)
declare(
    "group",
    group_means="test",
    test_loss_by_group=(
        "mean loss within each group of test samples",
        lambda v: v.test.by_group(v.test.losses),
    ),
    test_accuracy_by_group=(
        "accuracy within each group of test samples",
        lambda v: v.test.by_group(v.test.correct),
    ),
)
declare(
    "group",
    pull_by_group=(
        "sum of probability times pull over each group of samples",
        lambda v: v.samples.group_weights @ v.samples.pulls,
    ),
)
declare(
    "sample",
    output=("output of the model", lambda v: v.samples.outputs),
    label=("label of each sample", lambda v: v.data.label),
    margin=("label times output", lambda v: v.samples.margins),
    pull=(
        "|∂l/∂f|, how hard each sample pulls on its output",
        lambda v: v.samples.pulls,
    ),
)
declare(
    "test_sample",
    test_margin=("label times output on each test sample", lambda v: v.test.margins),
)
declare(
    "sample",
    "head",
    head_output=("output of each head", lambda v: v.samples.head_outputs),
)
declare(
    *("sample", "head", "query_position", "key_position"),
    attention=(
        "attention p(key | query) at each sample's positions",
        lambda v: v.samples.attention,
    ),
    pair_score=("scores at each sample's positions", lambda v: v.samples.pairs.scores),
)
declare(
    *("test_sample", "head", "query_position", "key_position"),
    test_attention=(
        "attention p(key | query) at each test sample's positions",
        lambda v: v.test.attention,
    ),
)
declare(
    *("sample", "head", "key_position"),
    pair_value=(
        "values of the tokens at each sample's positions, without payloads",
        lambda v: v.samples.pairs.values,
    ),
)
declare(
    *("test_sample", "head", "key_position"),
    test_pair_value=(
        "values at each test sample's positions",
        lambda v: v.test.pairs.values,
    ),
)
declare(
    *("sample", "head", "token"),
    pooled_token=(
        "what each head reads: Σ_q weight_q Σ_k p(k|q) x_k, along the shown tokens",
        _pooled_token,
    ),
)
