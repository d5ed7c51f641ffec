"""Probes: what a form over tokens says of tokens that it is never trained on.

With the sums a of a part over tokens X, `W(t) = s W(0) + aᵀ X`, the keys of other
tokens Y are `s Y W(0)ᵀ + (Y Xᵀ) a`. The sums lie in the directions in which the keys
and queries of X began; a score also sees what is orthogonal to these in the initial
keys and queries of Y, a part that does not move but for the decay s.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnflow.models.tables import Pairs


class Crossed(eqx.Module):
    """Tokens beside the positions of all training samples in a row.

    - `products`: of their vectors (rows) with those that stand there (columns).
    - `scale`: of the tokens that stand there.
    """

    products: Float[Array, "tokens places"]
    scale: Float[Array, " places"]


class Probe(eqx.Module):
    """Tokens beside those that are trained on, at the positions of samples.

    All but the scales is told of vectors before they are scaled, so that settings which
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

    def pairs(self, scores: Any, values: Any) -> Pairs:
        """Pair scores and values of the samples in the states of the two parts."""
        by_query = self.by_key if self.by_query is None else self.by_query
        keys = self._moved(self.keys, scores, "key_sums", self.by_key)
        queries = self._moved(self.queries, scores, "query_sums", by_query)
        found = jnp.einsum("hnkc,hnqc->nhqk", keys[:, self.key], queries[:, self.query])
        sizes = self.scale[self.query][:, :, None] * self.scale[self.key][:, None, :]
        kept = scores["share"][:, None, None] ** 2
        start = self.values
        if "output" in values:
            # Read by the output first, a sum by token is one number.
            output, sums = values["output"], values["sums"]
            start = jnp.einsum("htc,hc->ht", start, output)
            values = {**values, "sums": jnp.einsum("hpc,hc->hp", sums, output)}
        seen = self._moved(start, values, "sums", self.by_key)
        return Pairs(
            found + kept * sizes[:, None] * self.rest,
            seen[:, self.key].swapaxes(0, 1),
        )

    def _moved(
        self,
        start: Float[Array, "heads tokens ..."],
        state: Any,
        name: str,
        crossed: Crossed,
    ) -> Array:
        """`s Y W(0)ᵀ + (Y Xᵀ) a`."""
        own = [1] * (start.ndim - 2)
        share = state["share"].reshape(-1, 1, *own)
        # Few tokens stand at several positions: a product with each costs no more
        # than to sum them first.
        sums = crossed.scale.reshape(-1, *own) * state[name]
        products = crossed.products
        moved = share * start + jnp.einsum("tp,hp...->ht...", products, sums)
        return self.scale.reshape(-1, *own) * moved
