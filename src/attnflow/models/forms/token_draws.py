"""Keys, queries and values of vectors under initial weights, given, drawn or sampled.

A draw is kept for the next setting that needs the same vectors and weights in other
sizes: a map over sizes draws and projects once.
"""

from functools import lru_cache
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float

from attnflow.data import Sequences, random
from attnflow.data.random import Key
from attnflow.models.forms.base import AbstractPart, Arrays, Weights
from attnflow.models.forms.frames import span_of
from attnflow.models.forms.initial import Initial, draw_weights
from attnflow.models.forms.scores import score_factor
from attnflow.models.forms.values import ChainTransport, ValueTable
from attnflow.schema.identity import Same

# A seed of a map has its training vectors of one number of samples and one set of
# test vectors; two are room for going back and forth.
KEPT = 2


class Unscaled(NamedTuple):
    """What initial weights make of all vectors, before these are scaled.

    Settings of other sizes share these arrays; what is to be scaled for the initial
    state of each is on the host, where that compiles nothing.

    - `gram`: products of the training vectors; `cross`: of test vectors with them.
    - `sides`, `test_sides`: keys and queries, along the directions in which training
      begins.
    - `rest`: scores of the test's keys and queries beyond these directions.
    - `values`, `test_values`: values, or rows of a chain with this `output`.
    - `gain`: that of the values' part.
    """

    gram: Float[Array, "tokens tokens"]
    sides: tuple[Array, Array]
    values: Float[np.ndarray, "heads tokens *value_columns"]
    gain: Float[Array, " heads"]
    output: Float[Array, "heads value_columns"] | None
    cross: np.ndarray | None = None
    test_sides: tuple[Array, Array] | None = None
    rest: Array | None = None
    test_values: Array | None = None


class Values(NamedTuple):
    """Values of all vectors, or rows of a chain and its output; and the gain."""

    rows: np.ndarray
    gain: Array
    output: np.ndarray | None


class _Test:
    """Test vectors as a key of caches, by their identity and positions."""

    def __init__(self, test: Sequences):
        self.vectors = Same(test.vectors)
        self.positions = np.asarray(test.key), np.asarray(test.query)
        self._bytes = tuple(tokens.tobytes() for tokens in self.positions)

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
    key: Key,
    weights: Weights | None = None,
) -> Unscaled:
    """What initial weights, given or drawn by a key, make of all vectors."""
    vectors, tests = Same(data.vectors), None if test is None else _Test(test)
    if weights is not None:
        return _projected(vectors, tests, initial, Same(weights))
    # What is kept is on a device, in single precision or in double.
    double = bool(jax.config.values["jax_enable_x64"])
    number = tuple(random.as_key(key).tolist())
    return _drawn(vectors, tests, initial, heads, number, double)


@lru_cache(maxsize=KEPT)
def _drawn(
    vectors: Same,
    test: _Test | None,
    initial: Initial,
    heads: int,
    number: tuple[int, ...],
    double: bool,
) -> Unscaled:
    tests = 0 if test is None else len(test.vectors.array)
    count, embed = len(vectors.array) + tests, vectors.array.shape[1]
    if initial.drawn_as(min(count, embed), embed) == "weights":
        weights = _weights(initial, heads, embed, number, double)
        return _projected(vectors, test, initial, weights)
    every = _together(vectors, None if test is None else test.vectors)
    sides, values = _sampled(every, initial, heads, np.array(number, np.uint32))
    size = len(vectors.array)
    trained = [x[:, :size] for x in sides]
    tested = None
    if test is not None:
        others = [x[:, size:] for x in sides]
        tested = _Tested(others, _pair_scores(others, test.positions))
    return _directed(vectors, test, trained, tested, values)


def _together(vectors: Same, test: Same | None) -> np.ndarray:
    """The training vectors and then those of the test."""
    rows = np.asarray(vectors.array)
    return rows if test is None else np.concatenate([rows, np.asarray(test.array)])


# What is read off the weights is kept by their identity, and is on a device too.
@lru_cache(maxsize=KEPT)
def _weights(
    initial: Initial, heads: int, embed: int, number: tuple[int, ...], double: bool
) -> Same:
    key = np.array(number, np.uint32)
    return Same(draw_weights(initial, heads, embed, key=key))


def _projected(
    vectors: Same, test: _Test | None, initial: Initial, weights: Same
) -> Unscaled:
    trained = _sides(vectors.array, weights.array)
    tested = None if test is None else _tested(test, weights)
    others = None if test is None else test.vectors
    values = values_of(initial, weights, vectors, others)
    return _directed(vectors, test, trained, tested, values)


def _sides(vectors: Array, weights: Weights) -> list[np.ndarray]:
    # On the host, here and below: every number of samples has shapes of its own, each
    # of which JAX would compile several programs for.
    rows = np.asarray(vectors)
    return [rows @ np.asarray(weights[n]).swapaxes(-1, -2) for n in ("W_K", "W_Q")]


class _Tested(NamedTuple):
    """Keys and queries of a test, `(heads, tokens, width)`, and its initial scores."""

    sides: list[np.ndarray]
    scores: np.ndarray


@lru_cache(maxsize=KEPT)
def _tested(test: _Test, weights: Same) -> _Tested:
    """A test is large, and serves every number of training samples."""
    sides = _sides(test.vectors.array, weights.array)
    return _Tested(sides, _pair_scores(sides, test.positions))


def _pair_scores(
    sides: list[np.ndarray], positions: tuple[np.ndarray, np.ndarray]
) -> Float[np.ndarray, "samples heads queries keys"]:
    keys, queries = (side[:, at] for side, at in zip(sides, positions, strict=True))
    return (queries @ keys.swapaxes(-1, -2)).swapaxes(0, 1)


def _sampled(
    every: Float[np.ndarray, "tokens embed"], initial: Initial, heads: int, key: Key
) -> tuple[list[np.ndarray], Values]:
    """Keys and queries, and values, in law: by a factor on a basis of the vectors."""
    # An orthonormal basis around the vectors: all coordinates where these are many.
    count, embed = every.shape
    seen = every if embed <= count else np.asarray(span_of(every).coordinates)
    draw, keys = initial.drawn_without_weights, random.split(key)
    rank = seen.shape[1]
    factor = score_factor(initial, heads, rank, key=keys[0], draw=draw)
    sides = [seen @ half.swapaxes(-1, -2) for half in np.split(factor, 2, axis=-1)]
    values = values_in(
        *initial.values.sampled(heads, rank, gram=False, key=keys[1], draw=draw)
    )
    if values.output is None:
        return sides, values._replace(rows=values.rows @ seen.T)
    return sides, values._replace(rows=seen @ values.rows)


def _directed(
    vectors: Same,
    test: _Test | None,
    trained: list[np.ndarray],
    tested: _Tested | None,
    values: Values,
) -> Unscaled:
    """All rows along the directions in which the training tokens' own begin."""
    rows, count = np.asarray(vectors.array), len(vectors.array)
    turn = _directions(np.concatenate(trained, axis=1))
    read, output = values.rows, values.output
    if output is not None:
        seen = np.concatenate([read[:, :count], output[:, None]], axis=1)
        value_turn = _directions(seen)
        read, output = _turned(read, value_turn), _turned(output[:, None], value_turn)
        output = output[:, 0]
    keys, queries = (_turned(x, turn) for x in trained)
    of_training = Unscaled(
        gram=jax.device_put(rows @ rows.T),
        sides=(jax.device_put(keys), jax.device_put(queries)),
        values=read[:, :count],
        gain=values.gain,
        output=None if output is None else jax.device_put(output),
    )
    if test is None:
        return of_training
    assert tested is not None
    along = [_turned(x, turn) for x in tested.sides]
    rest = np.zeros_like(tested.scores)
    if turn is not None:
        rest = _beyond(tested.scores, along, test.positions)
    return of_training._replace(
        cross=np.asarray(test.vectors.array) @ rows.T,
        test_sides=(jax.device_put(along[0]), jax.device_put(along[1])),
        rest=jax.device_put(rest),
        test_values=jax.device_put(read[:, count:]),
    )


def _beyond(
    scores: Float[np.ndarray, "samples heads queries keys"],
    along: list[np.ndarray],
    positions: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Scores of what keys and queries hold beyond the directions of training."""
    return scores - _pair_scores(along, positions)


def _turned(rows: np.ndarray, turn: np.ndarray | None) -> np.ndarray:
    return rows if turn is None else rows @ turn


def _directions(rows: Float[np.ndarray, "heads rows width"]) -> np.ndarray | None:
    """Orthonormal columns that span the rows; `None` where these could fill the space.

    A QR decomposition on the host is an order faster than XLA's.
    """
    if rows.shape[1] >= rows.shape[2]:
        return None
    return np.stack([np.linalg.qr(block.T)[0] for block in rows])


def values_in(part: AbstractPart, state: Array | Arrays) -> Values:
    """The values that a part of a form over a basis holds."""
    if isinstance(part, ValueTable):
        return Values(np.asarray(state), part.gain, None)
    if isinstance(part, ChainTransport):
        whole = np.asarray(state)
        return Values(whole[..., :-1].swapaxes(-1, -2), part.gain, whole[..., -1])
    raise ValueError(
        f"Values that are a {type(part).__name__} are not known to form='tokens'. Use "
        "form='transport'."
    )


def values_of(
    initial: Initial, weights: Same, vectors: Same, test: Same | None
) -> Values:
    """Values, or rows of a chain, of the training vectors and then of the test's."""
    tests = 0 if test is None else len(test.array)
    count, embed = vectors.array.shape
    if embed > count + tests:
        every = _together(vectors, test)
        return values_in(*initial.values.reduced(weights.array, every, gram=False))
    unit = _unit_values(initial, weights, embed)
    rows = [_read(Same(unit), vectors)]
    if test is not None:
        rows.append(_test_read(Same(unit), test))
    return unit._replace(rows=np.concatenate(rows, axis=1))


@lru_cache(maxsize=KEPT)
def _unit_values(initial: Initial, weights: Same, embed: int) -> Values:
    """The same of unit vectors, which give those of all others."""
    return values_in(*initial.values.reduced(weights.array, np.eye(embed), gram=False))


def _read(unit: Same, vectors: Same) -> np.ndarray:
    rows = np.asarray(unit.array.rows)
    turned = rows.swapaxes(1, -1) if rows.ndim > 2 else rows
    read = turned @ np.asarray(vectors.array).T
    return read.swapaxes(1, -1) if rows.ndim > 2 else read


_test_read = lru_cache(maxsize=KEPT)(_read)
