"""Value chains: what they hold beside their values, the same for every form.

With the chains of `models/forms/values.py`, `[W_V β]` under a gain g: the readout's
`b = |β|²`, the values' self-scores `A_V = W_Vᵀ W_V`, and g.
"""

from functools import singledispatch
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from attnflow.models.forms import AbstractPart
from attnflow.models.forms.neurons import NeuronTransport
from attnflow.models.forms.prompt import SeenChain
from attnflow.models.forms.tokens import TokenChain, TokenValues
from attnflow.models.forms.values import ChainGram, ChainTransport, ValueTable
from attnflow.models.forms.weights import (
    ChainWeights,
    ClassMeanWeights,
    FixedOutputWeights,
    NeuronWeights,
    ValueWeights,
)


class ValueChain(NamedTuple):
    """`b`, `A_V` on the basis, and the gain g, per block."""

    readout_gain: Float[Array, " blocks"]
    self_scores: Float[Array, "blocks basis basis"]
    gain: Float[Array, " blocks"]


@singledispatch
def value_chain(part: AbstractPart, state: PyTree) -> ValueChain:
    """The chain that a part of the values holds; a part without one is refused."""
    raise ValueError(
        f"The values are a {type(part).__name__}, which keeps no chain W_V and β: "
        "readout_gain, value_self_score and what follows from them are not defined. "
        "Use initial values Chain(trained=True) or Neurons."
    )


@value_chain.register
def _(part: ChainTransport, state: PyTree) -> ValueChain:
    return _of_columns(state[..., :-1], state[..., -1], part.gain)


@value_chain.register
def _(part: SeenChain, state: PyTree) -> ValueChain:
    return value_chain(part.chain, state["factor"])


@value_chain.register
def _(part: NeuronTransport, state: PyTree) -> ValueChain:
    factor = state["factor"]
    return _of_columns(factor[..., :-1], factor[..., -1], part.gain)


@value_chain.register
def _(part: TokenChain, state: PyTree) -> ValueChain:
    return _of_columns(state["rows"].swapaxes(-1, -2), state["output"], part.gain)


@value_chain.register
def _(part: ChainGram, state: PyTree) -> ValueChain:
    return ValueChain(state[..., -1, -1], state[..., :-1, :-1], part.gain)


@value_chain.register
def _(part: ChainWeights, state: PyTree) -> ValueChain:
    seen = state["w_O"]
    return _of_columns(state["W_V"] @ part.basis.T, seen, jnp.ones(len(seen)))


@value_chain.register
def _(part: NeuronWeights, state: PyTree) -> ValueChain:
    seen = jnp.einsum("hn,hnv->hv", part.output, state["W"])
    gain = (part.output**2).sum(axis=1)
    return _of_columns(state["W_V"] @ part.basis.T, seen, gain)


@singledispatch
def gain_of(part: AbstractPart, state: PyTree) -> Float[Array, "..."]:
    """`|β|²` of a part of the values; by block, or one for all.

    Values that are linear in one set of weights have it as their gain, which stays.
    """
    return value_chain(part, state).readout_gain


@gain_of.register(ValueTable)
@gain_of.register(TokenValues)
def _(part: ValueTable | TokenValues, state: PyTree) -> Float[Array, "..."]:
    return part.gain


@gain_of.register
def _(part: FixedOutputWeights, state: PyTree) -> Float[Array, "..."]:
    return (part.output**2).sum(axis=-1)


@gain_of.register
def _(part: ValueWeights, state: PyTree) -> Float[Array, "..."]:
    return jnp.ones(())


@gain_of.register
def _(part: ClassMeanWeights, state: PyTree) -> Float[Array, "..."]:
    return jnp.asarray(2.0 / state["W_V"].shape[2])


def _of_columns(
    first: Float[Array, "blocks rows basis"],
    seen: Float[Array, "blocks rows"],
    gain: Float[Array, " blocks"],
) -> ValueChain:
    """The chain of `W_V` on the basis (or a factor of it) and β."""
    return ValueChain((seen**2).sum(axis=-1), first.swapaxes(-1, -2) @ first, gain)
