"""Next-token training of two joint tables: long sequences, or fresh batches."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Integer

from attnflow.models.forms.token_classes import TokenFrame
from attnflow.models.problem.next_token import Forces, NextToken, Places, forces

State = dict[str, Any]
PARTS = ("scores", "values")


class Rates(eqx.Module):
    """Learning rates of a flow, η_Z of the scores and η_Y of the values."""

    scores: Float[Array, ""]
    values: Float[Array, ""]


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


class TokenTables(eqx.Module):
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

    def velocity(self, t: Any, state: State) -> State:
        """The state's derivative under gradient flow."""
        pull = self.forces(state)
        return {
            "scores": self.rates.scores * pull.scores,
            "values": self.rates.values * pull.values,
        }

    def direction(self, state: State) -> State:
        """Minus the gradient, as rules of descent see it."""
        pull = self.forces(state)
        return {"scores": pull.scores, "values": pull.values}

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates."""
        return {**state, **{n: state[n] + update for n, update in updates.items()}}

    def tables(self, state: State) -> State:
        """The two tables."""
        return {name: state[name] for name in PARTS}


class BatchTables(eqx.Module):
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

    def direction(self, state: State) -> State:
        """Minus the gradient, as rules of descent see it."""
        pull = self.forces(state)
        return {"scores": pull.scores, "values": pull.values}

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates, with the next batch."""
        moved = {n: state[n] + update for n, update in updates.items()}
        return {**state, **moved, "step": state["step"] + 1}

    def tables(self, state: State) -> State:
        """The two tables."""
        return {name: state[name] for name in PARTS}

    def batch_loss(self, state: State) -> Float[Array, ""]:
        """The mean loss of the next batch."""
        return self.forces(state).loss.mean()
