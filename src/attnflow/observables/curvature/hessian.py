"""The Hessian of the training loss over all trained weights, at any width.

In orthonormal coordinates (see `local.py`) it is one finite block, the
Hessian of the plain problem at the smallest equivalent width, beside copies of
`−[[0, D], [Dᵀ, 0]]` with D the force on a table, one for each direction of the hidden
space that the weights do not reach:

    spectrum = spectrum(block)  ∪  (width − rows) × {±σ_i(D_head)}
                                ∪  (value width − rows) × {±√g |z_head|}  ∪  {0, …}

where the values' copies exist for chains alone. The block has
`Σ_heads rows · 2r + …` rows, r the rank of the tokens and `rows ≤ min(width, 2r)`:
its size does not depend on widths or on the embedding.

At a kink of a readout there is no Hessian; the slope there is then the mean of both
sides', as autodiff has it.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.forms import AbstractFrame, State
from attnflow.models.problem import Problem
from attnflow.models.systems import Training
from attnflow.models.tables import Tables
from attnflow.observables.curvature.kernel import require_heads, require_whole_parts
from attnflow.observables.curvature.local import (
    UNKNOWN,
    AbstractLocalPart,
    Widths,
    local_part,
)
from attnflow.schema.installation import scipy
from attnflow.training import require_precise

# Up to this size the whole block costs no more than products with it (both 40 ms at
# 337 rows; 3 s against 50 ms at 521).
DENSE_SIZE = 350


class LocalModel(eqx.Module):
    """The training loss as a function of steps of the trained parts.

    It holds nothing of the form that it came from, so that states of every form and
    width share what is compiled.
    """

    frame: AbstractFrame
    problem: Problem
    data: Sequences
    probability: Float[Array, " samples"]
    parts: dict[str, AbstractLocalPart]
    fixed: dict[str, Array]

    def origin(self) -> dict[str, Array]:
        """The step that goes nowhere."""
        return {name: part.origin() for name, part in self.parts.items()}

    def loss(self, steps: dict[str, Array]) -> Float[Array, ""]:
        """The training loss after steps."""
        moved = {name: part.table(steps[name]) for name, part in self.parts.items()}
        pairs = self.frame.pairs(Tables(**self.fixed, **moved))
        return jnp.sum(self.probability * self.problem.losses(pairs, self.data))


def local_model(system: Training, state: State, widths: Widths) -> LocalModel:
    """The smallest plain problem with the curvature of this state.

    `widths` are those of parts whose state does not hold them.
    """
    require_precise()
    require_whole_parts(system)
    require_heads(system.form.frame)
    tables = system.form.tables(state)._asdict()
    parts = {
        name: local_part(system.form.part(name), state[name], getattr(widths, name))
        for name in system.trained
    }
    fixed = {name: table for name, table in tables.items() if name not in parts}
    return LocalModel(
        system.form.frame, system.problem, system.data, system.probability, parts, fixed
    )


class Hessian(NamedTuple):
    """A Hessian: a symmetric `block`, and eigenvalues ±`repeated` beside it.

    Each of the `repeated`, with either sign, has the `multiplicity` beside it (0 where
    the weights reach every direction, infinite at infinite width). All other
    eigenvalues of the full Hessian are zero.
    """

    block: Float[Array, "size size"]
    repeated: Float[Array, " pairs"]
    multiplicity: Float[Array, " pairs"]


class Spectrum(NamedTuple):
    """Eigenvalues that are not zero, largest first, and how often each occurs."""

    values: Float[np.ndarray, " eigenvalues"]
    multiplicity: Float[np.ndarray, " eigenvalues"]


def hessian(system: Training, state: State, widths: Widths = UNKNOWN) -> Hessian:
    """The Hessian of the training loss by all trained weights.

    **Arguments:**

    - `widths`: `widths_of(initial)`; plain weights need none.
    """
    model = local_model(system, state, widths)
    return Hessian(_block(model), *_repeated(model, system.forces(state)))


def hessian_spectrum(
    system: Training, state: State, widths: Widths = UNKNOWN
) -> Spectrum:
    """All eigenvalues of the full Hessian that are not zero to rounding.

    Multiplicities are floats, since they are infinite at infinite width. Equal
    eigenvalues of the block are listed one by one.
    """
    matrix = hessian(system, state, widths)
    if not jnp.isfinite(matrix.block).all():
        raise ValueError(
            "The Hessian is not finite: training has diverged. Take an earlier state."
        )
    of_block = np.linalg.eigvalsh(np.asarray(matrix.block))
    sizes = np.asarray(matrix.repeated)
    values = np.concatenate([of_block, sizes, -sizes])
    times = np.asarray(matrix.multiplicity)
    counts = np.concatenate([np.ones(len(of_block)), times, times])
    cut = len(of_block) * np.finfo(float).eps * np.abs(values).max(initial=0.0)
    kept = (np.abs(values) > cut) & (counts > 0)
    order = np.argsort(-values[kept], kind="stable")
    return Spectrum(values[kept][order], counts[kept][order])


def sharpness(
    system: Training, state: State, widths: Widths = UNKNOWN
) -> Float[Array, ""]:
    """The largest eigenvalue of the Hessian over all trained weights.

    Gradient descent is linearly stable where the learning rate is below
    `2 / sharpness`. A small block is decomposed whole, and any block inside `jit`; of a
    large one only products are taken, by Lanczos' method to rounding.
    """
    model = local_model(system, state, widths)
    repeated, multiplicity = _repeated(model, system.forces(state))
    size = ravel_pytree(model.origin())[0].size
    if size <= DENSE_SIZE or isinstance(repeated, Tracer):
        top = jnp.linalg.eigvalsh(_block(model))[-1]
    else:
        top = jnp.asarray(_top_by_products(model, size))
    return jnp.max(jnp.where(multiplicity > 0, repeated, -jnp.inf), initial=top)


def _repeated(model: LocalModel, forces: Tables) -> tuple[Array, Array]:
    """The eigenvalues on directions that weights do not reach, and their numbers."""
    parts = [part.repeated(getattr(forces, name)) for name, part in model.parts.items()]
    counts = [jnp.full(len(sizes), count) for sizes, count in parts]
    return jnp.concatenate([sizes for sizes, _ in parts]), jnp.concatenate(counts)


@eqx.filter_jit
def _block(model: LocalModel) -> Array:
    start, unravel = ravel_pytree(model.origin())
    block = jax.hessian(lambda x: model.loss(unravel(x)))(start)
    return (block + block.T) / 2


def _top_by_products(model: LocalModel, size: int) -> float:
    # scipy's types take the arguments of the class for those of its constructor.
    product = scipy.sparse.linalg.LinearOperator(  # pyright: ignore[reportCallIssue]
        (size, size),
        matvec=lambda v: np.asarray(_product(model, jnp.asarray(v).reshape(-1))),  # pyright: ignore[reportCallIssue]
        dtype=np.float64,  # pyright: ignore[reportCallIssue]
    )
    start = np.random.default_rng(0).standard_normal(size)
    if not np.isfinite(product.matvec(start)).all():
        return float("nan")
    return float(
        scipy.sparse.linalg.eigsh(product, k=1, which="LA", v0=start, tol=0)[0][0]
    )


@eqx.filter_jit
def _product(model: LocalModel, vector: Array) -> Array:
    """The Hessian's block times a vector."""
    start, unravel = ravel_pytree(model.origin())

    def slope(x: Array) -> Array:
        return jax.grad(lambda y: model.loss(unravel(y)))(x)

    return jax.jvp(slope, (start,), (vector,))[1]
