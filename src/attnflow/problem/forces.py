"""Forces: minus the gradient of the loss by pair scores and values.

With `p` the attention, `c_{n,h}` the pull of the loss on head h of sample n (minus the
derivative of the mean loss by that head's output), `ω_q` the query weights and
`v̄_q = Σ_k p(k|q) v_k`,

    force on score (q, k)  =  c · ω_q · p(k|q) · (v_k − v̄_q)
    force on value k       =  c · Σ_q ω_q p(k|q)

The same in (sign, log-magnitude) form never underflows: the pull of a well-fitted
sample is exp(−margin), whose logarithm is known without taking the exponential.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow._types import Pairs
from attnflow.data import Sequences
from attnflow.problem.attention import pooled
from attnflow.problem.base import Problem


class SignedLog(NamedTuple):
    """A number as `sign · exp(log)`; zero has sign 0 and log −inf."""

    sign: Array
    log: Array


class LogForces(NamedTuple):
    """Forces on pair scores and on values, as signs and log-magnitudes."""

    scores: SignedLog
    values: SignedLog


def forces(problem: Problem, pairs: Pairs, data: Sequences) -> Pairs:
    """Minus the gradient of the mean loss by the pair scores and the values."""
    unit, heads = _unit_forces(problem, pairs, data)
    output = problem.readout(heads)
    sign, log = problem.loss.pull(output, data.label)
    pull = data.probability * sign * jnp.exp(log)
    return Pairs(
        scores=unit.scores * pull[:, None, None, None],
        values=unit.values * pull[:, None, None],
    )


def log_forces(problem: Problem, pairs: Pairs, data: Sequences) -> LogForces:
    """The forces as signs and log-magnitudes, exact where the forces underflow."""
    unit, heads = _unit_forces(problem, pairs, data)
    sign, log = problem.loss.pull(problem.readout(heads), data.label)
    log = log + jnp.log(data.probability)

    def signed(force: Array) -> SignedLog:
        shape = (-1,) + (1,) * (force.ndim - 1)
        return SignedLog(
            jnp.sign(force) * sign.reshape(shape),
            jnp.log(jnp.abs(force)) + log.reshape(shape),
        )

    return LogForces(signed(unit.scores), signed(unit.values))


def _unit_forces(
    problem: Problem, pairs: Pairs, data: Sequences
) -> tuple[Pairs, Float[Array, "samples heads"]]:
    """Derivatives of each sample's output by its own pair scores and values."""
    probability = problem.attention(pairs, data)
    heads, attended = pooled(probability, pairs.values, data.query_weight)
    slope = problem.readout.slope(heads)
    weighted = (
        probability * (slope[:, :, None] * data.query_weight[:, None, :])[..., None]
    )
    spread = pairs.values[:, :, None, :] - attended[..., None]
    return (
        Pairs(
            scores=problem.score_scale * weighted * spread,
            values=weighted.sum(axis=2),
        ),
        heads,
    )
