"""What initial weights make of vectors, from given, drawn or only sampled weights.

A draw is kept for the next setting that asks for the same vectors and weights in other
sizes: a map over sizes draws and projects once.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow._identity import Same
from attnflow.data import Sequences
from attnflow.forms.chains import ChainTransport
from attnflow.forms.frames import Basis, span_of
from attnflow.forms.initial_scores import sampled_scores
from attnflow.forms.initial_values import BasisVectors
from attnflow.forms.initialise import Initial, draw_weights
from attnflow.forms.values import ValueTable

# A seed of a map has its training vectors of one number of samples and one set of
# test vectors; two are room for going back and forth.
KEPT = 2


class Unscaled(NamedTuple):
    """What initial weights make of all vectors, before these are scaled.

    What is to be scaled for every setting is on the host, where that compiles nothing.

    - `gram`: products of the training vectors; `cross`: of test vectors with them.
    - `sides`, `test_sides`: keys and queries, along the directions in which training
      begins.
    - `rest`: scores of the test's keys and queries beyond these directions.
    - `values`, `test_values`: values, or rows of a chain whose `output` is told.
    - `gain`: that of the values' part.
    """

    gram: Float[np.ndarray, "tokens tokens"]
    sides: tuple[np.ndarray, np.ndarray]
    values: Float[np.ndarray, "heads tokens *value_columns"]
    gain: Float[Array, " heads"]
    output: Float[Array, "heads value_columns"] | None
    cross: Array | None = None
    test_sides: tuple[Array, Array] | None = None
    rest: Array | None = None
    test_values: Array | None = None


class _Test:
    """Test vectors as a key, by their identity and where they stand."""

    def __init__(self, test: Sequences):
        self.vectors = Same(test.vectors)
        self.places = np.asarray(test.key), np.asarray(test.query)
        self._bytes = tuple(place.tobytes() for place in self.places)

    def __hash__(self) -> int:
        return hash((self.vectors, self._bytes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Test) and (self.vectors, self._bytes) == (
            other.vectors,
            other._bytes,
        )


def unscaled(
    data: Sequences,
    test: Sequences | None,
    initial: Initial,
    *,
    heads: int,
    key: Array,
    given: Mapping[str, Array] | None = None,
) -> Unscaled:
    """What initial weights, given or drawn by a key, make of all vectors."""
    asked = Same(data.vectors), None if test is None else _Test(test), initial, heads
    if given is not None:
        return _made(*asked[:3], Same(given))
    # A draw in single precision must not be kept for one in double.
    number = tuple(np.asarray(jax.random.key_data(key)).tolist())
    kind = str(jax.random.key_impl(key)), jnp.zeros(()).dtype.name
    return _drawn(*asked, number, kind)


@lru_cache(maxsize=KEPT)
def _drawn(
    vectors: Same,
    test: _Test | None,
    initial: Initial,
    heads: int,
    number: tuple[int, ...],
    kind: tuple[str, str],
) -> Unscaled:
    tests = 0 if test is None else len(test.vectors.array)
    count, embed = len(vectors.array) + tests, vectors.array.shape[1]
    if initial.drawn_as(min(count, embed), embed) == "weights":
        weights = _weights(initial, heads, embed, number, kind)
        return _made(vectors, test, initial, weights)
    every = _every(vectors, test)
    key = jax.random.wrap_key_data(jnp.asarray(number, jnp.uint32), impl=kind[0])
    sides, values = _sampled(every, initial, heads, key)
    own = len(vectors.array)
    trained, tested = [x[:, :own] for x in sides], [x[:, own:] for x in sides]
    return _directed(vectors, test, trained, tested, _values(*values))


@lru_cache(maxsize=KEPT)
def _weights(
    initial: Initial,
    heads: int,
    embed: int,
    number: tuple[int, ...],
    kind: tuple[str, str],
) -> Same:
    key = jax.random.wrap_key_data(jnp.asarray(number, jnp.uint32), impl=kind[0])
    return Same(draw_weights(initial, heads, embed, key=key))


def _made(
    vectors: Same, test: _Test | None, initial: Initial, weights: Same
) -> Unscaled:
    values = initial.values.reduced(weights.array, _every(vectors, test), gram=False)
    trained = _sides(vectors.array, weights.array)
    tested = [] if test is None else _test_sides(test.vectors, weights)
    return _directed(vectors, test, trained, tested, _values(*values))


def _every(vectors: Same, test: _Test | None) -> Array:
    if test is None:
        return vectors.array
    return jnp.concatenate([vectors.array, test.vectors.array])


def _sides(vectors: Array, weights: Mapping[str, Array]) -> list[Array]:
    return [vectors @ weights[name].swapaxes(-1, -2) for name in ("W_K", "W_Q")]


@lru_cache(maxsize=KEPT)
def _test_sides(vectors: Same, weights: Same) -> list[Array]:
    """Those of a test are many, and serve every number of training samples."""
    return _sides(vectors.array, weights.array)


def _sampled(
    every: Float[Array, "tokens embed"], initial: Initial, heads: int, key: Array
) -> tuple[list[Array], Any]:
    """Keys and queries, and values, in law: by a factor on a basis of the vectors."""
    basis = _basis(every)
    draw, keys = initial.drawn_without_weights, jax.random.split(key)
    rank, seen = basis.rank, basis.coordinates
    _, factor = sampled_scores(
        "transport", initial, heads, rank, key=keys[0], draw=draw
    )
    assert isinstance(factor, jax.Array)
    sides = [seen @ half.swapaxes(-1, -2) for half in jnp.split(factor, 2, axis=-1)]
    part, state = initial.values.sampled(
        heads, rank, gram=False, key=keys[1], draw=draw
    )
    assert isinstance(state, jax.Array)
    if isinstance(part, ValueTable):
        return sides, (part, state @ seen.T)
    moved = state[..., :-1] @ seen.T
    return sides, (part, jnp.concatenate([moved, state[..., -1:]], axis=-1))


def _basis(every: BasisVectors) -> Basis:
    """An orthonormal basis around the vectors: all coordinates where they are few."""
    count, embed = every.shape
    return Basis(jnp.eye(embed), every) if embed <= count else span_of(every)


class _Values(NamedTuple):
    """Values of all vectors, or rows of a chain and its output; and the gain."""

    rows: Array
    gain: Array
    output: Array | None


def _values(part: Any, state: Any) -> _Values:
    if isinstance(part, ValueTable):
        return _Values(state, part.gain, None)
    if isinstance(part, ChainTransport):
        rows = state[..., :-1].swapaxes(-1, -2)
        return _Values(rows, part.gain, state[..., -1])
    raise ValueError(
        f"Values that are a {type(part).__name__} are not known to form='tokens'. Use "
        "form='transport'."
    )


def _directed(
    vectors: Same,
    test: _Test | None,
    trained: list[Array],
    tested: list[Array],
    values: _Values,
) -> Unscaled:
    """All rows along the directions in which the training tokens' own begin."""
    own, count = vectors.array, len(vectors.array)
    turn = _directions(jnp.concatenate(trained, axis=1))
    keys, queries = (x if turn is None else x @ turn for x in trained)
    read, output = values.rows, values.output
    value_turn = None
    if output is not None:
        value_turn = _directions(
            jnp.concatenate([read[:, :count], output[:, None]], axis=1)
        )
    if value_turn is not None:
        assert output is not None
        read = read @ value_turn
        output = (output[:, None] @ value_turn)[:, 0]
    found = Unscaled(
        gram=np.asarray(own @ own.T),
        sides=(np.asarray(keys), np.asarray(queries)),
        values=np.asarray(read[:, :count]),
        gain=values.gain,
        output=output,
    )
    if test is None:
        return found
    along = [x if turn is None else x @ turn for x in tested]
    return found._replace(
        cross=test.vectors.array @ own.T,
        test_sides=(along[0], along[1]),
        rest=_beyond(tested, along, turn, test.places),
        test_values=read[:, count:],
    )


def _directions(rows: Float[Array, "heads rows width"]) -> Array | None:
    """Orthonormal columns that span the rows; `None` where these could fill the space.

    A QR decomposition on the host is an order faster than XLA's.
    """
    if rows.shape[1] >= rows.shape[2]:
        return None
    return jnp.asarray(
        np.stack([np.linalg.qr(np.asarray(block).T)[0] for block in rows])
    )


def _beyond(
    full: list[Array],
    along: list[Array],
    turn: Array | None,
    places: tuple[np.ndarray, np.ndarray],
) -> Float[Array, "samples heads queries keys"]:
    """Scores of what keys and queries hold beyond the directions of training."""
    key, query = places
    if turn is None:
        return jnp.zeros((len(key), len(full[0]), query.shape[1], key.shape[1]))
    back = turn.swapaxes(-1, -2)
    keys, queries = (x - y @ back for x, y in zip(full, along, strict=True))
    return jnp.einsum("hnkc,hnqc->nhqk", keys[:, key], queries[:, query])
