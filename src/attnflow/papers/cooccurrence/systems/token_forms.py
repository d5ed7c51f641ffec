"""Appendix C's right-hand sides token by token: Lemmas C.1, C.3 and C.4.

They sum over the samples that hold a token μ, with the attention at its position
l(i, μ), which is unique only if no sample holds μ twice. Otherwise l(i, μ) is the first
position here, and the two forms differ.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.papers.cooccurrence.systems.closed_system import (
    ClosedSystem,
    State,
    Terms,
)


def first_positions(
    tokens: Float[Array, "samples length embed"],
) -> Float[Array, "samples length embed"]:
    """1 at the first position of each token in each sample, 0 elsewhere."""
    return jnp.where(jnp.cumsum(tokens, axis=1) <= 1, tokens, 0.0)


def token_terms(system: ClosedSystem, state: State) -> Terms:
    """Terms of the lemmas' right-hand sides; O has no such form.

    E selects l(i, μ): E[i, h, u] is 1 where position h of sample i is l(i, u).
    """
    N, S, a = state["N"], state["S"], system.output
    X, (c, r) = system.samples.tokens, system.pulls(state)
    E = first_positions(X)
    return {
        "N": _neuron_terms(system, state, E),
        "S": _score_terms(system, state, E),
        "A_V": (
            jnp.einsum("ilh,j,jv,ihu->vu", c, a, N, E),
            jnp.einsum("ilh,j,ju,ihv->vu", c, a, N, E),
        ),
        "A_Q": (
            jnp.einsum("ilh,wv,ihw,ilu->vu", r, S, X, E),
            jnp.einsum("ilh,wu,ihw,ilv->vu", r, S, X, E),
        ),
        "A_K": (
            jnp.einsum("ilh,vw,ilw,ihu->vu", r, S, X, E),
            jnp.einsum("ilh,uw,ilw,ihv->vu", r, S, X, E),
        ),
    }


def _neuron_terms(
    system: ClosedSystem, state: State, E: Array
) -> tuple[Array, Array, Array]:
    """Lemma C.1: the diagonal term, and the two parts of ε."""
    neurons, A_V, a = state["O"], state["A_V"], system.output
    X, c = system.samples.tokens, system.pulls(state).values
    token_pulls = jnp.einsum("ilh,ihu->u", c, E)
    lengths = jnp.diagonal(neurons)[:, None] + jnp.diagonal(A_V)[None, :]
    diagonal = a[:, None] * lengths * token_pulls
    off_diagonal = (neurons - jnp.diag(jnp.diagonal(neurons))) @ a
    return (
        diagonal,
        jnp.outer(off_diagonal, token_pulls),
        jnp.einsum("ilh,j,ihv,vu,ihu->ju", c, a, X, A_V, 1 - X),
    )


def _score_terms(
    system: ClosedSystem, state: State, E: Array
) -> tuple[Array, Array, Array, Array]:
    """Lemma C.4: diagonal and off-diagonal terms of keys, then of queries."""
    A_K, A_Q = state["A_K"], state["A_Q"]
    X, r = system.samples.tokens, system.pulls(state).scores
    pair = jnp.einsum("ilh,ihv,ilu->vu", r, E, E)
    return (
        jnp.diagonal(A_K)[:, None] * pair,
        jnp.einsum("ilh,vw,ihw,ihv,ilu->vu", r, A_K, X, 1 - X, E),
        jnp.diagonal(A_Q)[None, :] * pair,
        jnp.einsum("ilh,uw,ilw,ilu,ihv->vu", r, A_Q, X, 1 - X, E),
    )
