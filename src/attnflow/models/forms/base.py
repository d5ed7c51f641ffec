"""Forms: a state that gives the two tables and moves by the forces on them.

A form has a `frame`, which carries tables to the positions of the samples and the
forces back, and two parts, `scores` and `values`, each with a state of its own. A
part has

- `table(state)`: what the data see of it;
- `velocity(state, force)`: how its state moves under gradient flow;
- `direction(state, force)` and `move(state, update)`: what a descent rule is shown
  (minus a gradient, in the part's own coordinates), and how its answer is applied;
- `refuses(rule)`: why a rule cannot be followed exactly, if it cannot.

For weights and whatever is linear in them, `direction` is `velocity` and `move` adds.
What rules see and answer lies in the space of *updates*. There, `unit` is what all
weights are, so that decay is a multiple of it; `flow` is how the state moves along an
update; and `pieces` are the weights of the part one by one, for rules of their own.

**Rules that see weights whole.** Normalised descent needs the length of a gradient, and
Muon the matrices that it is made of. A reduced part holds each matrix G of the plain
gradient as X, with `G = Q X E` for Q with orthonormal columns and E with orthonormal
rows: the isometries that carry the part's rows to hidden units and its basis to the
tokens' span. Lengths are then equal, and a polar factor, or any odd polynomial, of G is
Q times that of X times E, exactly.
"""

import abc
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.problem import Problem, forces
from attnflow.models.tables import Forward, Pairs, Tables
from attnflow.schema.fields import WEIGHTS
from attnflow.schema.settings import part_of
from attnflow.training.rules import Rule

PARTS = ("scores", "values")
Arrays = dict[str, Array]
# The state of a part, a direction or an update of it: an array, or arrays by name. Each
# part narrows it to what it holds.
PartState: TypeAlias = Any
# What a part takes as its force: mostly the force on its table.
Force: TypeAlias = Any
State = dict[str, PartState]
Forces = dict[str, Force]
Matrices = dict[str, Float[Array, "blocks *copies rows columns"]]
Weights = Mapping[str, Array | np.ndarray]
"""Initial weights by name; a draw of them is on the host, where nothing compiles."""
DrawnWeights = dict[str, np.ndarray]
BasisVectors = Float[Array, "basis embed"] | Float[np.ndarray, "basis embed"]


class SelfScores(NamedTuple):
    """`W_Kᵀ W_K` and `W_Qᵀ W_Q` on the basis."""

    key: Float[Array, "blocks basis basis"]
    query: Float[Array, "blocks basis basis"]


class Rows(NamedTuple):
    """What every row (neuron) of `W_K` and of `W_Q` sees of the basis."""

    key: Float[Array, "heads basis neurons"]
    query: Float[Array, "heads basis neurons"]


class AbstractPart(eqx.Module):
    """One of the two groups of weights, in some form."""

    @abc.abstractmethod
    def table(self, state: PartState) -> Array:
        """The table of this part on the basis."""

    @abc.abstractmethod
    def velocity(self, state: PartState, force: Force) -> PartState:
        """The state's derivative under gradient flow."""

    @abc.abstractmethod
    def direction(self, state: PartState, force: Force) -> PartState:
        """Minus the gradient, in the coordinates in which the rule acts."""

    @abc.abstractmethod
    def move(self, state: PartState, update: PartState) -> PartState:
        """The state after a rule's update."""

    @abc.abstractmethod
    def refuses(self, rule: Rule) -> str | None:
        """Why this part cannot follow the rule exactly; `None` if it can."""

    def unit(self, state: PartState) -> PartState:
        """The update that would add to all weights what they are."""
        return state

    def flow(self, state: PartState, update: PartState) -> PartState:
        """The state's derivative where weights move along an update."""
        return update

    def move_apart(self, state: PartState, update: PartState) -> PartState:
        """As `move`, where the weights of the part have rules of their own."""
        return self.move(state, update)

    def refuses_apart(self, rule: Rule) -> str | None:
        """Why weights of this part cannot have rules of their own."""
        tells = isinstance(self, AbstractPieces)
        if not tells or isinstance(self, AbstractOneWeight):
            return (
                f"{type(self).__name__} does not tell its weights apart, and they are "
                "to be trained apart. Use form='weights'."
            )
        return None


class AbstractPieces(eqx.Module):
    """A part that tells its weights apart."""

    @abc.abstractmethod
    def pieces(self, update: PartState) -> dict[str, PartState]:
        """An update, or a state, weight by weight."""

    @abc.abstractmethod
    def whole(self, pieces: dict[str, PartState]) -> PartState:
        """The update with these pieces."""


class AbstractOneWeight(AbstractPieces):
    """A part of one weight, which a rule of its own moves as a whole."""

    def pieces(self, update: PartState) -> dict[str, PartState]:
        """The only one."""
        return {"table": update}

    def whole(self, pieces: dict[str, PartState]) -> PartState:
        """The only one."""
        return pieces["table"]


class AbstractColumns(AbstractPieces):
    """A part of two weights side by side, whose updates are columns of both.

    `first` and `second` are their names; the second is one column, or half of all.
    """

    first: ClassVar[str]
    second: ClassVar[str]

    def pieces(self, update: Array) -> dict[str, Array]:
        """The columns of both weights."""
        last = 1 if self.second == "w_O" else update.shape[-1] // 2
        return {self.first: update[..., :-last], self.second: update[..., -last:]}

    def whole(self, pieces: dict[str, Array]) -> Array:
        """The columns side by side."""
        return jnp.concatenate([pieces[self.first], pieces[self.second]], axis=-1)


Built = tuple[AbstractPart, Array | Arrays]


class AbstractLinearPart(AbstractPart):
    """A part that is linear in weights: a rule sees the flow's velocity and adds."""

    def direction(self, state: PartState, force: Force) -> PartState:
        """Minus the gradient, which is the velocity."""
        return self.velocity(state, force)

    def move(self, state: PartState, update: PartState) -> PartState:
        """The state plus the update."""
        return jax.tree.map(jnp.add, state, update)


class AbstractReducedPart(AbstractLinearPart):
    """A linear part in the coordinates of a basis, which a rotation may change."""

    def refuses(self, rule: Rule) -> str | None:
        """Rules that act on single coordinates do not commute with rotations."""
        return rotation_refusal(rule)


class AbstractScores(AbstractPart):
    """The part that holds keys and queries."""

    @abc.abstractmethod
    def self_scores(self, state: PartState) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""


class AbstractRows(AbstractPart):
    """A part that knows the single rows of its keys and queries."""

    @abc.abstractmethod
    def rows(self, state: PartState) -> Rows:
        """What every row sees of the basis."""


class AbstractNeurons(AbstractPart):
    """A part that knows its single neurons."""

    @abc.abstractmethod
    def neuron_table(self, state: PartState) -> Float[Array, "blocks neurons basis"]:
        """`W W_V`: what each neuron reads of each basis vector."""

    @abc.abstractmethod
    def neuron_gram_change(
        self, state: PartState, start: PartState
    ) -> Float[Array, "blocks neurons neurons"]:
        """`W Wᵀ` less its value at the start."""


class AbstractLengths(eqx.Module):
    """A part that knows how long a gradient of its plain weights is."""

    @abc.abstractmethod
    def square(self, state: PartState, direction: PartState) -> Float[Array, ""]:
        """The squared length of the plain gradient that a direction stands for."""


class AbstractMatrices(AbstractLengths):
    """A part that knows the matrices of its plain weights, up to isometries."""

    @abc.abstractmethod
    def matrices(self, update: PartState) -> Matrices:
        """The matrices that a direction or an update is made of, by weight."""

    @abc.abstractmethod
    def from_matrices(self, matrices: Matrices) -> PartState:
        """The update that is made of these."""

    def square(self, state: PartState, direction: PartState) -> Float[Array, ""]:
        """The sum of the squares of all entries of the matrices."""
        leaves = jax.tree.leaves(self.matrices(direction))
        return jnp.stack([(x**2).sum() for x in leaves]).sum()


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


class AbstractForm(eqx.Module):
    """A frame and the two parts; `name` says which form this is.

    `test_frame` carries the same tables to the positions of test samples. `normalised`
    says that rules do not see how large gradients are, so that these come without the
    size of the loss; `careful` that directions of small ones matter, so that nothing in
    them may cancel.
    """

    frame: eqx.AbstractVar[AbstractFrame]
    scores: eqx.AbstractVar[AbstractScores]
    values: eqx.AbstractVar[AbstractPart]
    name: eqx.AbstractVar[str]
    test_frame: eqx.AbstractVar[AbstractFrame | None]
    normalised: eqx.AbstractVar[bool]
    careful: eqx.AbstractVar[bool]

    @abc.abstractmethod
    def pairs(self, state: State) -> Pairs:
        """Pair scores and values of every sample."""

    @abc.abstractmethod
    def test_pairs(self, state: State) -> Pairs:
        """Pair scores and values of every test sample."""

    @abc.abstractmethod
    def part_forces(
        self, problem: Problem, state: State, data: Sequences
    ) -> tuple[Forces, Forward | None]:
        """What each part's `direction` takes as its force.

        And the forward pass on the way to it, where there is one.
        """

    @abc.abstractmethod
    def flow_forces(self, problem: Problem, state: State, data: Sequences) -> Forces:
        """What each part's `velocity` takes as its force."""

    def part(self, name: str) -> AbstractPart:
        """The part with this name, or the one that has a weight of this name."""
        return {"scores": self.scores, "values": self.values}[part_of(name)]

    def tables(self, state: State) -> Tables:
        """The two tables on the basis."""
        return Tables(
            self.scores.table(state["scores"]), self.values.table(state["values"])
        )

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
        on_pairs = forces(
            problem,
            self.frame.pairs(tables),
            data,
            normalised=normalised,
            careful=self.careful,
        )
        return self.frame.forces(tables, on_pairs)

    def refuses(self, rules: dict[str, Rule]) -> str | None:
        """Why this form cannot follow the rules exactly; `None` if it can."""
        reasons = [self._refuses(name, rule) for name, rule in rules.items()]
        return next((reason for reason in reasons if reason), None)

    def _refuses(self, name: str, rule: Rule) -> str | None:
        part = self.part(name)
        if name not in PARTS and not _is_only(part, name):
            reason = part.refuses_apart(rule)
            if reason:
                return reason
        if self.name == "quotient" and rule.sees != "entries":
            return (
                f"{rule.name} sees the whole gradient, of which blocks hold each entry "
                "once, however often it counts. Use the data without the quotient."
            )
        return part.refuses(rule) or _whole_refusal(part, rule)


class AbstractTableForm(AbstractForm):
    """A form whose parts give tables over a basis, at training and test samples."""

    def test_pairs(self, state: State) -> Pairs:
        """Pair scores and values of every test sample."""
        if self.test_frame is None:
            raise no_test_samples()
        return self.test_frame.pairs(self.tables(state))


class Form(AbstractTableForm):
    """A form whose parts give tables over a basis of the tokens' span."""

    frame: AbstractFrame
    scores: AbstractScores
    values: AbstractPart
    name: str = eqx.field(static=True)
    test_frame: AbstractFrame | None = None
    normalised: bool = eqx.field(static=True, default=False)
    careful: bool = eqx.field(static=True, default=False)

    def pairs(self, state: State) -> Pairs:
        """Pair scores and values of every sample."""
        return self.frame.pairs(self.tables(state))

    def part_forces(
        self, problem: Problem, state: State, data: Sequences
    ) -> tuple[Forces, None]:
        """The forces on the tables."""
        tables = self.forces(problem, state, data, normalised=self.normalised)
        return tables._asdict(), None

    def flow_forces(self, problem: Problem, state: State, data: Sequences) -> Forces:
        """The forces on the tables, of their true size."""
        return self.forces(problem, state, data)._asdict()


def no_test_samples() -> ValueError:
    """The error of a form that is asked for test samples and has none."""
    return ValueError(
        "There are no test samples: give the experiment a task that draws them."
    )


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
    """Why a rule with memory cannot be followed by Gram matrices."""
    if rule.memoryless:
        return None
    return (
        f"{rule.name} carries a memory of past gradients, which Gram matrices alone do "
        "not determine. Use form='transport'."
    )


def _whole_refusal(part: AbstractPart, rule: Rule) -> str | None:
    """Why a rule that sees the whole gradient cannot see that of a part."""
    if rule.sees == "entries":
        return None
    kind = AbstractLengths if rule.sees == "length" else AbstractMatrices
    if isinstance(part, kind):
        return None
    what = "the length" if rule.sees == "length" else "the matrices"
    return (
        f"{rule.name} sees {what} of the whole gradient, which "
        f"{type(part).__name__} does not know. Use form='transport', or "
        "form='weights'."
    )


def decays(rule: Rule) -> bool:
    """Whether a rule makes weights decay, those outside the tokens' span too."""
    return rule.weight_decay > 0


def is_apart(names: Iterable[str]) -> bool:
    """Whether some of these names are of weights, and not of whole parts."""
    return any(name not in PARTS for name in names)


def piece_of(pieces: Mapping[str, PartState], name: str) -> str:
    """Under which name the weight that a rule moves stands among a part's pieces."""
    weight = WEIGHTS[name][1]
    # Reduced chains hold β, which is `w_O`, or what neurons make of `W`; tables have
    # one weight alone.
    for known in (weight, _ALSO.get(weight, weight)):
        if known in pieces:
            return known
    raise ValueError(
        f"There is no weight {name!r} to train: this part has "
        f"{', '.join(sorted(pieces)) or 'no weights that are known apart'}."
    )


_ALSO = {"W": "w_O", "w": "table", "W_V": "table"}


def _is_only(part: AbstractPart, name: str) -> bool:
    """Whether a part has one weight alone, which the name may be of."""
    return isinstance(part, AbstractOneWeight) and WEIGHTS[name][1] in ("w", "W_V")


def divisor(size: Float[Array, " blocks"]) -> Float[Array, " blocks"]:
    """Sizes to divide by, with 1 for 0: what is divided by it is zero then."""
    return jnp.where(size > 0, size, 1.0)


def host_divisor(size: Float[np.ndarray, " blocks"]) -> Float[np.ndarray, " blocks"]:
    """As `divisor`, for arrays of NumPy."""
    return np.where(size > 0, size, 1.0)
