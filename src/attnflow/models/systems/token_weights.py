"""Next-token training of plain weights: embeddings, keys, queries and values.

    Y = U W_Vᵀ Uᵀ,     Z = U W_Q W_Kᵀ Uᵀ / √d,

with `U` (tokens, d), which `values` trains beside `W_V`, and `W_Q`, `W_K` of `scores`.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.models.forms.token_classes import TokenFrame
from attnflow.models.problem.next_token import NextToken
from attnflow.models.systems.token_tables import BatchTables, Rates, TokenTables

State = dict[str, Any]


def weight_tables(state: State) -> dict[str, Float[Array, "tokens tokens"]]:
    """Both tables of the weights."""
    U, W_V = state["values"]["U"], state["values"]["W_V"]
    W_Q, W_K = state["scores"]["W_Q"], state["scores"]["W_K"]
    scale = 1 / jnp.sqrt(float(U.shape[1]))
    return {
        "scores": scale * (U @ W_Q) @ (U @ W_K).T,
        "values": U @ W_V.T @ U.T,
    }


def draw_weights(tokens: int, embed: int, generator: np.random.Generator) -> State:
    """Normal embeddings and projections of standard deviation 1/√d."""
    if embed < 1:
        raise ValueError(f"embed is {embed}: embeddings have at least one coordinate.")

    def draw(*shape: int) -> Array:
        return jnp.asarray(generator.standard_normal(shape) / np.sqrt(embed))

    return {
        "scores": {"W_Q": draw(embed, embed), "W_K": draw(embed, embed)},
        "values": {"U": draw(tokens, embed), "W_V": draw(embed, embed)},
    }


class TokenWeights(eqx.Module):
    """Plain weights under the gradient of the mean loss, on the `joint` tables.

    `inner` is the system of the tables, of long sequences or of fresh batches.
    """

    inner: TokenTables | BatchTables
    rates: Rates

    @property
    def frame(self) -> TokenFrame:
        """Where numbers stand in the tables."""
        return self.inner.frame

    @property
    def model(self) -> NextToken:
        """The model's parts."""
        return self.inner.model

    def tables(self, state: State) -> State:
        """The two tables."""
        return weight_tables(state)

    def direction(self, state: State) -> State:
        """Minus the gradient by the weights."""
        parts = {name: state[name] for name in ("scores", "values")}
        tables, back = jax.vjp(weight_tables, parts)
        return back(self.inner.direction({**state, **tables}))[0]

    def velocity(self, t: Any, state: State) -> State:
        """The state's derivative under gradient flow."""
        rates = {"scores": self.rates.scores, "values": self.rates.values}
        return {
            name: jax.tree.map(lambda x, rate=rates[name]: rate * x, part)
            for name, part in self.direction(state).items()
        }

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates, with the next batch."""
        moved = jax.tree.map(jnp.add, {n: state[n] for n in updates}, updates)
        step = {"step": state["step"] + 1} if "step" in state else {}
        return {**state, **moved, **step}

    def batch_loss(self, state: State) -> Float[Array, ""]:
        """The mean loss of the next batch."""
        assert isinstance(self.inner, BatchTables)
        return self.inner.batch_loss({**state, **self.tables(state)})
