"""Next-token training of alike classes: a state whose size depends on neither K nor M.

K classes with the same common tokens and equal probabilities of their own distinct
tokens stay alike from a zero start. A distinct token's logits are then three numbers
(own next token, those of other classes, all outputs that nobody predicts), a common
token's two (next tokens, others), and each has one score. With the pulls
`(1 − a, −b, −c)` on the three kinds of logits and the multiplicities (1, K − 1, M − K),

    distinct:  d(own, other, rest) = f (R₀, R₁, R₂) / K
    common:    d(label, rest)      = f (R₀ + (K − 1) R₁, K R₂) / K
    scores:    dz = f (q − f Σ w f q) / K

with `q = own R₀ + (K − 1) other R₁ + (M − K) rest R₂`, where a common token's score
has one such term for each class of its query.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from attnflow.data.sequence_classes import AlikeClasses
from attnflow.data.token_sequences import on_device
from attnflow.models.forms import State
from attnflow.models.forms.base import Arrays
from attnflow.models.forms.token_classes import TokenClassForm, TokenFrame
from attnflow.models.problem.next_token import NextToken
from attnflow.models.systems.next_token import Rates
from attnflow.models.systems.training import Time


class AlikeFrame(eqx.Module):
    """One class out of K, and what it shares with the others.

    Masses are probabilities of single tokens, weights the numbers of tokens.
    """

    distinct_mass: Float[Array, " distinct"]
    common_mass: Float[Array, " common"]
    distinct_weight: Float[Array, " distinct"]
    common_weight: Float[Array, " common"]
    classes: Float[Array, ""]
    vocabulary: Float[Array, ""]
    classes_per_query: Float[Array, ""]

    @property
    def mass(self) -> Float[Array, " kinds"]:
        """Masses of distinct, then of common tokens."""
        return jnp.concatenate([self.distinct_mass, self.common_mass])

    @property
    def weight(self) -> Float[Array, " kinds"]:
        """Numbers of distinct, then of common tokens."""
        return jnp.concatenate([self.distinct_weight, self.common_weight])

    def zeros(self) -> State:
        """The state from which classes stay alike."""
        distinct = _number(np.zeros(self.distinct_mass.shape))
        common = _number(np.zeros(self.common_mass.shape))
        values = {"own": distinct, "other": distinct, "rest": distinct}
        values |= {"common_label": common, "common_rest": common}
        return {"scores": {"distinct": distinct, "common": common}, "values": values}

    def read(self, scores: Arrays) -> Float[Array, " kinds"]:
        """F of distinct, then of common tokens."""
        z = jnp.concatenate([scores["distinct"], scores["common"]])
        grown = self.mass * jnp.exp(z - z.max())
        return grown / jnp.sqrt(jnp.sum(self.weight * grown**2))

    def logits(self, values: Arrays) -> Float[Array, "kinds 3"]:
        """Logits of the own next token, of others', and of the rest, per kind."""
        mine = jnp.stack([values[n] for n in ("own", "other", "rest")], axis=1)
        label = values["common_label"]
        shared = jnp.stack([label, label, values["common_rest"]], axis=1)
        return jnp.concatenate([mine, shared])

    @property
    def outputs(self) -> Float[Array, " 3"]:
        """How many outputs the three kinds of logits stand for."""
        rest = self.vocabulary - self.classes
        return jnp.stack([jnp.ones(()), self.classes - 1, rest])

    def pull(self, logits: Float[Array, " 3"]) -> tuple[Array, Array]:
        """The loss, and the pull on each kind of logit, to full relative precision."""
        size = jnp.exp(logits - logits.max())
        rest = jnp.sum((self.outputs * size)[1:])
        loss = jax.nn.softplus(jnp.log(rest) + logits.max() - logits[0])
        total = size[0] + rest
        return loss, jnp.stack([rest, -size[1], -size[2]]) / total

    def forces(self, state: State) -> tuple[State, Array]:
        """Minus the gradient by single entries of the full tables; and the loss."""
        read, rows = self.read(state["scores"]), self.logits(state["values"])
        weighed = self.weight * read
        loss, pull = self.pull(weighed @ rows)
        seen = rows @ (self.outputs * pull)
        push = read * (seen - read * (weighed @ seen)) / self.classes
        count = len(self.distinct_mass)
        mine, shared = (part / self.classes for part in jnp.split(read, [count]))
        values = {
            "own": mine * pull[0],
            "other": mine * pull[1],
            "rest": mine * pull[2],
            "common_label": shared * (pull[0] + (self.classes - 1) * pull[1]),
            "common_rest": shared * self.classes * pull[2],
        }
        scores = {
            "distinct": push[:count],
            "common": self.classes_per_query * push[count:],
        }
        return {"scores": scores, "values": values}, loss


def alike_frame(layout: AlikeClasses) -> AlikeFrame:
    """The frame of alike classes; tokens common to one query alone are refused."""
    if layout.common_per_query:
        raise ValueError(
            "Some tokens are common to the classes of one query alone, so that classes "
            "of its own and of other queries are not alike: use form='token-classes'."
        )
    common = layout.common_tokens or (1,) * len(layout.common)
    distinct = layout.distinct_tokens or (1,) * len(layout.distinct)
    return AlikeFrame(
        distinct_mass=_number(np.array(layout.distinct, float) / layout.total),
        common_mass=_number(np.array(layout.common, float) / layout.total),
        distinct_weight=_number(distinct),
        common_weight=_number(common),
        classes=_number(layout.classes),
        vocabulary=_number(layout.size),
        classes_per_query=_number(layout.classes_per_query),
    )


def _number(values: int | Sequence[int] | np.ndarray) -> Array:
    return on_device(np.asarray(values, float))


class Lift(eqx.Module):
    """From one class's numbers to tables over classes of tokens.

    `kind` is, for each row, its kind among distinct and common ones, and `owner` the
    class that has it, −1 for common rows; `column` is the class of each column, −1 for
    all other outputs; `is_seen` says which rows a query sees.
    """

    kind: Int[Array, " rows"]
    owner: Int[Array, " rows"]
    column: Int[Array, " columns"]
    is_seen: Bool[Array, "queries rows"]

    def __call__(self, frame: AlikeFrame, state: State) -> Arrays:
        """The two tables of a state."""
        rows = frame.logits(state["values"])[self.kind]
        mine = self.owner[:, None] == self.column
        label = jnp.where(mine, rows[:, :1], rows[:, 1:2])
        values = jnp.where(self.column >= 0, label, rows[:, 2:])
        scores = jnp.concatenate(
            [state["scores"]["distinct"], state["scores"]["common"]]
        )
        return {
            "scores": jnp.where(self.is_seen, scores[self.kind], 0.0),
            "values": values,
        }


def lift_of(layout: AlikeClasses, form: TokenClassForm) -> Lift:
    """The lift to a form of the layout's tables, of any but `joint` form."""
    distinct, common = len(layout.distinct), len(layout.common)
    kinds = np.arange(form.row_of.shape[0])
    index = kinds[form.rows] - common
    owner = np.where(index < 0, -1, index // max(distinct, 1))
    kind = np.where(index < 0, distinct + form.rows, index % max(distinct, 1))
    task = layout.sequence_classes()
    label = {token: n for n, token in enumerate(task.next_token)}
    column = np.array([label.get(int(k), -1) for k in form.columns])
    query = np.arange(layout.queries)[:, None]
    is_seen = (owner < 0) | (owner // layout.classes_per_query == query)
    return Lift(*map(on_device, (kind, owner, column, is_seen)))


class AlikeTraining(eqx.Module):
    """Alike classes of long sequences; l2-normalised, no residual, from a zero start.

    `frame` and `lift` give what observables read, tables over classes of tokens.
    """

    alike: AlikeFrame
    frame: TokenFrame
    lift: Lift
    rates: Rates
    model: NextToken

    def velocity(self, t: Time, state: State) -> State:
        """The state's derivative under gradient flow."""
        return self.rates.times(self.direction(state))

    def shrinking(self, state: State) -> State:
        """Each part, times its rate."""
        return self.rates.times(state)

    def direction(self, state: State) -> State:
        """Minus the gradient, as rules of descent see it."""
        return self.alike.forces(state)[0]

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates."""
        moved = jax.tree.map(jnp.add, {name: state[name] for name in updates}, updates)
        return {**state, **moved}

    def tables(self, state: State) -> Arrays:
        """The two tables, over classes of tokens."""
        return self.lift(self.alike, state)
