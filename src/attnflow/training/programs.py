"""How programs are compiled: soon where they run for a moment, well where for long.

XLA's time for a program is seconds, that of most runs milliseconds. Options of the
compiler change last digits, so that the choice depends on the sizes of arrays and on
the number of steps, and on nothing else: the same run is always compiled alike.
"""

from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree


class Effort(Enum):
    """What the compiler may take; CPU seconds of two programs on one core.

    - `LEAST`: loops as they are written (0.14 s for the descent of `mixture/figure1`,
      1.0 s for its flow); code takes up to twice as long.
    - `LESS`: older emitters of fused loops (0.5 s, 2.0 s); small flows take 1.6 times
      as long, descents no longer.
    - `FULL`: as JAX does by itself (1.0 s, 3.5 s).
    """

    LEAST = (
        ("xla_cpu_use_fusion_emitters", False),
        ("xla_backend_optimization_level", 0),
    )
    LESS = (("xla_cpu_use_fusion_emitters", False),)
    FULL = ()


class Program:
    """A function that is compiled by the shapes of its arguments, with some effort.

    !!! example
        ```python
        kernels = Program(lambda system: system.kernel())
        kernels(Effort.LEAST, system)
        ```
    """

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.compiled = cache(self._compiled)

    def __call__(self, effort: Effort, *args: PyTree) -> Any:
        """The value of the function."""
        return self.compiled(effort)(*args)

    def _compiled(self, effort: Effort) -> Any:
        # Other backends have options of their own.
        ours = jax.default_backend() == "cpu"
        options = dict(effort.value) if ours else {}
        # Equinox hands on every option of jax.jit, and declares some of them.
        return eqx.filter_jit(self.function, compiler_options=options or None)  # pyright: ignore[reportCallIssue]


def size_of(*trees: PyTree) -> int:
    """How many numbers the arrays of PyTrees have."""
    return sum(int(np.size(leaf)) for leaf in jax.tree.leaves(trees))
