"""What a deep network is to training and to observables."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from jaxtyping import Array

Weights = dict[str, Any]
"""By part: `scores` are all key and query weights, `values` all others."""


def check_sizes(network: Any, *names: str) -> None:
    """Raise where one of these sizes of a network is there and not positive."""
    for name in names:
        size = getattr(network, name)
        if size is not None and size < 1:
            raise ValueError(f"{name} is {size}: use at least 1, as in {name}=1.")


class Look(NamedTuple):
    """What a network makes of samples.

    - `output`: a number for each sample, or a row of logits for each prediction.
    - `attention`: of each layer, `(samples, heads, queries, keys)`.
    """

    output: Array
    attention: tuple[Array, ...]


class Network(Protocol):
    """An architecture: a frozen dataclass without arrays."""

    @property
    def layers(self) -> int:
        """How many layers pay attention."""
        ...

    @property
    def heads(self) -> int:
        """How many heads each of them has."""
        ...

    def draw(self, stream: np.random.Generator) -> Weights:
        """Initial weights."""
        ...

    def look(self, weights: Weights, tokens: Array, key: Array | None = None) -> Look:
        """What the network makes of samples; `key` is for what training drops."""
        ...
