"""Double precision, asked for explicitly and never at import."""

from contextlib import AbstractContextManager

import jax
import jax.numpy as jnp


def precise() -> AbstractContextManager[None]:
    """A context in which JAX computes in float64; the caller's setting comes back.

    !!! example
        ```python
        with attnflow.precise():
            data = attnflow.MixtureTask().sequences()
        ```
    """
    return jax.enable_x64(True)


def require_precise() -> None:
    """Raise where JAX computes in float32: exactness would be lost without a word."""
    if jnp.zeros(()).dtype != jnp.float64:
        raise RuntimeError(
            "JAX computes in float32 here, in which reduced forms are not exact. Call "
            "this inside `with attnflow.precise():`, or set jax_enable_x64."
        )
