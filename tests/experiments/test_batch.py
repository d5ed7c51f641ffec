"""Runs side by side: each as it is alone, and an error costs no other its run."""

from dataclasses import replace

import numpy as np
import pytest

from attnflow.experiments import batch, run, run_batch
from attnflow.experiments.course import Observe
from attnflow.models.forms import Initial
from attnflow.models.problem import Logistic, Problem, ReluPair
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import Flow, GradientDescent
from tests.core import STEP_ROUNDINGS, assert_same_to_rounding, experiment

pytestmark = [
    pytest.mark.cpus,
    pytest.mark.filterwarnings("ignore::attnflow.experiments.LearningRateWarning"),
]


def plan(omega=0.3, bias=0.5, **changes):
    return experiment(
        initial=Initial(width=16, omega=omega),
        problem=Problem(ReluPair(bias), Logistic()),
        observables=("loss", "loss_by_group"),
        **changes,
    )


def assert_alike(run, alone):
    assert set(run.data_vars) <= set(alone.data_vars)
    assert {"loss", "loss_by_group_at_end", "outcome"} <= set(run.data_vars)
    for name, values in run.data_vars.items():
        if values.dtype.kind == "f":
            # Losses are sums of what is of order one.
            assert_same_to_rounding(
                values, alone[name], roundings=STEP_ROUNDINGS, steps=200, scale=1.0
            )
        else:
            np.testing.assert_array_equal(values, alone[name])
    for name in ("id", "setting", "form", "rule", "record", "paper"):
        assert run.attrs[name] == alone.attrs[name]


def test_runs_are_as_they_are_alone():
    plans = [plan(0.3), plan(0.5, 0.2), plan(0.1)]
    runs = run_batch(plans, seeds=(3, 1))
    for side, alone in zip(runs, plans, strict=True):
        assert_alike(side, run(alone, seeds=(3, 1)))
    assert len({float(side["loss"][0, -1]) for side in runs}) == 3


@pytest.fixture
def traced(monkeypatch):
    """Fills as programs are traced: what is recorded is called then and never again."""
    names = []
    whole = Observe.__call__

    def counting(self, system, state):
        names.append(self.names)
        return whole(self, system, state)

    monkeypatch.setattr(Observe, "__call__", counting)
    # After thousands of programs it may be due between two batches.
    monkeypatch.setattr(batch, "make_room", lambda: False)
    return names


def test_cells_of_one_shape_compile_once(traced):
    # 37 records and a size that no other test has, so that nothing is compiled yet.
    cells = [plan(omega, grid=Grid(stop=200, count=37)) for omega in (0.1, 0.2, 0.4)]
    run_batch(cells)
    assert len(traced) == 1


def test_padded_batches_of_many_lengths_share_a_program(traced):
    cells = [plan(0.1 * k, grid=Grid(stop=200, count=38)) for k in range(1, 8)]
    three = run_batch(cells[:3], pad=True)
    four = run_batch(cells[3:], pad=True)
    assert len(traced) == 1
    assert (len(three), len(four)) == (3, 4)
    for side, alone in zip(three, cells, strict=False):
        assert_alike(side, run(alone))


def test_rates_run_side_by_side(traced):
    cells = [
        plan(0.2, rule=GradientDescent(rate), grid=Grid(stop=200, count=39))
        for rate in (0.05, 0.1, 0.4)
    ]
    runs = run_batch(cells, seeds=(0, 2))
    assert len(traced) == 1
    for side, alone in zip(runs, cells, strict=True):
        assert_alike(side, run(alone, seeds=(0, 2)))


def test_other_stages_run_apart():
    event = Stage(GradientDescent(0.1), Reach("loss", 0.6, 200.0, "down"))
    plans = [plan(), plan(rule=GradientDescent(0.3)), plan(stages=(event,))]
    runs = run_batch(plans)
    for side, alone in zip(runs, plans, strict=True):
        assert_alike(side, run(alone))
    assert runs[2]["outcome"].item() == "event"


@pytest.mark.slow
def test_flows_run_side_by_side():
    plans = [plan(omega, rule=Flow(), until=5.0) for omega in (0.2, 0.6)]
    runs = run_batch(plans)
    for side, plan_ in zip(runs, plans, strict=True):
        alone = run(plan_)
        # Steps are chosen for each alone; both are within the tolerance of the flow.
        np.testing.assert_allclose(side["loss"], alone["loss"], rtol=1e-9)


def test_an_error_costs_no_other_cell_its_run():
    odd = replace(plan(), form="columns")
    diverging = plan(rule=GradientDescent(1e308))
    first, wrong, wild, last = run_batch([plan(), odd, diverging, plan(0.7)])
    assert isinstance(wrong, ValueError) and "columns" in str(wrong)
    assert_alike(first, run(plan()))
    assert wild["outcome"].item() == "diverged"
    assert last["outcome"].item() == "finished"


def test_other_records_run_apart():
    first, second = run_batch([plan(), replace(plan(), observables=("value",))])
    assert "loss" in first and "value" not in first
    assert "value" in second and "loss" not in second


def test_an_error_in_training_is_of_its_cell_alone(monkeypatch):
    """Side by side it is everybody's; then each is tried alone."""
    train, wrong = batch.train_members, plan(0.5)

    def fails(common, members, **options):
        if len(members) > 1 or common is wrong:
            raise MemoryError("too much")
        return train(common, members, **options)

    monkeypatch.setattr(batch, "train_members", fails)
    first, second = run_batch([plan(), wrong])
    assert_alike(first, run(plan()))
    assert isinstance(second, MemoryError)
