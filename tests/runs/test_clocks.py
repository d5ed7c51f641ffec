"""Training time beside steps; a flow and a descent do not meet on different clocks."""

import numpy as np
import pytest
import xarray as xr

import attnflow as af
from attnflow.experiments import run
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import (
    CosineDecay,
    Flow,
    GradientDescent,
    SignGD,
    Warmup,
)
from tests.core import experiment

SHORT = {"until": 20, "grid": Grid(stop=20, count=11)}


@pytest.fixture(scope="module")
def pair():
    """A flow up to time 4, and the same by steps of 1/50."""
    times = tuple(np.linspace(0, 4, 9))
    flow = experiment(rule=Flow(), until=4.0, grid=Grid(points=times))
    steps = Grid(points=tuple(50 * t for t in times))
    descent = experiment(rule=GradientDescent(0.02), until=200, grid=steps)
    return af.run(flow), af.run(descent)


def test_different_clocks_do_not_combine(pair):
    flow, descent = pair
    with pytest.raises(ValueError, match="counts times and that of the other steps"):
        _ = flow["loss"] - descent["loss"]
    with pytest.raises(ValueError, match="on_training_time"):
        xr.align(flow, descent)
    last = [x["loss"].isel(time=-1, drop=True).drop_vars("clock") for x in pair]
    assert abs(float((last[0] - last[1])[0])) < 1e-2


def test_on_training_time_they_do(pair):
    flow, descent = (af.on_training_time(x) for x in pair)
    difference = flow["loss"] - descent["loss"]
    assert difference.sizes["time"] == 9
    # Euler's error at steps of 1/50 is of their order.
    assert 0 < float(np.abs(difference).max()) < 0.02
    wrong = np.abs(pair[0]["loss"].values - pair[1]["loss"].values).max()
    assert wrong < 0.02 < float(flow["loss"][0, 0] - flow["loss"][0, -1])


def test_a_clock_survives_what_is_done_to_a_run(pair):
    _, descent = pair
    early = descent.sel(time=slice(0, 100)).isel(seed=[0])
    assert (early["loss"] - descent["loss"]).sizes["time"] == 5
    assert "clock" in xr.concat([early, early], "copy").coords


def test_rates_are_summed_up():
    schedule = Warmup(4.0, CosineDecay(10.0))
    rule = GradientDescent(0.3, schedule)
    made = run(experiment(rule=rule, **SHORT))
    with af.precise():
        rates = [0.3 * float(schedule(step)) for step in range(20)]
    wanted = [sum(rates[: int(t)]) for t in made["time"]]
    np.testing.assert_allclose(made["training_time"], wanted, rtol=1e-14)
    grown = run(experiment(rule=SignGD(0.01, growth=0.2), **SHORT))["training_time"]
    assert float(grown[-1]) > 0.01 * 20


def test_parts_and_stages():
    rules = {"scores": GradientDescent(0.1), "values": GradientDescent(0.4)}
    made = run(experiment(rule=rules, **SHORT))
    np.testing.assert_array_equal(made["training_time"], 0.4 * made["time"])
    stages = (
        Stage(GradientDescent(0.1), Reach("loss", 0.69, 15, "down"), name="1"),
        Stage(GradientDescent(0.5), 20, name="2"),
    )
    staged = run(experiment(stages=stages, **SHORT))
    end = float(staged["stage_end"][0, 0])
    assert 0 < end < 15
    wanted = 0.1 * min(20.0, end) + 0.5 * (20.0 - end)
    assert float(staged["training_time"][0, -1]) == pytest.approx(wanted)
    with pytest.raises(ValueError, match="training time of its own"):
        af.on_training_time(staged)


def test_every_variable_is_described(pair):
    for made in pair:
        for name, variable in made.variables.items():
            assert variable.attrs["long_name"], name
            assert variable.attrs["units"], name
    assert pair[1]["end_time"].attrs["units"] == "step"
    assert pair[0]["end_time"].attrs["units"] == "time"


def test_samples_have_labels():
    made = run(experiment(observables=("loss", "margin"), **SHORT))
    assert len(set(made["sample"].values)) == made.sizes["sample"] == 8
