"""Kernels against `run`: all records of all observables, at defaults and elsewhere."""

import numpy as np
import pytest

from attnflow.browser.lowering import Unsupported
from attnflow.browser.simulate import Player, Simulation, kernels_of, simulate
from attnflow.browser.trace import stages_of
from attnflow.experiments import run
from attnflow.papers.base import paper
from attnflow.schema.settings import numbers
from attnflow.training.rules import Flow
from tests.experiments.test_numbers import SMALL

SLOW = pytest.mark.slow
# Rounding alone makes two programs of one descent differ; 1e-12 is some 5000 ulp of the
# largest entry, far below what any of these descents amplifies.
DESCENT = 1e-12
# What is zero but for rounding, as a conserved sum, is rounded like what it is made of.
ROUNDING = 64 * np.finfo(float).eps
OTHERS = {
    "mixture/k3": {"steps": 60.0, "records": 7},
    "cooccurrence/flow": {"steps": 1.0, "records": 5, "test_samples": 20},
    "mixture/attention-only": {"steps": 60.0, "records": 7},
}
CASES = SMALL | OTHERS
# Where a stage ends as the first ReLU switches off, its twins by symmetry are at their
# kinks too, and rounding says which of them are on: the rate there has many values.
AT_KINKS = {("StageOne", "value_rate")}
FAST = ("mixture/figure1", "mixture/flow", "vit/theory-benign")


def experiment_of(name, **more):
    slug, id = name.split("/")
    recipe = paper(slug).recipe(id)
    return recipe.experiment(recipe.with_overrides({**CASES[name], **more}))


def tolerance_of(experiment):
    """1e-12 for descents, ten times the solver's tolerance for flows."""
    rule = experiment.stages[0].rule
    return 10 * rule.rtol if isinstance(rule, Flow) else DESCENT


def random_numbers(name, draw):
    """Other numbers than the defaults, which every field of their kind allows."""
    slug, id = name.split("/")
    setting = paper(slug).recipe(id).with_overrides(CASES[name])
    changes = {}
    for field in numbers(setting):
        value = getattr(setting, field)
        if isinstance(value, int) and not isinstance(value, bool):
            changes[field] = value + int(draw.integers(0, 3))
        elif isinstance(value, float):
            changes[field] = value * draw.uniform(0.8, 1.0)
    # How many records there are is a matter of the drivers, tried elsewhere.
    return {k: v for k, v in changes.items() if k not in ("steps", "until", "horizon")}


def check(experiment, kernels, seed=0):
    """Hold a simulation to `run`, with its ends, outcome and places of records."""
    expected = run(experiment, seeds=(seed,)).isel(seed=0)
    mine = simulate(experiment, kernels, seed=seed)
    tolerance = tolerance_of(experiment)
    assert mine.outcome.label == str(expected.outcome.values)
    np.testing.assert_allclose(mine.ends, expected.stage_end.values, rtol=tolerance)
    np.testing.assert_array_equal(mine.recorded, expected.recorded.values)
    largest = max(np.nanmax(np.abs(rows), initial=0.0) for rows in mine.rows.values())
    for name, rows in mine.rows.items():
        both = [(rows, expected[name].values)]
        if (experiment.id, name) not in AT_KINKS:
            ends = [row[name] for row in mine.end_rows]
            both.append((np.stack(ends), expected[f"{name}_at_end"].values))
        for result, theirs in both:
            size = np.nanmax(np.abs(theirs), initial=0.0)
            near = max(tolerance * size, ROUNDING * largest)
            np.testing.assert_allclose(result, theirs, rtol=0, atol=near, err_msg=name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in FAST else SLOW) for n in CASES]
)
def test_a_kernel_is_its_experiment(name):
    experiment = experiment_of(name)
    kernels = kernels_of(experiment)
    check(experiment, kernels)
    draw = np.random.default_rng(len(name))
    for number in range(3):
        changes = random_numbers(name, draw)
        assert changes
        other = experiment_of(name, **changes)
        check(other, kernels, seed=number + 1)


def test_a_kernel_refuses_another_shape():
    kernels = kernels_of(experiment_of("mixture/figure1"))
    with pytest.raises(ValueError, match="compile a kernel"):
        simulate(experiment_of("mixture/figure1", L=5), kernels)


def test_what_cannot_be_compiled_says_so():
    recipe = paper("mixture").recipe("construction")
    with pytest.raises(Unsupported, match="trains nothing"):
        kernels_of(recipe.experiment(recipe.setting))


@pytest.mark.filterwarnings("ignore")
def test_a_descent_that_diverges_keeps_what_it_had():
    experiment = experiment_of("mixture/figure1", learning_rate=1e99)
    kernels = kernels_of(experiment_of("mixture/figure1"))
    mine = simulate(experiment, kernels)
    theirs = run(experiment).isel(seed=0)
    assert mine.outcome.label == str(theirs.outcome.values) == "diverged"
    np.testing.assert_array_equal(mine.recorded, theirs.recorded.values)


@SLOW
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "change", [{"T2_level": 0.0}, {"T2_level": -0.1}, {"epsilon": 0.6}]
)
def test_a_stage_that_begins_on_its_level_or_beyond_ends_there(change):
    """The second, with scores of zero, or the third, with a loss of less than this."""
    experiment = experiment_of("mixture/three-stage", **change)
    alone = run(experiment).isel(seed=0)
    number = 1 if "T2_level" in change else 2
    assert alone.stage_end[number] == alone.stage_end[number - 1]
    kernels = kernels_of(experiment_of("mixture/three-stage"))
    mine = simulate(experiment, kernels)
    assert mine.ends[number] == mine.ends[number - 1]
    assert mine.outcome.label == str(alone.outcome.values)
    np.testing.assert_allclose(mine.ends[: number + 1], alone.stage_end[: number + 1])


def test_records_may_be_asked_for_in_parts():
    """A page draws as it goes: some records, then the next."""
    for name in ("mixture/figure1", "mixture/flow"):
        experiment = experiment_of(name)
        (kernel,), (stage,) = kernels_of(experiment), stages_of(experiment)
        times = experiment.grid.times(whole=not experiment.is_flow)
        whole = simulate(experiment, [kernel])
        player = Player(kernel, stage, 0.0, None)
        size, at = kernel.row_size, kernel.cells + len(times)
        player.instance.reserve(at + size * len(times))
        player.instance.heap[kernel.cells : at] = times
        for first in range(0, len(times), 3):
            last = min(first + 3, len(times))
            player.instance.call("advance", kernel.cells, first, last, at)
        records = player.instance.heap[at : at + size * len(times)]
        again = Simulation(
            times, {n: r.copy() for n, r in whole.rows.items()}, whole.recorded
        )
        player._record(again, np.arange(len(times)), records.reshape(len(times), size))
        for observable, rows in whole.rows.items():
            np.testing.assert_array_equal(again.rows[observable], rows)


def test_settings_are_other_than_the_defaults():
    changes = random_numbers("mixture/figure1", np.random.default_rng(0))
    setting = experiment_of("mixture/figure1").setting
    assert {"width", "omega", "learning_rate"} <= set(changes)
    assert all(changes[name] != setting[name] for name in ("omega", "learning_rate"))
