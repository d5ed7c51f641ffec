"""The form over tokens and its initial state."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.data import Sequences
from attnflow.forms.base import State
from attnflow.forms.frames import GatherFrame
from attnflow.forms.initialise import Initial
from attnflow.forms.probes import Probe
from attnflow.forms.token_draws import Unscaled, unscaled
from attnflow.forms.tokens import (
    Places,
    TokenChain,
    TokenForm,
    TokenScores,
    TokenValues,
)


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
    count, heads = len(data.vectors), len(found.gain)
    scale = np.ones(count) if data.scale is None else np.asarray(data.scale)
    gram = scale[:, None] * found.gram * scale
    key, query = np.asarray(data.key), np.asarray(data.query)
    keys = _places(gram, key)
    queries = keys if np.array_equal(key, query) else _places(gram, query)
    sides = [jnp.asarray(scale[:, None] * side) for side in found.sides]
    columns = sides[0].shape[-1]
    scores: dict[str, Any] = {
        "key_sums": np.zeros((heads, key.size, columns)),
        "query_sums": np.zeros((heads, query.size, columns)),
        "share": np.ones(heads),
    }
    shape = heads, key.size, *found.values.shape[2:]
    values: dict[str, Any] = {"sums": np.zeros(shape), "share": np.ones(heads)}
    if found.output is None:
        part = TokenValues(keys, found.gain, jnp.asarray(scale * found.values))
    else:
        part = TokenChain(keys, found.gain)
        rows = scale[:, None] * found.values
        values |= {"rows": rows, "output": found.output}
    form = TokenForm(
        _frame(data),
        TokenScores(jnp.asarray(gram), keys, queries, *sides),
        part,
        "tokens",
        probe=None if test is None else _probe(found, data, test),
    )
    return form, jax.tree.map(jnp.asarray, {"scores": scores, "values": values})


def _frame(data: Sequences) -> GatherFrame:
    eye = np.eye(len(data.vectors))
    return GatherFrame(
        coordinates=jnp.asarray(eye),
        key=data.key,
        query=data.query,
        shown_coordinates=jnp.asarray(eye[list(data.shown)]),
        plain=True,
        orthonormal=False,
    )


def _places(gram: np.ndarray, token: np.ndarray) -> Places:
    return Places(jnp.asarray(token), jnp.asarray(gram[:, token.reshape(-1)]))


def _probe(found: Unscaled, data: Sequences, test: Sequences) -> Probe:
    assert found.cross is not None and found.rest is not None
    assert found.test_sides is not None and found.test_values is not None
    return Probe(
        key=test.key,
        query=test.query,
        cross=found.cross,
        trained_key=jnp.asarray(np.asarray(data.key).reshape(-1)),
        trained_query=jnp.asarray(np.asarray(data.query).reshape(-1)),
        keys=found.test_sides[0],
        queries=found.test_sides[1],
        rest=found.rest,
        values=found.test_values,
        scale=_scale(test),
        trained_scale=_scale(data),
    )


def _scale(data: Sequences) -> Array:
    return jnp.ones(len(data.vectors)) if data.scale is None else data.scale
