"""The tangent kernel of the full model."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from attnflow.models.forms import AbstractPart, State, TokenForm
from attnflow.models.systems import Training
from attnflow.observables.curvature.samples import output_derivatives
from attnflow.observables.curvature.token_kernel import token_kernel
from attnflow.training import require_precise


def tangent_kernel(
    system: Training, state: State, *, rates: Mapping[str, ArrayLike] | None = None
) -> Float[Array, "samples other_samples"]:
    """`K[n, n'] = ∇θ f_n · ∇θ f_n'` over all trained weights θ, at any width.

    The outputs see the weights through the tables alone, and a force on a table moves
    it through its own weights alone. With `D_n = ∂f_n/∂scores`, `z_n = ∂f_n/∂values`,

        K[n, n'] = Σ_heads  tr(D_n A_Q D_n'ᵀ) + tr(D_nᵀ A_K D_n')      keys, queries
                          + g z_n · z_n'                               linear values
                          or  b z_n · z_n' + g z_nᵀ A_V z_n'           a chain

    with the self-scores `A_K = W_Kᵀ W_K`, `A_Q`, the chain's `A_V = W_Vᵀ W_V` and
    `b = |β|²`, and the gain g. Each line is `⟨D_n, G D_n'⟩`, where G D is the rate at
    which the part's table moves under the force D: a form knows it by its velocity,
    which is how it is computed here, for every part that moves by gradient flow.

    **Arguments:**

    - `rates`: what the line of each trained part is multiplied by, such as learning
      rates of parts; 1 without it.

    **Returns:** a symmetric matrix over all samples of `system.data`, also those of
    probability 0 in this stage of training.
    """
    require_precise()
    if isinstance(system.form, TokenForm):
        return token_kernel(system, system.form, state, rates=rates)
    derivatives = output_derivatives(system, state)
    total = jnp.zeros((len(system.data.label),) * 2)
    for name in system.trained:
        force = getattr(derivatives, name)
        moved = table_rates(system.form.part(name), state[name], force)
        count = len(force)
        rate = 1.0 if rates is None else rates[name]
        total += rate * force.reshape(count, -1) @ moved.reshape(count, -1).T
    return (total + total.T) / 2


def table_rates(
    part: AbstractPart, state: Any, forces: Float[Array, "samples ..."]
) -> Float[Array, "samples ..."]:
    """`G D_n`: how a part's table moves under each of several forces."""

    def rate(force: Array) -> Array:
        return jax.jvp(part.table, (state,), (part.velocity(state, force),))[1]

    return jax.vmap(rate)(forces)
