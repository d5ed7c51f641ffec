"""The problem: what a loss sees of a model, and the forces with which it pulls on it.

All that data can see of a shallow transformer is two tables over the tokens, scores
and values; a `Problem` takes their entries at the positions of each sample and gives
outputs, losses and forces. It knows nothing of weights or of training. A readout and a
loss tell their slopes, a loss in the log domain, where no pull underflows.

Forces are minus the gradient of the loss by pair scores and values. With `p` the
attention, `c_{n,h}` the pull of the loss on head h of sample n (minus the derivative of
the mean loss by that head's output), `ω_q` the query weights and
`v̄_q = Σ_k p(k|q) v_k`,

    force on score (q, k)  =  c · ω_q · p(k|q) · (v_k − v̄_q)
    force on value k       =  c · Σ_q ω_q p(k|q)

Linear attention reads `Σ_k m_k s(q,k) v_k` for masses m, without a softmax: its forces
are `c · ω_q · m_k v_k` and `c · Σ_q ω_q m_k s(q,k)`.

Where attention has all but settled on a key r, `v_k − v̄_q` cancels. Rules that do not
see the size of a gradient still see its direction, so for them it is taken as
`(v_k − v_r) − Σ_j p(j|q) (v_j − v_r)`, in which r has no term of its own.

The same as `mantissa · exp(log)` neither underflows nor cancels: the pull of a
well-fitted sample is exp(−margin), whose logarithm is known without taking the
exponential; and `v_k − v̄_q = Σ_j p(j|q) (v_k − v_j)` has no term for k itself, so that
it is known where a softmax has all but put its whole mass on k.
"""

import abc
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.tables import Pairs
from attnflow.training.scaled_numbers import Scaled

Heads = Float[Array, "samples heads"]
Samples = Float[Array, " samples"]
PairScores = Float[Array, "samples heads queries keys"]
KeyValues = Float[Array, "samples heads keys"]
Mass = Float[Array, "samples keys"]
PairMass = Float[Array, "samples #heads queries keys"]
LAWS = ("softmax", "linear")


class AbstractReadout(eqx.Module):
    """The model's output as a function of its heads' outputs, with its slope.

    Labels are known to a readout, since that of several classes is their margin.
    """

    @property
    @abc.abstractmethod
    def head_names(self) -> tuple[str, ...]:
        """A name per head."""

    @abc.abstractmethod
    def __call__(self, heads: Heads, label: Samples) -> Samples:
        """The output of each sample."""

    @abc.abstractmethod
    def slope(self, heads: Heads, label: Samples) -> Heads:
        """The derivative of each output by each head's output."""


class Linear(AbstractReadout):
    """Linear readout, the sum of the heads' outputs: `f = Σ_h H_h`."""

    heads: int = 1

    @property
    def head_names(self) -> tuple[str, ...]:
        """A number per head."""
        return tuple(str(h) for h in range(self.heads))

    def __call__(self, heads: Heads, label: Samples) -> Samples:
        """The output of each sample."""
        return heads.sum(axis=1)

    def slope(self, heads: Heads, label: Samples) -> Heads:
        """One everywhere."""
        return jnp.ones_like(heads)


class ReluPair(AbstractReadout):
    """`f = max(H_+ + b, 0) − max(H_− + b, 0)`, with a fixed bias shared by the heads.

    At a kink the slope is 0, as in PyTorch.
    """

    bias: float = 0.5

    @property
    def head_names(self) -> tuple[str, ...]:
        """The head that adds, and the head that subtracts."""
        return ("+", "-")

    def __call__(self, heads: Heads, label: Samples) -> Samples:
        """The output of each sample."""
        active = jnp.maximum(heads + self.bias, 0.0)
        return active[:, 0] - active[:, 1]

    def slope(self, heads: Heads, label: Samples) -> Heads:
        """The derivative of each output by each head's output."""
        return jnp.where(heads + self.bias > 0, jnp.array([1.0, -1.0]), 0.0)


class Classes(AbstractReadout):
    """Softmax over C classes, as a margin: `f = H_y − log Σ_{c ≠ y} exp(H_c)`.

    Labels y are numbers of classes, 0 … `count` − 1, and every class has a head of its
    own, whose output is its logit. The logistic loss of this margin is the softmax
    cross-entropy of the logits, `log(1 + e^−f) = log Σ_c exp(H_c) − H_y`.
    """

    count: int = eqx.field(static=True, default=3)

    def __check_init__(self) -> None:
        if self.count < 2:
            raise ValueError(f"count is {self.count}: there are at least two classes.")

    @property
    def head_names(self) -> tuple[str, ...]:
        """The number of each class."""
        return tuple(str(c) for c in range(self.count))

    def __call__(self, heads: Heads, label: Samples) -> Samples:
        """The margin of each sample's class."""
        own = self._own(label)
        rest = jax.nn.logsumexp(jnp.where(own, -jnp.inf, heads), axis=1)
        return jnp.where(own, heads, 0.0).sum(axis=1) - rest

    def slope(self, heads: Heads, label: Samples) -> Heads:
        """1 for the own class, minus the softmax of the others for these."""
        own = self._own(label)
        share = jax.nn.softmax(jnp.where(own, -jnp.inf, heads), axis=1)
        return jnp.where(own, 1.0, -share)

    def correct(self, heads: Heads, label: Samples) -> Samples:
        """1 where the own class has the largest logit, 0 elsewhere."""
        own = self._own(label)
        mine = jnp.where(own, heads, 0.0).sum(axis=1)
        others = jnp.where(own, -jnp.inf, heads).max(axis=1)
        return jnp.where(mine > others, 1.0, 0.0)

    def _own(self, label: Samples) -> Array:
        return label[:, None] == jnp.arange(self.count)

    def check(self, label: Float[np.ndarray, " samples"]) -> None:
        """Raise where labels are not numbers of classes."""
        odd = [float(y) for y in np.unique(label) if y not in range(self.count)]
        if odd:
            raise ValueError(
                f"Classes({self.count}) reads labels 0 to {self.count - 1}, and there "
                f"are labels {odd[:3]}: number the classes from 0, or use a readout of "
                "two classes, ±1 (docs/what-fits.md)."
            )


class AbstractLoss(eqx.Module):
    """A loss `l(f, y)`; its pull on the output is `−∂l/∂f = sign · exp(log)`."""

    @abc.abstractmethod
    def __call__(self, output: Samples, label: Samples) -> Samples:
        """The loss of each sample."""

    @abc.abstractmethod
    def pull(self, output: Samples, label: Samples) -> tuple[Samples, Samples]:
        """`−∂l/∂f` as a sign and a log-magnitude, which never underflow."""


class Logistic(AbstractLoss):
    """Logistic loss, `l = log(1 + exp(−y f))`, with pull `y / (1 + exp(y f))`."""

    def __call__(self, output: Samples, label: Samples) -> Samples:
        """The loss of each sample."""
        return jax.nn.softplus(-label * output)

    def pull(self, output: Samples, label: Samples) -> tuple[Samples, Samples]:
        """`−∂l/∂f` as a sign and a log-magnitude."""
        return jnp.sign(label), _size(label) - jax.nn.softplus(label * output)


class Exponential(AbstractLoss):
    """Exponential loss, `l = exp(−y f)`, with pull `y exp(−y f)`."""

    def __call__(self, output: Samples, label: Samples) -> Samples:
        """The loss of each sample."""
        return jnp.exp(-label * output)

    def pull(self, output: Samples, label: Samples) -> tuple[Samples, Samples]:
        """`−∂l/∂f` as a sign and a log-magnitude."""
        return jnp.sign(label), _size(label) - label * output


class Squared(AbstractLoss):
    """Squared loss, `l = factor · (f − y)²`, with pull `2 factor (y − f)`."""

    factor: float = 0.5

    def __call__(self, output: Samples, label: Samples) -> Samples:
        """The loss of each sample."""
        return self.factor * (output - label) ** 2

    def pull(self, output: Samples, label: Samples) -> tuple[Samples, Samples]:
        """`−∂l/∂f` as a sign and a log-magnitude."""
        rest = 2 * self.factor * (label - output)
        return jnp.sign(rest), jnp.log(jnp.abs(rest))


class Unhinged(AbstractLoss):
    """Unhinged loss, `l = −y f`, whose pull y does not shrink as samples are fitted."""

    def __call__(self, output: Samples, label: Samples) -> Samples:
        """The loss of each sample."""
        return -label * output

    def pull(self, output: Samples, label: Samples) -> tuple[Samples, Samples]:
        """`−∂l/∂f` as a sign and a log-magnitude."""
        return jnp.sign(label), _size(label) + 0 * output


def _size(label: Samples) -> Samples:
    """`log |y|`, which is 0 for classes and not for labels with additive noise."""
    return jnp.log(jnp.abs(label))


def attention(scores: PairScores, mass: Mass | PairMass) -> PairScores:
    """`p(key | query) = mass · exp(score) / Σ mass · exp(score)`.

    The maximum is taken over keys of positive mass alone: a masked key with a large
    score would otherwise push all others to underflow.
    """
    weight = mass[:, None, None, :] if mass.ndim == 2 else mass
    masked = jnp.where(weight > 0, scores, -jnp.inf)
    top = masked.max(axis=-1, keepdims=True)
    terms = weight * jnp.exp(masked - top)
    return terms / terms.sum(axis=-1, keepdims=True)


def log_attention(scores: PairScores, mass: Mass | PairMass) -> PairScores:
    """Logarithms of the attention, which do not underflow; −inf at masked keys."""
    weight = mass[:, None, None, :] if mass.ndim == 2 else mass
    return jax.nn.log_softmax(scores + jnp.log(weight), axis=-1)


def pair_mass(data: Sequences) -> Mass | PairMass:
    """The masses of keys, and of pairs where queries do not see all of them."""
    if data.mask is None:
        return data.mass
    return data.mass[:, None, None, :] * data.mask


def pooled(
    attention: PairScores,
    values: KeyValues,
    query_weight: Float[Array, "samples queries"],
) -> tuple[Float[Array, "samples heads"], Float[Array, "samples heads queries"]]:
    """Each head's output `Σ_q weight_q Σ_k p(k|q) value_k`, and the inner sums."""
    attended = (attention * values[:, :, None, :]).sum(axis=-1)
    return (attended * query_weight[:, None, :]).sum(axis=-1), attended


def read_values(pairs: Pairs, data: Sequences) -> KeyValues:
    """What is read at the keys: the values of their tokens, and fixed payloads."""
    if data.payload is None:
        return pairs.values
    return pairs.values + data.payload[:, None, :]


class Problem(eqx.Module):
    """Attention, a readout and a loss: a paper's model is a choice of parts.

    **Arguments:**

    - `readout`: heads' outputs → output. `loss`: output and label → loss.
    - `score_scale`: what the scores are multiplied by, one over the temperature.
    - `law`: `softmax` of the scores, or `linear` attention, which is the scores.
    """

    readout: AbstractReadout = Linear()
    loss: AbstractLoss = Logistic()
    score_scale: float = 1.0
    law: str = eqx.field(static=True, default="softmax")

    def __check_init__(self) -> None:
        if self.law not in LAWS:
            raise ValueError(
                f"law is {self.law!r}: attention is 'softmax' or 'linear'. Other laws "
                "are on the page What fits (docs/what-fits.md)."
            )

    @property
    def heads(self) -> int:
        """Number of heads."""
        return len(self.readout.head_names)

    def attention(self, pairs: Pairs, data: Sequences) -> PairScores:
        """The attention map of every sample and head, `p(key | query)`."""
        scores, mass = self.score_scale * pairs.scores, pair_mass(data)
        if self.law == "linear":
            return scores * (mass[:, None, None, :] if mass.ndim == 2 else mass)
        return attention(scores, mass)

    def head_outputs(
        self, pairs: Pairs, data: Sequences, attention: Array | None = None
    ) -> Float[Array, "samples heads"]:
        """The output of each head on each sample; the attention may be known."""
        if attention is None:
            attention = self.attention(pairs, data)
        return pooled(attention, read_values(pairs, data), data.query_weight)[0]

    def outputs(self, pairs: Pairs, data: Sequences) -> Float[Array, " samples"]:
        """The output of the model on each sample."""
        return self.readout(self.head_outputs(pairs, data), data.label)

    def target(self, data: Sequences) -> Float[Array, " samples"]:
        """What the loss compares outputs with: labels, or 1 where these are margins."""
        classes = isinstance(self.readout, Classes)
        return jnp.ones_like(data.label) if classes else data.label

    def losses(self, pairs: Pairs, data: Sequences) -> Float[Array, " samples"]:
        """The loss of each sample."""
        return self.loss(self.outputs(pairs, data), self.target(data))

    def mean_loss(self, pairs: Pairs, data: Sequences) -> Float[Array, ""]:
        """The loss that training minimises: the mean under the probabilities."""
        return jnp.sum(data.probability * self.losses(pairs, data))


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
    careful: bool = False,
    attention: PairScores | None = None,
) -> Pairs:
    """Minus the gradient of the mean loss by the pair scores and the values.

    Where `normalised`, the pull of the sample that pulls hardest is 1: all signs are
    those of the gradient, and do not vanish with the loss. Where `careful`, nothing
    cancels as attention settles. The attention may be known.
    """
    probability = problem.attention(pairs, data) if attention is None else attention
    values = read_values(pairs, data)
    heads, attended = pooled(probability, values, data.query_weight)
    slope = problem.readout.slope(heads, data.label)
    counted = (slope[:, :, None] * data.query_weight[:, None, :])[..., None]
    weighted = probability * counted
    output = problem.readout(heads, data.label)
    sign, log = problem.loss.pull(output, problem.target(data))
    if normalised:
        log = log - jnp.where(data.probability > 0, log, -jnp.inf).max()
    pull = data.probability * sign * jnp.exp(log)
    if problem.law == "linear":
        mass = pair_mass(data)
        mass = mass[:, None, None, :] if mass.ndim == 2 else mass
        moved = counted * mass * values[:, :, None, :]
    elif careful:
        moved = weighted * _settled_spread(probability, values)
    else:
        moved = weighted * (values[:, :, None, :] - attended[..., None])
    return Pairs(
        scores=problem.score_scale * moved * pull[:, None, None, None],
        values=weighted.sum(axis=2) * pull[:, None, None],
    )


def _settled_spread(probability: PairScores, values: KeyValues) -> PairScores:
    """`v_k − v̄_q` by way of a key that has the largest attention."""
    read = values[:, :, None, :]
    first = probability == probability.max(axis=-1, keepdims=True)
    reference = jnp.where(first, read, -jnp.inf).max(axis=-1, keepdims=True)
    apart = read - reference
    return apart - (probability * apart).sum(axis=-1, keepdims=True)


def scaled_forces(problem: Problem, pairs: Pairs, data: Sequences) -> ScaledForces:
    """The forces as mantissas and logarithms, right where the forces underflow."""
    if problem.law != "softmax":
        raise ValueError(
            "Forms over coordinates follow softmax attention alone: a linear one has "
            "no logarithms. Use form='weights'."
        )
    log = log_attention(problem.score_scale * pairs.scores, pair_mass(data))
    values = read_values(pairs, data)
    heads, _ = pooled(jnp.exp(log), values, data.query_weight)
    output = problem.readout(heads, data.label)
    sign, pull = problem.loss.pull(output, problem.target(data))
    pull = (pull + jnp.log(data.probability))[:, None, None]
    slope = problem.readout.slope(heads, data.label) * sign[:, None]
    weight = slope[:, :, None] * data.query_weight[:, None, :]
    others, spread = _spread(log, values)
    # Queries that do not count must not set the scale of those that do.
    counted = jnp.where(data.query_weight[:, None, :, None] != 0, log, -jnp.inf)
    top = finite(counted.max(axis=2))
    read = (weight[..., None] * jnp.exp(counted - top[:, :, None, :])).sum(axis=2)
    return ScaledForces(
        scores=Scaled(
            problem.score_scale * weight[..., None] * spread,
            log + others + pull[..., None],
        ),
        values=Scaled(read, top + pull),
    )


def _spread(log: PairScores, values: KeyValues) -> tuple[Array, Array]:
    """`Σ_j p(j|q) (v_k − v_j)` over the other keys, as a log scale and a mantissa."""
    same = jnp.eye(log.shape[-1], dtype=bool)
    other = jnp.where(same, -jnp.inf, log[..., None, :])
    top = other.max(axis=-1)
    part = jnp.exp(other - finite(top)[..., None])
    gap = values[:, :, None, :, None] - values[:, :, None, None, :]
    return top, (part * gap).sum(axis=-1)


def finite(log: Array) -> Array:
    """A log scale to subtract: zero where there is nothing to scale."""
    return jnp.where(jnp.isfinite(log), log, 0.0)
