"""The form over tokens and its initial state."""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.data import Sequences
from attnflow.data.random import Key
from attnflow.models.forms.base import Arrays, State, Weights
from attnflow.models.forms.frames import GatherFrame
from attnflow.models.forms.initial import Initial
from attnflow.models.forms.token_draws import Unscaled, unscaled
from attnflow.models.forms.tokens import (
    Crossed,
    Places,
    Probe,
    TokenChain,
    TokenForm,
    TokenScores,
    TokenValues,
)
from attnflow.schema.identity import Same


def build_tokens(
    data: Sequences,
    initial: Initial,
    *,
    heads: int,
    key: Key,
    weights: Weights | None = None,
    test: Sequences | None = None,
) -> tuple[TokenForm, State]:
    """The form over tokens and its initial state for one seed."""
    begin = unscaled(data, test, initial, heads=heads, key=key, weights=weights)
    kind, scale = begin.gram.dtype, _scale(data)
    keys = Places(data.key, begin.gram, scale)
    queries = None if _same(data) else Places(data.query, begin.gram, scale)
    columns = begin.sides[0].shape[-1]
    scores: Arrays = {
        "key_sums": _zeros(kind, heads, data.key.size, columns),
        "query_sums": _zeros(kind, heads, data.query.size, columns),
        "share": jax.device_put(np.ones(heads)),
    }
    values: Arrays = {
        "sums": _zeros(kind, heads, data.key.size, *begin.values.shape[2:]),
        "share": jax.device_put(np.ones(heads)),
    }
    if begin.output is None:
        part = TokenValues(keys, begin.gain, jax.device_put(begin.values))
    else:
        part = TokenChain(keys, begin.gain)
        rows = np.asarray(scale)[:, None] * begin.values
        values |= {"rows": jax.device_put(rows), "output": begin.output}
    form = TokenForm(
        _frame(data),
        TokenScores(keys, queries, *begin.sides),
        part,
        "tokens",
        probe=None if test is None else _probe(begin, data, test),
    )
    return form, {"scores": scores, "values": values}


# Cells of a map share the initial zeros and the frame.
@lru_cache(maxsize=8)
def _zeros(kind: jnp.dtype, *shape: int) -> Array:
    return jax.device_put(np.zeros(shape, kind))


def _frame(data: Sequences) -> GatherFrame:
    every, shown = _eyes(data.vectors.dtype, len(data.vectors), data.shown)
    return GatherFrame(
        coordinates=every,
        key=data.key,
        query=data.query,
        shown_coordinates=shown,
        plain=True,
        orthonormal=False,
    )


@lru_cache(maxsize=4)
def _eyes(kind: jnp.dtype, count: int, shown: tuple[int, ...]) -> tuple[Array, Array]:
    eye = np.eye(count, dtype=kind)
    return jax.device_put(eye), jax.device_put(eye[list(shown)])


def _same(data: Sequences) -> bool:
    """Whether queries stand where keys do."""
    return np.array_equal(np.asarray(data.key), np.asarray(data.query))


def _probe(begin: Unscaled, data: Sequences, test: Sequences) -> Probe:
    assert begin.cross is not None and begin.rest is not None
    assert begin.test_sides is not None and begin.test_values is not None
    return Probe(
        key=test.key,
        query=test.query,
        by_key=_crossed(begin.cross, data, data.key),
        by_query=None if _same(data) else _crossed(begin.cross, data, data.query),
        keys=begin.test_sides[0],
        queries=begin.test_sides[1],
        rest=begin.rest,
        values=begin.test_values,
        scale=_scale(test),
    )


def _crossed(cross: np.ndarray, data: Sequences, token: Array) -> Crossed:
    tokens = tuple(np.asarray(token).reshape(-1).tolist())
    scale = np.asarray(_scale(data))[list(tokens)]
    return Crossed(_columns(Same(cross), tokens), jax.device_put(scale))


# Cells of a map have the same labels, and so the same columns, for all sizes.
@lru_cache(maxsize=2)
def _columns(cross: Same, tokens: tuple[int, ...]) -> Array:
    return jax.device_put(cross.array[:, list(tokens)])


def _scale(data: Sequences) -> Array:
    if data.scale is None:
        return jax.device_put(np.ones(len(data.vectors)))
    return data.scale
