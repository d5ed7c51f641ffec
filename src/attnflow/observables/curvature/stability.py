"""Linear stability of descent: the sharpness of the tangent kernel, and what it allows.

Near weights θ the loss `Σ_n p_n l(f_n)` has the Hessian

    ∇²L = Jᵀ H J + Σ_n p_n l'_n ∇²f_n,     J = ∂f/∂θ,  H = diag(p_n l''_n),

whose first term is the Gauss–Newton curvature. Its eigenvalues other than zero are
those of the samples' matrix `H^½ K H^½` with the tangent kernel `K = J Jᵀ`, which any
form gives at every width. The second term vanishes as samples are fitted, and has small
entries at small initial weights.

On a quadratic of curvature λ, descent by the learning rate η shrinks what it descends
while `η λ` lies below a bound of the rule (`stable_step` of the experiments' limits);
beyond, it overshoots further at each step. With a rate η_p for every part, `η λ`
becomes the top eigenvalue of `H^½ (Σ_p η_p K_p) H^½`, with K_p the part's line of K.
"""

from contextlib import suppress

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from attnflow.models.forms import State
from attnflow.models.systems import Training
from attnflow.models.tables import Tables
from attnflow.observables.curvature.kernel import (
    Rates,
    is_small,
    output_curvature,
    own_force,
    require_kernel,
    table_rates,
    tangent_kernel,
)
from attnflow.schema.installation import scipy
from attnflow.training import require_precise
from attnflow.training.programs import Effort, Program, put


def gauss_newton_sharpness(
    system: Training,
    state: State,
    *,
    rates: Rates | None = None,
    outputs: Float[Array, " samples"] | None = None,
) -> Float[Array, ""]:
    """The top eigenvalue of `H^½ K H^½`, for a loss that is convex in the output.

    The kernel of few samples is written out, and any kernel inside `jit`; with a large
    one only products are taken, by Lanczos' method to rounding.

    **Arguments:**

    - `rates`: what each trained part's line of K is multiplied by; 1 without it.
    - `outputs`: where the samples' curvature `l''` is taken; the model's own outputs
      without it.
    """
    require_precise()
    require_kernel(system)
    traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(state))
    if traced or is_small(system):
        return _dense(system, state, rates, outputs)
    roots = _roots(Effort.LEAST, system, state, outputs)
    return put(_top_by_products(system, state, roots, rates))


@eqx.filter_jit
def _dense(
    system: Training, state: State, rates: Rates | None, outputs: Array | None
) -> Array:
    roots = jnp.sqrt(output_curvature(system, state, outputs))
    kernel = tangent_kernel(system, state, rates=rates)
    return jnp.linalg.eigvalsh(roots[:, None] * kernel * roots)[-1]


def _roots_of_curvature(system: Training, state: State, outputs: Array | None) -> Array:
    return jnp.sqrt(output_curvature(system, state, outputs))


def _top_by_products(
    system: Training, state: State, roots: Array, rates: Rates | None
) -> float:
    size = len(roots)

    def product(vector: np.ndarray) -> np.ndarray:
        flat = put(vector.reshape(-1))
        return np.asarray(_product(Effort.LESS, system, state, roots, rates, flat))

    start = np.random.default_rng(0).standard_normal(size)
    if not np.isfinite(product(start)).all():
        return float("nan")
    # scipy's types take the arguments of the class for those of its constructor.
    operator = scipy.sparse.linalg.LinearOperator(  # pyright: ignore[reportCallIssue]
        (size, size),
        matvec=product,  # pyright: ignore[reportCallIssue]
        dtype=np.float64,  # pyright: ignore[reportCallIssue]
    )
    return _largest_eigenvalue(operator, start)


BASES = (12, 20, 60)
"""Vectors that ARPACK keeps: as many as suffice where the top eigenvalue stands clear,
its own choice, and more for spectra that are flat at their top."""


def _largest_eigenvalue(
    operator: scipy.sparse.linalg.LinearOperator, start: np.ndarray
) -> float:
    """The largest eigenvalue, to rounding, in 13 products where 12 vectors suffice."""
    options = {"k": 1, "which": "LA", "v0": start, "tol": 0}
    for basis in BASES:
        with suppress(scipy.sparse.linalg.ArpackNoConvergence):
            kept = min(basis, len(start))
            return float(scipy.sparse.linalg.eigsh(operator, ncv=kept, **options)[0][0])
    return float("nan")


def _product_with_kernel(
    system: Training, state: State, roots: Array, rates: Rates | None, vector: Array
) -> Array:
    """`H^½ K H^½` times a vector: a force back to the tables, and their motion out."""

    def heads(tables: Tables) -> Array:
        pairs = system.form.frame.pairs(tables)
        return system.problem.head_outputs(pairs, system.data)

    tables = system.form.tables(state)
    outputs, back = jax.vjp(heads, tables)
    slope = system.problem.readout.slope(outputs, system.data.label)
    force = back(slope * (roots * vector)[:, None])[0]
    moved = Tables(*(_moved(system, state, rates, force, name) for name in PARTS))
    change = jax.jvp(heads, (tables,), (moved,))[1]
    return roots * (slope * change).sum(axis=1)


_roots, _product = Program(_roots_of_curvature), Program(_product_with_kernel)
PARTS = Tables._fields


def _moved(
    system: Training, state: State, rates: Rates | None, force: Tables, name: str
) -> Array:
    """How one table moves under its force; not at all where it is not trained."""
    table_force = getattr(force, name)
    if name not in system.trained:
        return jnp.zeros_like(table_force)
    rate = 1.0 if rates is None else rates[name]
    own = own_force(system.form, name, table_force)
    moved = table_rates(system.form.part(name), state[name], own[None])[0]
    return rate * jnp.broadcast_to(moved, table_force.shape)
