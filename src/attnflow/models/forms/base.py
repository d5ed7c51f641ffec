"""Forms: a state that gives the two tables and moves by the forces on them.

A form has a `frame`, which carries tables to the positions of the samples and the
forces back, and two parts, `scores` and `values`, each with a state of its own. A
part tells

- `table(state)`: what the data see of it;
- `velocity(state, force)`: how its state moves under gradient flow;
- `direction(state, force)` and `move(state, update)`: what a descent rule is shown
  (minus a gradient, in the part's own coordinates), and how its answer is applied;
- `refuses(rule)`: why a rule cannot be followed exactly, if it cannot.

For weights and whatever is linear in them, `direction` is `velocity` and `move` adds.
"""

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.forms.whole import whole_refusal
from attnflow.models.problem import Problem, forces
from attnflow.models.tables import Pairs, Sight, Tables
from attnflow.training.rules import Momentum, Muon, Rule

PARTS = ("scores", "values")
State = dict[str, Any]


class SelfScores(NamedTuple):
    """`W_Kᵀ W_K` and `W_Qᵀ W_Q` on the basis."""

    key: Float[Array, "blocks basis basis"]
    query: Float[Array, "blocks basis basis"]


class AbstractPart(eqx.Module):
    """One of the two groups of weights, in some form."""

    @abc.abstractmethod
    def table(self, state: Any) -> Array:
        """The table of this part on the basis."""

    @abc.abstractmethod
    def velocity(self, state: Any, force: Array) -> Any:
        """The state's derivative under gradient flow."""

    @abc.abstractmethod
    def direction(self, state: Any, force: Array) -> Any:
        """Minus the gradient, in the coordinates in which the rule acts."""

    @abc.abstractmethod
    def move(self, state: Any, update: Any) -> Any:
        """The state after a rule's update."""

    @abc.abstractmethod
    def refuses(self, rule: Rule) -> str | None:
        """Why this part cannot follow the rule exactly; `None` if it can."""


class AbstractLinearPart(AbstractPart):
    """A part that is linear in weights: a rule sees the flow's velocity and adds."""

    def direction(self, state: Any, force: Any) -> Any:
        """Minus the gradient, which is the velocity."""
        return self.velocity(state, force)

    def move(self, state: Any, update: Any) -> Any:
        """The state plus the update."""
        return jax.tree.map(jnp.add, state, update)


class AbstractScores(AbstractPart):
    """The part that holds keys and queries."""

    @abc.abstractmethod
    def self_scores(self, state: Any) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""


class Rows(NamedTuple):
    """What every row (neuron) of `W_K` and of `W_Q` sees of the basis."""

    key: Float[Array, "heads basis neurons"]
    query: Float[Array, "heads basis neurons"]


class AbstractRows(AbstractPart):
    """A part that knows the single rows of its keys and queries."""

    @abc.abstractmethod
    def rows(self, state: Any) -> Rows:
        """What every row sees of the basis."""


class AbstractNeurons(AbstractPart):
    """A part that knows its single neurons."""

    @abc.abstractmethod
    def neuron_table(self, state: Any) -> Float[Array, "blocks neurons basis"]:
        """`W W_V`: what each neuron reads of each basis vector."""

    @abc.abstractmethod
    def neuron_gram_change(
        self, state: Any, start: Any
    ) -> Float[Array, "blocks neurons neurons"]:
        """`W Wᵀ` less its value at the start."""


class AbstractFrame(eqx.Module):
    """How tables over a basis become pair scores and values of samples."""

    @abc.abstractmethod
    def pairs(self, tables: Tables) -> Pairs:
        """Pair scores and values at the positions of the samples; linear."""

    @abc.abstractmethod
    def metric(self, gradient: Tables) -> Tables:
        """A derivative by the tables as a force: divided by multiplicities."""

    @abc.abstractmethod
    def shown(self, tables: Tables) -> Tables:
        """The tables of each head on the named tokens."""

    @abc.abstractmethod
    def shown_scores(self, scores: Array) -> Array:
        """A score-like table (scores or self-scores) of each head, likewise."""

    def forces(self, tables: Tables, forces: Pairs) -> Tables:
        """Forces on pair scores and values, sent back to the tables."""
        _, back = jax.vjp(self.pairs, tables)
        return self.metric(back(forces)[0])


class Form(eqx.Module):
    """A frame and the two parts; `name` says which form this is.

    `test_frame` carries the same tables to the positions of test samples. `normalised`
    says that rules do not see how large gradients are, so that these come without the
    size of the loss.
    """

    frame: AbstractFrame
    scores: AbstractScores
    values: AbstractPart
    name: str = eqx.field(static=True)
    test_frame: AbstractFrame | None = None
    normalised: bool = eqx.field(static=True, default=False)

    def part(self, name: str) -> AbstractPart:
        """The part with this name."""
        return {"scores": self.scores, "values": self.values}[name]

    def tables(self, state: State) -> Tables:
        """The two tables on the basis."""
        return Tables(
            self.scores.table(state["scores"]), self.values.table(state["values"])
        )

    def pairs(self, state: State) -> Pairs:
        """Pair scores and values of every sample."""
        return self.frame.pairs(self.tables(state))

    def test_pairs(self, state: State) -> Pairs:
        """Pair scores and values of every test sample."""
        if self.test_frame is None:
            raise ValueError(
                "There are no test samples: give the experiment a task that draws them."
            )
        return self.test_frame.pairs(self.tables(state))

    def forces(
        self,
        problem: Problem,
        state: State,
        data: Sequences,
        *,
        normalised: bool = False,
    ) -> Tables:
        """Minus the gradient of the mean loss by the tables."""
        tables = self.tables(state)
        found = forces(problem, self.frame.pairs(tables), data, normalised=normalised)
        return self.frame.forces(tables, found)

    def pulls(self, problem: Problem, state: State, data: Sequences) -> dict[str, Any]:
        """What each part's `direction` takes as its force."""
        found = self.forces(problem, state, data, normalised=self.normalised)
        return found._asdict()

    def look(
        self, problem: Problem, state: State, data: Sequences
    ) -> tuple[dict[str, Any], Sight | None]:
        """The same, and what samples see where it is found on the way."""
        return self.pulls(problem, state, data), None

    def flow_pulls(
        self, problem: Problem, state: State, data: Sequences
    ) -> dict[str, Any]:
        """What each part's `velocity` takes as its force: that on its table."""
        return self.forces(problem, state, data)._asdict()

    def refuses(self, rules: dict[str, Rule]) -> str | None:
        """Why this form cannot follow the rules exactly; `None` if it can."""
        reasons = [self._refuses(name, rule) for name, rule in rules.items()]
        return next((reason for reason in reasons if reason), None)

    def _refuses(self, name: str, rule: Rule) -> str | None:
        part = self.part(name)
        if self.name == "quotient" and rule.sees != "entries":
            return (
                f"{rule.name} sees the whole gradient, of which blocks hold each entry "
                "once, however often it counts. Use the data without the quotient."
            )
        return part.refuses(rule) or whole_refusal(part, rule)


def rotation_refusal(rule: Rule) -> str | None:
    """Why a rule that does not commute with rotations cannot be followed."""
    if rule.equivariant:
        return None
    return (
        f"{rule.name} acts on each coordinate of the weights alone, so that it does "
        "not commute with rotations and the reduced forms do not close under it. Use "
        "form='weights'."
    )


def memory_refusal(rule: Rule) -> str | None:
    """Why a rule with memory or decay cannot be followed by Gram matrices."""
    if rule.memoryless:
        return None
    return (
        f"{rule.name} carries a memory of past gradients, which Gram matrices alone do "
        "not determine. Use form='transport'."
    )


def decays(rule: Rule) -> bool:
    """Whether a rule makes weights decay, those outside the tokens' span too."""
    return isinstance(rule, Momentum | Muon) and rule.weight_decay > 0
