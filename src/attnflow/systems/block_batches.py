"""Fresh batches sorted into blocks of classes, for speed: few and dense products.

A batch is sorted by class and cut into blocks of as many classes. Within a block the
logits are a product with the rows of Y that only its classes have (*lone* tokens), and
one with the rows that classes share. What a query feels of a token l over its samples,
`Σ f_l (g_l − f_l (f·g))` with `g = Y pull`, needs no product with Y for lone tokens,
since

    Σ f_l g_l = Y_l · (Σ f_l pull) = Y_l · force_l     and     f·g = logits · pull.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Integer

from attnflow.forms.token_classes import TokenFrame
from attnflow.problem.next_token import NextToken, outputs

State = dict[str, Any]


class Blocks(eqx.Module):
    """Which rows are shared by classes, and which are lone, block by block.

    - `shared`: rows of several classes; `lone`: rows of one, filled up with row 0.
    - `asker`: the query of each lone row.
    - `source`: where each entry of Z stands among the pushes on shared rows, those on
      lone ones, and a zero behind both. A gather takes a tenth of a scatter's time.
    - `order`: where each row of Y stands among shared and lone ones; none where rows
      are in that order already, so that nothing need be copied.
    """

    shared: Int[Array, " shared"]
    lone: Int[Array, "blocks lone"]
    asker: Int[Array, "blocks lone"]
    source: Int[Array, "queries rows"]
    order: Int[Array, " rows"] | None

    def rows(self, values: Float[Array, "rows columns"]) -> tuple[Array, Array]:
        """The shared and the lone rows of Y."""
        if self.order is not None:
            return values[self.shared], values[self.lone]
        split = len(self.shared)
        return values[:split], values[split:].reshape(*self.lone.shape, -1)

    def joined(self, shared: Array, lone: Array) -> Float[Array, "rows columns"]:
        """Forces on shared and lone rows, as forces on Y."""
        parts = [shared, lone.reshape(-1, shared.shape[-1])]
        if self.order is None:
            return jnp.concatenate(parts)
        nothing = jnp.zeros((1, shared.shape[-1]))
        return jnp.concatenate([*parts, nothing])[self.order]

    def pushes(self, shared: Array, lone: Array) -> Float[Array, "queries rows"]:
        """Pushes on shared rows, by query, and on lone ones, as those on Z."""
        parts = [shared.ravel(), lone.ravel(), jnp.zeros(1)]
        return jnp.concatenate(parts)[self.source]


class Samples(eqx.Module):
    """Batches in blocks; places beyond a block's samples hold no tokens.

    - `shared`, `lone`: counts, `(steps, blocks, width, tokens)`.
    - `label`, `query`: the column and the query of each sample.
    """

    shared: Integer[Array, "steps blocks width shared"]
    lone: Integer[Array, "steps blocks width lone"]
    label: Integer[Array, "steps blocks width"]
    query: Integer[Array, "steps blocks width"]


class _Read(NamedTuple):
    """What samples read of shared and of lone tokens, and their logits."""

    shared: Array
    lone: Array
    logits: Array
    there: Array
    label: Array
    query: Array


class BlockBatches(eqx.Module):
    """Both tables under a fresh batch at every step; l2-normalised, no residual."""

    frame: TokenFrame
    blocks: Blocks
    samples: Samples
    batch: int = eqx.field(static=True)

    @property
    def apart(self) -> bool:
        """Seeds run one after the other: side by side they leave the caches."""
        return True

    @property
    def model(self) -> NextToken:
        """The only model whose pushes have the identity above."""
        return NextToken()

    def _read(self, state: State) -> _Read:
        step = jnp.minimum(state["step"], len(self.samples.label) - 1)
        now = jax.tree.map(lambda x: x[step], self.samples)
        blocks, scores = self.blocks, state["scores"]
        # Of each row of Z only the support counts, but any shift of it will do that
        # keeps exponentials in range.
        at = scores - scores.max(axis=1, keepdims=True)
        grown = jnp.exp(at[:, blocks.shared])
        shared = now.shared.astype(float) * grown[now.query]
        lone = (
            now.lone.astype(float) * jnp.exp(at[blocks.asker, blocks.lone])[:, None, :]
        )
        square = jnp.sum(shared**2, axis=-1) + jnp.sum(lone**2, axis=-1)
        there = square > 0
        scale = jnp.where(there, jax.lax.rsqrt(jnp.where(there, square, 1.0)), 0.0)
        shared, lone = shared * scale[..., None], lone * scale[..., None]
        rows, own = blocks.rows(state["values"])
        logits = jnp.einsum("bws,sc->bwc", shared, rows)
        logits = logits + jnp.einsum("bwl,blc->bwc", lone, own)
        return _Read(shared, lone, logits, there, now.label, now.query)

    def direction(self, state: State) -> State:
        """Minus the gradient, as rules of descent see it."""
        read, counted = self._read(state), self.frame.column_weight
        mine = read.label[..., None] == jnp.arange(len(counted))
        top = read.logits.max(axis=-1)
        size = jnp.exp(read.logits - top[..., None])
        other = jnp.sum(jnp.where(mine, 0.0, counted * size), axis=-1)
        total = other + jnp.exp(self._own(read) - top)
        share = (read.there / (total * self.batch))[..., None]
        pull = jnp.where(mine, other[..., None], -size) * share
        rows, own = self.blocks.rows(state["values"])
        lone = jnp.einsum("bwl,bwc->blc", read.lone, pull)
        shared = jnp.einsum("bws,bwc->sc", read.shared, pull)
        level = jnp.sum(read.logits * pull * counted, axis=-1)[..., None]
        to_lone = jnp.sum(own * lone * counted, axis=-1)
        to_lone = to_lone - jnp.sum(read.lone**2 * level, axis=1)
        seen = jnp.einsum("bwc,sc->bws", pull * counted, rows)
        each = read.shared * (seen - read.shared * level)
        asked = read.query[..., None] == jnp.arange(self.frame.queries)
        to_shared = jnp.einsum("bwq,bws->qs", asked.astype(float), each)
        return {
            "values": self.blocks.joined(shared, lone),
            "scores": self.blocks.pushes(to_shared, to_lone),
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
        read = self._read(state)
        logits = read.logits.reshape(-1, read.logits.shape[-1])
        found = outputs(logits, read.label.ravel(), self.frame.column_weight)
        return jnp.sum(jnp.where(read.there.ravel(), found.loss, 0.0)) / self.batch

    def _own(self, read: _Read) -> Float[Array, "blocks width"]:
        """The logit of each sample's next token."""
        label = read.label[..., None].astype(int)
        return jnp.take_along_axis(read.logits, label, axis=-1)[..., 0]
