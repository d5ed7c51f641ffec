"""From the arrays of a checkpoint to a system in a state, which observables read.

Weights give the plain form; for what it cannot give (gradients by coordinate that do
not underflow), the form on the coordinates that tokens cover. Tables are a form of
their own, which does not move.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.data import Sequences
from attnflow.experiments import Experiment
from attnflow.experiments.members import Member, member
from attnflow.experiments.record import rules_of
from attnflow.models.forms import (
    COORDINATE_FORMS,
    AbstractFrame,
    AbstractPart,
    AbstractScores,
    Form,
    SelfScores,
    check_weights,
    column_plan,
    open_shapes,
)
from attnflow.models.forms.frames import Basis, frame_of
from attnflow.models.forms.initial_coordinates import coordinate_refusal
from attnflow.models.forms.scores import plain_scores
from attnflow.models.systems import Training
from attnflow.runs.checkpoints.states import Shapes
from attnflow.training.rules import Rule, SignGD

Arrays = Mapping[str, np.ndarray]
Loader = Callable[[Arrays], Member]
"""From the arrays of a checkpoint to a system and its state."""


class Subject(NamedTuple):
    """An experiment and the samples of one of its seeds, to which checkpoints belong.

    `has_tables` says that checkpoints hold tables in the place of weights.
    """

    experiment: Experiment
    seed: int
    data: Sequences
    test: Sequences | None
    has_tables: bool = False

    @property
    def kind(self) -> str:
        """What the checkpoints hold, in a word."""
        return "tables" if self.has_tables else "weights"

    @property
    def shapes(self) -> Shapes:
        """Shapes of the arrays that a checkpoint must have."""
        heads, embed = self.experiment.problem.heads, self.data.vectors.shape[1]
        if self.has_tables:
            return {"score": (heads, "tokens", "tokens"), "value": (heads, "tokens")}
        return open_shapes(self.experiment.initial, heads, embed)

    def weights(self, arrays: Arrays) -> dict[str, np.ndarray]:
        """Weights that fit the experiment; raises where they do not."""
        heads, embed = self.experiment.problem.heads, self.data.vectors.shape[1]
        return check_weights(arrays, self.experiment.initial, heads=heads, embed=embed)

    def check(self, arrays: Arrays) -> None:
        """Raise where arrays do not fit the experiment, or each other."""
        if not self.has_tables:
            self.weights(arrays)
            return
        scores, values = arrays["score"].shape, arrays["value"].shape
        heads, count = self.experiment.problem.heads, values[-1] if values else 0
        if values != (heads, count) or scores != (heads, count, count):
            raise ValueError(
                f"score has shape {scores} and value {values}; they must have "
                f"({heads}, tokens, tokens), rows for keys, and ({heads}, tokens)."
            )


def loaders(subject: Subject, *, is_start: bool) -> Iterator[Loader]:
    """Loaders in the order in which they are tried.

    `is_start` says that the first checkpoint is the initial state, from which changes
    are counted.
    """
    if subject.has_tables:
        yield TablesLoader(subject, is_start)
        return
    yield WeightsLoader(subject, is_start)
    if coordinate_refusal(subject.experiment.initial) is None:
        yield CoordinatesLoader(subject)


@dataclass
class WeightsLoader:
    """The plain form; later checkpoints keep the frame of the first one."""

    subject: Subject
    is_start: bool
    first: Training | None = None

    def __call__(self, arrays: Arrays) -> Member:
        """The system and its state at a checkpoint."""
        if self.first is None:
            self.first, state = self._load_first(arrays)
            return self.first, state
        weights = self.subject.weights(arrays)
        basis = self.first.form.scores.basis  # pyright: ignore
        scores = plain_scores(weights, basis)
        values = self.subject.experiment.initial.values.plain(weights, basis)
        form = replace(self.first.form, scores=scores[0], values=values[0])
        state = {"scores": scores[1], "values": values[1]}
        return replace(self.first, form=form), state

    def _load_first(self, arrays: Arrays) -> Member:
        experiment, seed, data, test, _ = self.subject
        rotated = all(rule.equivariant for rule in rules_of(experiment))
        system, state = member(
            experiment, seed, "weights", data, arrays, None, test, rotated=rotated
        )
        return replace(system, start=state if self.is_start else None), state


class CoordinatesLoader:
    """Weights on the coordinates that tokens cover, without tests and changes.

    Coordinates are put together as a run of the experiment does, so that means over
    them are the same.
    """

    def __init__(self, subject: Subject):
        self.subject = subject
        self.form = subject.experiment.form
        if self.form not in COORDINATE_FORMS:
            signs = all(
                isinstance(rule, SignGD) for rule in rules_of(subject.experiment)
            )
            self.form = "signs" if signs else "coordinates"
        self.plan = column_plan(self.form, subject.data)

    def __call__(self, arrays: Arrays) -> Member:
        """The system and its state at a checkpoint."""
        experiment, seed, data, *_ = self.subject
        system, state = member(
            experiment, seed, self.form, data, arrays, None, plan=self.plan
        )
        return replace(system, start=None), state


@dataclass
class TablesLoader:
    """The two tables: `score` (heads, tokens, tokens) and `value` (heads, tokens)."""

    subject: Subject
    is_start: bool
    system: Training | None = None

    def __call__(self, arrays: Arrays) -> Member:
        """The system and its state at a checkpoint."""
        state = {
            "scores": jnp.asarray(arrays["score"]),
            "values": jnp.asarray(arrays["value"]),
        }
        if self.system is None:
            experiment, _, data, test, _ = self.subject
            form = table_form(data, test, state["values"].shape[1])
            self.system = Training(
                form,
                experiment.problem,
                data,
                data.probability,
                ("scores", "values"),
                test=test if form.test_frame is not None else None,
                start=state if self.is_start else None,
            )
        return self.system, state


class GivenTable(AbstractPart):
    """A table as its state; how weights would move it is unknown."""

    def table(self, state: Array) -> Array:
        """The state itself."""
        return state

    def velocity(self, state: Array, force: Array) -> NoReturn:
        """Unknown."""
        _refuse("how it moves")

    def direction(self, state: Array, force: Array) -> NoReturn:
        """Unknown."""
        _refuse("how it moves")

    def move(self, state: Array, update: Array) -> NoReturn:
        """Unknown."""
        _refuse("how it moves")

    def refuses(self, rule: Rule) -> str:
        """A table of a checkpoint follows no rule."""
        return "a table that was given is seen and not trained."


class GivenScores(GivenTable, AbstractScores):
    """Scores as their state; self-scores are unknown."""

    def self_scores(self, state: Array) -> SelfScores:
        """Unknown."""
        _refuse("self-scores")


def _refuse(what: str) -> NoReturn:
    raise ValueError(
        f"Tables alone do not tell {what}, which depends on the weights behind them: "
        "give weights."
    )


def table_form(data: Sequences, test: Sequences | None, tokens: int) -> Form:
    """The form of tables over all tokens of the vocabulary, or over the shown ones."""
    vocabulary = data.host_tokens
    basis, places = vocabulary, np.eye(tokens)
    if tokens != len(vocabulary):
        basis = vocabulary[list(data.shown)]
        places = _along(vocabulary, basis) if tokens == len(basis) else None
    if places is None:
        names = ", ".join(data.names[:6]) + (", …" if len(data.names) > 6 else "")
        raise ValueError(
            f"The tables are over {tokens} tokens: give them over all "
            f"{len(vocabulary)} of the vocabulary ({names}), or over the {len(basis)} "
            "shown ones where all others are sums of these."
        )
    # Where test samples hold tokens of their own, tables say nothing about them.
    tested = None if test is None else _along(test.host_tokens, basis)
    return Form(
        frame=_frame(data, basis, places),
        scores=GivenScores(),
        values=GivenTable(),
        name="observed",
        test_frame=None
        if test is None or tested is None
        else _frame(test, basis, tested),
    )


def _frame(data: Sequences, basis: np.ndarray, places: np.ndarray) -> AbstractFrame:
    return frame_of(
        data, Basis(jnp.asarray(basis), jnp.asarray(places), orthonormal=False)
    )


def _along(tokens: np.ndarray, basis: np.ndarray) -> np.ndarray | None:
    """Tokens as sums of basis vectors, exactly up to rounding; `None` if they are not.

    Integers are what opposites and sums of tokens need, and are exact.
    """
    places = np.linalg.lstsq(basis.T, tokens.T, rcond=None)[0].T
    whole = np.rint(places)
    places = whole if np.allclose(places, whole, rtol=0, atol=1e-9) else places
    size = np.abs(tokens).max(initial=1.0)
    # A least-squares solution is right to some ulps times the number of coordinates.
    fits = np.abs(places @ basis - tokens).max(initial=0.0) <= 1e-12 * size
    return places if fits else None
