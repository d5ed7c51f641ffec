"""`observe`: checkpoints of somebody's training as a run like ours."""

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.data import Sequences
from attnflow.experiments import Experiment, address
from attnflow.experiments.compilation import compile_time, keep_compiled, make_room
from attnflow.experiments.dataset import as_dataset
from attnflow.experiments.members import samples_of, test_samples_of
from attnflow.experiments.record import load
from attnflow.experiments.run import attributes
from attnflow.models.problem import Problem
from attnflow.runs.checkpoints.assemble import as_course, as_seen, notes_of
from attnflow.runs.checkpoints.bare import bare_experiment
from attnflow.runs.checkpoints.beginnings import named_experiment, sample_arrays
from attnflow.runs.checkpoints.lenses import Subject
from attnflow.runs.checkpoints.look import look_along
from attnflow.runs.checkpoints.names import Names
from attnflow.runs.checkpoints.series import Checkpoints, Moment, moments
from attnflow.runs.runner import Arrays
from attnflow.schema.settings import digest, seed_numbers
from attnflow.training import precise


def observe(
    experiment: str | Experiment | Problem,
    checkpoints: Checkpoints,
    *,
    at: Sequence[float] | None = None,
    names: Names | None = None,
    seeds: int | Sequence[int] | None = None,
    data: Sequences | Arrays | None = None,
    record: Sequence[str] | None = None,
    **overrides: Any,
) -> xr.Dataset:
    """Weights or tables that somebody trained, through our observables, as a run.

    **Arguments:**

    - `experiment`: what was trained: a name such as `signgd/setting-a`, an
      `Experiment`, or a `Problem` alone, which needs `data`.
    - `checkpoints`: pairs `(time, state)`, a mapping from times to states, a list of
      states, arrays with the times as first axis, or a file (npz, safetensors, or
      what `torch.save` wrote) of one of these. A state maps names to arrays or
      tensors: weights by our names, such as `W_K` (heads, width, embed), or the tables
      `score` (heads, tokens, tokens; rows for keys) and `value` (heads, tokens). The
      axis of a single head may be left out.
    - `at`: the times (steps of a descent), where the checkpoints do not say them.
    - `names`: for each of our names, where it is in a state: a name, a list of names
      to be stacked, an array, or a function of the state.
    - `seeds`: as in `run`, whose samples were trained on; then `checkpoints` is a list
      with a series for each. Without it they are one series, of seed 0.
    - `data`: samples that were trained on, in the place of the experiment's own.
    - `record`: observables beside the experiment's own. One of these that cannot be
      told is an error; others are left out, and `left_out` in the attributes says why.
    - `overrides`: settings that differ from the experiment's own.

    **Returns:** a run as `attnflow.schema` says, of the form `observed`. What stops
    being finite ends the run there.

    !!! example

        >>> import attnflow as af
        >>> weights = af.initial_weights("mixture/figure1")
        >>> run = af.observe("mixture/figure1", {0: weights})
        >>> f"{run['loss'].item():.4f}"
        '0.6931'
    """
    begun = time.perf_counter()
    numbers, each = _by_seed(checkpoints, seeds)
    series = [moments(one, at) for one in each]
    if isinstance(experiment, Problem):
        made = _bare(experiment, series, names, data)
    else:
        made = named_experiment(experiment, overrides)
    given = load(sample_arrays(data) if isinstance(data, Sequences) else data)
    asked = [record] if isinstance(record, str) else list(record or ())
    keep_compiled()
    make_room()
    with precise(), compile_time() as watch:
        looked = [
            look_along(_subject(made, seed, data, given), one, names, asked)
            for seed, one in zip(numbers, series, strict=True)
        ]
    made = as_seen(made, looked, asked)
    body = as_dataset(
        made, numbers, as_course(looked, made.observables), looked[0].labels
    )
    seen = [one.fingerprint for one in looked]
    body.attrs = attributes(
        made,
        notes_of(made, looked),
        id=digest(address(made, seeds=numbers, data=given), "observed", *seen),
        wall_seconds=time.perf_counter() - begun,
        compile_seconds=watch.seconds,
    )
    if isinstance(experiment, str):
        body = body.assign_attrs(experiment=experiment.partition("/")[2])
    return schema.check(body)


def _by_seed(
    checkpoints: Any, seeds: int | Sequence[int] | None
) -> tuple[list[int], list[Checkpoints]]:
    """Seeds, and a series for each."""
    if seeds is None:
        return [0], [checkpoints]
    numbers, series = list(seed_numbers(seeds)), list(checkpoints)
    if len(numbers) != len(series):
        raise ValueError(
            f"There are {len(numbers)} seeds and {len(series)} series of checkpoints: "
            "with seeds, give a list that has a series for each of them."
        )
    return numbers, series


def _bare(
    problem: Problem, series: list[Iterator[Moment]], names: Names | None, data: Any
) -> Experiment:
    """The experiment for a problem; what it has is seen at the first checkpoint."""
    if data is None:
        raise ValueError(
            "A problem has no samples of its own: give those that it was trained on, "
            "as data=…, or name an experiment."
        )
    first = next(series[0], None)
    if first is None:
        raise ValueError("There are no checkpoints: give one at least.")
    series[0] = itertools.chain([first], series[0])
    return bare_experiment(problem, {*(names or ()), *first[1]})


def _subject(made: Experiment, seed: int, data: Any, given: Any) -> Subject:
    if not isinstance(data, Sequences):
        own = samples_of(made, seed, given)
        return Subject(made, seed, own, test_samples_of(made, seed, given))
    if data.vectors.dtype != np.float64:
        raise ValueError(
            f"The samples are {data.vectors.dtype}: make them in float64, as in `with "
            "af.precise(): af.sequences(…)`."
        )
    return Subject(made, seed, data, None)
