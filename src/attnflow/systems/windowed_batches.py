"""Fresh batches sorted by class, for speed: products of small matrices only.

In a batch a class's samples stand side by side, so that their logits are one product
with the class's rows of Y. What a sample's query feels, `f_l (g_l − f_l (f·g))` with
`g = Y pull`, needs no product with Y: summed over the samples of a class

    Σ f_l g_l = Y_l · (Σ f_l pull) = Y_l · force_l     and     f·g = logits · pull.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer

from attnflow.forms.token_classes import TokenFrame

State = dict[str, Any]


class Placement(eqx.Module):
    """How classes' rows are summed to rows of tables, without a scatter.

    Each row of a table has at most so many places among classes as `places` is wide;
    places beyond point to a row of zeros behind all others.
    """

    lone: Int[Array, " lone"]
    shared: Int[Array, "shared most"]
    order: Int[Array, " rows"]

    def __call__(self, flat: Float[Array, "entries columns"]) -> Array:
        """Sums of the classes' entries for each row."""
        padded = jnp.concatenate([flat, jnp.zeros((1, flat.shape[1]))])
        sums = padded[self.shared].sum(axis=1)
        return jnp.concatenate([padded[self.lone], sums])[self.order]


def placement(rows: np.ndarray, kept: np.ndarray, count: int) -> Placement:
    """The placement of entries with these `rows` (where `kept`) in `count` rows."""
    flat, use = rows.ravel(), kept.ravel()
    found = [np.flatnonzero(use & (flat == row)) for row in range(count)]
    most = max(map(len, found))
    nothing = len(flat)
    single = [r for r in range(count) if len(found[r]) <= 1]
    several = [r for r in range(count) if len(found[r]) > 1]
    lone = [int(found[r][0]) if len(found[r]) else nothing for r in single]
    shared = np.full((len(several), most), nothing)
    for i, row in enumerate(several):
        shared[i, : len(found[row])] = found[row]
    order = np.argsort(np.array(single + several, int), kind="stable")
    return Placement(
        jnp.asarray(np.array(lone, int)), jnp.asarray(shared), jnp.asarray(order)
    )


class WindowedBatches(eqx.Module):
    """Both tables under a fresh batch at every step; l2-normalised, no residual.

    - `counts`: `(steps, classes, width, support)`, 0 where a class has no more samples.
    - `to_values`, `to_scores`: sums of the classes' entries for the tables.
    """

    frame: TokenFrame
    counts: Integer[Array, "steps classes width support"]
    to_values: Placement
    to_scores: Placement
    batch: int = eqx.field(static=True)
    apart: bool = eqx.field(static=True, default=False)

    def _read(self, state: State) -> tuple[Array, Array, Array]:
        """What samples read, their logits, and which places hold a sample."""
        step = jnp.minimum(state["step"], len(self.counts) - 1)
        mass = self.counts[step].astype(float)
        at = state["scores"][self.frame.query[:, None], self.frame.support]
        grown = mass * jnp.exp(at - at.max(axis=1, keepdims=True))[:, None, :]
        square = jnp.sum(grown**2, axis=-1, keepdims=True)
        there = square > 0
        read = grown * jnp.where(there, 1 / jnp.sqrt(jnp.where(there, square, 1.0)), 0)
        rows = state["values"][self.frame.support]
        return read, jnp.einsum("kws,ksc->kwc", read, rows), there[..., 0]

    def direction(self, state: State) -> State:
        """Minus the gradient, as rules of descent see it."""
        read, logits, there = self._read(state)
        columns = logits.shape[-1]
        mine = self.frame.label[:, None, None] == jnp.arange(columns)
        size = jnp.exp(logits - logits.max(axis=-1, keepdims=True))
        weighed = self.frame.column_weight * size
        other = jnp.sum(jnp.where(mine, 0.0, weighed), axis=-1)
        total = other + jnp.sum(jnp.where(mine, size, 0.0), axis=-1)
        share = (there / (total * self.batch))[..., None]
        pull = jnp.where(mine, other[..., None], -size) * share
        force = jnp.einsum("kws,kwc->ksc", read, pull)
        rows = state["values"][self.frame.support]
        counted = self.frame.column_weight
        gain = jnp.sum(rows * force * counted, axis=-1)
        level = jnp.sum(logits * pull * counted, axis=-1)
        push = gain - jnp.sum(read**2 * level[..., None], axis=1)
        return {
            "values": self.to_values(force.reshape(-1, columns)),
            "scores": self.to_scores(push.reshape(-1, 1)).reshape(
                state["scores"].shape
            ),
        }

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates, with the next batch."""
        moved = {n: state[n] + update for n, update in updates.items()}
        return {**state, **moved, "step": state["step"] + 1}

    def tables(self, state: State) -> State:
        """The two tables."""
        return {name: state[name] for name in ("scores", "values")}

    def batch_loss(self, state: State) -> Float[Array, ""]:
        """The mean loss of the next batch."""
        _, logits, there = self._read(state)
        own = jnp.take_along_axis(logits, self.frame.label[:, None, None], axis=-1)
        weights = jnp.broadcast_to(self.frame.column_weight, logits.shape)
        whole = jax.nn.logsumexp(logits, axis=-1, b=weights)
        return jnp.sum(jnp.where(there, whole - own[..., 0], 0.0)) / self.batch


def windowed(
    frame: TokenFrame, counts: np.ndarray, *, batch: int, apart: bool
) -> WindowedBatches:
    """The system of batches that are sorted by class already."""
    rows, columns = frame.shapes["values"][0], frame.shapes["scores"][1]
    support = np.asarray(frame.support)
    present = np.asarray(frame.mass) > 0
    scores = np.asarray(frame.query)[:, None] * columns + support
    return WindowedBatches(
        frame=frame,
        counts=jnp.asarray(counts),
        to_values=placement(support, present, rows),
        to_scores=placement(scores, present, frame.queries * columns),
        batch=batch,
        apart=apart,
    )
