"""Observables of the model: its samples (outputs, losses, attention) and its tables.

Those named `test_…` are of samples that are never trained on. Rates of tables are those
of gradient flow of the parts that are trained. With the force z on the values, a chain
of values moves by

    dG/dt = b z + g A_V z,

the first part because `W_V` moves under β, the second because β moves behind `W_V`.
Changes since the start are compared on all of the basis, so that no token is left out;
where the tokens are the basis, its entries are theirs. A quotient is compared on the
shown tokens, since its blocks hold no entries of the tables.
"""

from collections.abc import Callable

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
    margin_rate_by_scores=(
        "part of the margin's time derivative that is due to the scores (flow)",
        lambda v: v.rate(lambda moved: moved.samples.margins, "scores"),
    ),
    margin_rate_by_values=(
        "part of the margin's time derivative that is due to the values (flow)",
        lambda v: v.rate(lambda moved: moved.samples.margins, "values"),
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
    attention_rate=(
        "time derivative of the attention (flow)",
        lambda v: v.rate(lambda moved: moved.samples.attention),
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


def _diagonal(table: Array) -> Array:
    return jnp.diagonal(table, axis1=-2, axis2=-1)


def _change(view: View, table: Callable[[View], Array]) -> Array:
    return jnp.abs(table(view) - table(view.start)).max()


declare(
    "head",
    "key",
    "query",
    score=("scores, row = key, column = query", lambda v: v.tables.scores),
    key_self_score=("inner products of keys with keys", lambda v: v.self_scores.key),
    query_self_score=(
        "inner products of queries with queries",
        lambda v: v.self_scores.query,
    ),
    value_self_score=(
        "A_V = W_Vᵀ W_V, for chains of values",
        lambda v: v.value_self_scores,
    ),
    score_force=(
        "D = −∂L/∂scores, on the shown tokens",
        lambda v: v.shown_forces.scores,
    ),
    score_rate=("time derivative of the scores (flow)", lambda v: v.table_rates.scores),
    key_self_score_rate=(
        "time derivative of the key self-scores",
        lambda v: v.self_score_rates.key,
    ),
    query_self_score_rate=(
        "time derivative of the query self-scores",
        lambda v: v.self_score_rates.query,
    ),
    value_self_score_rate=(
        "time derivative of the value self-scores",
        lambda v: v.rate(lambda moved: moved.value_self_scores),
    ),
)
declare(
    "head",
    "token",
    value=("value of each token", lambda v: v.tables.values),
    key_square=(
        "squared length of each token's key",
        lambda v: _diagonal(v.self_scores.key),
    ),
    query_square=(
        "squared length of each token's query",
        lambda v: _diagonal(v.self_scores.query),
    ),
    token_force=(
        "z = −∂L/∂values, on the shown tokens",
        lambda v: v.shown_forces.values,
    ),
    value_rate=("time derivative of the values (flow)", lambda v: v.table_rates.values),
    readout_part_rate=(
        "b z, the part of value_rate by W_V (chains, flow)",
        lambda v: v.value_rate_parts[0],
    ),
    inner_part_rate=(
        "g A_V z, the part of value_rate by β (chains, flow)",
        lambda v: v.value_rate_parts[1],
    ),
)
declare(
    "head",
    "vocabulary",
    vocabulary_value=(
        "value of every token, also those not shown",
        lambda v: v.vocabulary_values,
    ),
)
declare(
    "head",
    readout_gain=(
        "b = |β|², the readout's own score; |w_O|² where it is fixed",
        lambda v: v.readout_gain,
    ),
    readout_gain_rate=(
        "time derivative of the readout gain",
        lambda v: v.rate(lambda moved: moved.readout_gain),
    ),
)
declare(
    largest_score=(
        "largest score in absolute value",
        lambda v: jnp.abs(v.tables.scores).max(),
    ),
    largest_score_change=(
        "largest change of a score since the start",
        lambda v: _change(v, lambda w: w.every_score),
    ),
    largest_key_self_score_change=(
        "largest change of a key self-score since the start",
        lambda v: _change(v, lambda w: w.every_self_score.key),
    ),
    largest_query_self_score_change=(
        "largest change of a query self-score since the start",
        lambda v: _change(v, lambda w: w.every_self_score.query),
    ),
    largest_value_self_score_change=(
        "largest change of a value self-score since the start (chains)",
        lambda v: _change(v, lambda w: w.every_value_self_score),
    ),
    largest_attention_change=(
        "largest change of an attention p(key | query) since the start",
        lambda v: _change(v, lambda w: w.samples.attention),
    ),
)
OF_SAMPLES = frozenset(
    [
        "loss",
        "accuracy",
        "test_loss",
        "test_accuracy",
        "loss_by_group",
        "accuracy_by_group",
        "test_loss_by_group",
        "test_accuracy_by_group",
        "pull_by_group",
        "output",
        "label",
        "margin",
        "pull",
        "margin_rate_by_scores",
        "margin_rate_by_values",
        "test_margin",
        "head_output",
        "attention",
        "attention_rate",
        "pair_score",
        "test_attention",
        "pair_value",
        "test_pair_value",
        "pooled_token",
        "value",
        "readout_gain",
        "readout_gain_rate",
        "largest_attention_change",
        "sharpness",
    ]
)
"""Observables that need no table of scores between all tokens."""
