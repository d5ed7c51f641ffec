"""Cells of real experiments, and how a cell fails alone."""

import numpy as np
import pytest

import attnflow as af
from attnflow.experiments import run
from attnflow.sweeps import BatchStore, choose_executor, run_sweep
from attnflow.sweeps.job import narrowed
from attnflow.sweeps.sweep import plan_sweep
from tests.core import STEP_ROUNDINGS, assert_same_to_rounding
from tests.sweeps.trivial import Direct, make_sweep

pytestmark = pytest.mark.cpus

HERE = choose_executor("here")


def test_a_sweep_has_what_the_runs_have():
    texts = ("loss", "loss@0.5", "loss_by_group[conflicting]", "end_time")
    result = af.sweep(
        "mixture/figure1",
        omega=[0.1, 1.0],
        width=[8, "infinite"],
        steps=300,
        records=31,
        measure=texts,
        seeds=2,
        executor="here",
    )
    assert result["loss"].dims == ("omega", "width", "seed")
    assert result["width"].values.tolist() == ["8", "infinite"]
    assert (result["outcome"] == "finished").all() and (result["error"] == "").all()
    cell = result.sel(omega=1.0, width="8")
    alone = af.run(
        "mixture/figure1",
        omega=1.0,
        width=8,
        steps=300,
        records=31,
        seeds=2,
        store=False,
    )
    # Sums in another order, of what is of order one.
    close = {"roundings": STEP_ROUNDINGS, "steps": 300, "scale": 1.0}
    assert_same_to_rounding(cell["loss"], alone["loss"].isel(time=-1), **close)
    group = alone["loss_by_group"].sel(group="conflicting").isel(time=-1)
    assert_same_to_rounding(cell["loss_by_group[conflicting]"], group, **close)
    np.testing.assert_array_equal(cell["end_time"], [300.0, 300.0])
    series = alone["loss"].values[0]
    index = int(np.argmax(series <= 0.5))
    times = alone["time"].values
    assert times[index - 1] < cell["loss@0.5"].values[0] <= times[index]


def test_what_a_run_finds_beside_training_is_measured_too():
    overrides = {"steps": 20, "omega": 0.1}
    result = af.sweep(
        "mixture/figure1",
        overrides,
        bias=[0.5],
        measure="rate_threshold",
        executor="here",
    )
    alone = af.run("mixture/figure1", store=False, record=["loss"], **overrides)
    threshold = alone["rate_threshold"].item()
    # An eigenvalue of a matrix of 8 samples, whose entries another program has summed.
    assert threshold > 0
    swept = result["rate_threshold"].item()
    assert_same_to_rounding(swept, threshold, roundings=8 + 8**2)


def test_only_what_is_measured_is_recorded():
    paper, id = af.paper("mixture"), "figure1"
    recipe = paper.recipe(id)
    plan = recipe.experiment(recipe.setting)
    last = plan_sweep("mixture/figure1", {"omega": "1,2"})
    assert narrowed(plan, last.statistics).observables == ("loss",)
    assert len(narrowed(plan, last.statistics).grid.times(whole=True)) == 1
    timed = plan_sweep("mixture/figure1", {"omega": "1,2"}, measure="accuracy@1")
    assert narrowed(plan, timed.statistics).observables == ("accuracy",)
    assert narrowed(plan, timed.statistics).grid == plan.grid


def test_computations_are_swept_cell_by_cell(tmp_path):
    sweep = make_sweep({"a": "0..1:3", "b": "2,4"}, statistics=("sum", "half"))
    result = run_sweep(sweep, HERE, store=BatchStore(tmp_path))
    assert result["half"].sel(a=0.5, b=4, seed=1) == 1.5
    np.testing.assert_array_equal(result["sum"], 2 * result["half"])


def test_cells_fail_alone_and_say_why(tmp_path):
    trouble = Direct("raise", where=1.0)
    sweep = make_sweep({"a": "0..2:3", "b": "1,2"}, statistics=(trouble,))
    result = run_sweep(sweep, HERE, store=BatchStore(tmp_path))
    assert (
        result["error"].sel(a=1.0) == "ValueError: this cell was told to raise"
    ).all()
    assert (result["outcome"].sel(a=1.0) == "failed").all()
    assert np.isnan(result["sum"].sel(a=1.0)).all()
    rest = result.sel(a=[0.0, 2.0])
    assert (rest["error"] == "").all() and np.isfinite(rest["sum"]).all()


def test_settings_that_cannot_be_are_failed_cells(tmp_path):
    sweep = make_sweep({"b": "-1,3"}, statistics=("sum",))
    result = run_sweep(sweep, HERE, store=BatchStore(tmp_path))
    assert result["error"].sel(b=-1).item() == "ValueError: b=-1 is negative. Raise it."
    assert result["sum"].sel(b=3, seed=0) == 3.0
    wide = af.sweep("mixture/figure1", {"L": "3,1"}, steps=20, executor="here", K=2)
    assert wide["outcome"].sel(L=3).item() == "finished"
    assert wide["outcome"].sel(L=1).item() == "failed"
    assert wide["error"].sel(L=1).item().startswith("ValueError")


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("los", "Did you mean 'loss'"),
        ("score", "not a single number: score has the dims head, key, query"),
        ("loss[common]", "not a single number"),
        ("score[+,:,v1]", "not a single number"),
        ("B-Sec3-ordr", "Did you mean 'B-Sec3-order'"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(measure, said):
    with pytest.raises(ValueError, match=said):
        plan_sweep("mixture/figure1", {"omega": "1,2"}, measure=measure)


def test_what_trains_nothing_has_no_loss():
    with pytest.raises(ValueError, match="Say what to measure"):
        plan_sweep("mixture/concentration", {"omega": "1,2"})


def test_an_interrupt_is_no_failure(tmp_path, monkeypatch):
    """A run that was interrupted must not be stored as if it had been measured."""
    from attnflow import experiments as experiment
    from tests.toy import make_run

    def interrupted(plan, seeds):
        return make_run(seeds=seeds, outcome="interrupted")

    monkeypatch.setattr(experiment, "run", interrupted)
    sweep = make_sweep({"a": "0..1:3"}, statistics=("sum",))
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, HERE, store=BatchStore(tmp_path))
    assert not BatchStore(tmp_path).known()
    monkeypatch.setattr(experiment, "run", run)
    assert np.isfinite(run_sweep(sweep, HERE, store=BatchStore(tmp_path))["sum"]).all()
