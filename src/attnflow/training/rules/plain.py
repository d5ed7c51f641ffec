"""Gradient descent, plain and with momentum."""

from dataclasses import dataclass
from typing import ClassVar

import optax

from attnflow.training.rules.base import (
    Paced,
    Sees,
    check_fraction,
    check_not_negative,
    check_positive,
)
from attnflow.training.rules.schedules import AbstractSchedule


@dataclass(frozen=True)
class GradientDescent(Paced):
    """`θ ← θ − learning_rate · ∇L(θ)`."""

    learning_rate: float
    schedule: AbstractSchedule | None = None
    name: ClassVar[str] = "gradient descent"
    equivariant: ClassVar[bool] = True
    sees: ClassVar[Sees] = "entries"
    memoryless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)

    def transformation(self) -> optax.GradientTransformation:
        """The update per unit of learning rate, up to its sign."""
        return optax.identity()


@dataclass(frozen=True)
class Momentum(Paced):
    """`u ← momentum · u + ∇L(θ) + weight_decay · θ`, `θ ← θ − learning_rate · u`."""

    learning_rate: float
    momentum: float = 0.9
    weight_decay: float = 0.0
    nesterov: bool = False
    schedule: AbstractSchedule | None = None
    name: ClassVar[str] = "momentum"
    equivariant: ClassVar[bool] = True
    sees: ClassVar[Sees] = "entries"
    memoryless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        check_fraction("momentum", self.momentum)
        check_not_negative("weight_decay", self.weight_decay)

    def transformation(self) -> optax.GradientTransformation:
        """The update per unit of learning rate, up to its sign."""
        trace = optax.trace(decay=self.momentum, nesterov=self.nesterov)
        if not self.weight_decay:
            # Adding zero times θ would read θ once more, which large tables feel.
            return trace
        return optax.chain(optax.add_decayed_weights(self.weight_decay), trace)
