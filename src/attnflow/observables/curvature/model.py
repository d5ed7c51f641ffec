"""The smallest plain problem with the curvature of a state."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.forms import AbstractFrame, State
from attnflow.models.problem import Problem
from attnflow.models.systems import Training
from attnflow.models.tables import Tables
from attnflow.observables.curvature.local import AbstractLocalPart
from attnflow.observables.curvature.parts import local_part
from attnflow.observables.curvature.samples import require_heads
from attnflow.observables.curvature.widths import Widths
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

    `widths` tells the widths of parts that do not hold their own.
    """
    require_precise()
    require_heads(system.form.frame)
    tables = system.form.tables(state)._asdict()
    parts = {
        name: local_part(system.form.part(name), state[name], getattr(widths, name))
        for name in system.trained
    }
    fixed = {name: table for name, table in tables.items() if name not in parts}
    return LocalModel(
        system.form.frame,
        system.problem,
        system.data,
        system.probability,
        parts,
        fixed,
    )
