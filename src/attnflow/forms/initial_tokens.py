"""The form over tokens and its initial state."""

from collections.abc import Mapping

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
    count = len(data.vectors)
    scale = jnp.ones(count) if data.scale is None else data.scale
    gram = scale[:, None] * found.gram * scale
    keys = _places(gram, data.key)
    same = np.array_equal(np.asarray(data.key), np.asarray(data.query))
    queries = keys if same else _places(gram, data.query)
    key, query = (scale[:, None] * side for side in found.sides)
    scores = {"key": key, "query": query}
    if found.output is None:
        part = TokenValues(keys, found.gain)
        values = {"values": scale * found.values}
    else:
        part = TokenChain(keys, found.gain)
        values = {"rows": scale[:, None] * found.values, "output": found.output}
    if test is not None:
        share, heads = jnp.ones(len(found.gain)), len(found.gain)
        scores |= {
            "key_sums": jnp.zeros((heads, data.key.size, key.shape[-1])),
            "query_sums": jnp.zeros((heads, data.query.size, key.shape[-1])),
            "share": share,
        }
        shape = heads, data.key.size, *found.values.shape[2:]
        values |= {"sums": jnp.zeros(shape), "share": share}
    eye = jnp.eye(count)
    frame = GatherFrame(
        coordinates=eye,
        key=data.key,
        query=data.query,
        shown_coordinates=eye[np.asarray(data.shown)],
        plain=True,
        orthonormal=False,
    )
    form = TokenForm(
        frame,
        TokenScores(gram, keys, queries),
        part,
        "tokens",
        probe=None if test is None else _probe(found, data, test, scale),
    )
    return form, {"scores": scores, "values": values}


def _places(gram: Array, token: Array) -> Places:
    return Places(token, gram[:, token.reshape(-1)])


def _probe(found: Unscaled, data: Sequences, test: Sequences, scale: Array) -> Probe:
    assert found.cross is not None and found.rest is not None
    assert found.test_sides is not None and found.test_values is not None
    return Probe(
        key=test.key,
        query=test.query,
        cross=found.cross,
        trained_key=data.key.reshape(-1),
        trained_query=data.query.reshape(-1),
        keys=found.test_sides[0],
        queries=found.test_sides[1],
        rest=found.rest,
        values=found.test_values,
        scale=jnp.ones(len(test.vectors)) if test.scale is None else test.scale,
        trained_scale=scale,
    )
