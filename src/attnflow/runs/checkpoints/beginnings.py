"""What a training loop of one's own begins with: samples, weights, times to record."""

from typing import Any

import numpy as np

from attnflow.data import Sequences
from attnflow.experiments import Experiment
from attnflow.experiments.members import samples_of, weights_key
from attnflow.models.forms import drawn_weights
from attnflow.runs.runner import find_experiment
from attnflow.training import precise

Named = str | Experiment


def named_experiment(experiment: Any, overrides: dict[str, Any]) -> Experiment:
    """An experiment by its name, with changed settings, or as it is."""
    if isinstance(experiment, str):
        paper, id = find_experiment(experiment)
        recipe = paper.recipe(id)
        experiment = recipe.experiment(recipe.with_overrides(overrides))
    elif overrides:
        raise ValueError(
            f"{sorted(overrides)} cannot be set on an experiment that is built "
            "already. Build it with these settings, or give its name."
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


def samples(
    experiment: Named, *, seed: int = 0, **overrides: Any
) -> dict[str, np.ndarray]:
    """The training samples of a seed, as arrays for a training loop of your own.

    **Arguments:**

    - `experiment`: a name such as `signgd/setting-a`, or an `Experiment`.
    - `overrides`: settings that differ from the experiment's own.

    **Returns:** arrays by the names that `run(data=…)` takes. The tokens of all samples
    are `found["tokens"][found["key"]]`, `(samples, length, embed)`.

    !!! example

        >>> import attnflow as af
        >>> found = af.samples("mixture/figure1")
        >>> found["tokens"][found["key"]].shape
        (8, 3, 4)
    """
    made = named_experiment(experiment, overrides)
    with precise():
        return sample_arrays(samples_of(made, seed, None))


def sample_arrays(data: Sequences) -> dict[str, np.ndarray]:
    """Samples as arrays, without those that they do not have."""
    names = ("tokens", "key", "mass", "query", "query_weight", "label", "probability")
    found = {n: getattr(data, n) for n in (*names, "group", "columns", "payload")}
    return {n: np.asarray(array) for n, array in found.items() if array is not None}


def initial_weights(
    experiment: Named, *, seed: int = 0, **overrides: Any
) -> dict[str, np.ndarray]:
    """The initial weights of a seed, by name, `(heads, …)`.

    A run of the experiment starts from the same, unless it draws Gram factors alone.
    Arguments are those of `samples`.

    !!! example

        >>> import attnflow as af
        >>> found = af.initial_weights("mixture/figure1")
        >>> found["W_K"].shape, found["w"].shape
        ((2, 128, 4), (2, 4))
    """
    made = named_experiment(experiment, overrides)
    with precise():
        tokens = samples_of(made, seed, None).vectors
        drawn = drawn_weights(
            "weights",
            made.initial,
            heads=made.problem.heads,
            rank=0,
            embed=tokens.shape[1],
            key=weights_key(made, seed),
        )
        assert drawn is not None
        return {name: np.asarray(array) for name, array in drawn.items()}


def times(experiment: Named, **overrides: Any) -> np.ndarray:
    """The times (or steps) at which a run is recorded: when to keep checkpoints.

    Claims are judged from a run that has all of them. Arguments are those of `samples`.

    !!! example

        >>> import attnflow as af
        >>> af.times("mixture/figure1", records=5)
        array([   0.,  500., 1000., 1500., 2000.])
    """
    made = named_experiment(experiment, overrides)
    return made.grid.times(whole=not made.is_flow)
