"""Inputs of a user's own training loop: samples, initial weights, times to record."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from attnflow.data import Sequences
from attnflow.data.random import Key
from attnflow.experiments import Experiment, SystemExperiment
from attnflow.experiments.members import samples_of, weights_key
from attnflow.models.forms import (
    AbstractValues,
    Chain,
    ClassMeans,
    Initial,
    Neurons,
    Vector,
    drawn_weights,
)
from attnflow.models.problem import Problem
from attnflow.runs.runner import find_experiment
from attnflow.schema.settings import Value
from attnflow.training import Grid, Stage, precise
from attnflow.training.rules import GradientDescent

OBSERVABLES = ("loss", "accuracy", "output", "margin", "attention", "score", "value")
"""Observables of a problem that belongs to no experiment."""

# Sizes and scales are those of the arrays: here they only stand for a kind of values.
_VALUES: dict[frozenset[str], AbstractValues] = {
    frozenset({"w"}): Vector(),
    frozenset({"W_V", "w_O"}): Chain(1, 0.0, 0.0),
    frozenset({"W_V", "W", "a"}): Neurons(1, 1, 0.0, 0.0),
    frozenset({"W_V"}): ClassMeans(1, 0.0),
    frozenset({"value"}): Vector(),
}
_SCORES = (frozenset({"W_K", "W_Q"}), frozenset({"W_KQ"}), frozenset({"score"}))
NO_SAMPLES = (
    "A problem has no samples of its own: give those that it was trained on, as data=…"
)


def samples(
    experiment: str | Experiment, *, seed: int = 0, **overrides: Value
) -> dict[str, np.ndarray]:
    """The training samples of a seed, as arrays for a training loop of your own.

    **Arguments:**

    - `experiment`: a name such as `signgd/setting-a`, or an `Experiment`.
    - `overrides`: settings that differ from the experiment's own.

    **Returns:** arrays by the names that `run(data=…)` takes. The tokens of all samples
    are `arrays["tokens"][arrays["key"]]`, `(samples, length, embed)`.

    !!! example

        >>> import attnflow as af
        >>> arrays = af.samples("mixture/figure1")
        >>> arrays["tokens"][arrays["key"]].shape
        (8, 3, 4)
    """
    experiment = find_trainable(experiment, overrides)
    with precise():
        return sample_arrays(samples_of(experiment, seed, None))


def sample_arrays(data: Sequences) -> dict[str, np.ndarray]:
    """Samples as arrays, without those that they do not have."""
    names = ("tokens", "key", "mass", "query", "query_weight", "label", "probability")
    arrays = {n: getattr(data, n) for n in (*names, "group", "columns", "payload")}
    return {n: np.asarray(array) for n, array in arrays.items() if array is not None}


def initial_weights(
    experiment: str | Experiment, *, seed: int = 0, **overrides: Value
) -> dict[str, np.ndarray]:
    """The initial weights of a seed, by name, `(heads, …)`.

    A run of the experiment starts from the same, unless it draws Gram factors alone.
    Arguments are those of `samples`.

    !!! example

        >>> import attnflow as af
        >>> weights = af.initial_weights("mixture/figure1")
        >>> weights["W_K"].shape, weights["w"].shape
        ((2, 128, 4), (2, 4))
    """
    experiment = find_trainable(experiment, overrides)
    with precise():
        weights = drawn_weights(
            "weights",
            experiment.initial,
            heads=experiment.problem.heads,
            rank=0,
            embed=samples_of(experiment, seed, None).vectors.shape[1],
            key=weights_key(experiment, seed),
        )
        assert weights is not None
        return {name: np.asarray(array) for name, array in weights.items()}


def times(experiment: str | Experiment, **overrides: Value) -> np.ndarray:
    """The times (or steps) at which a run is recorded: when to keep checkpoints.

    Claims are judged from a run that has all of them. Arguments are those of `samples`.

    !!! example

        >>> import attnflow as af
        >>> af.times("mixture/figure1", records=5)
        array([   0.,  500., 1000., 1500., 2000.])
    """
    experiment = find_trainable(experiment, overrides)
    return experiment.grid.times(whole=not experiment.is_flow)


def find_trainable(
    experiment: str | Experiment | SystemExperiment, overrides: Mapping[str, Value]
) -> Experiment:
    """An experiment whose weights a user can train, by name or as it is."""
    if isinstance(experiment, str):
        paper, id = find_experiment(experiment)
        recipe = paper.recipe(id)
        return find_trainable(recipe.experiment(recipe.with_overrides(overrides)), {})
    if overrides:
        raise ValueError(
            f"{sorted(overrides)} cannot be set on an experiment that is built "
            "already. Build it with these settings, or give its name."
        )
    if not hasattr(experiment, "canonical"):
        raise ValueError(
            f"{experiment!r} ({type(experiment).__name__}) is not an experiment. Give "
            "a name such as 'mixture/figure1', or an `Experiment` of your own."
        )
    if not isinstance(experiment, Experiment):
        raise ValueError(
            f"{experiment.id} is a {type(experiment).__name__}, which has no samples "
            "and weights of its own: give an experiment that trains a model on a task."
        )
    if experiment.task.symmetry is not None:
        raise ValueError(
            f"{experiment.id} has one sample for each orbit of a symmetry, which no "
            "weights could be trained on: give the data without the quotient."
        )
    return experiment


@dataclass(frozen=True)
class GivenTask:
    """A task without a distribution: the user has the samples."""

    random: bool = True
    symmetry: None = None

    def sequences(self, *, key: Key | None = None) -> NoReturn:
        """There are none."""
        raise ValueError(f"{NO_SAMPLES}.")

    def test_sequences(self, *, key: Key | None = None) -> None:
        """None."""


def problem_experiment(problem: Problem, names: Iterable[str]) -> Experiment:
    """An experiment for a problem alone; `names` of its arrays tell its model."""
    names = set(names)
    values = next((v for needs, v in _VALUES.items() if needs <= names), None)
    scores = next((needs for needs in _SCORES if needs <= names), None)
    if values is None or scores is None:
        scores_text, values_text = (
            "; ".join(" and ".join(sorted(needs)) for needs in kinds)
            for kinds in (_SCORES, _VALUES)
        )
        raise ValueError(
            f"The checkpoint has {', '.join(sorted(names)) or 'nothing'}; a problem "
            f"needs scores ({scores_text}) and values ({values_text}). Give a map of "
            "names."
        )
    return Experiment(
        paper="",
        id="observed",
        setting={},
        task=GivenTask(),
        problem=problem,
        initial=Initial(values=values, merged="W_KQ" in scores),
        # The rule is unknown, and no observable needs it.
        stages=(Stage(GradientDescent(1.0), 1.0, name="observed"),),
        grid=Grid(points=(0.0,)),
        observables=OBSERVABLES,
    )
