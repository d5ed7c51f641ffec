"""The form over tokens and its initial state."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.data import Sequences
from attnflow.models.forms.base import State
from attnflow.models.forms.frames import GatherFrame
from attnflow.models.forms.initialise import Initial
from attnflow.models.forms.probes import Crossed, Probe
from attnflow.models.forms.token_draws import Unscaled, unscaled
from attnflow.models.forms.tokens import (
    Places,
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
    key: Array,
    given: Mapping[str, Array] | None = None,
    test: Sequences | None = None,
) -> tuple[TokenForm, State]:
    """The form over tokens and its initial state for one seed."""
    found = unscaled(data, test, initial, heads=heads, key=key, given=given)
    return _form(found, data, test)


def _form(
    found: Unscaled, data: Sequences, test: Sequences | None
) -> tuple[TokenForm, State]:
    heads, scale = len(found.gain), _scale(data)
    keys = Places(data.key, found.gram, scale)
    same = np.array_equal(np.asarray(data.key), np.asarray(data.query))
    queries = None if same else Places(data.query, found.gram, scale)
    columns = found.sides[0].shape[-1]
    scores: dict[str, Any] = {
        "key_sums": _zeros(found.gram.dtype, heads, data.key.size, columns),
        "query_sums": _zeros(found.gram.dtype, heads, data.query.size, columns),
        "share": jax.device_put(np.ones(heads)),
    }
    values: dict[str, Any] = {
        "sums": _zeros(found.gram.dtype, heads, data.key.size, *found.values.shape[2:]),
        "share": jax.device_put(np.ones(heads)),
    }
    if found.output is None:
        part = TokenValues(keys, found.gain, jax.device_put(found.values))
    else:
        part = TokenChain(keys, found.gain)
        rows = np.asarray(scale)[:, None] * found.values
        values |= {"rows": jax.device_put(rows), "output": found.output}
    form = TokenForm(
        _frame(data),
        TokenScores(keys, queries, *found.sides),
        part,
        "tokens",
        probe=None if test is None else _probe(found, data, test),
    )
    return form, {"scores": scores, "values": values}


# Cells of a map begin with the same zeros and have the same frame.
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


def _probe(found: Unscaled, data: Sequences, test: Sequences) -> Probe:
    assert found.cross is not None and found.rest is not None
    assert found.test_sides is not None and found.test_values is not None
    same = np.array_equal(np.asarray(data.key), np.asarray(data.query))
    return Probe(
        key=test.key,
        query=test.query,
        by_key=_crossed(found.cross, data, data.key),
        by_query=None if same else _crossed(found.cross, data, data.query),
        keys=found.test_sides[0],
        queries=found.test_sides[1],
        rest=found.rest,
        values=found.test_values,
        scale=_scale(test),
    )


def _crossed(cross: np.ndarray, data: Sequences, token: Array) -> Crossed:
    place = tuple(np.asarray(token).reshape(-1).tolist())
    scale = np.asarray(_scale(data))[list(place)]
    return Crossed(_columns(Same(cross), place), jax.device_put(scale))


# Cells of a map have the same labels, and so the same columns, for all sizes.
@lru_cache(maxsize=2)
def _columns(cross: Same, place: tuple[int, ...]) -> Array:
    return jax.device_put(cross.array[:, list(place)])


def _scale(data: Sequences) -> Array:
    if data.scale is None:
        return jax.device_put(np.ones(len(data.vectors)))
    return data.scale
