"""A trained prompt that asks in the place of the tokens."""

from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jaxtyping import Array

from attnflow.data.changed import AbstractChanged, refuse_columns, refuse_orbits
from attnflow.data.sequences import Sequences

NAME = "prompt"


@dataclass(frozen=True)
class PromptQuery(AbstractChanged):
    """Samples of another task, each read by one query: a vector that is trained.

    The prompt is a token p along a coordinate of its own, which is never a key. So
    `W_Q p` is a column that no other token sees: a free vector q, trained with the
    weights. The score of a key x is `⟨W_K x, q⟩`, or `⟨x, q⟩` for one merged matrix,
    where `q = W_KQ p` and keys have no weights at all. Every form follows it exactly.

    **Arguments:**

    - `task`: the other task, whose own queries are left out.
    - `length`: of p. The trained vector is `length` times a column that starts as the
      others do and follows the same rule, so that q learns `length²` times as fast.
    """

    task: Any
    length: float = 1.0

    def __post_init__(self) -> None:
        if not self.length > 0:
            raise ValueError(
                f"length is {self.length}: a prompt of no length asks nothing. Use 1."
            )
        refuse_orbits(self.task, "a prompt")

    def changed(self, data: Sequences, *, key: Array | None) -> Sequences:
        """The samples with the prompt as their only query."""
        refuse_columns(data, "a prompt")
        if NAME in data.names:
            raise ValueError(
                f"There is a token {NAME!r} already: wrap the task in one PromptQuery."
            )
        count, embed = data.vectors.shape
        vectors = np.zeros((count + 1, embed + 1))
        vectors[:count, :embed] = np.asarray(data.tokens)
        vectors[count, embed] = self.length
        samples = len(data.label)
        return replace(
            data,
            vectors=jax.device_put(vectors),
            scale=None,
            query=jax.device_put(np.full((samples, 1), count, np.int32)),
            query_weight=jax.device_put(np.ones((samples, 1))),
            names=(*data.names, NAME),
            shown=(*data.shown, count),
        )

    def changed_test(self, data: Sequences, *, key: Array | None) -> Sequences:
        """The same prompt asks test samples."""
        return self.changed(data, key=key)
