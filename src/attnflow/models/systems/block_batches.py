"""Fresh batches sorted into blocks of classes, for speed: few and dense products.

A batch is sorted by class and cut into blocks, each of classes with one query. Within a
block the logits are a product with the rows of Y that only its classes have (*lone*
tokens), and one with the rows that blocks share. What the query feels of a token l over
the block's samples, `Σ f_l (g_l − f_l (f·g))` with `g = Y pull`, needs no further
product with Y, since

    Σ f_l g_l = Y_l · (Σ f_l pull) = Y_l · force_l     and     f·g = logits · pull.

The exponential of numbers that are not positive, as softmaxes need it.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer, PyTree

from attnflow.data.token_sequences import on_device
from attnflow.models.forms import State
from attnflow.models.forms.base import Arrays
from attnflow.models.forms.token_classes import TokenFrame
from attnflow.models.problem.next_token import NextToken, outputs
from attnflow.models.systems.training import squared_length

PARTS = ("shared", "lone", "rest")
# Squares of e^−NEAR are still normal numbers.
NEAR = 300.0
# `exp_below` is constant below.
LEAST = -708.0
# log 2 in two parts; multiples of the first, by up to a thousand, are exact.
LOG2_HIGH, LOG2_LOW = 22713 / 2**15, 1.42860682030941723212e-6
# Adding it to a whole number leaves that number in the lowest bits.
WHOLE = 1.5 * 2.0**52
TAYLOR = [1 / math.factorial(i) for i in range(14)]


class Blocks(eqx.Module):
    """Which rows are shared by blocks, and which are lone, block by block.

    - `shared`: rows of several blocks; `lone`: rows of one, filled up with any row;
      `rest`: rows of no class.
    - `query`: the query of each block.
    - `source`: where each entry of Z stands among the pushes on shared rows, those on
      lone ones, and a zero behind both. A gather takes a tenth of a scatter's time.
    - `order`: where each row of Y stands among shared, lone and other rows.
    """

    shared: Int[Array, " shared"]
    lone: Int[Array, "blocks lone"]
    rest: Int[Array, " rest"]
    query: Int[Array, " blocks"]
    source: Int[Array, "queries rows"]
    order: Int[Array, " rows"]

    def split(self, values: Float[Array, "rows columns"]) -> Arrays:
        """Y by parts, each of which products take whole."""
        rows = np.asarray(values)
        parts = {name: rows[np.asarray(getattr(self, name))] for name in PARTS}
        return on_device(parts)

    def joined(self, parts: Arrays) -> Float[Array, "rows columns"]:
        """Y from its parts."""
        columns = parts["shared"].shape[-1]
        flat = [parts[name].reshape(-1, columns) for name in PARTS]
        return jnp.concatenate(flat)[self.order]

    def pushes(self, shared: Array, lone: Array) -> Float[Array, "queries rows"]:
        """Pushes on shared and lone rows, by block, as those on Z."""
        has_query = jnp.arange(self.source.shape[0])[:, None] == self.query
        by_query = has_query.astype(float) @ shared
        parts = [by_query.ravel(), lone.ravel(), jnp.zeros(1)]
        return jnp.concatenate(parts)[self.source]


class Samples(eqx.Module):
    """Batches in blocks; places beyond a block's samples hold no tokens.

    - `shared`, `lone`: counts, `(steps, blocks, width, tokens)`.
    - `label`: the column of each sample.
    - `fits`: which of the system's widths is the first that holds each batch.
    """

    shared: Integer[Array, "steps blocks width shared"]
    lone: Integer[Array, "steps blocks width lone"]
    label: Integer[Array, "steps blocks width"]
    fits: Integer[Array, " steps"]

    def cut(self, step: Array, width: int) -> tuple[Array, Array, Array]:
        """Counts and labels of one batch, no wider than it needs."""
        batch = (self.shared[step], self.lone[step], self.label[step])
        shared, lone, label = (x[:, :width] for x in batch)
        # Otherwise every use of a number reads it from all batches and converts it.
        return jax.lax.optimization_barrier(
            (shared.astype(float), lone.astype(float), label)
        )


class _Read(NamedTuple):
    """What samples read of shared and of lone tokens, and their logits.

    Logits and labels have one row for each place, whatever its block.
    """

    shared: Float[Array, "blocks width shared"]
    lone: Float[Array, "blocks width lone"]
    there: Array
    label: Integer[Array, " places"]
    logits: Float[Array, "places columns"]


class BlockBatches(eqx.Module):
    """Both tables under a fresh batch at every step; l2-normalised, no residual.

    The state keeps Y by parts (`Blocks.split`). Of `widths` each batch takes the first
    that holds its fullest block. `single` says that no column stands for several
    outputs, so that none need be weighted.
    """

    frame: TokenFrame
    blocks: Blocks
    samples: Samples
    batch: int = eqx.field(static=True)
    widths: tuple[int, ...] = eqx.field(static=True)
    single: bool = eqx.field(static=True)

    @property
    def apart(self) -> bool:
        """Seeds run one after the other: side by side they leave the caches."""
        return True

    @property
    def model(self) -> NextToken:
        """The only model whose pushes have the identity above."""
        return NextToken()

    def begin(self, tables: Arrays) -> State:
        """The state with these tables, before the first batch."""
        values = self.blocks.split(tables["values"])
        return {
            "scores": tables["scores"],
            "values": values,
            "step": on_device(np.array(0)),
        }

    def tables(self, state: State) -> Arrays:
        """The two tables."""
        values = self.blocks.joined(state["values"])
        return {"scores": state["scores"], "values": values}

    def direction(self, state: State) -> State:
        """Minus the gradient, as rules of descent see it."""
        step = self._step(state)
        ways = [partial(self._direction, width=width) for width in self.widths]
        if len(ways) == 1:
            return ways[0](state, step)
        return jax.lax.switch(self.samples.fits[step], ways, state, step)

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates, with the next batch."""
        moved = {n: jax.tree.map(jnp.add, state[n], u) for n, u in updates.items()}
        return {**state, **moved, "step": state["step"] + 1}

    def square(self, name: str, state: State, direction: PyTree) -> Float[Array, ""]:
        """The squared length of the gradient by a table's entries, each once."""
        return squared_length(direction)

    def each_matrix(
        self,
        name: str,
        state: State,
        update: PyTree,
        change: Callable[[Array], Array],
    ) -> PyTree:
        """A table's update with the table changed as one matrix."""
        if name == "scores":
            return change(update)
        table = change(self.blocks.joined(update))
        return {part: table[getattr(self.blocks, part)] for part in PARTS}

    def batch_loss(self, state: State) -> Float[Array, ""]:
        """The mean loss of the next batch."""
        read = self._read(state, self._step(state), self.widths[-1])
        losses = outputs(read.logits, read.label, self.frame.column_weight).loss
        return jnp.sum(jnp.where(read.there.ravel(), losses, 0.0)) / self.batch

    def _step(self, state: State) -> Array:
        return jnp.minimum(state["step"], len(self.samples.label) - 1)

    def _read(self, state: State, step: Array, width: int) -> _Read:
        blocks, values = self.blocks, state["values"]
        shared, lone, label = self.samples.cut(step, width)
        at = [
            state["scores"][blocks.query[:, None], r]
            for r in (blocks.shared, blocks.lone)
        ]
        shared, lone, there = jax.lax.optimization_barrier(_shares(shared, lone, at))
        logits = jnp.einsum("bwl,blc->bwc", lone, values["lone"])
        if len(blocks.shared):
            logits = logits + jnp.einsum("bws,sc->bwc", shared, values["shared"])
        flat = logits.reshape(-1, logits.shape[-1])
        return _Read(shared, lone, there, label.ravel(), flat)

    def _direction(self, state: State, step: Array, *, width: int) -> State:
        read, values = self._read(state, step, width), state["values"]
        pull, share, level = self._pull(read)
        lone = _force(read.lone * share[..., None], pull)
        shared = _force(read.shared * share[..., None], pull)
        to_lone = self._push(values["lone"] * lone, read.lone, level)
        to_shared = self._push(values["shared"] * shared, read.shared, level)
        return {
            "values": {
                "shared": shared.sum(axis=0),
                "lone": lone,
                "rest": jnp.zeros_like(values["rest"]),
            },
            "scores": self.blocks.pushes(to_shared, to_lone),
        }

    def _pull(self, read: _Read) -> tuple[Array, Array, Array]:
        """`onehot − softmax` up to each sample's share, the shares, and f·g."""
        logits = read.logits
        columns = jnp.arange(logits.shape[-1], dtype=read.label.dtype)
        mine = read.label[:, None] == columns
        top = logits.max(axis=-1)
        size = jnp.where(mine, 0.0, exp_below(logits - top[:, None]))
        size = jax.lax.optimization_barrier(size)
        other = self._sum(size)
        label = read.label[:, None].astype(int)
        target = jnp.take_along_axis(logits, label, axis=-1)[:, 0]
        total = other + jnp.exp(target - top)
        share = read.there.ravel() / (total * self.batch)
        level = share * (target * other - self._sum(logits * size))
        pull = jnp.where(mine, other[:, None], -size)
        blocks = read.there.shape
        return pull.reshape(*blocks, -1), share.reshape(blocks), level.reshape(blocks)

    def _push(self, product: Array, read: Array, level: Array) -> Array:
        """What queries feel of rows, from Y times the forces on them."""
        return self._sum(product) - jnp.einsum("bw,bwl->bl", level, read**2)

    def _sum(self, x: Array) -> Array:
        """Sums over outputs."""
        return jnp.sum(x if self.single else x * self.frame.column_weight, axis=-1)


def _shares(shared: Array, lone: Array, at: list[Array]) -> tuple[Array, Array, Array]:
    """What samples read of tokens, from counts and scores, and which places hold any.

    Where all scores of a block are near each other they grow from one shift, and by one
    exponential a token. Elsewhere each sample needs the largest of its own.
    """
    lowest = jnp.minimum(*(z.min(initial=jnp.inf) for z in at))
    highest = jnp.maximum(*(z.max(initial=-jnp.inf) for z in at))

    def by_block() -> list[Array]:
        return [
            x * jnp.exp(z - highest)[:, None] for x, z in zip(parts, at, strict=True)
        ]

    def by_sample() -> list[Array]:
        present = [
            jnp.where(x > 0, z[:, None], -jnp.inf)
            for x, z in zip(parts, at, strict=True)
        ]
        top = jnp.concatenate(present, axis=-1).max(axis=-1, keepdims=True)
        top = jnp.where(jnp.isfinite(top), top, 0.0)
        return [x * jnp.exp(z - top) for x, z in zip(parts, present, strict=True)]

    parts = (shared, lone)
    near = highest - lowest < NEAR
    shared, lone = jax.lax.cond(near, by_block, by_sample)
    square = jnp.sum(shared**2, axis=-1) + jnp.sum(lone**2, axis=-1)
    there = square > 0
    scale = jnp.where(there, jax.lax.rsqrt(jnp.where(there, square, 1.0)), 0.0)
    return shared * scale[..., None], lone * scale[..., None], there


def _force(read: Array, pull: Array) -> Float[Array, "blocks rows columns"]:
    """Forces on rows of Y."""
    # Turned before it enters the product, which would else turn the larger factor.
    turned = jax.lax.optimization_barrier(read.transpose(0, 2, 1))
    return jnp.einsum("blw,bwc->blc", turned, pull)


def exp_below(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """`e^x` for x ≤ 0, to two roundings; at −708 and below, `e^−708`.

    With `x = k log 2 + r` it is 2^k times the Taylor sum of e^r up to r¹³, whose rest
    is far below a rounding for |r| ≤ log(2)/2. On a CPU this takes six tenths of the
    time of XLA's own, and four tenths on short rows.
    """
    x = jnp.maximum(x, LEAST)
    k = jnp.round(x / math.log(2))
    r = (x - k * LOG2_HIGH) - k * LOG2_LOW
    square = r * r
    fourth = square * square
    pairs = [TAYLOR[i] + TAYLOR[i + 1] * r for i in range(0, 14, 2)]
    # Sums of sums, rather than one nested chain, of which each link waits for the last.
    low, middle, high = (pairs[i] + pairs[i + 1] * square for i in (0, 2, 4))
    power = (low + middle * fourth) + (high + pairs[6] * fourth) * (fourth * fourth)
    bits = jax.lax.bitcast_convert_type(k + WHOLE, jnp.int64)
    scale = jax.lax.bitcast_convert_type((bits + 1023) << 52, jnp.float64)
    return power * scale
