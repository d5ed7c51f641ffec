"""Seeds as members of a run: each its own data, initial state and system."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.data import Sequences, from_arrays
from attnflow.experiments.events import event_of
from attnflow.experiments.record import STREAMS, Experiment
from attnflow.models.forms import (
    AbstractForm,
    ColumnPlan,
    TokenForm,
    basis_of,
    build,
    check_weights,
    symmetry_of,
)
from attnflow.models.problem import Problem
from attnflow.models.systems import Training
from attnflow.models.tables import Forward
from attnflow.observables import View, find, parse
from attnflow.schema.identity import Same
from attnflow.training import Reach, Stage, stack


def member(
    experiment: Experiment,
    seed: int,
    form_name: str,
    samples: Sequences,
    weights: Mapping[str, Any] | None,
    symmetry: Any,
    test: Sequences | None = None,
    *,
    plan: ColumnPlan | None = None,
    **rules: bool,
) -> tuple[Training, Any]:
    """The system and the initial state of one seed.

    `rules` tell a form what it is for, as `build` takes it.
    """
    heads = experiment.problem.heads
    if weights is not None:
        weights = check_weights(
            weights,
            experiment.initial,
            heads=heads,
            embed=samples.vectors.shape[1],
        )
    form, state = build(
        form_name,
        samples,
        experiment.initial,
        heads=heads,
        key=_stream(experiment, seed, "weights"),
        weights=weights,
        symmetry=None if symmetry is None else symmetry_of(symmetry, samples),
        test=test,
        plan=plan,
        **rules,
    )
    vocabulary = _vocabulary(experiment, samples, form)
    if isinstance(form, TokenForm):
        samples = _without_vectors(Same(samples))
        # One test serves every number of training samples.
        test = None if test is None else _test_without_vectors(Same(test))
    system = Training(
        form,
        _traced(experiment.problem),
        samples,
        samples.probability,
        ("scores", "values"),
        test=test,
        start=state,
        vocabulary=vocabulary,
        batch_key=_batch_key(experiment, seed),
    )
    _check_groups(experiment, system)
    return system, state


def _without_vectors(data: Same) -> Sequences:
    """The same samples: the form has all of the vectors that training sees.

    They may be large, and would be stacked and compared over seeds.
    """
    vectors = jax.device_put(np.zeros((len(data.array.vectors), 0)))
    return eqx.tree_at(
        lambda d: (d.vectors, d.scale),
        data.array,
        (vectors, None),
        is_leaf=lambda leaf: leaf is None,
    )


_test_without_vectors = lru_cache(maxsize=32)(_without_vectors)


def _vocabulary(
    experiment: Experiment, samples: Sequences, form: AbstractForm
) -> Array | None:
    """Coordinates of all tokens, where asked for: a large basis costs a second."""
    if "vocabulary_value" not in experiment.observables:
        return None
    if isinstance(form, TokenForm):
        return jnp.eye(len(samples.vectors))
    return basis_of(samples).coordinates


def _check_groups(experiment: Experiment, system: Training) -> None:
    """Refuse means over groups without samples, which no record could hold."""
    for name in experiment.observables:
        kind = find(name).group_means
        data = {"data": system.data, "test": system.test}.get(kind or "")
        if data is None:
            continue
        weight = np.bincount(
            np.asarray(data.group),
            np.asarray(data.probability),
            minlength=len(data.group_names),
        )
        empty = [n for n, w in zip(data.group_names, weight, strict=True) if w == 0]
        if empty:
            which = "test samples" if kind == "test" else "samples"
            raise ValueError(
                f"{name} needs {which} of every group, and there are none of {empty}. "
                f"Give more {which}, or do not record {name}."
            )


def _traced(problem: Problem) -> Problem:
    """The problem with its numbers as arrays, so that others compile nothing anew."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(leaf) if isinstance(leaf, float) else leaf, problem
    )


def samples_of(
    experiment: Experiment, seed: int, data: Mapping[str, Any] | None
) -> Sequences:
    """The samples of one seed: the task's own, or given ones."""
    key = _stream(experiment, seed, "data")
    if data is None:
        return experiment.task.sequences(key=key)
    like = None if experiment.task.random else experiment.task.sequences(key=key)
    return from_arrays(data, like)


def test_samples_of(
    experiment: Experiment, seed: int, data: Mapping[str, Any] | None
) -> Sequences | None:
    """The test samples of one seed; none beside given data."""
    if data is not None:
        return None
    return experiment.task.test_sequences(key=_stream(experiment, seed, "test"))


def _stream(experiment: Experiment, seed: int, name: str) -> Array:
    """The key of one of a seed's streams of random numbers."""
    kind = str(jax.config.values["jax_default_prng_impl"])
    return _key(experiment.fixed.get(name, seed), STREAMS.index(name), kind)


# Cells of a map ask for the same keys, each of which takes three dispatches.
@lru_cache(maxsize=64)
def _key(seed: int, number: int, kind: str) -> Array:
    return jax.random.fold_in(jax.random.key(seed, impl=kind), number)


def _batch_key(experiment: Experiment, seed: int) -> Array | None:
    """The numbers of a seed's batches, where some stage has any."""
    if all(stage.batches is None for stage in experiment.stages):
        return None
    return jax.random.key_data(_stream(experiment, seed, "batches"))


def weights_key(experiment: Experiment, seed: int) -> Array:
    """The key with which a seed's initial weights are drawn."""
    return _stream(experiment, seed, "weights")


def stage_leg(
    stage: Stage, members: list[tuple[Training, Any]], coords: Mapping[str, Any]
) -> tuple[Stage, Any, Any, Any]:
    """A stage with its system stacked over seeds, the axes of that, and its event."""
    systems = []
    for system, _ in members:
        data = system.data if stage.group is None else system.data.restrict(stage.group)
        trained = tuple(sorted(stage.trains))
        _check_batches(stage, data)
        systems.append(
            replace(
                system,
                probability=data.probability,
                trained=trained,
                batches=stage.batches,
            )
        )
    stacked, axes = stack(systems)
    event = None
    if isinstance(stage.until, Reach):
        event = event_of(stage.until, parse(stage.until.scalar, dict(coords)), View)
    return stage, stacked, axes, event


def _check_batches(stage: Stage, data: Sequences) -> None:
    """Refuse epochs over fewer samples than a batch has."""
    if stage.batches is None or stage.batches.order == "drawn":
        return
    count = int((np.asarray(data.probability) > 0).sum())
    if stage.batches.size > count:
        raise ValueError(
            f"A batch of {stage.batches.size} is larger than the {count} samples that "
            f"the stage {stage.name!r} trains on. Use a smaller size, or "
            "order='drawn', which repeats samples."
        )


@dataclass(frozen=True)
class Observe:
    """The observables of a run, as a hashable function of system and state."""

    names: tuple[str, ...]

    def __call__(
        self, system: Training, state: Any, sight: Forward | None = None
    ) -> dict[str, Array]:
        """The observables in one state, which may have been seen already."""
        view = View(system, state, sight)
        return {name: find(name).compute(view) for name in self.names}
