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
tokens that are never trained on are read (`attnflow.forms.probes`); they are carried
only where somebody asks.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnflow._types import Pairs
from attnflow.data import Sequences
from attnflow.forms.base import (
    AbstractLinearPart,
    AbstractScores,
    Form,
    SelfScores,
    State,
    rotation_refusal,
)
from attnflow.forms.probes import Probe
from attnflow.problem import Problem, forces
from attnflow.rules import Flow, Rule

Gram = Float[Array, "tokens tokens"]


class Places(eqx.Module):
    """Where tokens stand, and how a pull at each position moves every token.

    `spread_map` holds the Gram matrix's columns of the tokens at all positions in a
    row: one product sums what the positions of a token have, and multiplies by G.
    """

    token: Int[Array, "samples positions"]
    spread_map: Float[Array, "tokens places"]

    def pick(self, rows: Float[Array, "heads tokens ..."]) -> Array:
        """What is known of tokens, at every position: `(heads, samples, …)`."""
        return rows[:, self.token]

    def spread(self, pull: Float[Array, "heads places columns"]) -> Array:
        """G times the sums over each token's positions, `(heads, tokens, columns)`."""
        # One product of two matrices: a batch of them is slower in XLA.
        if pull.shape[0] == 1:
            return (self.spread_map @ pull[0])[None]
        return jnp.einsum("tp,hpc->htc", self.spread_map, pull)


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
    """`{"key": k (heads, tokens, columns), "query": q}`, and if asked sums and share.

    These are `key_sums` and `query_sums`, a row for each position of all samples, and
    `share`, `(heads,)`.
    """

    gram: Gram
    keys: Places
    queries: Places

    def table(self, state: Any) -> Array:
        """`S[key, query]` on the tokens."""
        return jnp.einsum("htc,huc->htu", state["key"], state["query"])

    def self_scores(self, state: Any) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        both = state["key"], state["query"]
        return SelfScores(*(jnp.einsum("htc,huc->htu", x, x) for x in both))

    def seen(self, state: Any) -> tuple[Array, Array]:
        """Keys and queries at their positions, `(heads, samples, positions, …)`."""
        return self.keys.pick(state["key"]), self.queries.pick(state["query"])

    def pairs(self, state: Any) -> Float[Array, "samples heads queries keys"]:
        """Pair scores of every sample."""
        keys, queries = self.seen(state)
        return jnp.einsum("hnkc,hnqc->nhqk", keys, queries)

    def velocity(self, state: Any, force: Array) -> Any:
        """`G D q` and `G Dᵀ k`."""
        keys, queries = self.seen(state)
        by_key = _in_a_row(jnp.einsum("nhqk,hnqc->hnkc", force, queries))
        by_query = _in_a_row(jnp.einsum("nhqk,hnkc->hnqc", force, keys))
        moved = {
            "key": self.keys.spread(by_key),
            "query": self.queries.spread(by_query),
        }
        return _with(state, moved, key_sums=by_key, query_sums=by_query)


class TokenValues(AbstractTokens):
    """`{"values": (heads, tokens)}`, and if asked `sums`, by position, and `share`."""

    keys: Places
    gain: Float[Array, " heads"]

    def table(self, state: Any) -> Array:
        """The value of each token."""
        return state["values"]

    def velocity(self, state: Any, force: Array) -> Any:
        """`g G z`."""
        pull = self.gain[:, None, None] * _in_a_row(force.swapaxes(0, 1))[..., None]
        moved = {"values": self.keys.spread(pull)[..., 0]}
        return _with(state, moved, sums=pull[..., 0])


class TokenChain(AbstractTokens):
    """`{"rows": u (heads, tokens, columns), "output": β}`, and if asked sums and share.

    The gain is 1 for a trained `w_O`, and `|a|²` for neurons under a fixed a. `sums`
    have a row for each position of all samples.
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
        moved = {
            "rows": self.keys.spread(pull) * output,
            "output": self.gain[:, None] * read,
        }
        return _with(state, moved, sums=pull * output)


class TokenForm(Form):
    """A form over tokens, which reads pairs without a table over all of them."""

    # Modules are frozen, so that narrower types are sound.
    scores: TokenScores  # pyright: ignore[reportIncompatibleVariableOverride]
    values: TokenValues | TokenChain  # pyright: ignore[reportIncompatibleVariableOverride]
    probe: Probe | None = None

    def pairs(self, state: State) -> Pairs:
        """Pair scores and values at the positions of the samples."""
        values = self.values.keys.pick(self.values.table(state["values"]))
        return Pairs(self.scores.pairs(state["scores"]), values.swapaxes(0, 1))

    def test_pairs(self, state: State) -> Pairs:
        """The same at the positions of test samples, whose tokens are probed."""
        if self.probe is None:
            return super().test_pairs(state)
        return self.probe.pairs(state["scores"], state["values"])

    def pulls(self, problem: Problem, state: State, data: Sequences) -> dict[str, Any]:
        """Forces at the positions of samples."""
        found = forces(problem, self.pairs(state), data, normalised=self.normalised)
        return found._asdict()


def _in_a_row(
    found: Float[Array, "heads samples positions ..."],
) -> Float[Array, "heads places ..."]:
    return found.reshape(found.shape[0], -1, *found.shape[3:])


def _with(state: Any, moved: dict[str, Array], **sums: Array) -> dict[str, Array]:
    if "share" not in state:
        return moved
    return {**moved, **sums, "share": jnp.zeros_like(state["share"])}
