"""Tokens: what weights make of the tokens themselves, one row for each.

With the tokens as rows of Z and their Gram matrix `G = Z Zᵀ`, keys `k = Z W_Kᵀ`,
queries `q = Z W_Qᵀ` and the force D on the scores (row = key, column = query), minus
the gradient moves

    k by  G D q,      q by  G Dᵀ k,

all orders of a step included, at every width: of the width only the directions in which
keys or queries began are seen, at most twice as many as tokens. A force is known at the
positions of samples, so that `D q` costs as much as the samples' pairs and only G is a
full product; where most tokens stand in one sample alone this is the cheapest form, and
linearly dependent tokens are no special case. Values `v = Z w` move by `g G z`, and a
chain `u = Z W_Vᵀ` with its output β by `(G z) βᵀ`, β by `g uᵀ z`.

The sums a of what G multiplies give the weights themselves: with the tokens at all
positions as rows of X, `W = s W(0) + aᵀ X`, and `s = 1` unless weights decay. By them
tokens Y that are never trained on are probed: their keys are `s Y W(0)ᵀ + (Y Xᵀ) a`.
The sums lie in the directions in which the keys and queries of X began; a score also
sees what is orthogonal to these in the initial keys and queries of Y, a part that does
not move but for the decay s.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnflow.data import Sequences
from attnflow.models.forms.base import (
    AbstractForm,
    AbstractFrame,
    AbstractLinearPart,
    AbstractOneWeight,
    AbstractPieces,
    AbstractScores,
    Arrays,
    Forces,
    SelfScores,
    State,
    decays,
    no_test_samples,
    rotation_refusal,
)
from attnflow.models.problem import Problem, forces
from attnflow.models.tables import Forward, Pairs
from attnflow.training.rules import Flow, Rule

Gram = Float[Array, "tokens tokens"]


class Places(eqx.Module):
    """Where tokens stand, and how a pull at each position moves every token.

    `products` are those of the vectors before they are scaled, which settings of other
    sizes share; a loop makes what is scaled once, before its first step.
    """

    token: Int[Array, "samples positions"]
    products: Gram
    scale: Float[Array, " tokens"]

    @property
    def spread_map(self) -> Float[Array, "tokens places"]:
        """The Gram matrix's columns of the tokens at all positions in a row.

        One product sums what the positions of a token have, and multiplies by G.
        """
        token = self.token.reshape(-1)
        return self.scale[:, None] * self.products[:, token] * self.scale[token]

    def pick(self, rows: Float[Array, "heads tokens ..."]) -> Array:
        """What is known of tokens, at every position: `(heads, samples, …)`."""
        return rows[:, self.token]

    def spread(self, pull: Float[Array, "heads places columns"]) -> Array:
        """G times the sums over each token's positions, `(heads, tokens, columns)`."""
        # One product of two matrices: a batch of them is slower in XLA.
        if pull.shape[0] == 1:
            return (self.spread_map @ pull[0])[None]
        return jnp.einsum("tp,hpc->htc", self.spread_map, pull)


class ScoreForce(NamedTuple):
    """The force on pair scores, and the keys and queries at their positions.

    These are made for the scores already, and what moves is made of both.
    """

    force: Float[Array, "samples heads queries keys"]
    keys: Float[Array, "heads samples keys columns"]
    queries: Float[Array, "heads samples queries columns"]


class AbstractTokens(AbstractLinearPart):
    """A part over tokens; it takes forces at the positions of samples."""

    def refuses(self, rule: Rule) -> str | None:
        """Rules that see coordinates, and flows, which have better forms."""
        if isinstance(rule, Flow):
            return (
                "gradient flow needs few numbers in the state, and this form has "
                "many beside the tables. Use form='transport' or 'gram'."
            )
        return rotation_refusal(rule)


class TokenScores(AbstractPieces, AbstractTokens, AbstractScores):
    """`{"key_sums": (heads, places, columns), "query_sums": …, "share": (heads,)}`.

    The sums have a row for each position of all samples, and give keys and queries by
    `k = s k(0) + G a`: one product a step, and nothing else to carry. `first_key` and
    `first_query` are k(0) and q(0) of the vectors before they are scaled. Without
    `other_queries` the positions of queries are those of keys.
    """

    keys: Places
    other_queries: Places | None
    first_key: Float[Array, "heads tokens columns"]
    first_query: Float[Array, "heads tokens columns"]

    @property
    def queries(self) -> Places:
        """Where queries stand."""
        return self.keys if self.other_queries is None else self.other_queries

    @property
    def gram(self) -> Gram:
        """Products of the tokens."""
        scale = self.keys.scale
        return scale[:, None] * self.keys.products * scale

    def sides(self, state: Arrays) -> tuple[Array, Array]:
        """Keys and queries of the tokens, `(heads, tokens, columns)`."""
        share, scale = state["share"][:, None, None], self.keys.scale[:, None]
        return (
            share * (scale * self.first_key) + self.keys.spread(state["key_sums"]),
            share * (scale * self.first_query)
            + self.queries.spread(state["query_sums"]),
        )

    def table(self, state: Arrays) -> Array:
        """`S[key, query]` on the tokens."""
        return jnp.einsum("htc,huc->htu", *self.sides(state))

    def self_scores(self, state: Arrays) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        both = self.sides(state)
        return SelfScores(*(jnp.einsum("htc,huc->htu", x, x) for x in both))

    def seen(self, state: Arrays) -> tuple[Array, Array]:
        """Keys and queries at their positions, `(heads, samples, positions, …)`."""
        keys, queries = self.sides(state)
        return self.keys.pick(keys), self.queries.pick(queries)

    def pieces(self, update: Arrays) -> dict[str, Arrays]:
        """The sums of either side; the share moves by decay alone."""
        keys, *rest = ("key_sums", "query_sums", "share")
        return {"W_K": {keys: update[keys]}, "W_Q": {n: update[n] for n in rest}}

    def whole(self, pieces: dict[str, Arrays]) -> Arrays:
        """Both together."""
        return {**pieces["W_K"], **pieces["W_Q"]}

    def refuses_apart(self, rule: Rule) -> str | None:
        """Decay, since one share stands for keys and queries."""
        if not decays(rule):
            return None
        return (
            "Keys and queries that are trained apart decay apart, and this form has "
            "one number for both. Use form='transport'."
        )

    def velocity(self, state: Arrays, force: ScoreForce) -> Arrays:  # pyright: ignore[reportIncompatibleMethodOverride]
        """`D q` and `Dᵀ k`, of which G makes the motion of keys and queries."""
        pull, keys, queries = force
        return {
            "key_sums": _in_a_row(jnp.einsum("nhqk,hnqc->hnkc", pull, queries)),
            "query_sums": _in_a_row(jnp.einsum("nhqk,hnkc->hnqc", pull, keys)),
            "share": jnp.zeros_like(state["share"]),
        }


class TokenValues(AbstractOneWeight, AbstractTokens):
    """`{"sums": (heads, places), "share": (heads,)}`: `v = s v(0) + G a`.

    `first` is v(0) of the vectors before they are scaled.
    """

    keys: Places
    gain: Float[Array, " heads"]
    first: Float[Array, "heads tokens"]

    def table(self, state: Arrays) -> Array:
        """The value of each token."""
        moved = self.keys.spread(state["sums"][..., None])[..., 0]
        return state["share"][:, None] * (self.keys.scale * self.first) + moved

    def velocity(self, state: Arrays, force: Array) -> Arrays:
        """`g z`, of which G makes the motion of the values."""
        pull = self.gain[:, None] * _in_a_row(force.swapaxes(0, 1))
        return {"sums": pull, "share": jnp.zeros_like(state["share"])}


class TokenChain(AbstractPieces, AbstractTokens):
    """`{"rows": u (heads, tokens, columns), "output": β, "sums": …, "share": …}`.

    The gain is 1 for a trained `w_O`, and `|a|²` for neurons under a fixed a. `sums`
    have a row for each position of all samples; u, which moves along β alone, is
    cheaper carried than made of them.
    """

    keys: Places
    gain: Float[Array, " heads"]

    def table(self, state: Arrays) -> Array:
        """The value of each token."""
        return jnp.einsum("htc,hc->ht", state["rows"], state["output"])

    def pieces(self, update: Arrays) -> dict[str, Arrays]:
        """The rows with their sums and share, and the output."""
        first = {name: x for name, x in update.items() if name != "output"}
        return {"W_V": first, "w_O": {"output": update["output"]}}

    def whole(self, pieces: dict[str, Arrays]) -> Arrays:
        """Both together."""
        return {**pieces["W_V"], **pieces["w_O"]}

    def velocity(self, state: Arrays, force: Array) -> Arrays:
        """`(G z) βᵀ` and `g uᵀ z`."""
        z, output = force.swapaxes(0, 1), state["output"][:, None, :]
        read = jnp.einsum("hnk,hnkc->hc", z, self.keys.pick(state["rows"]))
        pull = _in_a_row(z)[..., None]
        return {
            "rows": self.keys.spread(pull) * output,
            "output": self.gain[:, None] * read,
            "sums": pull * output,
            "share": jnp.zeros_like(state["share"]),
        }


class Crossed(eqx.Module):
    """Tokens beside the positions of all training samples in a row.

    - `products`: of their vectors (rows) with those that stand there (columns).
    - `scale`: of the tokens that stand there.
    """

    products: Float[Array, "tokens places"]
    scale: Float[Array, " places"]


class Probe(eqx.Module):
    """Tokens beside those that are trained on, at the positions of samples.

    All but the scales is of vectors before they are scaled, so that settings which
    differ in sizes alone share it.

    - `by_key`, `by_query`: beside the keys and the queries of training; without the
      latter these stand where the keys do.
    - `keys`, `queries`: initial ones, along the directions of the trained state;
      `rest`: scores of what is orthogonal to them.
    - `values`: initial values `(heads, tokens)`, or initial rows of a chain.
    """

    key: Int[Array, "samples keys"]
    query: Int[Array, "samples queries"]
    by_key: Crossed
    by_query: Crossed | None
    keys: Float[Array, "heads tokens columns"]
    queries: Float[Array, "heads tokens columns"]
    rest: Float[Array, "samples heads queries keys"]
    values: Float[Array, "heads tokens *value_columns"]
    scale: Float[Array, " tokens"]

    def pairs(self, scores: Arrays, values: Arrays) -> Pairs:
        """Pair scores and values of the samples in the states of the two parts."""
        by_query = self.by_key if self.by_query is None else self.by_query
        keys = self._moved(self.keys, scores, "key_sums", self.by_key)
        queries = self._moved(self.queries, scores, "query_sums", by_query)
        moved = jnp.einsum("hnkc,hnqc->nhqk", keys[:, self.key], queries[:, self.query])
        sizes = self.scale[self.query][:, :, None] * self.scale[self.key][:, None, :]
        kept = scores["share"][:, None, None] ** 2
        start = self.values
        if "output" in values:
            # Contracted with the output first, a sum by token is a single number.
            output, sums = values["output"], values["sums"]
            start = jnp.einsum("htc,hc->ht", start, output)
            values = {**values, "sums": jnp.einsum("hpc,hc->hp", sums, output)}
        seen = self._moved(start, values, "sums", self.by_key)
        return Pairs(
            moved + kept * sizes[:, None] * self.rest, seen[:, self.key].swapaxes(0, 1)
        )

    def _moved(
        self,
        start: Float[Array, "heads tokens ..."],
        state: Arrays,
        name: str,
        crossed: Crossed,
    ) -> Array:
        """`s Y W(0)ᵀ + (Y Xᵀ) a`."""
        axes = [1] * (start.ndim - 2)
        share = state["share"].reshape(-1, 1, *axes)
        # Few tokens stand at several positions: a product with each costs no more
        # than to sum them first.
        sums = crossed.scale.reshape(-1, *axes) * state[name]
        products = crossed.products
        moved = share * start + jnp.einsum("tp,hp...->ht...", products, sums)
        return self.scale.reshape(-1, *axes) * moved


class TokenForm(AbstractForm):
    """A form over tokens, which reads pairs without a table over all of them."""

    frame: AbstractFrame
    # Modules are frozen, so that narrower types are sound.
    scores: TokenScores  # pyright: ignore[reportIncompatibleVariableOverride]
    values: TokenValues | TokenChain  # pyright: ignore[reportIncompatibleVariableOverride]
    name: str = eqx.field(static=True)
    test_frame: AbstractFrame | None = None
    normalised: bool = eqx.field(static=True, default=False)
    careful: bool = eqx.field(static=True, default=False)
    probe: Probe | None = None

    def pairs(self, state: State) -> Pairs:
        """Pair scores and values at the positions of the samples."""
        return self._pairs(state, *self.scores.seen(state["scores"]))

    def _pairs(self, state: State, keys: Array, queries: Array) -> Pairs:
        values = self.values.keys.pick(self.values.table(state["values"]))
        scores = jnp.einsum("hnkc,hnqc->nhqk", keys, queries)
        return Pairs(scores, values.swapaxes(0, 1))

    def test_pairs(self, state: State) -> Pairs:
        """The same at the positions of test samples, whose tokens are probed."""
        if self.probe is None:
            raise no_test_samples()
        return self.probe.pairs(state["scores"], state["values"])

    def part_forces(
        self, problem: Problem, state: State, data: Sequences
    ) -> tuple[Forces, Forward]:
        """Forces at the positions of samples, with the keys and queries there."""
        keys, queries = self.scores.seen(state["scores"])
        pairs = self._pairs(state, keys, queries)
        attention = problem.attention(pairs, data)
        on_pairs = forces(
            problem, pairs, data, normalised=self.normalised, attention=attention
        )
        on_scores = ScoreForce(on_pairs.scores, keys, queries)
        both = {"scores": on_scores, "values": on_pairs.values}
        return both, Forward(pairs, attention)

    def flow_forces(self, problem: Problem, state: State, data: Sequences) -> Forces:
        """The same: a part over tokens knows no others."""
        return self.part_forces(problem, state, data)[0]


def _in_a_row(
    sums: Float[Array, "heads samples positions ..."],
) -> Float[Array, "heads places ..."]:
    return sums.reshape(sums.shape[0], -1, *sums.shape[3:])
