"""Forces: minus the gradient of the loss by pair scores and values.

With `p` the attention, `c_{n,h}` the pull of the loss on head h of sample n (minus the
derivative of the mean loss by that head's output), `ω_q` the query weights and
`v̄_q = Σ_k p(k|q) v_k`,

    force on score (q, k)  =  c · ω_q · p(k|q) · (v_k − v̄_q)
    force on value k       =  c · Σ_q ω_q p(k|q)

The same as `mantissa · exp(log)` neither underflows nor cancels: the pull of a
well-fitted sample is exp(−margin), whose logarithm is known without taking the
exponential; and `v_k − v̄_q = Σ_j p(j|q) (v_k − v_j)` has no term for k itself, so that
it is known where a softmax has all but put its whole mass on k.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.problem.attention import log_attention, pooled
from attnflow.models.problem.base import Problem, read_values
from attnflow.models.tables import Pairs
from attnflow.training.scaled_numbers import Scaled


class ScaledForces(NamedTuple):
    """Forces on pair scores and on values, each number with a scale of its own."""

    scores: Scaled
    values: Scaled


def forces(
    problem: Problem,
    pairs: Pairs,
    data: Sequences,
    *,
    normalised: bool = False,
    attention: Float[Array, "samples heads queries keys"] | None = None,
) -> Pairs:
    """Minus the gradient of the mean loss by the pair scores and the values.

    Where `normalised`, the pull of the sample that pulls hardest is 1: all signs are
    those of the gradient, and do not vanish with the loss. The attention may be known.
    """
    probability = problem.attention(pairs, data) if attention is None else attention
    values = read_values(pairs, data)
    heads, attended = pooled(probability, values, data.query_weight)
    slope = problem.readout.slope(heads)
    weighted = (
        probability * (slope[:, :, None] * data.query_weight[:, None, :])[..., None]
    )
    spread = values[:, :, None, :] - attended[..., None]
    sign, log = problem.loss.pull(problem.readout(heads), data.label)
    if normalised:
        log = log - jnp.where(data.probability > 0, log, -jnp.inf).max()
    pull = data.probability * sign * jnp.exp(log)
    return Pairs(
        scores=problem.score_scale * weighted * spread * pull[:, None, None, None],
        values=weighted.sum(axis=2) * pull[:, None, None],
    )


def scaled_forces(problem: Problem, pairs: Pairs, data: Sequences) -> ScaledForces:
    """The forces as mantissas and logarithms, right where the forces underflow."""
    log = log_attention(problem.score_scale * pairs.scores, data.mass)
    values = read_values(pairs, data)
    heads, _ = pooled(jnp.exp(log), values, data.query_weight)
    sign, pull = problem.loss.pull(problem.readout(heads), data.label)
    pull = (pull + jnp.log(data.probability))[:, None, None]
    slope = problem.readout.slope(heads) * sign[:, None]
    weight = slope[:, :, None] * data.query_weight[:, None, :]
    others, spread = _spread(log, values)
    # Queries that do not count must not set the scale of those that do.
    counted = jnp.where(data.query_weight[:, None, :, None] != 0, log, -jnp.inf)
    top = _finite_or_zero(counted.max(axis=2))
    read = (weight[..., None] * jnp.exp(counted - top[:, :, None, :])).sum(axis=2)
    return ScaledForces(
        scores=Scaled(
            problem.score_scale * weight[..., None] * spread,
            log + others + pull[..., None],
        ),
        values=Scaled(read, top + pull),
    )


def _spread(
    log: Float[Array, "samples heads queries keys"],
    values: Float[Array, "samples heads keys"],
) -> tuple[Array, Array]:
    """`Σ_j p(j|q) (v_k − v_j)` over the other keys, as a log scale and a mantissa."""
    own = jnp.eye(log.shape[-1], dtype=bool)
    other = jnp.where(own, -jnp.inf, log[..., None, :])
    top = other.max(axis=-1)
    part = jnp.exp(other - _finite_or_zero(top)[..., None])
    gap = values[:, :, None, :, None] - values[:, :, None, None, :]
    return top, (part * gap).sum(axis=-1)


def _finite_or_zero(log: Array) -> Array:
    return jnp.where(jnp.isfinite(log), log, 0.0)
