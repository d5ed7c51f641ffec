"""Single neurons of a layer, carried along exactly.

The value of x is `aᵀ W W_V x` with a fixed. Minus the gradient moves `W` along a alone,
so that `W(t) = k W(0) + a u(t)ᵀ`, with k = 1 unless weights decay, and `β = Wᵀ a` gives
`u = (β − k β(0)) / |a|²`. The rows

    R(t) = W(0) [W_V β](t)

move by `R Ω` as every row of `[W_V β]` does (`attnflow.models.forms.values`), and
they give what each neuron does, for the basis vectors as columns of W_V:

    W W_V = k R_V + (a / |a|²) (G − k aᵀ R_V),
    W Wᵀ − k² (W Wᵀ)(0) = k (δ aᵀ + a δᵀ) / |a|² + a aᵀ |β − k β(0)|² / |a|⁴

with `R = [R_V R_β]`, the values G, and `δ = R_β − k R_β(0)`. What is carried is
`R − k R(0)`: rules are linear, so that it moves by `R Ω` too, and a small change keeps
all its digits.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import (
    AbstractLengths,
    AbstractLinearPart,
    AbstractNeurons,
    Arrays,
    BasisVectors,
    Built,
    Weights,
    decays,
    divisor,
    host_divisor,
    rotation_refusal,
)
from attnflow.models.forms.initial_values import Draw
from attnflow.models.forms.values import ChainTransport
from attnflow.training.rules import Rule


class NeuronTransport(AbstractLinearPart, AbstractNeurons, AbstractLengths):
    """The transport of `[W_V β]` and of the rows `R = W(0) [W_V β]` beside it.

    The state is `{"factor": N (blocks, rows, r + 1), "neurons": R − k R(0) (blocks,
    neurons, r + 1), "kept": k (blocks,)}`; no force moves k, and a decay of weights
    does. Where the part was drawn without weights, `W Wᵀ` is not known at the start,
    but all its changes without decay are.
    """

    output: Float[Array, "blocks neurons"]
    initial_rows: Float[Array, "blocks neurons columns"]
    initial_gram: Float[Array, "blocks neurons neurons"] | None = None

    @property
    def gain(self) -> Float[Array, " blocks"]:
        """`|a|²`."""
        return (self.output**2).sum(axis=1)

    def rows(self, state: Arrays) -> Float[Array, "blocks neurons columns"]:
        """`R`."""
        return state["neurons"] + state["kept"][:, None, None] * self.initial_rows

    def table(self, state: Arrays) -> Array:
        """The value of each basis vector."""
        return ChainTransport(self.gain).table(state["factor"])

    def velocity(self, state: Arrays, force: Array) -> Arrays:
        """`N Ω` and `R Ω`."""
        chain = ChainTransport(self.gain)
        return {
            "factor": chain.velocity(state["factor"], force),
            "neurons": chain.velocity(self.rows(state), force),
            "kept": jnp.zeros_like(state["kept"]),
        }

    def neuron_table(self, state: Arrays) -> Array:
        """`k R_V + (a / |a|²) (G − k aᵀ R_V)`."""
        read = state["kept"][:, None, None] * self.rows(state)[..., :-1]
        along = jnp.einsum("bn,bnr->br", self.output, read)
        rest = (self.table(state) - along) / divisor(self.gain)[:, None]
        return read + self.output[..., None] * rest[:, None, :]

    def neuron_gram_change(self, state: Arrays, start: Arrays) -> Array:
        """`k (δ aᵀ + a δᵀ) / |a|² + a aᵀ |β − k β(0)|² / |a|⁴`, and k² − 1 of the rest.

        The norm is that of a difference of two columns of N, rather than a difference
        of squares, which would lose a small change against `|β|²`.
        """
        kept, gain = state["kept"][:, None], divisor(self.gain)[:, None]
        moved = state["factor"][..., -1] - kept * start["factor"][..., -1]
        square = (moved**2).sum(axis=1)[:, None]
        half = kept * state["neurons"][..., -1] / gain
        half = half + self.output * square / (2 * gain**2)
        change = half[:, :, None] * self.output[:, None, :]
        change = change + change.swapaxes(-1, -2)
        if self.initial_gram is None:
            return change
        return change + (kept**2 - 1)[..., None] * self.initial_gram

    def refuses(self, rule: Rule) -> str | None:
        """As a chain; also decay of an unknown `W Wᵀ`, and orthogonal updates."""
        if decays(rule) and self.initial_gram is None:
            return (
                "The neurons were drawn without their weights, so that the part of "
                "W Wᵀ that decays is not known. Use draw='weights', or follow=False."
            )
        if rule.sees == "matrices":
            return (
                f"{rule.name} makes matrices orthogonal, which rows of single neurons "
                "beside the chain do not follow. Use follow=False, or form='weights'."
            )
        return rotation_refusal(rule)

    def square(self, state: Arrays, direction: Arrays) -> Array:
        """That of the chain: rows of neurons are read from the same weights."""
        chain = ChainTransport(self.gain)
        return chain.square(state["factor"], direction["factor"])


def given_neurons(
    weights: Weights,
    seen: Float[np.ndarray, "heads width"],
    factor: Float[np.ndarray, "heads rows columns"],
    basis: BasisVectors,
) -> Built:
    """The part and its state for given `W_V`, `W`, `a` and `β = Wᵀ a`."""
    inner, first = np.asarray(weights["W"]), np.asarray(weights["W_V"])
    both = np.concatenate([first @ np.asarray(basis).T, seen[..., None]], axis=-1)
    gram = inner @ inner.swapaxes(-1, -2)
    return _begin(np.asarray(weights["a"]), inner @ both, factor, gram)


def drawn_neurons(
    output: Float[np.ndarray, "heads neurons"],
    factor: Float[np.ndarray, "heads rows columns"],
    *,
    inner_scale: float,
    key: Key,
    draw: Draw,
) -> Built:
    """The part and its state in law, given a and a factor F of `[W_V β]`.

    `W = a βᵀ / |a|² + Π W` with Π the projector orthogonal to a, and `Π W` is
    independent of β. With `[W_V β] = Q F` its rows enter through `Z = W Q` alone, so

        R(0) = a (F_βᵀ F) / |a|² + σ Π Z F

    with Z standard normal and σ the standard deviation of the entries of W. In the
    limit `W(0) β` is `|β|² a / |a|²`, so that Z has no component along `F_β`; without
    noise Z is zero.
    """
    shape = (*output.shape, factor.shape[1])
    noise = inner_scale * random.normal(key, shape)
    gain = host_divisor((output**2).sum(axis=1))[:, None]
    last = factor[..., -1]
    if draw == "expected":
        noise = np.zeros_like(noise)
    if draw == "limit":
        unit = last / host_divisor(np.linalg.norm(last, axis=1))[:, None]
        along = np.einsum("hnk,hk->hn", noise, unit)
        noise = noise - along[..., None] * unit[:, None, :]
    inside = np.einsum("hn,hnk->hk", output, noise)
    rows = noise + output[..., None] * ((last - inside) / gain)[:, None, :]
    return _begin(output, rows @ factor, factor, None)


def _begin(
    output: np.ndarray, rows: np.ndarray, factor: np.ndarray, gram: np.ndarray | None
) -> Built:
    known = None if gram is None else on_device(gram)
    part = NeuronTransport(on_device(output), on_device(rows), known)
    begun = {
        "factor": factor,
        "neurons": np.zeros_like(rows),
        "kept": np.ones(len(factor)),
    }
    return part, on_device(begun)
