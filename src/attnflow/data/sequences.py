"""Sequences: the one data type.

A vocabulary of token vectors with names, and per sample the positions that are keys,
the positions that are queries, a label, a probability and a group.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from numpy.typing import ArrayLike

from attnflow.schema.names import look_up


class Sequences(eqx.Module):
    """Samples as positions in a vocabulary of token vectors.

    - `mass` enters the softmax as `+ log(mass)`: 1 is an ordinary token, 0 is absent,
      an integer is a repeated token, a probability is the limit of an infinitely
      long sequence.
    - `query_weight` makes pooling data: ones (sum), 1/L (mean), one query (last).
    - `probability` makes a population (every atom of a finite law once) or a training
      set (equal ones). Nothing downstream knows the difference.
    - `shown` are the tokens on which tables are reported; others (such as `-v1`
      beside `v1`) add nothing.
    - `columns`: what a unit step of each group of coordinates adds to a token, where
      a law gives these sums alone; `None`: the tokens' own coordinates.
    - `payload`: what each key of a sample brings beside the value of its token, fixed;
      `None`: nothing.
    - `scale`: a token is a row of `vectors` times its entry, so that settings which
      differ in sizes alone share their vectors; `None`: ones.
    """

    vectors: Float[Array, "tokens embed"]
    key: Int[Array, "samples keys"]
    mass: Float[Array, "samples keys"]
    query: Int[Array, "samples queries"]
    query_weight: Float[Array, "samples queries"]
    label: Float[Array, " samples"]
    probability: Float[Array, " samples"]
    group: Int[Array, " samples"]
    names: tuple[str, ...] = eqx.field(static=True)
    group_names: tuple[str, ...] = eqx.field(static=True)
    shown: tuple[int, ...] = eqx.field(static=True)
    columns: Float[Array, "tokens columns"] | None = None
    scale: Float[Array, " tokens"] | None = None
    payload: Float[Array, "samples keys"] | None = None

    @property
    def tokens(self) -> Float[Array, "tokens embed"]:
        """The token vectors."""
        return (
            self.vectors if self.scale is None else self.scale[:, None] * self.vectors
        )

    @property
    def shown_names(self) -> tuple[str, ...]:
        """Names of the tokens on which tables are reported."""
        return tuple(self.names[i] for i in self.shown)

    def restrict(self, group: str) -> "Sequences":
        """The samples of one group alone, with renormalised probabilities."""
        table = {name: i for i, name in enumerate(self.group_names)}
        index = look_up("group of samples", group, table)
        kept = jnp.where(self.group == index, self.probability, 0.0)
        if not float(kept.sum()) > 0:
            raise ValueError(
                f"The group {group!r} has no samples with positive probability: a "
                "stage that trains on it would train nothing. Choose another group."
            )
        return eqx.tree_at(lambda s: s.probability, self, kept / kept.sum())

    def sample_names(self) -> list[str]:
        """A name per sample: its keys' tokens, and its label."""
        keys = np.asarray(self.key)
        mass = np.asarray(self.mass)
        return [
            " ".join(self.names[i] for i, m in zip(row, masses, strict=True) if m > 0)
            for row, masses in zip(keys, mass, strict=True)
        ]


def sequences(
    tokens: ArrayLike,
    key: ArrayLike,
    label: ArrayLike,
    *,
    mass: ArrayLike | None = None,
    query: ArrayLike | None = None,
    query_weight: ArrayLike | None = None,
    probability: ArrayLike | None = None,
    group: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    group_names: Sequence[str] = ("all",),
    shown: Sequence[int] | None = None,
    columns: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    payload: ArrayLike | None = None,
) -> Sequences:
    """Sequences from arrays, checked; what is left out takes its plain meaning.

    **Arguments:**

    - `tokens`: `(tokens, embed)`, one row per token vector.
    - `key`: `(samples, keys)`, rows of `tokens`; every position is a key.
    - `label`: `(samples,)`.
    - `mass`: `(samples, keys)`, ones by default.
    - `query`, `query_weight`: `(samples, queries)`; by default every position is a
      query of weight one.
    - `probability`: `(samples,)`, equal by default; must sum to one.
    - `group`: `(samples,)` indices into `group_names`.
    - `columns`: `(tokens, columns)`, the tokens' own coordinates by default.
    - `scale`: `(tokens,)`, by which rows of `tokens` are multiplied; ones by default.
    - `payload`: `(samples, keys)`, added to the values of the keys; none by default.
    """
    if not isinstance(tokens, jax.Array):
        tokens = np.asarray(tokens, float)
    key = np.asarray(key)
    count = len(tokens)
    label = np.asarray(label, float)
    mass = np.ones(key.shape) if mass is None else np.asarray(mass, float)
    if query is None:
        query, weight = key, (mass > 0).astype(float)
    else:
        query = np.asarray(query)
        weight = np.ones(query.shape)
    query_weight = weight if query_weight is None else np.asarray(query_weight, float)
    samples = key.shape[0] if key.ndim else 0
    even = np.full(samples, 1 / max(samples, 1))
    probability = even if probability is None else np.asarray(probability, float)
    group = np.zeros(samples, int) if group is None else np.asarray(group)
    names = names or [f"token{i}" for i in range(count)]
    made = Sequences(
        vectors=_array(tokens, float),
        key=_array(key, int),
        mass=_array(mass, float),
        query=_array(query, int),
        query_weight=_array(query_weight, float),
        label=_array(label, float),
        probability=_array(probability, float),
        group=_array(group, int),
        names=tuple(names),
        group_names=tuple(group_names),
        shown=tuple(range(count) if shown is None else shown),
        columns=None if columns is None else _array(np.asarray(columns), float),
        scale=None if scale is None else _array(np.asarray(scale, float), float),
        payload=None if payload is None else _array(np.asarray(payload, float), float),
    )
    _check(made)
    return made


def from_arrays(arrays: Mapping[str, Any], like: Sequences | None = None) -> Sequences:
    """Sequences from a mapping of arrays, as `run(data=...)` takes them.

    Needed: `tokens`, `key`, `label`. The rest is as in `sequences`. Names of tokens
    and groups come from `like` where the counts agree.
    """
    allowed = {
        "tokens",
        "key",
        "label",
        "mass",
        "query",
        "query_weight",
        "probability",
        "group",
        "columns",
        "payload",
    }
    _check_names("data", arrays, allowed, {"tokens", "key", "label"})
    arrays = {name: np.asarray(value) for name, value in arrays.items()}
    for name, value in arrays.items():
        if not np.isfinite(value).all():
            raise ValueError(f"data[{name!r}] is not finite everywhere: mend it first.")
    extras: dict[str, Any] = {}
    if like is not None and len(arrays["tokens"]) == len(like.names):
        extras = {"names": like.names, "shown": like.shown}
    if like is not None and "group" in arrays:
        extras["group_names"] = like.group_names
    elif "group" in arrays:
        top = int(arrays["group"].max(initial=0))
        extras["group_names"] = tuple(f"group{i}" for i in range(top + 1))
    return sequences(**arrays, **extras)


def _check_names(
    what: str, arrays: Mapping[str, Any], allowed: set[str], needed: set[str]
) -> None:
    for name in arrays:
        if name not in allowed:
            look_up(f"array of {what}", name, dict.fromkeys(sorted(allowed)))
    missing = sorted(needed - set(arrays))
    if missing:
        raise ValueError(
            f"{what} lacks {missing}; it has {sorted(arrays)} and must have "
            f"{sorted(needed)}."
        )


def _array(values: np.ndarray | Array, kind: type) -> Array:
    if isinstance(values, jax.Array):
        return jnp.asarray(values, jnp.float64 if kind is float else jnp.int32)
    # `jnp.asarray` would compile a program for every shape.
    return jax.device_put(np.asarray(values, float if kind is float else np.int32))


def _check(made: Sequences) -> None:
    if made.vectors.ndim != 2 or made.key.ndim != 2 or made.query.ndim != 2:
        raise ValueError(
            f"tokens, key and query have shapes {made.vectors.shape}, "
            f"{made.key.shape}, {made.query.shape}: all must have two axes "
            "(tokens × embed, samples × keys, samples × queries)."
        )
    count, samples = len(made.vectors), len(made.key)
    _check_shapes(made, samples)
    for name, index in (
        ("key", np.asarray(made.key)),
        ("query", np.asarray(made.query)),
    ):
        if index.size and not (int(index.min()) >= 0 and int(index.max()) < count):
            raise ValueError(
                f"{name} has entries from {int(index.min())} to {int(index.max())}; "
                f"they must be rows of tokens, 0 to {count - 1}."
            )
    if len(made.names) != count:
        raise ValueError(f"There are {len(made.names)} names for {count} tokens.")
    _check_masses(made)
    _check_columns(made)
    _check_scale(made)


def _check_shapes(made: Sequences, samples: int) -> None:
    wanted = {
        "mass": made.key.shape,
        "query": (samples, made.query.shape[1]),
        "query_weight": made.query.shape,
        "label": (samples,),
        "probability": (samples,),
        "group": (samples,),
    }
    if made.payload is not None:
        wanted["payload"] = made.key.shape
    for name, shape in wanted.items():
        given = getattr(made, name).shape
        if given != shape:
            raise ValueError(f"{name} has shape {given}; it must have {shape}.")
    if samples == 0:
        raise ValueError("There are no samples: give at least one.")


def _check_masses(made: Sequences) -> None:
    mass, probability = np.asarray(made.mass), np.asarray(made.probability)
    if mass.min() < 0:
        raise ValueError(f"The smallest mass is {mass.min()}: use >= 0.")
    if not (mass.sum(axis=1) > 0).all():
        raise ValueError("A sample has no key of positive mass: drop that sample.")
    total = float(probability.sum())
    # A sum of n probabilities in float64 is right to about n ulps.
    if abs(total - 1) > 1e-15 * (len(probability) + 10):
        raise ValueError(
            f"The probabilities sum to {total!r}, not to 1: divide them by their sum."
        )
    if probability.min() < 0:
        raise ValueError("A probability is negative: use numbers >= 0.")


def _check_columns(made: Sequences) -> None:
    if made.columns is None:
        return
    columns, count = np.asarray(made.columns), len(made.vectors)
    if columns.ndim != 2 or len(columns) != count:
        raise ValueError(
            f"columns has shape {columns.shape}; it must have two axes and a row for "
            f"each of the {count} tokens. Leave it out to use the tokens' coordinates."
        )
    if not np.isfinite(columns).all():
        raise ValueError("columns is not finite everywhere: mend it first.")


def _check_scale(made: Sequences) -> None:
    if made.scale is None:
        return
    scale, count = np.asarray(made.scale), len(made.vectors)
    if scale.shape != (count,) or not np.isfinite(scale).all():
        raise ValueError(
            f"scale has shape {scale.shape}; it must hold a finite number for each of "
            f"the {count} tokens. Leave it out to use the tokens as they are."
        )
