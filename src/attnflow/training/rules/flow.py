"""Gradient flow as a record."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from attnflow.training.rules.base import Sees, check_known, check_positive


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
