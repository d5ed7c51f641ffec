"""Sequences: the one data type; and tasks, which are distributions of them.

A vocabulary of token vectors with names, and per sample the positions that are keys,
the positions that are queries, a label, a probability and a group.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, overload

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from numpy.typing import ArrayLike

from attnflow.data.random import Key
from attnflow.data.symmetries import Symmetry
from attnflow.schema.settings import look_up

# Arrays that `run(data=...)` takes.
ARRAYS = (
    *("tokens", "key", "label", "mass", "query", "query_weight"),
    *("probability", "group", "columns", "payload", "mask"),
)


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
    - `mask`: 1 where a query (row) sees a key (column), as by their positions, and 0
      elsewhere; `None`: all queries see all keys.
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
    mask: Float[Array, "queries keys"] | None = None

    @property
    def tokens(self) -> Float[Array, "tokens embed"]:
        """The token vectors."""
        return (
            self.vectors if self.scale is None else self.scale[:, None] * self.vectors
        )

    @property
    def host_tokens(self) -> Float[np.ndarray, "tokens embed"]:
        """The token vectors as NumPy's, for set-up: no shape of them is compiled."""
        vectors = np.asarray(self.vectors)
        return (
            vectors if self.scale is None else np.asarray(self.scale)[:, None] * vectors
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
        return replace(self, probability=kept / kept.sum())

    def sample_names(self) -> list[str]:
        """A name per sample: its keys' tokens, and its label."""
        keys: list[list[int]] = np.asarray(self.key).tolist()
        mass: list[list[float]] = np.asarray(self.mass).tolist()
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
    mask: ArrayLike | None = None,
) -> Sequences:
    """Sequences from arrays, with defaults for those that are left out.

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
    - `mask`: `(queries, keys)`, 1 where a query sees a key; without it all are seen.
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
    data = Sequences(
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
        mask=None if mask is None else _array(np.asarray(mask, float), float),
    )
    _check(data)
    return data


def from_arrays(
    arrays: Mapping[str, ArrayLike], like: Sequences | None = None
) -> Sequences:
    """Sequences from a mapping of arrays, as `run(data=...)` takes them.

    Needed: `tokens`, `key`, `label`. The rest is as in `sequences`. Names of tokens
    and groups come from `like` where the counts agree.
    """
    for name in arrays:
        if name not in ARRAYS:
            look_up("array of data", name, dict.fromkeys(sorted(ARRAYS)))
    missing = sorted({"tokens", "key", "label"} - set(arrays))
    if missing:
        raise ValueError(
            f"data lacks {missing}; it has {sorted(arrays)} and must have "
            "['key', 'label', 'tokens']."
        )
    values = {name: np.asarray(value) for name, value in arrays.items()}
    for name, value in values.items():
        if not np.isfinite(value).all():
            raise ValueError(f"data[{name!r}] is not finite everywhere: fix it first.")
    group_names = ("all",)
    if "group" in values:
        top = int(values["group"].max(initial=0))
        plain = tuple(f"group{i}" for i in range(top + 1))
        group_names = plain if like is None else like.group_names
    if like is not None and len(values["tokens"]) != len(like.names):
        like = None
    needed = (values.pop("tokens"), values.pop("key"), values.pop("label"))
    return sequences(
        *needed,
        names=None if like is None else like.names,
        shown=None if like is None else like.shown,
        group_names=group_names,
        **values,
    )


def _array(values: np.ndarray | Array, kind: type) -> Array:
    if isinstance(values, jax.Array):
        dtype = jnp.float64 if kind is float else jnp.int32
        return jnp.asarray(values, dtype)  # pyright: ignore[reportUnknownMemberType] # as `on_device`
    return on_device(np.asarray(values, float if kind is float else np.int32))


@overload
def on_device(arrays: np.ndarray | Array) -> Array: ...
@overload
def on_device(arrays: Mapping[str, np.ndarray | Array]) -> dict[str, Array]: ...
def on_device(
    arrays: np.ndarray | Array | Mapping[str, np.ndarray | Array],
) -> Array | dict[str, Array]:
    """An array of NumPy, or several by name, as JAX's."""
    # `jnp.asarray` would compile a program for every shape.
    return jax.device_put(arrays)  # pyright: ignore[reportUnknownMemberType] # JAX leaves types of devices open


def _check(data: Sequences) -> None:
    if data.vectors.ndim != 2 or data.key.ndim != 2 or data.query.ndim != 2:
        raise ValueError(
            f"tokens, key and query have shapes {data.vectors.shape}, "
            f"{data.key.shape}, {data.query.shape}: all must have two axes "
            "(tokens × embed, samples × keys, samples × queries)."
        )
    count, samples = len(data.vectors), len(data.key)
    _check_shapes(data, samples)
    for name, index in (
        ("key", np.asarray(data.key)),
        ("query", np.asarray(data.query)),
    ):
        if index.size and not (int(index.min()) >= 0 and int(index.max()) < count):
            raise ValueError(
                f"{name} has entries from {int(index.min())} to {int(index.max())}; "
                f"they must be rows of tokens, 0 to {count - 1}."
            )
    if len(data.names) != count:
        raise ValueError(f"There are {len(data.names)} names for {count} tokens.")
    _check_masses(data)
    _check_columns(data)
    _check_scale(data)


def _check_shapes(data: Sequences, samples: int) -> None:
    shapes = {
        "mass": data.key.shape,
        "query": (samples, data.query.shape[1]),
        "query_weight": data.query.shape,
        "label": (samples,),
        "probability": (samples,),
        "group": (samples,),
    }
    if data.payload is not None:
        shapes["payload"] = data.key.shape
    if data.mask is not None:
        shapes["mask"] = (data.query.shape[1], data.key.shape[1])
    for name, shape in shapes.items():
        if getattr(data, name).shape != shape:
            raise ValueError(
                f"{name} has shape {getattr(data, name).shape}; it must have {shape}."
            )
    if samples == 0:
        raise ValueError("There are no samples: give at least one.")


def _check_masses(data: Sequences) -> None:
    mass, probability = np.asarray(data.mass), np.asarray(data.probability)
    if mass.min() < 0:
        raise ValueError(f"The smallest mass is {mass.min()}: use >= 0.")
    if not (mass.sum(axis=1) > 0).all():
        raise ValueError("A sample has no key of positive mass: drop that sample.")
    if data.mask is not None:
        seen = mass @ np.asarray(data.mask).T > 0
        if not seen.all():
            raise ValueError(
                "The mask leaves a query without any key of positive mass: let every "
                "query see one at least, such as its own."
            )
    total = float(probability.sum())
    # A sum of n probabilities in float64 is right to about n ulps.
    if abs(total - 1) > 1e-15 * (len(probability) + 10):
        raise ValueError(
            f"The probabilities sum to {total!r}, not to 1: divide them by their sum."
        )
    if probability.min() < 0:
        raise ValueError("A probability is negative: use numbers >= 0.")


def _check_columns(data: Sequences) -> None:
    if data.columns is None:
        return
    columns, count = np.asarray(data.columns), len(data.vectors)
    if columns.ndim != 2 or len(columns) != count:
        raise ValueError(
            f"columns has shape {columns.shape}; it must have two axes and a row for "
            f"each of the {count} tokens. Leave it out to use the tokens' coordinates."
        )
    if not np.isfinite(columns).all():
        raise ValueError("columns is not finite everywhere: fix it first.")


def _check_scale(data: Sequences) -> None:
    if data.scale is None:
        return
    scale, count = np.asarray(data.scale), len(data.vectors)
    if scale.shape != (count,) or not np.isfinite(scale).all():
        raise ValueError(
            f"scale has shape {scale.shape}; it must hold a finite number for each of "
            f"the {count} tokens. Leave it out to use the tokens as they are."
        )


class Task(Protocol):
    """A distribution of data, as a frozen dataclass.

    One that inherits from it needs `sequences` alone: its data are the same for every
    seed, without symmetry and without test samples, unless it says otherwise.
    """

    @property
    def random(self) -> bool:
        """Whether the data depend on the seed."""
        return False

    @property
    def symmetry(self) -> Symmetry | None:
        """The symmetry of which the data hold one representative per orbit."""
        return None

    def sequences(self, *, key: Key | None = None) -> Sequences:
        """The samples."""
        ...

    def test_sequences(self, *, key: Key | None = None) -> Sequences | None:
        """Samples to test on, over the same vocabulary; `None` where there are none."""
        return None
