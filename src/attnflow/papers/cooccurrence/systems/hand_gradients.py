"""Appendix B's gradients of each weight matrix, against autodiff."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from attnflow.papers.cooccurrence.computations import Gradients
from attnflow.papers.cooccurrence.settings import Fields
from attnflow.papers.cooccurrence.systems.model import (
    FILLERS,
    Samples,
    Weights,
    draw_model,
    relative_error,
    velocity,
)

FORMULAS = ("W", "W_V", "W_K", "W_Q", "W_K, Jacobian", "W_Q, Jacobian")
Formulas = Callable[[Weights, Samples], dict[str, Array]]


def gradients(setting: Fields, seeds: Sequence[int]) -> xr.Dataset:
    """Relative errors of Appendix B against autodiff of a separate forward pass.

    `W_K` and `W_Q` are the appendix's last displays, with diag(·); `W_K, Jacobian` and
    `W_Q, Jacobian` its first ones, with the softmax's derivatives entry by entry.
    """
    sizes = Gradients(**setting)
    errors = [
        {
            fillers: errors_of(printed, *draw_model(sizes, fillers, seed))
            for fillers in FILLERS
        }
        for seed in seeds
    ]
    table = [[[e[f][name] for name in FORMULAS] for f in FILLERS] for e in errors]
    return xr.Dataset(
        {"relative_error": (("seed", "fillers", "formula"), np.array(table))},
        {"fillers": list(FILLERS), "formula": list(FORMULAS)},
    )


def errors_of(
    formulas: Formulas, weights: Weights, samples: Samples
) -> dict[str, float]:
    """Relative errors of formulas, by name."""
    exact = velocity(weights, samples)
    return {
        name: float(relative_error(formula, exact[name.split(",")[0]]))
        for name, formula in jax.jit(formulas)(weights, samples).items()
    }


def printed(weights: Weights, samples: Samples) -> dict[str, Array]:
    """Appendix B's right-hand sides.

    Indices: i sample, l query, h and k keys, j neuron, m and v hidden units, d the
    embedding.
    """
    X, y = samples
    W, a = weights["W"], weights["a"]
    K, Q, V = (X @ weights[name].T for name in ("W_K", "W_Q", "W_V"))
    root = jnp.sqrt(float(K.shape[-1]))
    p = jax.nn.softmax(jnp.einsum("ihm,ilm->ilh", K, Q) / root, axis=-1)
    wV = jnp.einsum("jv,ihv->jih", W, V)
    F = jnp.einsum("j,jih,ilh->i", a, wV, p)
    c = y / (1 + jnp.exp(y * F)) / len(y)  # g_i y_i / n
    r = c / root
    # w_jᵀ V − w_jᵀ V p_l, as printed inside diag(·).
    D = wV[:, :, None, :] - jnp.einsum("jih,ilh->jil", wV, p)[..., None]
    J = softmax_jacobian(p)
    return {
        "W": jnp.einsum("i,j,ihv,ilh->jv", c, a, V, p),
        "W_V": jnp.einsum("i,j,jv,ihd,ilh->vd", c, a, W, X, p),
        "W_K": jnp.einsum("i,j,ilm,ilh,jilh,ihd->md", r, a, Q, p, D, X),
        "W_Q": jnp.einsum("i,j,ihm,jilh,ilh,ild->md", r, a, K, D, p, X),
        "W_K, Jacobian": jnp.einsum("i,j,jih,ilhk,ilm,ikd->md", r, a, wV, J, Q, X),
        "W_Q, Jacobian": jnp.einsum("i,j,jih,ilhk,ikm,ild->md", r, a, wV, J, K, X),
    }


def softmax_jacobian(
    p: Float[Array, "samples queries keys"],
) -> Float[Array, "samples queries keys keys"]:
    """`∂p_h/∂s_k = p_h (1[h = k] − p_k)`."""
    return p[..., :, None] * (jnp.eye(p.shape[-1]) - p[..., None, :])
