"""Observables of next-token prediction, class by class.

They are of long sequences, also where training is on short ones: c_n is what the
scores make of the probabilities P(l | n), and f_n what the model reads of it.
"""

from functools import cached_property

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from attnflow.models.problem.next_token import Outputs, attention, features, outputs
from attnflow.models.systems.next_token import PARTS, TokenWeights
from attnflow.observables.curvature.lanczos import top_curvature
from attnflow.observables.registry import Registry

Tables = dict[str, Float[Array, "_ _"]]


class TokenView:
    """A system of next-token prediction in one state.

    The system has a `frame`, a `model` and `tables(state)`. Tables by class and token
    have in each row the number of a single one of its tokens.
    """

    def __init__(self, system: PyTree, state: PyTree, tables: Tables | None = None):
        self.system = system
        self.state = state
        self.frame = system.frame
        self._tables = tables

    @cached_property
    def tables(self) -> Tables:
        """The two tables, of the state or those that were given in its place."""
        return self.system.tables(self.state) if self._tables is None else self._tables

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
        read, of_query = self._features
        placed = self.by_token(read)
        every = jnp.arange(self.frame.classes)
        return placed.at[every, self.frame.query_row].add(of_query)

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


NEXT_TOKEN = Registry(TokenView, place=f"{__name__}:NEXT_TOKEN")
observable, declare = NEXT_TOKEN.observable, NEXT_TOKEN.declare

declare(
    loss=(
        "mean cross-entropy over classes of long sequences",
        lambda v: v.outputs.loss.mean(),
    ),
    mean_distinct_entropy=(
        "entropy of c_n among distinct tokens, mean over classes",
        lambda v: distinct_entropy(v).mean(),
    ),
)
declare(*("query", "token"), score=("attention logits z", lambda v: v.tables["scores"]))
declare(*("token", "output"), value=("output logits Y", lambda v: v.tables["values"]))
declare(
    *("class", "token"),
    # `c = P e^z / Σ P e^z`.
    attention_per_class=(
        "attention c_n to single tokens",
        lambda v: v.by_token(v.attention),
    ),
    # f has the l2 norm 1 in a normalised model.
    attention_unit=("what the model reads of attention, f_n", lambda v: v.unit),
    # `P(l | n) e^z`.
    attention_unnormalised=(
        "attention before its normalisation, P e^z",
        lambda v: v.by_token(v.frame.mass * jnp.exp(v.scores)),
    ),
    backprop=(
        "back-propagated gradient Y (e_n − α_n)",
        lambda v: (v.outputs.pull * v.frame.column_weight) @ v.tables["values"].T,
    ),
)
declare(
    "class",
    loss_by_class=(
        "cross-entropy of each class of long sequences",
        lambda v: v.outputs.loss,
    ),
    # Σ c over common tokens.
    common_mass=(
        "attention to common tokens",
        lambda v: jnp.sum(
            jnp.where(v.distinct, 0.0, v.attention) * v.frame.support_weight, axis=1
        ),
    ),
    top_share=(
        "largest share of a token among distinct ones",
        lambda v: v.distinct_share.max(axis=1),
    ),
    error_norm=(
        "|e_n − α_n| in the l2 norm",
        lambda v: jnp.sqrt(jnp.sum(v.frame.column_weight * v.outputs.pull**2, axis=1)),
    ),
)
declare(
    *("class", "other_class"),
    # Less the identity, `FᵀF` is E, and `I − (FᵀF)⁻¹` is E'.
    gram=("inner products of f", lambda v: v.gram),
    # `α_n(n')`, the probability that class n gives to the next token of n'.
    confusion=(
        "probability of other classes' next tokens",
        lambda v: jnp.eye(v.frame.classes) - v.outputs.pull[:, v.frame.label],
    ),
)
declare(
    "query",
    # Σ z over tokens, those that move alone.
    score_sum=(
        "sums of Z's rows, which training conserves",
        lambda v: v.tables["scores"] @ v.frame.weight,
    ),
)
declare(
    "token",
    value_sum=(
        "sums of Y's rows, which training conserves",
        lambda v: v.tables["values"] @ v.frame.column_weight,
    ),
    value_square=(
        "squared norms of Y's rows",
        lambda v: v.tables["values"] ** 2 @ v.frame.column_weight,
    ),
)


@observable(about="mean cross-entropy of the batch that is next")
def batch_loss(view: TokenView) -> Array:
    """Mean cross-entropy of the next batch; systems without batches are refused."""
    if not hasattr(view.system, "batch_loss"):
        raise ValueError(
            "Nothing is trained on batches here, so that there is no batch_loss: "
            "record loss, or give sequences a length."
        )
    return view.system.batch_loss(view.state)


@observable(about="top eigenvalue of the Hessian of the loss by all weights")
def sharpness(view: TokenView) -> Array:
    """That of `loss`, by single entries of both tables or by plain weights."""
    if not view.frame.whole:
        raise ValueError(
            "The sharpness also asks about directions in which tokens that move alike "
            "part, and this form has one row or column for all of them. Use "
            "form='joint'."
        )

    def of_tables(tables: Tables) -> Array:
        return TokenView(view.system, view.state, tables).outputs.loss.mean()

    def of_weights(weights: PyTree) -> Array:
        return of_tables(view.system.tables({**view.state, **weights}))

    if isinstance(view.system, TokenWeights):
        weights = {name: view.state[name] for name in PARTS}
        return top_curvature(of_weights, weights)
    return top_curvature(of_tables, view.tables)


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
    """How fast attention logits move under the system's flow."""
    if not hasattr(view.system, "velocity"):
        raise ValueError(
            "Batches have no flow, so that there is no score_velocity: record score, "
            "or train on long sequences."
        )
    velocity = view.system.velocity(None, view.state)
    _, moved = jax.jvp(view.system.tables, (view.state,), (velocity,))
    return moved["scores"]


@observable("class", about="entropy of c_n among distinct tokens, in nats")
def distinct_entropy(view: TokenView) -> Array:
    """`−Σ p log p` of distinct tokens' renormalised attention; 0 without any."""
    p, weight = view.distinct_share, view.frame.support_weight
    terms = jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1.0)), 0.0)
    return -jnp.sum(weight * terms, axis=1)


@observable("class", "other_class", about="coefficients of g_n on f, least squares")
def coupling(view: TokenView) -> Array:
    """γι_n on the diagonal and −γβ beside it: `g_n ≈ Σ_k coupling[n, k] f_k`."""
    backprop = NEXT_TOKEN.find("backprop").compute(view)
    seen = (backprop * view.frame.weight) @ view.unit.T
    return jnp.linalg.solve(view.gram, seen.T).T


@observable("class", about="logit of the own next token less the mean of all others")
def margin(view: TokenView) -> Array:
    """How far the next token's logit is above the others' mean."""
    frame = view.frame
    logits = (view.unit * frame.weight) @ view.tables["values"]
    of_next = jnp.take_along_axis(logits, frame.label[:, None], axis=1)[:, 0]
    others = logits @ frame.column_weight - of_next
    return of_next - others / (frame.column_weight.sum() - 1)
