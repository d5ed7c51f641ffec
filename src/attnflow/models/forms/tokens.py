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

The sums a of what G multiplies tell the weights themselves: with the tokens at all
positions as rows of X, `W = s W(0) + aᵀ X`, and `s = 1` unless weights decay. By them
tokens that are never trained on are read (`attnflow.models.forms.probes`).
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnflow.data import Sequences
from attnflow.models.forms.base import (
    AbstractLinearPart,
    AbstractScores,
    Form,
    SelfScores,
    State,
    rotation_refusal,
)
from attnflow.models.forms.probes import Probe
from attnflow.models.problem import Problem, forces
from attnflow.models.tables import Pairs, Sight
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
        place = self.token.reshape(-1)
        return self.scale[:, None] * self.products[:, place] * self.scale[place]

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
                "gradient flow asks for few numbers in the state, and this form has "
                "many beside the tables. Use form='transport' or 'gram'."
            )
        return rotation_refusal(rule)


class TokenScores(AbstractTokens, AbstractScores):
    """`{"key_sums": (heads, places, columns), "query_sums": …, "share": (heads,)}`.

    The sums have a row for each position of all samples, and tell keys and queries by
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

    def sides(self, state: Any) -> tuple[Array, Array]:
        """Keys and queries of the tokens, `(heads, tokens, columns)`."""
        share, scale = state["share"][:, None, None], self.keys.scale[:, None]
        return (
            share * (scale * self.first_key) + self.keys.spread(state["key_sums"]),
            share * (scale * self.first_query)
            + self.queries.spread(state["query_sums"]),
        )

    def table(self, state: Any) -> Array:
        """`S[key, query]` on the tokens."""
        return jnp.einsum("htc,huc->htu", *self.sides(state))

    def self_scores(self, state: Any) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        both = self.sides(state)
        return SelfScores(*(jnp.einsum("htc,huc->htu", x, x) for x in both))

    def seen(self, state: Any) -> tuple[Array, Array]:
        """Keys and queries at their positions, `(heads, samples, positions, …)`."""
        keys, queries = self.sides(state)
        return self.keys.pick(keys), self.queries.pick(queries)

    def velocity(self, state: Any, force: "ScoreForce") -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """`D q` and `Dᵀ k`, of which G makes the motion of keys and queries."""
        pull, keys, queries = force
        return {
            "key_sums": _in_a_row(jnp.einsum("nhqk,hnqc->hnkc", pull, queries)),
            "query_sums": _in_a_row(jnp.einsum("nhqk,hnkc->hnqc", pull, keys)),
            "share": jnp.zeros_like(state["share"]),
        }


class TokenValues(AbstractTokens):
    """`{"sums": (heads, places), "share": (heads,)}`: `v = s v(0) + G a`.

    `first` is v(0) of the vectors before they are scaled.
    """

    keys: Places
    gain: Float[Array, " heads"]
    first: Float[Array, "heads tokens"]

    def table(self, state: Any) -> Array:
        """The value of each token."""
        moved = self.keys.spread(state["sums"][..., None])[..., 0]
        return state["share"][:, None] * (self.keys.scale * self.first) + moved

    def velocity(self, state: Any, force: Array) -> Any:
        """`g z`, of which G makes the motion of the values."""
        pull = self.gain[:, None] * _in_a_row(force.swapaxes(0, 1))
        return {"sums": pull, "share": jnp.zeros_like(state["share"])}


class TokenChain(AbstractTokens):
    """`{"rows": u (heads, tokens, columns), "output": β, "sums": …, "share": …}`.

    The gain is 1 for a trained `w_O`, and `|a|²` for neurons under a fixed a. `sums`
    have a row for each position of all samples; u, which moves along β alone, is
    cheaper carried than made of them.
    """

    keys: Places
    gain: Float[Array, " heads"]

    def table(self, state: Any) -> Array:
        """The value of each token."""
        return jnp.einsum("htc,hc->ht", state["rows"], state["output"])

    def velocity(self, state: Any, force: Array) -> Any:
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


class TokenForm(Form):
    """A form over tokens, which reads pairs without a table over all of them."""

    # Modules are frozen, so that narrower types are sound.
    scores: TokenScores  # pyright: ignore[reportIncompatibleVariableOverride]
    values: TokenValues | TokenChain  # pyright: ignore[reportIncompatibleVariableOverride]
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
            return super().test_pairs(state)
        return self.probe.pairs(state["scores"], state["values"])

    def pulls(self, problem: Problem, state: State, data: Sequences) -> dict[str, Any]:
        """Forces at the positions of samples, with the keys and queries there."""
        return self.look(problem, state, data)[0]

    def look(
        self, problem: Problem, state: State, data: Sequences
    ) -> tuple[dict[str, Any], Sight]:
        """The same, and what samples see."""
        keys, queries = self.scores.seen(state["scores"])
        pairs = self._pairs(state, keys, queries)
        sight = Sight(pairs, problem.attention(pairs, data))
        found = forces(
            problem,
            pairs,
            data,
            normalised=self.normalised,
            attention=sight.attention,
        )
        force = ScoreForce(found.scores, keys, queries)
        return {"scores": force, "values": found.values}, sight

    def flow_pulls(
        self, problem: Problem, state: State, data: Sequences
    ) -> dict[str, Any]:
        """The same: a part over tokens knows no others."""
        return self.pulls(problem, state, data)


def _in_a_row(
    found: Float[Array, "heads samples positions ..."],
) -> Float[Array, "heads places ..."]:
    return found.reshape(found.shape[0], -1, *found.shape[3:])
