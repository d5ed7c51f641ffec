"""The sign state: SignGD on inner products of neurons with tokens.

Under SignGD a column of coordinates moves by one sign, so that the inner products of
neurons with tokens close: `Δ⟨w, x⟩ = η · entries · signs`. The weights are not needed,
nor the dimension in which they live. `steps` sums up what each column has moved; tokens
that are not trained on are read from it.
"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.column_maps import AbstractColumnMap
from attnflow.models.forms.coordinates import (
    AbstractCoordinateScores,
    AbstractCoordinateValues,
    Neurons,
)
from attnflow.models.forms.scaled_pulls import Positions
from attnflow.training.rules import Rule, SignGD


def _refuses(rule: Rule) -> str | None:
    if isinstance(rule, SignGD):
        return None
    return (
        f"{rule.name} moves the coordinates of a token's own support by different "
        "amounts, and the sign state keeps one number for them all. Use "
        "form='coordinates'."
    )


class SignScores(AbstractCoordinateScores):
    """`{"W_K": (heads, tokens, neurons), "W_Q": the same}`, and steps.

    A dense map moves both sides by one product, as `W_KQ`: rows of W_K before those of
    W_Q. A sparse one is quicker with each by itself.
    """

    positions: Positions
    columns: AbstractColumnMap

    def seen(self, state: Any, name: str) -> Neurons:
        """Inner products of one weight's neurons with the tokens."""
        return state[name]

    def moved(self, state: Any, name: str) -> Array:
        """The steps of every column."""
        if self.columns.stacked:
            return _side(state["steps_W_KQ"], name)
        return state[f"steps_{name}"]

    def direction(self, state: Any, force: Any) -> Any:
        """Numbers with the signs of minus the gradient."""
        (keys, key_log), (queries, query_log) = self.by_tokens(state, force)
        if not self.columns.stacked:
            return {
                "W_K": self.columns.pull_signs(keys, key_log[..., None]),
                "W_Q": self.columns.pull_signs(queries, query_log[..., None]),
            }
        both = jnp.concatenate([keys, queries], axis=-1)
        logs = jnp.stack([key_log, query_log], axis=-1)
        return {"W_KQ": self.columns.pull_signs(both, logs)}

    def move(self, state: Any, update: Any) -> Any:
        """Every token moves by its entries in the columns."""
        pushed = {name: self.columns.push(own) for name, own in update.items()}
        if self.columns.stacked:
            pushed = {name: _side(pushed["W_KQ"], name) for name in ("W_K", "W_Q")}
        new = {name: state[name] + own for name, own in pushed.items()}
        return {**new, **_stepped(state, update)}

    def refuses(self, rule: Rule) -> str | None:
        """All rules but SignGD."""
        return _refuses(rule)


def _side(both: Array, name: str) -> Array:
    width = both.shape[-1] // 2
    return both[..., :width] if name == "W_K" else both[..., width:]


def _stepped(state: Any, update: dict[str, Array]) -> dict[str, Array]:
    """Steps after an update, where they are kept."""
    kept = {f"steps_{name}": own for name, own in update.items()}
    return {name: state[name] + own for name, own in kept.items() if name in state}


class SignValues(AbstractCoordinateValues):
    """`{"W_V": (heads, tokens, neurons)}`, its steps, and `w_O` if it is trained."""

    positions: Positions
    columns: AbstractColumnMap
    readout: Float[Array, "heads neurons"]
    slope: Float[Array, "heads neurons"]
    gain: Float[Array, ""]

    def seen(self, state: Any, name: str) -> Neurons:
        """Inner products of the neurons with the tokens."""
        return state[name]

    def moved(self, state: Any, name: str) -> Array:
        """The steps of every column."""
        return state[f"steps_{name}"]

    def direction(self, state: Any, force: Any) -> Any:
        """Numbers with the signs of minus the gradient."""
        tokens, log = self.by_tokens(force)
        columns = self.columns.pull_signs(tokens, log[..., None])
        own = {"W_V": columns * self._slope(state)}
        return {**own, **self.by_output(state, (tokens, log))}

    def move(self, state: Any, update: Any) -> Any:
        """Every token moves by its entries in the columns."""
        moves = self.gain * update["W_V"]
        new = {"W_V": state["W_V"] + self.columns.push(moves)}
        if "w_O" in state:
            new["w_O"] = state["w_O"] + update["w_O"]
        return {**new, **_stepped(state, {"W_V": moves})}

    def refuses(self, rule: Rule) -> str | None:
        """All rules but SignGD."""
        return _refuses(rule)
