"""Alike classes as one: a state whose size depends on neither K nor M.

K classes with the same common tokens and equal probabilities of their own distinct
tokens keep looking alike from a zero start. A distinct token's logits are then three
numbers (own next token, those of other classes, all outputs that nobody predicts), a
common token's two (next tokens, others), and each has one score. With the pulls
`(1 − a, −b, −c)` on the three kinds of logits and the multiplicities (1, K − 1, M − K),

    distinct:  d(own, other, rest) = f (R₀, R₁, R₂) / K
    common:    d(label, rest)      = f (R₀ + (K − 1) R₁, K R₂) / K
    scores:    dz = f (q − f Σ w f q) / K

with `q = own R₀ + (K − 1) other R₁ + (M − K) rest R₂`, where a common token's score
has one such term for each class of its query.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.data.sequence_classes import AlikeClasses
from attnflow.models.forms.token_classes import TokenClassForm

State = dict[str, Any]


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
        own, shared = (
            jnp.zeros_like(self.distinct_mass),
            jnp.zeros_like(self.common_mass),
        )
        values = {"own": own, "other": own, "rest": own}
        values |= {"common_label": shared, "common_rest": shared}
        return {"scores": {"distinct": own, "common": shared}, "values": values}

    def read(self, scores: State) -> Float[Array, " kinds"]:
        """F of distinct, then of common tokens."""
        z = jnp.concatenate([scores["distinct"], scores["common"]])
        grown = self.mass * jnp.exp(z - z.max())
        return grown / jnp.sqrt(jnp.sum(self.weight * grown**2))

    def logits(self, values: State) -> Float[Array, "kinds 3"]:
        """Logits of the own next token, of others', and of the rest, per kind."""
        mine = jnp.stack([values[n] for n in ("own", "other", "rest")], axis=1)
        label = values["common_label"]
        shared = jnp.stack([label, label, values["common_rest"]], axis=1)
        return jnp.concatenate([mine, shared])

    @property
    def outputs(self) -> Float[Array, " 3"]:
        """How many outputs the three kinds of logits stand for."""
        one = jnp.ones(())
        return jnp.stack([one, self.classes - 1, self.vocabulary - self.classes])

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
        distinct_mass=jnp.asarray(layout.distinct, float) / layout.total,
        common_mass=jnp.asarray(layout.common, float) / layout.total,
        distinct_weight=jnp.asarray(distinct, float),
        common_weight=jnp.asarray(common, float),
        classes=jnp.asarray(float(layout.classes)),
        vocabulary=jnp.asarray(float(layout.size)),
        classes_per_query=jnp.asarray(float(layout.classes_per_query)),
    )


class Lift(eqx.Module):
    """From one class's numbers to tables over classes of tokens.

    `kind` is, for each row, its kind among distinct and common ones, and `owner` the
    class that has it, −1 for common rows; `column` is the class of each column, −1 for
    all other outputs; `asked` says which rows a query sees.
    """

    kind: Any
    owner: Any
    column: Any
    asked: Any

    def __call__(self, frame: AlikeFrame, state: State) -> State:
        """The two tables of a state."""
        rows = frame.logits(state["values"])[self.kind]
        mine = self.owner[:, None] == self.column
        label = jnp.where(mine, rows[:, :1], rows[:, 1:2])
        values = jnp.where(self.column >= 0, label, rows[:, 2:])
        scores = jnp.concatenate(
            [state["scores"]["distinct"], state["scores"]["common"]]
        )
        return {
            "scores": jnp.where(self.asked, scores[self.kind], 0.0),
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
    asked = (owner < 0) | (owner // layout.classes_per_query == query)
    return Lift(*(jnp.asarray(x) for x in (kind, owner, column, asked)))
