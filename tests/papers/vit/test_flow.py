"""The flow at the theory's sizes: the limit of descent, along a whole trajectory."""

from dataclasses import replace

import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.papers.vit.conditions import condition
from attnflow.papers.vit.experiments import theory
from attnflow.papers.vit.settings import Theory
from attnflow.papers.vit.sizes import inside, sizes
from attnflow.training import Grid

NAMES = ("loss", "pair_value", "pair_score")
STEPS = np.array([0, 50, 100, 200, 400, 800])
"""Records, in steps of 0.01."""


def course(strength, rate, *, rule="gd"):
    """Records at the same times ηt, whatever the rate is."""
    setting = Theory(
        samples=4,
        length=3,
        key_width=10**6,
        embed=10**10,
        strength=strength,
        rate=rate,
        rule=rule,
        target=1e-9,
        test_samples=0,
        record=NAMES,
        steps=round(8 / rate),
        form="transport",  # Each form draws the same law from numbers of its own.
    )
    unit = rate * sizes(setting).least if rule == "flow" else 1.0
    grid = Grid(points=tuple(unit * STEPS * round(0.01 / rate)))
    return run(replace(theory(setting), grid=grid), seeds=[0])


@pytest.mark.parametrize("strength", [2000.0, 0.25])
def test_descent_tends_to_the_flow(strength):
    """Halving η halves the distance, in values, scores and the loss."""
    flow = course(strength, 0.01, rule="flow")
    far, near = (course(strength, rate) for rate in (0.002, 0.001))
    assert float(flow["loss"][0, -1]) < 0.55
    for name in NAMES:
        errors = [abs(flow[name].values - r[name].values).max() for r in (far, near)]
        assert errors[0] / errors[1] == pytest.approx(2, abs=0.1), name


def test_the_flow_ends_at_its_target_in_units_of_time():
    sides = {**inside(8, 200.0, 0.1), "record": ("loss",), "test_samples": 0}
    setting = Theory(**sides)
    size = sizes(setting)
    assert size.flow and size.learning_rate == 1
    assert condition(size)["(6)"].met and condition(size)["(6)"].slack == float("inf")
    ends = run(theory(setting), seeds=[0])
    assert ends["outcome"].values.tolist() == ["event"]
    assert float(ends["loss_at_end"].values.item()) == pytest.approx(0.1, rel=1e-8)
    assert float(ends["loss_at_end"].values.item()) <= 0.1
    order = 2 / (0.1 * size.signal**2)
    assert 1 < float(ends["end_time"][0]) / order < 2
