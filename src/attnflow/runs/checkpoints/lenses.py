"""Lenses: how a checkpoint becomes a system in a state, at which observables look.

Weights are seen as they are, and where that does not tell an observable (gradients by
coordinate that do not underflow) on the coordinates that tokens cover. Tables are seen
alone.
"""

import abc
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.data import Sequences
from attnflow.experiments import Experiment
from attnflow.experiments.members import member
from attnflow.models.forms import COORDINATE_FORMS, check_weights, column_plan
from attnflow.models.forms.scores import plain_scores
from attnflow.models.systems import Training
from attnflow.runs.checkpoints.tables import table_form
from attnflow.training.rules import Rule, SignGD, per_part

Arrays = Mapping[str, np.ndarray]
Seen = tuple[Training, Any]


class Subject(NamedTuple):
    """What is looked at: an experiment, and the samples of one of its seeds."""

    experiment: Experiment
    seed: int
    data: Sequences
    test: Sequences | None

    @property
    def rules(self) -> list[Rule]:
        """The rules of all stages and parts."""
        stages = self.experiment.stages
        each = [per_part(stage.rule, stage.trains) for stage in stages]
        return [rule for rules in each for rule in rules.values()]

    def checked(self, arrays: Arrays) -> dict[str, Array]:
        """Weights that fit the experiment."""
        heads, embed = self.experiment.problem.heads, self.data.vectors.shape[1]
        return check_weights(arrays, self.experiment.initial, heads=heads, embed=embed)


class AbstractLens(abc.ABC):
    """From the arrays of a checkpoint to a system in a state."""

    @abc.abstractmethod
    def __call__(self, arrays: Arrays) -> Seen:
        """The system in the state of a checkpoint."""


class WeightsLens(AbstractLens):
    """The plain weights; `begins` says that the first checkpoint is the start."""

    def __init__(self, subject: Subject, *, begins: bool):
        self.subject = subject
        self.begins = begins
        self.first: Training | None = None

    def __call__(self, arrays: Arrays) -> Seen:
        """The system in the state of a checkpoint."""
        if self.first is None:
            self.first, state = self._first(arrays)
            return self.first, state
        weights = self.subject.checked(arrays)
        basis = self.first.form.scores.basis  # pyright: ignore
        scores = plain_scores(weights, basis)
        values = self.subject.experiment.initial.values.plain(weights, basis)
        form = replace(self.first.form, scores=scores[0], values=values[0])
        state = {"scores": scores[1], "values": values[1]}
        return replace(self.first, form=form), state

    def _first(self, arrays: Arrays) -> Seen:
        experiment, seed, data, test = self.subject
        rotated = all(rule.equivariant for rule in self.subject.rules)
        system, state = member(
            experiment, seed, "weights", data, arrays, None, test, rotated=rotated
        )
        return replace(system, start=state if self.begins else None), state


class CoordinatesLens(AbstractLens):
    """Weights on the coordinates that tokens cover, without tests and changes.

    Coordinates are put together as a run of the experiment does, so that means over
    them are the same.
    """

    def __init__(self, subject: Subject):
        self.subject = subject
        asked = subject.experiment.form
        signs = all(isinstance(rule, SignGD) for rule in subject.rules)
        own = "signs" if signs else "coordinates"
        self.form = asked if asked in COORDINATE_FORMS else own
        self.plan = column_plan(self.form, subject.data)

    def __call__(self, arrays: Arrays) -> Seen:
        """The system in the state of a checkpoint."""
        experiment, seed, data, _ = self.subject
        system, state = member(
            experiment, seed, self.form, data, arrays, None, plan=self.plan
        )
        return replace(system, start=None), state


class TablesLens(AbstractLens):
    """The two tables: `score` (heads, tokens, tokens) and `value` (heads, tokens)."""

    def __init__(self, subject: Subject, *, begins: bool):
        self.subject = subject
        self.begins = begins
        self.system: Training | None = None

    def __call__(self, arrays: Arrays) -> Seen:
        """The system in the state of a checkpoint."""
        state = {
            "scores": jnp.asarray(arrays["score"]),
            "values": jnp.asarray(arrays["value"]),
        }
        if self.system is None:
            self.system = self._first(state)
        return self.system, state

    def _first(self, state: dict[str, Array]) -> Training:
        experiment, _, data, test = self.subject
        form = table_form(data, test, state["values"].shape[1])
        return Training(
            form,
            experiment.problem,
            data,
            data.probability,
            ("scores", "values"),
            test=test if form.test_frame is not None else None,
            start=state if self.begins else None,
        )
