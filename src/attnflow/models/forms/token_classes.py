"""Joint tables over tokens, and over classes of tokens that move alike.

The two tables of next-token prediction are free matrices: `scores` Z with a row per
query and `values` Y with a row of output logits per token. Only rows of queries in Z
and rows of contextual tokens in Y ever move. Tokens with equal probabilities in every
class and equal initial rows move alike under every rule that treats coordinates alike
(flow, descent, momentum, Adam), and so do the outputs that nobody predicts. One row or
column then stands for all of them, with its multiplicity in l2 norms, softmaxes and
the gradient's metric.

| form | rows of Y, columns of Z | columns of Y | exact for |
|---|---|---|---|
| `joint` | all tokens | all tokens | everything |
| `active` | tokens that occur | all tokens | everything |
| `merged-outputs` | tokens that occur | next tokens, all others | equal columns |
| `token-classes` | classes of tokens | next tokens, all others | also equal rows |
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import equinox as eqx
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from attnflow.data.sequence_classes import SequenceClasses
from attnflow.data.token_sequences import on_device

TableForm = Literal["joint", "active", "merged-outputs", "token-classes"]
# Two tables of this many tokens are 400 MB, and a step is a second.
LARGEST_JOINT = 5000


class TokenFrame(eqx.Module):
    """Where the numbers of each class stand in the two tables.

    Rows of `support` that are shorter than others are filled up with places of mass 0.
    `idle` is, for each query, log Σ e^z over the tokens that have no row; `whole` says
    that every row and column is a single token.
    """

    support: Int[Array, "classes support"]
    mass: Float[Array, "classes support"]
    query: Int[Array, " classes"]
    query_row: Int[Array, " classes"]
    label: Int[Array, " classes"]
    weight: Float[Array, " rows"]
    column_weight: Float[Array, " columns"]
    idle: Float[Array, " queries"]
    whole: bool = eqx.field(static=True)

    @property
    def queries(self) -> int:
        """How many rows the scores have."""
        return len(self.idle)

    @property
    def classes(self) -> int:
        """K, the number of classes."""
        return self.support.shape[0]

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """The shapes of both tables."""
        rows, columns = len(self.weight), len(self.column_weight)
        return {"scores": (self.queries, rows), "values": (rows, columns)}

    @property
    def support_weight(self) -> Float[Array, "classes support"]:
        """Multiplicities at the places of each class."""
        return self.weight[self.support]

    def zeros(self) -> dict[str, Float[Array, "_ _"]]:
        """Both tables at zero."""
        return on_device({n: np.zeros(shape) for n, shape in self.shapes.items()})


@dataclass(frozen=True)
class TokenClassForm:
    """A frame, and which kinds of tokens its rows and columns stand for.

    - `rows`, `columns`, `queries`: a kind for each row and column of Y and row of Z,
      the first of those that it stands for.
    - `row_of`, `column_of`, `query_of`: for each kind its index; −1 where it has none.
    """

    name: TableForm
    frame: TokenFrame
    rows: np.ndarray
    columns: np.ndarray
    queries: np.ndarray
    row_of: np.ndarray
    column_of: np.ndarray
    query_of: np.ndarray

    def labels(self, task: SequenceClasses) -> dict[str, tuple[str, ...]]:
        """Names of classes, queries, rows and columns; `task` as the form has it."""
        names = np.array(task.kind_names)
        classes = tuple(str(names[kind]) for kind in task.next_token)
        return {
            "class": classes,
            "other_class": classes,
            "query": tuple(names[self.queries].tolist()),
            "token": tuple(names[self.rows].tolist()),
            "output": tuple(names[self.columns].tolist()),
        }

    def with_idle(self, scores: np.ndarray) -> "TokenClassForm":
        """The form for scores over all kinds that do not begin at zero."""
        unseen = np.asarray(scores)[np.ix_(self.queries, self.row_of < 0)]
        idle = on_device(np.logaddexp.reduce(unseen, axis=1))
        return replace(self, frame=eqx.tree_at(lambda f: f.idle, self.frame, idle))

    def take(self, tables: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Tables over all kinds, on the rows and columns that are kept."""
        values = np.asarray(tables["values"])[np.ix_(self.rows, self.columns)]
        scores = np.asarray(tables["scores"])[np.ix_(self.queries, self.rows)]
        return {"scores": on_device(scores), "values": on_device(values)}

    def spread(self, state: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
        """The tables over all kinds; zero where nothing is kept."""
        values = np.asarray(state["values"])[np.ix_(self.row_of, self.column_of)]
        scores = np.asarray(state["scores"])[np.ix_(self.query_of, self.row_of)]
        values = np.where(self.row_of[:, None] >= 0, values, 0.0)
        kept = (self.query_of[:, None] >= 0) & (self.row_of >= 0)
        return {"scores": np.where(kept, scores, 0.0), "values": values}


def token_form(
    name: TableForm, task: SequenceClasses, *, residual: bool = False
) -> TokenClassForm:
    """The tables of a task in one of the forms; `residual` keeps the queries' rows."""
    if name == "joint":
        task = spell_out(task)
    everything = np.arange(task.kinds)
    occurring = np.array(task.table.any(axis=0))
    if residual:
        occurring[list(task.query)] = True
    row_of = {
        "joint": lambda: everything,
        "active": lambda: _numbered(occurring),
        "merged-outputs": lambda: _numbered(occurring),
        "token-classes": lambda: _alike(task, occurring, residual=residual),
    }[name]()
    whole = name in ("joint", "active")
    columns = everything if whole else _predicted(task)
    is_query = np.isin(everything, task.query)
    query_of = everything if name == "joint" else _numbered(is_query)
    return TokenClassForm(
        name=name,
        frame=_frame(task, row_of, columns, query_of),
        rows=_first(row_of),
        columns=_first(columns),
        queries=_first(query_of),
        row_of=row_of,
        column_of=columns,
        query_of=query_of,
    )


def spell_out(task: SequenceClasses) -> SequenceClasses:
    """The task with a kind for every single token."""
    if task.vocabulary > LARGEST_JOINT:
        raise ValueError(
            f"The vocabulary has {task.vocabulary} tokens, and tables over all pairs "
            f"are kept up to {LARGEST_JOINT}: use form='token-classes'."
        )
    if not task.multiplicity:
        return task
    start = np.concatenate([[0], np.cumsum(task.counts)])
    table = np.repeat(task.table, task.counts, axis=1)
    kinds = np.repeat(np.arange(task.kinds), task.counts)
    copy = np.arange(len(kinds)) - start[kinds]
    names = [
        f"{task.kind_names[k]}#{i}" if task.counts[k] > 1 else task.kind_names[k]
        for k, i in zip(kinds, copy, strict=True)
    ]
    return SequenceClasses(
        probability=tuple(map(tuple, table.tolist())),
        query=tuple(int(start[k]) for k in task.query),
        next_token=tuple(int(start[k]) for k in task.next_token),
        names=tuple(names),
    )


def _numbered(kept: np.ndarray) -> np.ndarray:
    return np.where(kept, np.cumsum(kept) - 1, -1)


def _first(index_of: np.ndarray) -> np.ndarray:
    """For each index the first kind that has it."""
    indices, first = np.unique(index_of, return_index=True)
    return first[indices >= 0]


def _alike(
    task: SequenceClasses, occurring: np.ndarray, *, residual: bool
) -> np.ndarray:
    """Kinds with equal probabilities in every class share an index."""
    indices: dict[tuple[int, bytes], int] = {}
    index_of = np.full(task.kinds, -1)
    for kind in np.flatnonzero(occurring):
        alone = kind if residual and kind in task.query else -1
        probabilities = (int(alone), task.table[:, kind].tobytes())
        index_of[kind] = indices.setdefault(probabilities, len(indices))
    return index_of


def _predicted(task: SequenceClasses) -> np.ndarray:
    """A column for each next token, and one for all other outputs."""
    labels = list(dict.fromkeys(task.next_token))
    column_of = np.full(task.kinds, len(labels))
    column_of[labels] = np.arange(len(labels))
    return column_of


def _frame(
    task: SequenceClasses,
    row_of: np.ndarray,
    column_of: np.ndarray,
    query_of: np.ndarray,
) -> TokenFrame:
    rows = [np.unique(row_of[np.flatnonzero(p)]) for p in task.table]
    first = _first(row_of)
    widest = max(map(len, rows))
    support = np.zeros((task.classes, widest), np.int64)
    mass = np.zeros((task.classes, widest))
    for n, row in enumerate(rows):
        support[n, : len(row)] = row
        mass[n, : len(row)] = task.table[n, first[row]]
    query, idle = list(task.query), task.counts[row_of < 0].sum()
    log_idle = math.log(idle) if idle else -math.inf
    weight, column_weight = _weights(task, row_of), _weights(task, column_of)
    return TokenFrame(
        support=on_device(support),
        mass=on_device(mass),
        query=on_device(query_of[query]),
        query_row=on_device(np.maximum(row_of[query], 0)),
        label=on_device(column_of[list(task.next_token)]),
        weight=weight,
        column_weight=column_weight,
        # Of scores at zero: the logarithm of how many tokens have no row.
        idle=on_device(np.full(int(query_of.max()) + 1, log_idle)),
        whole=all(bool((np.asarray(x) == 1).all()) for x in (weight, column_weight)),
    )


def _weights(task: SequenceClasses, index_of: np.ndarray) -> Array:
    kept = index_of >= 0
    counts = task.counts[kept].astype(float)
    return on_device(np.bincount(index_of[kept], counts))
