"""Limits of a descent's steps: linear stability, and Adam's ε.

A learning rate beyond linear stability is reported before the descent begins, an ε that
outweighs the gradients after it. At the initial state of every seed, and for the first
stage, the curvature that descent meets is the tangent kernel's: at the outputs as they
are, and as it would be with every output at 0, which samples pass on their way from
wrong to right (there the logistic loss is the sharpest). The larger of the two sets the
threshold.
"""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from attnflow.experiments.course import Axes, Variable
from attnflow.models.systems import Training
from attnflow.observables.curvature import (
    gauss_newton_sharpness,
    output_curvature,
    tangent_kernel,
)
from attnflow.observables.curvature.kernel import is_small, require_kernel
from attnflow.training import Course, Stage
from attnflow.training.programs import Effort, Program, put
from attnflow.training.rules import GradientDescent, Momentum, Rule, per_part
from attnflow.training.scaled_numbers import earliest

Known = GradientDescent | Momentum


class LearningRateWarning(UserWarning):
    """The learning rate lies beyond the threshold of linear stability."""


class EpsilonWarning(UserWarning):
    """Adam's ε outweighs the gradients, so that updates are no longer Adam's own."""


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

    def variables(self) -> dict[str, Variable]:
        """Both sharpnesses and the threshold, by seed."""
        initial = {"about": "Gauss–Newton sharpness of the initial state"}
        passing = {"about": "the same with every output at 0, as samples pass it"}
        limit = {
            "about": "largest learning rate of linear stability at the start",
            "learning_rate": self.rate,
        }
        return {
            "sharpness_at_start": ("seed", self.sharpness, initial),
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
    stage: Stage, system: Training, axes: Axes, state: PyTree
) -> RateLimit | str:
    """The limit of the stage's learning rate at the initial states, or why it has none.

    `system`, `axes` and `state` are stacked over seeds, as `train` takes them.
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
    # Weight decay adds its coefficient to every curvature; with several coefficients
    # this is a bound.
    used = used + max(shares[name] * r.weight_decay for name, r in known.items())
    rate = max(rule.learning_rate for rule in known.values())
    with np.errstate(divide="ignore"):
        return RateLimit(sharpness, at_zero, rate, rate / used)


def swamping(course: Course, rules: Iterable[Rule]) -> dict[str, Variable]:
    """The step at which ε outweighed gradients by seed, as a variable; a warning."""
    epsilon = max((getattr(rule, "epsilon", 0.0) for rule in rules), default=0.0)
    steps = [step for step in course.swamped if step is not None]
    if not steps or not epsilon:
        return {}
    first = earliest(steps)
    met = first >= 0
    if met.any():
        warnings.warn(
            f"Adam's epsilon {epsilon:g} outweighs the root of the second moment in "
            f"more than half of some weight's coordinates from step "
            f"{int(first[met].min())} on ({int(met.sum())} of {len(met)} seeds): from "
            "there on it decides how far weights move. Use epsilon=0 to see Adam "
            "itself; gradients do not underflow here.",
            EpsilonWarning,
            stacklevel=5,
        )
    about = {
        "about": "first step at which epsilon outweighs half of some weight's gradients"
    }
    return {"epsilon_step": ("seed", np.where(met, first, np.nan), about)}


def _sharpness(
    system: Training, axes: Axes, state: PyTree, rates: Mapping[str, float] | None
) -> tuple[np.ndarray, np.ndarray]:
    """By seed: at the outputs as they are, and at 0."""
    if is_small(system):
        # Rates are arguments of the compiled function: a sweep compiles once.
        traced = None
        if rates is not None:
            traced = {name: jax.device_put(rate) for name, rate in rates.items()}
        kernel, curvature = _kernels(Effort.LEAST, system, axes, state, traced)
        both = _top(np.asarray(kernel)[:, None], np.sqrt(np.asarray(curvature)))
        return both[:, 0], both[:, 1]
    pairs = []
    # On the host, where slicing an array compiles nothing.
    states = jax.tree.map(np.asarray, state)
    for number in range(len(jax.tree.leaves(state)[0])):
        member = _of_seed(system, axes.axes, number)
        first = jax.tree.map(lambda x, number=number: put(x[number]), states)
        zero = put(np.zeros(member.data.label.shape))
        pairs.append(
            (
                float(gauss_newton_sharpness(member, first, rates=rates)),
                float(gauss_newton_sharpness(member, first, rates=rates, outputs=zero)),
            )
        )
    both = np.array(pairs)
    return both[:, 0], both[:, 1]


def _kernels_of_seeds(
    system: Training, axes: Axes, state: PyTree, rates: Mapping[str, Array] | None
) -> tuple[Array, Array]:
    def kernel_and_curvature(system: Training, state: PyTree) -> tuple[Array, Array]:
        initial = output_curvature(system, state)
        passing = output_curvature(system, state, jnp.zeros_like(initial))
        kernel = tangent_kernel(system, state, rates=rates)
        return kernel, jnp.stack([initial, passing])

    in_axes = (axes.tree(system), 0)
    return jax.vmap(kernel_and_curvature, in_axes=in_axes)(system, state)


# Computed once for each run: compilation takes most of the time.
_kernels = Program(_kernels_of_seeds)


def _top(kernel: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Top eigenvalues of `H^½ K H^½` on the host, where they need no compiling."""
    matrix = roots[..., :, None] * kernel * roots[..., None, :]
    fine = np.isfinite(matrix.sum(axis=(-2, -1)))
    top = np.linalg.eigvalsh(np.where(fine[..., None, None], matrix, 0.0))[..., -1]
    return np.where(fine, top, np.nan)


def _of_seed(system: Training, axes: tuple[int | None, ...], number: int) -> Training:
    leaves, tree = jax.tree.flatten(system)
    rows = [
        leaf if axis is None else put(np.asarray(leaf)[number])
        for leaf, axis in zip(leaves, axes, strict=True)
    ]
    return jax.tree.unflatten(tree, rows)


def stable_step(rule: GradientDescent | Momentum) -> float:
    """The largest `learning_rate · λ` at which a rule is stable on a quadratic.

    2 for gradient descent, `2 (1 + β)` with momentum β, and `2 (1 + β) / (1 + 2 β)`
    with Nesterov's: there the iteration has the eigenvalue −1.
    """
    if isinstance(rule, GradientDescent):
        return 2.0
    heavy = 2 * (1 + rule.momentum)
    return heavy / (1 + 2 * rule.momentum) if rule.nesterov else heavy
