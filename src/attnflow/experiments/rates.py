"""Learning rates beyond linear stability, told before a descent is begun.

At the initial state of every seed, and for the first stage, the curvature that descent
meets is the tangent kernel's: at the outputs as they are, and as it would be with every
output at 0, which samples pass on their way from wrong to right (there the logistic
loss is the sharpest). The larger of the two sets the threshold.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.models.systems import Training
from attnflow.observables.curvature import (
    gauss_newton_sharpness,
    output_curvature,
    stable_step,
    tangent_kernel,
)
from attnflow.observables.curvature.stability import is_small, require_kernel
from attnflow.training import Stage
from attnflow.training.rules import GradientDescent, Momentum, per_part

Known = GradientDescent | Momentum


class LearningRateWarning(UserWarning):
    """The learning rate lies beyond the threshold of linear stability."""


@dataclass(frozen=True)
class RateLimit:
    """What the initial states allow, by seed.

    - `sharpness`: at the outputs as they are; `at_zero`: with every output at 0.
    - `rate`: the largest learning rate of the stage's parts.
    - `threshold`: where `rate` would have to lie below, rates of parts in proportion.
    """

    sharpness: np.ndarray
    at_zero: np.ndarray
    rate: float
    threshold: np.ndarray

    def variables(self) -> dict[str, Any]:
        """What a run says of it, by seed."""
        own = {"about": "Gauss–Newton sharpness of the initial state"}
        passing = {"about": "the same with every output at 0, as samples pass it"}
        limit = {
            "about": "largest learning rate of linear stability at the start",
            "learning_rate": self.rate,
        }
        return {
            "sharpness_at_start": ("seed", self.sharpness, own),
            "sharpness_at_zero": ("seed", self.at_zero, passing),
            "rate_threshold": ("seed", self.threshold, limit),
        }

    def warn(self) -> None:
        """Warn where some seed's threshold lies below the rate."""
        beyond = int((self.rate > self.threshold).sum())
        if not beyond:
            return
        lowest = int(np.nanargmin(self.threshold))
        sharp, passing = self.sharpness[lowest], self.at_zero[lowest]
        where = "as outputs pass 0" if passing > sharp else "at the initial outputs"
        warnings.warn(
            f"The learning rate {self.rate:.4g} lies beyond "
            f"{self.threshold[lowest]:.4g}, up to which descent is linearly stable "
            "around the initial weights (the smallest threshold over seeds; exceeded "
            f"in {beyond} of {len(self.threshold)}; Gauss–Newton curvature "
            f"{max(sharp, passing):.4g} {where}). The run goes on, but need not follow "
            "the gradient flow; at a smaller rate it does.",
            LearningRateWarning,
            stacklevel=5,
        )


def rate_limit(
    stage: Stage, system: Training, axes: Any, state: Any
) -> RateLimit | str:
    """What the initial states allow the stage's rule, or why that is not known.

    **Arguments:**

    - `system`, `axes`, `state`: stacked over seeds, as `dynamics.train` takes them.
    """
    rules = per_part(stage.rule, stage.trains)
    known = {n: r for n, r in rules.items() if isinstance(r, Known)}
    if len(known) < len(rules):
        names = ", ".join(dict.fromkeys(rule.name for rule in rules.values()))
        return f"No threshold of linear stability is known for {names}."
    try:
        require_kernel(system)
    except ValueError as reason:
        return str(reason)
    sharpness, at_zero = _sharpness(system, axes, state, None)
    shares = {n: rule.learning_rate / stable_step(rule) for n, rule in known.items()}
    if len(set(shares.values())) == 1:
        used = np.maximum(sharpness, at_zero) * max(shares.values())
    else:
        used = np.maximum(*_sharpness(system, axes, state, shares))
    # Decay adds itself to every curvature; with several of them this is a bound.
    used = used + max(shares[name] * _decay(rule) for name, rule in known.items())
    rate = max(rule.learning_rate for rule in known.values())
    with np.errstate(divide="ignore"):
        return RateLimit(sharpness, at_zero, rate, rate / used)


def _decay(rule: Known) -> float:
    return rule.weight_decay if isinstance(rule, Momentum) else 0.0


def _sharpness(
    system: Training, axes: Any, state: Any, rates: Mapping[str, float] | None
) -> tuple[np.ndarray, np.ndarray]:
    """By seed: at the outputs as they are, and at 0."""
    if is_small(system):
        # Rates are arguments of the compiled function: a sweep compiles once.
        given = rates and {name: jnp.asarray(rate) for name, rate in rates.items()}
        kernel, curvature = _kernels(system, axes, state, given)
        both = _top(np.asarray(kernel)[:, None], np.sqrt(np.asarray(curvature)))
    else:
        each = [
            (_of_seed(system, axes.axes, i), jax.tree.map(lambda x, i=i: x[i], state))
            for i in range(len(jax.tree.leaves(state)[0]))
        ]
        both = np.array([[float(x) for x in _one(*pair, rates)] for pair in each])
    return both[:, 0], both[:, 1]


@eqx.filter_jit
def _kernels(
    system: Training, axes: Any, state: Any, rates: Any
) -> tuple[Array, Array]:
    def one(system: Training, state: Any) -> tuple[Array, Array]:
        own = output_curvature(system, state)
        passing = output_curvature(system, state, jnp.zeros_like(own))
        kernel = tangent_kernel(system, state, rates=rates)
        return kernel, jnp.stack([own, passing])

    return jax.vmap(one, in_axes=(axes.tree(system), 0))(system, state)


def _top(kernel: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Top eigenvalues of `H^½ K H^½` on the host, where they need no compiling."""
    matrix = roots[..., :, None] * kernel * roots[..., None, :]
    fine = np.isfinite(matrix.sum(axis=(-2, -1)))
    found = np.linalg.eigvalsh(np.where(fine[..., None, None], matrix, 0.0))[..., -1]
    return np.where(fine, found, np.nan)


def _one(system: Training, state: Any, rates: Any) -> tuple[Array, Array]:
    zero = jnp.zeros_like(system.data.label)
    return (
        gauss_newton_sharpness(system, state, rates=rates),
        gauss_newton_sharpness(system, state, rates=rates, outputs=zero),
    )


def _of_seed(system: Training, axes: tuple[int | None, ...], number: int) -> Training:
    leaves, tree = jax.tree.flatten(system)
    own = [
        leaf if axis is None else leaf[number]
        for leaf, axis in zip(leaves, axes, strict=True)
    ]
    return jax.tree.unflatten(tree, own)
