"""Seeds as members of a run: data, form, system, initial state and final weights."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, PyTree

from attnflow.data import Sequences, Symmetry, from_arrays, random
from attnflow.data.random import Key
from attnflow.data.token_sequences import on_device
from attnflow.experiments.record import (
    STREAMS,
    Arrays,
    Experiment,
    rule_names,
    rules_of,
)
from attnflow.models import forms
from attnflow.models.forms import AbstractForm, State, TokenForm
from attnflow.models.forms.moments import LARGEST_RANK
from attnflow.models.problem import Classes, Problem
from attnflow.models.systems import Training
from attnflow.observables import OF_SAMPLES, find
from attnflow.schema.identity import Same
from attnflow.training import Reach
from attnflow.training.rules import (
    Flow,
    GradientDescent,
    Momentum,
    NormalisedDescent,
    Rule,
    SignGD,
    per_part,
)

# Rules whose steps shrink with the gradient, so that its last digits do not matter.
PROPORTIONAL = (Flow, GradientDescent, Momentum)
Member = tuple[Training, State]
"""The system and the initial state of a seed."""
Variables = dict[str, tuple[tuple[str, ...], np.ndarray]]
OF_ROWS = ("key_neuron", "query_neuron")
"""Observables of single rows of keys and queries."""
MOST_WEIGHTS = 2**28
"""Weights of one kind: 2 GB of them."""


class Built(NamedTuple):
    """The members of an experiment, and what the run reports of its form and rules."""

    members: list[Member]
    notes: dict[str, str]


def build_members(
    experiment: Experiment,
    seeds: Sequence[int],
    data: Arrays | None = None,
    weights: Arrays | None = None,
    *,
    lift: bool = False,
) -> Built:
    """Choose the form and build the system and the initial state of every seed.

    `data` and `weights` replace those that the experiment draws; `lift` asks for a
    form whose final weights are known.
    """
    for name in experiment.observables:
        find(name)
    rules = [per_part(s.rule, s.trains) for s in experiment.stages]
    symmetry = experiment.task.symmetry if data is None else None
    samples = [samples_of(experiment, seed, data) for seed in seeds]
    _check_labels(experiment, samples)
    every = rules_of(experiment)
    rotated = all(rule.equivariant for rule in every)
    sparse = forms.is_sparse(samples[0], rules, experiment.initial) and not lift
    column = _shows_column(experiment, samples[0]) and not lift
    name, why = forms.choose(
        experiment.form,
        rules,
        initial=experiment.initial,
        # The rank needs a large basis, which takes time, and only rotated forms need
        # it.
        rank=_rank(samples[0]) if rotated and not (sparse or column) else 0,
        symmetric=symmetry is not None,
        sparse=sparse,
        lift=lift,
        column=column,
        moments=_sees_moments(experiment, samples[0]),
        linear=experiment.problem.law == "linear",
        rows=any(name in OF_ROWS for name in experiment.observables),
    )
    _check_law(experiment, name)
    _require_weights(experiment, name, why, samples[0], given=weights is not None)
    plan = None
    if name in forms.COORDINATE_FORMS:
        # Seeds run side by side, and their data cover different coordinates.
        plan = forms.widest([forms.column_plan(name, drawn) for drawn in samples])
    members = [
        member(
            experiment,
            seed,
            name,
            drawn,
            weights,
            symmetry,
            test_samples_of(experiment, seed, data),
            plan=plan,
            lift=lift,
            rotated=rotated,
            # If no rule depends on the size of gradients, they can be rescaled so as
            # not to underflow.
            normalised=all(_sees_no_size(rule) for rule in every),
            # Plain weights are trained as autograd does it, cancellation included.
            careful=name != "weights"
            and not all(isinstance(rule, PROPORTIONAL) for rule in every),
        )
        for seed, drawn in zip(seeds, samples, strict=True)
    ]
    for stage_rules in rules:
        reason = members[0][0].form.refuses(stage_rules)
        if reason is not None:
            raise ValueError(f"form={name!r} is not exact here: {reason}")
    if lift:
        _require_lift(experiment, members[0][0], weights)
    notes = {"form": name, "form_reason": why, "rule": rule_names(experiment)}
    return Built(members, notes)


def _check_labels(experiment: Experiment, samples: Sequence[Sequences]) -> None:
    """Raise where a readout of several classes meets labels that are none."""
    readout = experiment.problem.readout
    if not isinstance(readout, Classes):
        return
    for drawn in samples:
        readout.check(np.asarray(drawn.label))
    if any(stage.batches and stage.batches.flip for stage in experiment.stages):
        raise ValueError(
            "flip turns the sign of labels, and numbers of classes have none: use "
            "flip=0, or give wrong labels as data."
        )


def _sees_no_size(rule: Rule) -> bool:
    """Whether a rule does the same for a gradient of any size."""
    if isinstance(rule, NormalisedDescent):
        return rule.epsilon == 0
    return isinstance(rule, SignGD)


def _rank(samples: Sequences) -> int:
    return forms.basis_of(samples).rank


def _shows_column(experiment: Experiment, samples: Sequences) -> bool:
    """Whether a form of one column pays, and knows all that is recorded."""
    known = _observed(experiment) <= OF_SAMPLES
    return known and forms.is_column(samples, experiment.initial)


def _observed(experiment: Experiment) -> set[str]:
    """The observables that are recorded, or whose levels end a stage."""
    events = [stage.until for stage in experiment.stages]
    scalars = [event.scalar for event in events if isinstance(event, Reach)]
    reached = {scalar.partition("[")[0].strip() for scalar in scalars}
    return reached | set(experiment.observables)


def _sees_moments(experiment: Experiment, samples: Sequences) -> bool:
    """Whether training sees moments of all samples alone, and these are few."""
    if experiment.problem.law == "softmax" or _trains_on_parts(experiment):
        return False
    if experiment.initial.shared:
        return False
    rank = _rank(samples)
    work = samples.key.size * rank * experiment.problem.heads
    few = rank <= LARGEST_RANK and rank**6 < work
    return few and forms.moment_refusal(experiment.problem, samples) is None


def _trains_on_parts(experiment: Experiment) -> bool:
    return any(stage.group or stage.batches for stage in experiment.stages)


def _check_law(experiment: Experiment, name: str) -> None:
    """Refuse forms that do not know linear attention, or all that is trained on."""
    if experiment.problem.law == "linear" and name in forms.COORDINATE_FORMS:
        raise ValueError(
            f"form={name!r} is not exact here: linear attention has no logarithms. Use "
            "form='weights' (docs/what-fits.md)."
        )
    if name == "moments" and experiment.initial.shared:
        raise ValueError(
            "form='moments' has scores for each head, and here all share one "
            "attention. Use form='transport'."
        )
    if name == "moments" and _trains_on_parts(experiment):
        raise ValueError(
            "form='moments' is not exact here: it has the moments of all samples, and "
            "a stage trains on some of them. Use form='transport'."
        )


def _require_weights(
    experiment: Experiment, form: str, why: str, samples: Sequences, *, given: bool
) -> None:
    """Raise where a form needs weights, and there are too many to hold."""
    initial, embed = experiment.initial, samples.vectors.shape[1]
    if given or form not in ("weights", *forms.COORDINATE_FORMS):
        return
    rows = embed if initial.merged else initial.width
    if rows == "infinite" or experiment.problem.heads * rows * embed <= MOST_WEIGHTS:
        return
    raise ValueError(
        f"form={form!r} is needed here ({why}) and holds weights, and {rows} rows of "
        f"{embed} entries are too many. Use smaller sizes, or rules that commute with "
        "rotations (flow, gd, momentum, muon)."
    )


def member(
    experiment: Experiment,
    seed: int,
    form_name: str,
    samples: Sequences,
    weights: Arrays | None,
    symmetry: Symmetry | None,
    test: Sequences | None = None,
    *,
    plan: forms.ColumnPlan | None = None,
    lift: bool = False,
    **rules: bool,
) -> Member:
    """The system and the initial state of one seed.

    `rules` tell a form what it is for, as `build` takes it; `lift` asks for what final
    weights are made of.
    """
    heads = experiment.problem.heads
    checked = None
    if weights is not None:
        embed = samples.vectors.shape[1]
        checked = forms.check_weights(
            weights, experiment.initial, heads=heads, embed=embed
        )
    form, state = forms.build(
        "transport" if form_name == "moments" else form_name,
        samples,
        experiment.initial,
        heads=heads,
        key=weights_key(experiment, seed),
        weights=checked,
        symmetry=None if symmetry is None else forms.symmetry_of(symmetry, samples),
        test=test,
        plan=plan,
        **rules,
    )
    if form_name == "moments":
        basis = forms.frames_of(samples, test)[0]
        tokens = basis.coordinates[: len(samples.vectors)]
        form = forms.with_moments(form, experiment.problem, samples, tokens)
    vocabulary = _vocabulary(experiment, samples, form)
    if isinstance(form, TokenForm):
        samples = _without_vectors(Same(samples))
        # One test set serves every number of training samples.
        test = None if test is None else _test_without_vectors(Same(test))
    elif test is not None and form.name in forms.COORDINATE_FORMS and not lift:
        test = _without_vectors(Same(test))
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
        widths=_widths(experiment, checked),
    )
    _check_groups(experiment, system)
    return system, state


def samples_of(experiment: Experiment, seed: int, data: Arrays | None) -> Sequences:
    """The samples of one seed: the task's, or those of `data`."""
    key = _stream_key(experiment, seed, "data")
    if data is None:
        return experiment.task.sequences(key=key)
    like = None if experiment.task.random else experiment.task.sequences(key=key)
    return from_arrays(data, like)


def test_samples_of(
    experiment: Experiment, seed: int, data: Arrays | None
) -> Sequences | None:
    """The test samples of one seed; `None` where `data` replace the task's samples."""
    if data is not None:
        return None
    return experiment.task.test_sequences(key=_stream_key(experiment, seed, "test"))


def weights_key(experiment: Experiment, seed: int) -> Key:
    """The key with which a seed's initial weights are drawn."""
    return _stream_key(experiment, seed, "weights")


def final_weights(
    experiment: Experiment,
    seeds: Sequence[int],
    members: Sequence[Member],
    weights: Arrays | None,
    states: PyTree,
) -> Variables:
    """The weights at the end of each seed, as variables `W_K_final` and so on.

    `states` are the final states of the seeds, stacked.
    """
    by_seed = []
    for number, (seed, (system, _)) in enumerate(zip(seeds, members, strict=True)):
        state = jax.tree.map(lambda x, number=number: np.asarray(x)[number], states)
        initial = _initial_weights(experiment, seed, system, weights)
        basis = forms.frames_of(system.data, system.test)[0].vectors
        by_seed.append(forms.lift(system.form, state, initial, basis))
    return {
        f"{name}_final": (
            ("seed", "head", *axes),
            np.stack([np.asarray(lifted[name]) for lifted in by_seed]),
        )
        for name, axes in forms.axes_of(experiment.initial).items()
    }


def _require_lift(
    experiment: Experiment, system: Training, weights: Arrays | None
) -> None:
    """Raise, before anything is trained, where final weights will not be known."""
    if experiment.initial.shared:
        raise ValueError(
            "Final weights are arrays with one row for each head, and here all heads "
            "share one attention: record W_K and W_Q with form='weights'."
        )
    for stage in experiment.stages:
        reason = forms.lift_refusal(system.form, per_part(stage.rule, stage.trains))
        if reason is not None:
            raise ValueError(f"Final weights cannot be lifted here: {reason}")
    _initial_weights(experiment, 0, system, weights)


def _initial_weights(
    experiment: Experiment, seed: int, system: Training, weights: Arrays | None
) -> forms.Weights:
    heads, embed = experiment.problem.heads, system.data.vectors.shape[1]
    if weights is not None:
        return forms.check_weights(
            weights, experiment.initial, heads=heads, embed=embed
        )
    drawn = forms.drawn_weights(
        system.form.name,
        experiment.initial,
        heads=heads,
        rank=forms.basis_of(system.data).rank,
        embed=embed,
        key=weights_key(experiment, seed),
    )
    if drawn is None:
        raise ValueError(
            "Final weights need initial weights, and this run draws only what its form "
            f"needs (draw={experiment.initial.draw!r}). Use draw='weights' at a finite "
            "width; for new tokens alone, declare them as test tokens beforehand."
        )
    return drawn


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
    """Coordinates of all tokens, where recorded: a large basis costs a second."""
    if "vocabulary_value" not in experiment.observables:
        return None
    if isinstance(form, TokenForm):
        return on_device(np.eye(len(samples.vectors)))
    return forms.basis_of(samples).coordinates


def _widths(experiment: Experiment, weights: forms.Weights | None) -> forms.Widths:
    """Widths of the weights, where recorded: others would be compiled anew for each."""
    if "sharpness" not in _observed(experiment):
        return forms.Widths()
    return forms.widths_of(experiment.initial, weights)


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
        lambda leaf: on_device(np.array(leaf)) if isinstance(leaf, float) else leaf,
        problem,
    )


def _stream_key(experiment: Experiment, seed: int, name: str) -> Key:
    """The key of one of a seed's streams of random numbers."""
    seed = experiment.fixed.get(name, seed)
    return random.fold_in(random.key(seed), STREAMS.index(name))


def _batch_key(experiment: Experiment, seed: int) -> Array | None:
    """The numbers of a seed's batches, where some stage has any."""
    if all(stage.batches is None for stage in experiment.stages):
        return None
    return on_device(random.as_key(_stream_key(experiment, seed, "batches")))
