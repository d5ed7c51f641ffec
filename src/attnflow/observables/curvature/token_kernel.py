"""The tangent kernel of a form over tokens, from derivatives at samples' positions."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from attnflow.models.forms import State, TokenForm
from attnflow.models.forms.tokens import TokenChain, TokenScores
from attnflow.models.systems import Training
from attnflow.observables.curvature.samples import pair_derivatives

Kernel = Float[Array, "samples other_samples"]


def token_kernel(
    system: Training,
    form: TokenForm,
    state: State,
    *,
    rates: Mapping[str, ArrayLike] | None = None,
) -> Kernel:
    """`K[n, n'] = ∇θ f_n · ∇θ f_n'`, as `tangent_kernel` has it.

    With `D_n = ∂f_n/∂scores` at the pairs of sample n, the gradient by `W_K` is
    `Σ (D_n q)_k x_kᵀ` over its keys, and two of them have the product
    `Σ ⟨(D_n q)_k, (D_n' q)_k'⟩ G[k, k']`; likewise for queries and values.
    """
    derivatives = pair_derivatives(system, state)
    total = jnp.zeros((len(system.data.label),) * 2)
    if "scores" in system.trained:
        own = _of_scores(form.scores, state["scores"], derivatives.scores)
        total += own * (1.0 if rates is None else rates["scores"])
    if "values" in system.trained:
        own = _of_values(form, state["values"], derivatives.values)
        total += own * (1.0 if rates is None else rates["values"])
    return (total + total.T) / 2


def _of_scores(part: TokenScores, state: Any, derivative: Array) -> Kernel:
    keys, queries = part.seen(state)
    by_key = jnp.einsum("nhqk,hnqc->hnkc", derivative, queries)
    by_query = jnp.einsum("nhqk,hnkc->hnqc", derivative, keys)
    return _products(by_key, part.gram, part.keys.token) + _products(
        by_query, part.gram, part.queries.token
    )


def _of_values(form: TokenForm, state: Any, derivative: Array) -> Kernel:
    part, gram = form.values, form.scores.gram
    z, token = derivative.swapaxes(0, 1)[..., None], part.keys.token
    if not isinstance(part, TokenChain):
        return _products(jnp.sqrt(part.gain)[:, None, None, None] * z, gram, token)
    read = jnp.einsum("hnkl,hnkc->hnc", z, part.keys.pick(state["rows"]))
    by_rows = _products(z * state["output"][:, None, None, :], gram, token)
    return by_rows + jnp.einsum("h,hnc,hmc->nm", part.gain, read, read)


def _products(
    found: Float[Array, "heads samples positions columns"],
    gram: Float[Array, "tokens tokens"],
    token: Array,
) -> Kernel:
    """`Σ ⟨found_nk, found_n'k'⟩ G[k, k']` over heads and positions."""
    heads, samples, positions, columns = found.shape
    rows = jnp.moveaxis(found, 0, 2).reshape(samples * positions, heads * columns)
    place = token.reshape(-1)
    each = (rows @ rows.T) * gram[place[:, None], place]
    return each.reshape(samples, positions, samples, positions).sum(axis=(1, 3))
