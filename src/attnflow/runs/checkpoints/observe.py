"""`observe`: the checkpoints of a user's training as a run like ours."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnflow import schema
from attnflow.data import Sequences
from attnflow.experiments import Experiment
from attnflow.experiments.course import as_dataset
from attnflow.experiments.members import samples_of, test_samples_of
from attnflow.experiments.run import attributes
from attnflow.models.problem import Problem
from attnflow.runs import view as view
from attnflow.runs.checkpoints.inputs import (
    NO_SAMPLES,
    find_trainable,
    problem_experiment,
    sample_arrays,
)
from attnflow.runs.checkpoints.records import (
    as_course,
    notes_of,
    record_series,
    with_records,
)
from attnflow.runs.checkpoints.states import Checkpoints, Names, State, read_series
from attnflow.runs.checkpoints.systems import Subject
from attnflow.schema.arrays import ArraySource, load
from attnflow.schema.clock import compile_time
from attnflow.schema.installation import xr
from attnflow.schema.settings import Value, address, digest, seed_numbers
from attnflow.training import precise
from attnflow.training.programs import make_room


def observe(
    experiment: str | Experiment | Problem,
    checkpoints: Checkpoints,
    *,
    at: Sequence[float] | None = None,
    names: Names | None = None,
    seeds: int | Sequence[int] | None = None,
    data: Sequences | ArraySource | None = None,
    record: Sequence[str] | None = None,
    losses: ArrayLike | None = None,
    outputs: ArrayLike | None = None,
    **overrides: Value,
) -> xr.Dataset:
    """Observables of weights or tables that you trained, as a run.

    **Arguments:**

    - `experiment`: what was trained: a name such as `signgd/setting-a`, an
      `Experiment`, or a `Problem` alone, which needs `data`.
    - `checkpoints`: pairs `(time, state)`, a mapping from times to states, a list of
      states, arrays with the times as first axis, or a file (npz, safetensors, or
      what `torch.save` wrote) of one of these. A state maps names to arrays or
      tensors: weights by our names, such as `W_K` (heads, width, embed), or the tables
      `score` (heads, tokens, tokens; rows for keys) and `value` (heads, tokens). The
      axis of a single head may be left out.
    - `at`: the times (steps of a descent), where the checkpoints do not have them.
    - `names`: for each of our names, where it is in a state: a name, a list of names
      to be stacked, an array, or a function of the state.
    - `seeds`: as in `run`, whose samples were trained on; then `checkpoints` is a list
      with a series for each. Without it they are one series, of seed 0.
    - `data`: samples that were trained on, in the place of the experiment's own.
    - `record`: observables beside the experiment's own. One of these that cannot be
      computed is an error; others are left out, and the attribute `left_out` says why.
    - `losses`, `outputs`: what your own program says at these times, `(times,)` and
      `(times, samples)`, with the seeds before them where there are several. A
      `ModelMismatchWarning` says where our model of the same weights disagrees: a mean
      where ours sums, say, which no shape shows.
    - `overrides`: settings that differ from the experiment's own.

    **Returns:** a run as `attnflow.schema` says, of the form `observed`. A checkpoint
    that is not finite ends the run there.

    !!! example

        >>> import attnflow as af
        >>> weights = af.initial_weights("mixture/figure1")
        >>> run = af.observe("mixture/figure1", {0: weights})
        >>> f"{run['loss'].item():.4f}"
        '0.6931'
    """
    start = time.perf_counter()
    numbers, each = _by_seed(checkpoints, seeds)
    series = [read_series(entry, at) for entry in each]
    if not isinstance(experiment, Problem):
        plan = find_trainable(experiment, overrides)
    elif data is None:
        raise ValueError(f"{NO_SAMPLES}, or name an experiment.")
    else:
        plan = problem_experiment(experiment, {*(names or ()), *_first_names(series)})
    samples = sample_arrays(data) if isinstance(data, Sequences) else data
    arrays = None if samples is None else load(samples)
    required = [record] if isinstance(record, str) else list(record or ())
    theirs = {"loss": losses, "output": outputs}
    told = {name: np.asarray(x) for name, x in theirs.items() if x is not None}
    required += [name for name in told if name not in required]
    make_room()
    with precise(), compile_time() as watch:
        by_seed = [
            record_series(_subject(plan, seed, data, arrays), pairs, names, required)
            for seed, pairs in zip(numbers, series, strict=True)
        ]
    plan = with_records(plan, by_seed, required)
    course = as_course(by_seed, plan.observables)
    run = as_dataset(plan, numbers, course, by_seed[0].plan.labels)
    prints = [records.fingerprint for records in by_seed]
    base = address(plan.canonical(), seeds=numbers, data=arrays)
    run.attrs = attributes(
        plan,
        notes_of(plan, by_seed[0]),
        id=digest(base, "observed", *prints),
        wall_seconds=time.perf_counter() - start,
        compile_seconds=watch.seconds,
    )
    for name, numbers_given in told.items():
        _check_against(run[name], numbers_given)
    if isinstance(experiment, str):
        run = run.assign_attrs(experiment=experiment.partition("/")[2])
    return schema.check(run)


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


def _first_names(series: list[Iterator[tuple[float, State]]]) -> set[str]:
    """The names in the first checkpoint, which stays in its series."""
    first = next(series[0], None)
    if first is None:
        raise ValueError("There are no checkpoints: give one at least.")
    series[0] = itertools.chain([first], series[0])
    return set(first[1])


def _subject(
    experiment: Experiment,
    seed: int,
    data: Sequences | ArraySource | None,
    arrays: dict[str, np.ndarray] | None,
) -> Subject:
    if not isinstance(data, Sequences):
        test = test_samples_of(experiment, seed, arrays)
        return Subject(experiment, seed, samples_of(experiment, seed, arrays), test)
    if data.vectors.dtype != np.float64:
        raise ValueError(
            f"The samples are {data.vectors.dtype}: make them in float64, as in `with "
            "af.precise(): af.sequences(…)`."
        )
    return Subject(experiment, seed, data, None)


class ModelMismatchWarning(UserWarning):
    """Our model of a user's weights does not give what the user's program gives."""


# Single precision, and some hundred roundings of it.
AGREES = 1e-4


def _check_against(ours: xr.DataArray, given: np.ndarray) -> None:
    """Warn where what a user's program says differs from ours by more than rounding."""
    given = np.reshape(given, ours.shape) if given.size == ours.size else given
    if given.shape != ours.shape:
        raise ValueError(
            f"The given {ours.name} has shape {given.shape}; it must have {ours.shape} "
            f"({', '.join(map(str, ours.dims))}), the axis of one seed may be left out."
        )
    size = np.nanmax(np.abs(ours.values))
    gap = np.abs(ours.values - given)
    worst = np.unravel_index(np.nanargmax(gap), gap.shape)
    if gap[worst] <= AGREES * max(size, 1e-300):
        return
    mine, yours = float(ours.values[worst]), float(given[worst])
    ratio = f" ({yours / mine:.6g} times ours)" if mine else ""
    warnings.warn(
        f"At time {float(ours['time'][worst[1]]):g} your program says {ours.name} = "
        f"{yours:.6g}{ratio}, and our model of these weights {mine:.6g}: the two are "
        "not the same model. Look at how queries are pooled (query_weight), at the "
        "scale of the scores, and at the weights' names and axes.",
        ModelMismatchWarning,
        stacklevel=3,
    )
