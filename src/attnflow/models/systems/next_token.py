"""Next-token training: of two joint tables, or of the plain weights behind them.

Samples are sequences without end, each class once, or fresh batches. Plain weights are

    Y = U W_Vᵀ Uᵀ,     Z = U W_Q W_Kᵀ Uᵀ / √d,

with `U` (tokens, d), which `values` trains beside `W_V`, and `W_Q`, `W_K` of `scores`.
"""

import abc
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer, PyTree

from attnflow.data.token_sequences import on_device
from attnflow.models.forms import State
from attnflow.models.forms.token_classes import TokenFrame
from attnflow.models.problem.next_token import Forces, NextToken, Places, forces
from attnflow.models.systems.training import Time, squared_length

Table = Float[Array, "rows columns"]
PARTS = ("scores", "values")


class Rates(eqx.Module):
    """Learning rates of a flow, η_Z of the scores and η_Y of the values."""

    scores: Float[Array, ""]
    values: Float[Array, ""]

    def times(self, direction: State) -> State:
        """Each part of a direction times its rate."""
        rates = {"scores": self.scores, "values": self.values}
        return {
            name: jax.tree.map(lambda x, rate=rates[name]: rate * x, part)
            for name, part in direction.items()
        }


def population(frame: TokenFrame) -> Places:
    """Every class once, as sequences are that have no end."""
    return Places(
        rows=frame.support,
        mass=frame.mass,
        weight=frame.support_weight,
        query=frame.query,
        query_row=frame.query_row,
        label=frame.label,
        probability=jnp.full(frame.classes, 1 / frame.classes),
    )


def sampled(
    frame: TokenFrame,
    label: Int[Array, " samples"],
    counts: Integer[Array, "samples support"],
) -> Places:
    """Sequences of one batch, by their classes and counts."""
    return Places(
        rows=frame.support[label],
        mass=counts.astype(float),
        weight=frame.support_weight[label],
        query=frame.query[label],
        query_row=frame.query_row[label],
        label=frame.label[label],
        probability=jnp.full(len(label), 1 / len(label)),
    )


class AbstractWhole(eqx.Module):
    """A system whose weights are all entries of its parts, each once."""

    def square(self, name: str, state: State, direction: PyTree) -> Float[Array, ""]:
        """The squared length of the gradient by a part's weights."""
        return squared_length(direction)

    def each_matrix(
        self,
        name: str,
        state: State,
        update: PyTree,
        change: Callable[[Array], Array],
    ) -> PyTree:
        """A part's update with each of its matrices changed."""
        return jax.tree.map(change, update)


class AbstractTables(AbstractWhole):
    """Both tables in training, by single entries."""

    @abc.abstractmethod
    def forces(self, state: State) -> Forces:
        """Minus the gradient of the mean loss, and the losses of samples."""

    def direction(self, state: State) -> State:
        """Minus the gradient, as rules of descent see it."""
        force = self.forces(state)
        return {"scores": force.scores, "values": force.values}

    def tables(self, state: State) -> State:
        """The two tables."""
        return {name: state[name] for name in PARTS}


class TokenTables(AbstractTables):
    """Both tables under the gradient of the mean loss over classes of long sequences.

    A flow's time counts samples: `dY/dt = −η_Y ∂L/∂Y`, `dZ/dt = −η_Z ∂L/∂Z`.
    """

    frame: TokenFrame
    model: NextToken
    rates: Rates

    def forces(self, state: State) -> Forces:
        """Minus the gradient of the mean loss, and each class's loss."""
        places = population(self.frame)
        return forces(self.model, state, places, self.frame.column_weight)

    def velocity(self, t: Time, state: State) -> State:
        """The state's derivative under gradient flow."""
        return self.rates.times(self.direction(state))

    def shrinking(self, state: State) -> State:
        """Each part, times its rate."""
        return self.rates.times(state)

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates."""
        return {**state, **{n: state[n] + update for n, update in updates.items()}}


class BatchTables(AbstractTables):
    """Both tables under a fresh batch at every step.

    The state knows by `step` which batch is next. Beyond the last batch the last one
    is used again, so that what is observed there has a batch.
    """

    frame: TokenFrame
    model: NextToken
    label: Int[Array, "steps batch"]
    counts: Integer[Array, "steps batch support"]

    def forces(self, state: State) -> Forces:
        """Minus the gradient of the next batch's mean loss, and its samples' losses."""
        step = jnp.minimum(state["step"], len(self.label) - 1)
        places = sampled(self.frame, self.label[step], self.counts[step])
        return forces(self.model, state, places, self.frame.column_weight)

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates, with the next batch."""
        moved = {n: state[n] + update for n, update in updates.items()}
        return {**state, **moved, "step": state["step"] + 1}

    def batch_loss(self, state: State) -> Float[Array, ""]:
        """The mean loss of the next batch."""
        return self.forces(state).loss.mean()


def weight_tables(state: State) -> dict[str, Table]:
    """Both tables of the weights."""
    U, W_V = state["values"]["U"], state["values"]["W_V"]
    W_Q, W_K = state["scores"]["W_Q"], state["scores"]["W_K"]
    scale = 1 / jnp.sqrt(float(U.shape[1]))
    return {"scores": scale * (U @ W_Q) @ (U @ W_K).T, "values": U @ W_V.T @ U.T}


def draw_weights(tokens: int, embed: int, generator: np.random.Generator) -> State:
    """Normal embeddings and projections of standard deviation 1/√d."""
    if embed < 1:
        raise ValueError(f"embed is {embed}: embeddings have at least one coordinate.")

    def draw(*shape: int) -> Array:
        return on_device(generator.standard_normal(shape) / np.sqrt(embed))

    return {
        "scores": {"W_Q": draw(embed, embed), "W_K": draw(embed, embed)},
        "values": {"U": draw(tokens, embed), "W_V": draw(embed, embed)},
    }


class TokenWeights(AbstractWhole):
    """Plain weights under the gradient of the mean loss, on the `joint` tables.

    `inner` is the system of the tables, of long sequences or of fresh batches.
    """

    inner: TokenTables | BatchTables
    rates: Rates

    @property
    def frame(self) -> TokenFrame:
        """Which rows and columns the classes have in the tables."""
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
        parts = {name: state[name] for name in PARTS}
        tables, back = jax.vjp(weight_tables, parts)
        return back(self.inner.direction({**state, **tables}))[0]

    def velocity(self, t: Time, state: State) -> State:
        """The state's derivative under gradient flow."""
        return self.rates.times(self.direction(state))

    def shrinking(self, state: State) -> State:
        """Each part, times its rate."""
        return self.rates.times(state)

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates, with the next batch."""
        moved = jax.tree.map(jnp.add, {n: state[n] for n in updates}, updates)
        step = {"step": state["step"] + 1} if "step" in state else {}
        return {**state, **moved, **step}

    def batch_loss(self, state: State) -> Float[Array, ""]:
        """The mean loss of the next batch."""
        assert isinstance(self.inner, BatchTables)
        return self.inner.batch_loss({**state, **self.tables(state)})
