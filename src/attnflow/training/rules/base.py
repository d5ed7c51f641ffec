"""Gradient flow as a record, and what rules share: a pace, and checks of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from jaxtyping import Array

from attnflow.training.rules.schedules import AbstractSchedule

# What a rule needs to know of the weights beside the entries of a gradient: how long
# the whole gradient is, or which entries make up a matrix.
Sees = Literal["entries", "length", "matrices"]


class AbstractPaced:
    """A rule whose learning rate follows a schedule, if it has one."""

    schedule: AbstractSchedule | None

    def pace(self, step: Array) -> Array | float:
        """By how much the learning rate is multiplied at a step."""
        return 1.0 if self.schedule is None else self.schedule(step)


def check_positive(name: str, value: float) -> None:
    """Raise where a number is not positive."""
    if not value > 0:
        raise ValueError(f"{name} is {value!r}: it must be positive, as in {name}=0.1.")


def check_not_negative(name: str, value: float) -> None:
    """Raise where a number is negative, or none."""
    if not value >= 0:
        raise ValueError(
            f"{name} is {value!r}: it must not be negative. Use {name}=0 for none."
        )


def check_known(name: str, value: str, known: Sequence[str]) -> None:
    """Raise where a text is none of those that are known."""
    if value not in known:
        raise ValueError(f"{name} is {value!r}: use {' or '.join(map(repr, known))}.")


def check_fraction(name: str, value: float) -> None:
    """Raise where a number does not lie in [0, 1)."""
    if not 0 <= value < 1:
        raise ValueError(f"{name} is {value}: it must lie in [0, 1). Use {name}=0.9.")


@dataclass(frozen=True)
class Flow:
    """Gradient flow, `dθ/dt = −∇L(θ)`, solved adaptively.

    **Arguments:**

    - `rtol`, `atol`: local error per step, `rtol·|θ| + atol`. `atol` must lie far
      below the smallest entry that matters (a squared initial scale, say).
    - `clock`: `log` integrates in `s = log(1 + t / scale)`, so that steps grow with t
      beyond the `scale`.
    - `solver`: `dopri8` or `tsit5` (cheaper to compile).
    - `max_steps`: solver steps per training stage.
    - `interpolate`: record between steps by the solver's interpolant, which is of
      lower order (1e-11 where steps are good to 1e-15), instead of stepping onto
      every recorded time.
    """

    rtol: float = 1e-10
    atol: float = 1e-16
    clock: Literal["linear", "log"] = "linear"
    scale: float = 1.0
    solver: Literal["dopri8", "tsit5"] = "dopri8"
    max_steps: int = 200_000
    interpolate: bool = False
    name: ClassVar[str] = "gradient flow"
    equivariant: ClassVar[bool] = True
    sees: ClassVar[Sees] = "entries"
    memoryless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("rtol", self.rtol)
        check_positive("atol", self.atol)
        check_positive("scale", self.scale)
        check_positive("max_steps", self.max_steps)
        check_known("clock", self.clock, ("linear", "log"))
        check_known("solver", self.solver, ("dopri8", "tsit5"))
