"""The Hessian of the training loss over all trained weights, at any width.

In orthonormal coordinates (see `local_parts.py`) it is one finite block, the
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
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.forms import (
    AbstractFrame,
    CoordinateForm,
    PromptFrame,
    State,
    TokenForm,
)
from attnflow.models.forms.base import PARTS
from attnflow.models.forms.frames import AbstractHeadFrame
from attnflow.models.forms.scores import MergedWeights
from attnflow.models.forms.shared import SharedForm
from attnflow.models.forms.weights import ScoreWeights
from attnflow.models.forms.widths import UNKNOWN, Widths
from attnflow.models.problem import Problem
from attnflow.models.systems import Training
from attnflow.models.tables import Tables
from attnflow.observables.curvature.kernel import refuse_quotient
from attnflow.observables.curvature.lanczos import DENSE_SIZE, top_curvature
from attnflow.observables.curvature.local import local_part
from attnflow.observables.curvature.local_parts import (
    AbstractLocalPart,
    Span,
    span_of_tokens,
)
from attnflow.schema.fields import WEIGHTS
from attnflow.schema.settings import part_of
from attnflow.training import require_precise


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
    span: Span | None
    shared: bool = eqx.field(static=True)

    def origin(self) -> dict[str, Array]:
        """The step that goes nowhere."""
        return {name: part.origin() for name, part in self.parts.items()}

    def loss(self, steps: dict[str, Array]) -> Float[Array, ""]:
        """The training loss after steps."""
        moved = {name: self._table(name, steps[name]) for name in self.parts}
        pairs = self.frame.pairs(Tables(**self.fixed, **moved))
        return jnp.sum(self.probability * self.problem.losses(pairs, self.data))

    def _table(self, name: str, step: Array) -> Array:
        """A table after a step, as the frame takes it."""
        table = self.parts[name].table(step)
        if name == "scores":
            # Heads may share one block.
            table = jnp.broadcast_to(table, (self.problem.heads, *table.shape[1:]))
        if self.span is None:
            return table
        table = table @ self.span.root.T
        return self.span.root @ table if name == "scores" else table

    def repeated(self, forces: Tables) -> tuple[Array, Array]:
        """Eigenvalues on directions that weights do not reach, and their numbers."""
        sizes, counts = [], []
        for name, part in self.parts.items():
            force = getattr(forces, name)
            if name == "scores" and self.shared:
                force = force.sum(axis=0, keepdims=True)
            if self.span is not None:
                force = force @ self.span.root
                force = self.span.root.T @ force if name == "scores" else force
            each, count = part.repeated(force)
            sizes.append(each)
            counts.append(jnp.full(len(each), count))
        return jnp.concatenate(sizes), jnp.concatenate(counts)


def local_model(system: Training, state: State, widths: Widths) -> LocalModel:
    """The smallest plain problem with the curvature of this state.

    `widths` are those of parts whose state does not hold them.
    """
    require_precise()
    refuse_quotient(system.form.frame)
    form, span = system.form, _span(system)
    tables = form.tables(state)._asdict()
    parts = {}
    for name in PARTS:
        trained = [n for n in system.trained if part_of(n) == name]
        if not trained:
            continue
        part = local_part(form.part(name), state[name], getattr(widths, name))
        part = part if span is None else part.within(span)
        # The name of a part means all of it, or all that is not named beside it.
        every = name in trained
        parts[name] = part if every else part.only([WEIGHTS[n][1] for n in trained])
    fixed = {name: table for name, table in tables.items() if name not in parts}
    data = system.data, system.probability
    shared = isinstance(form, SharedForm)
    return LocalModel(form.frame, system.problem, *data, parts, fixed, span, shared)


def _span(system: Training) -> Span | None:
    """The span of tokens that are the basis; `None` where that is orthonormal."""
    frame = system.form.frame
    if isinstance(frame, PromptFrame):
        return None
    assert isinstance(frame, AbstractHeadFrame)
    if frame.orthonormal:
        return None
    if isinstance(system.form, TokenForm):
        return span_of_tokens(system.form.scores.gram)
    if isinstance(system.form, CoordinateForm):
        vectors = system.data.tokens[system.form.representatives]
    else:
        assert isinstance(system.form.scores, ScoreWeights | MergedWeights)
        vectors = system.form.scores.basis
    return span_of_tokens(vectors @ vectors.T)


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
    return Hessian(_block(model), *model.repeated(system.forces(state)))


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
    `2 / sharpness`. Of a large block only products are taken, by Lanczos' method to the
    tolerance of `lanczos.py`.
    """
    model = local_model(system, state, widths)
    repeated, multiplicity = model.repeated(system.forces(state))
    top = _top(model, DENSE_SIZE)
    return jnp.max(jnp.where(multiplicity > 0, repeated, -jnp.inf), initial=top)


@eqx.filter_jit
def _top(model: LocalModel, dense: int) -> Array:
    return top_curvature(model.loss, model.origin(), dense)


@eqx.filter_jit
def _block(model: LocalModel) -> Array:
    start, unravel = ravel_pytree(model.origin())
    block = jax.hessian(lambda x: model.loss(unravel(x)))(start)
    return (block + block.T) / 2
