"""The lazy model: training as if the outputs were linear in the weights."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms import State
from attnflow.models.problem import AbstractLoss
from attnflow.models.systems import Training
from attnflow.observables.curvature.kernel import tangent_kernel

Outputs = Float[Array, " samples"]


class Linearised(eqx.Module):
    """The outputs of a model that is linear in its weights, under gradient flow.

    Around weights θ₀ the linearised model is `f_n(θ₀) + ∇f_n(θ₀) · (θ − θ₀)`; its
    gradient flow closes in the outputs,

        df_n/dt = Σ_n' K[n, n'] · p_n' · c(f_n', y_n'),     c = −∂l/∂f,

    with the tangent kernel K at θ₀ and the samples' probabilities p in training. The
    state is f, `(samples,)`; `attnflow.training.flow` runs it as any other system.
    """

    kernel: Float[Array, "samples other_samples"]
    loss: AbstractLoss
    label: Outputs
    probability: Outputs

    def velocity(self, t: Any, outputs: Outputs) -> Outputs:
        """`K (p · c(f))`."""
        sign, log = self.loss.pull(outputs, self.label)
        return self.kernel @ (self.probability * sign * jnp.exp(log))

    def mean_loss(self, outputs: Outputs) -> Float[Array, ""]:
        """The loss that training minimises."""
        return jnp.sum(self.probability * self.loss(outputs, self.label))


def linearised(system: Training, state: State) -> tuple[Linearised, Outputs]:
    """The lazy model around a state, and its own initial state, the outputs there.

    It agrees with real training to first order in time, for all samples (those of
    probability 0 are moved by the others), and for as long as the kernel stays.
    """
    lazy = Linearised(
        kernel=tangent_kernel(system, state),
        loss=system.problem.loss,
        label=system.data.label,
        probability=system.probability,
    )
    return lazy, system.problem.outputs(system.pairs(state), system.data)
