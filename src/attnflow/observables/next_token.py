"""Observables of next-token prediction, class by class.

They are of long sequences, also where training is on short ones: c_n is what the
scores make of the probabilities P(l | n), and f_n what the model reads of it.
"""

from functools import cached_property

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from attnflow.models.problem.next_token import Outputs, attention, features, outputs
from attnflow.observables.registry import Registry


class TokenView:
    """A system of next-token prediction in one state.

    The system has a `frame`, a `model` and `tables(state)`. Tables by class and token
    tell of each row what a single one of its tokens has.
    """

    def __init__(self, system: PyTree, state: PyTree):
        self.system = system
        self.state = state
        self.frame = system.frame

    @cached_property
    def tables(self) -> dict[str, Float[Array, "_ _"]]:
        """The two tables."""
        return self.system.tables(self.state)

    @cached_property
    def scores(self) -> Float[Array, "classes support"]:
        """Scores of each class's query at its context."""
        frame = self.frame
        return self.tables["scores"][frame.query[:, None], frame.support]

    @cached_property
    def attention(self) -> Float[Array, "classes support"]:
        """C of single tokens."""
        return attention(self.scores, self.frame.mass, self.frame.support_weight)

    @cached_property
    def _features(self) -> tuple[Array, Array]:
        weight = self.frame.support_weight
        return features(self.system.model, self.scores, self.frame.mass, weight)

    @cached_property
    def unit(self) -> Float[Array, "classes rows"]:
        """F of single tokens, over all rows."""
        read, own = self._features
        placed = self.by_token(read)
        every = jnp.arange(self.frame.classes)
        return placed.at[every, self.frame.query_row].add(own)

    @cached_property
    def outputs(self) -> Outputs:
        """Losses of the classes, and pulls on their logits."""
        logits = (self.unit * self.frame.weight) @ self.tables["values"]
        return outputs(logits, self.frame.label, self.frame.column_weight)

    @cached_property
    def gram(self) -> Float[Array, "classes classes"]:
        """Inner products of the classes' f."""
        return (self.unit * self.frame.weight) @ self.unit.T

    @cached_property
    def distinct(self) -> Array:
        """Which places of each class are distinct tokens of it."""
        frame = self.frame
        present = frame.mass > 0
        owners = jnp.zeros(len(frame.weight)).at[frame.support].add(present)
        return present & (owners[frame.support] == 1)

    @cached_property
    def distinct_share(self) -> Float[Array, "classes support"]:
        """C of distinct tokens alone, renormalised, per single token."""
        kept = jnp.where(self.distinct, self.attention, 0.0)
        total = jnp.sum(kept * self.frame.support_weight, axis=1, keepdims=True)
        return kept / jnp.where(total > 0, total, 1.0)

    def by_token(self, numbers: Float[Array, "classes support"]) -> Array:
        """Numbers of the classes' tokens, over all rows."""
        rows = len(self.frame.weight)
        empty = jnp.zeros((self.frame.classes, rows))
        # Places of mass 0 point anywhere, and hold nothing.
        held = jnp.where(self.frame.mass > 0, numbers, 0.0)
        every = jnp.arange(self.frame.classes)[:, None]
        return empty.at[every, self.frame.support].add(held)


NEXT_TOKEN = Registry(TokenView)
observable = NEXT_TOKEN.observable


@observable(about="mean cross-entropy over classes of long sequences")
def loss(view: TokenView) -> Array:
    """Mean cross-entropy over classes of long sequences."""
    return view.outputs.loss.mean()


@observable(about="mean cross-entropy of the batch that is next")
def batch_loss(view: TokenView) -> Array:
    """Mean cross-entropy of the next batch; systems without batches are refused."""
    if not hasattr(view.system, "batch_loss"):
        raise ValueError(
            "Nothing is trained on batches here, so that there is no batch_loss: "
            "record loss, or give sequences a length."
        )
    return view.system.batch_loss(view.state)


@observable("class", about="cross-entropy of each class of long sequences")
def loss_by_class(view: TokenView) -> Array:
    """Cross-entropy of each class."""
    return view.outputs.loss


@observable("query", "token", about="attention logits z")
def score(view: TokenView) -> Array:
    """Z, by query and token."""
    return view.tables["scores"]


@observable("token", "output", about="output logits Y")
def value(view: TokenView) -> Array:
    """Y, by token and output."""
    return view.tables["values"]


@observable("query", "token", about="softmax of z over the whole vocabulary")
def score_share(view: TokenView) -> Array:
    """`e^z / Σ e^z` over all tokens, those that never occur too."""
    scores, frame = view.tables["scores"], view.frame
    here = jax.nn.logsumexp(
        scores, axis=1, b=jnp.broadcast_to(frame.weight, scores.shape)
    )
    return jnp.exp(scores - jnp.logaddexp(here, frame.idle)[:, None])


@observable("query", "token", about="dz/dt of a flow")
def score_velocity(view: TokenView) -> Array:
    """How fast attention logits move under the system's own flow."""
    if not hasattr(view.system, "velocity"):
        raise ValueError(
            "Batches have no flow, so that there is no score_velocity: record score, "
            "or train on long sequences."
        )
    velocity = view.system.velocity(None, view.state)
    _, moved = jax.jvp(view.system.tables, (view.state,), (velocity,))
    return moved["scores"]


@observable("class", "token", about="attention c_n to single tokens")
def attention_per_class(view: TokenView) -> Array:
    """`c = P e^z / Σ P e^z`."""
    return view.by_token(view.attention)


@observable("class", "token", about="what the model reads of attention, f_n")
def attention_unit(view: TokenView) -> Array:
    """f, which has the l2 norm 1 in a normalised model."""
    return view.unit


@observable("class", "token", about="attention before its normalisation, P e^z")
def attention_unnormalised(view: TokenView) -> Array:
    """`P(l | n) e^z`."""
    return view.by_token(view.frame.mass * jnp.exp(view.scores))


@observable("class", about="entropy of c_n among distinct tokens, in nats")
def distinct_entropy(view: TokenView) -> Array:
    """`−Σ p log p` of distinct tokens' renormalised attention; 0 without any."""
    p, weight = view.distinct_share, view.frame.support_weight
    terms = jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1.0)), 0.0)
    return -jnp.sum(weight * terms, axis=1)


@observable(about="entropy of c_n among distinct tokens, mean over classes")
def mean_distinct_entropy(view: TokenView) -> Array:
    """The mean of `distinct_entropy` over classes."""
    return distinct_entropy(view).mean()


@observable("class", about="attention to common tokens")
def common_mass(view: TokenView) -> Array:
    """Σ c over common tokens."""
    kept = jnp.where(view.distinct, 0.0, view.attention)
    return jnp.sum(kept * view.frame.support_weight, axis=1)


@observable("class", about="largest share of a token among distinct ones")
def top_share(view: TokenView) -> Array:
    """The largest renormalised attention to a distinct token."""
    return view.distinct_share.max(axis=1)


@observable("class", "other_class", about="inner products of f")
def gram(view: TokenView) -> Array:
    """`FᵀF`; less the identity it is E, and `I − (FᵀF)⁻¹` is E'."""
    return view.gram


@observable("class", "token", about="back-propagated gradient Y (e_n − α_n)")
def backprop(view: TokenView) -> Array:
    """g_n, by class and token."""
    pull = view.outputs.pull * view.frame.column_weight
    return pull @ view.tables["values"].T


@observable("class", "other_class", about="coefficients of g_n on f, least squares")
def coupling(view: TokenView) -> Array:
    """γι_n on the diagonal and −γβ beside it: `g_n ≈ Σ_k coupling[n, k] f_k`."""
    seen = (backprop(view) * view.frame.weight) @ view.unit.T
    return jnp.linalg.solve(view.gram, seen.T).T


@observable("class", "other_class", about="probability of other classes' next tokens")
def confusion(view: TokenView) -> Array:
    """`α_n(n')`, the probability that class n gives to the next token of n'."""
    mine = jnp.eye(view.frame.classes)
    return mine - view.outputs.pull[:, view.frame.label]


@observable("class", about="logit of the own next token less the mean of all others")
def margin(view: TokenView) -> Array:
    """How far the next token's logit is above the others' mean."""
    frame = view.frame
    logits = (view.unit * frame.weight) @ view.tables["values"]
    own = jnp.take_along_axis(logits, frame.label[:, None], axis=1)[:, 0]
    others = logits @ frame.column_weight - own
    return own - others / (frame.column_weight.sum() - 1)


@observable("class", about="|e_n − α_n| in the l2 norm")
def error_norm(view: TokenView) -> Array:
    """How far a class's output distribution is from its next token."""
    return jnp.sqrt(jnp.sum(view.frame.column_weight * view.outputs.pull**2, axis=1))


@observable("query", about="sums of Z's rows, which training conserves")
def score_sum(view: TokenView) -> Array:
    """Σ z over tokens, those that move alone."""
    return view.tables["scores"] @ view.frame.weight


@observable("token", about="sums of Y's rows, which training conserves")
def value_sum(view: TokenView) -> Array:
    """Σ Y over outputs."""
    return view.tables["values"] @ view.frame.column_weight


@observable("token", about="squared norms of Y's rows")
def value_square(view: TokenView) -> Array:
    """`|Y_l|²` over all outputs."""
    return view.tables["values"] ** 2 @ view.frame.column_weight
