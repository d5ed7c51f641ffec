import json
import math
from dataclasses import asdict
from functools import partial

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.mixture import PAPER
from attnflow.papers.mixture.settings import (
    Concentration,
    Simultaneous,
    StageOne,
    ThreeStage,
)
from tests.papers import told

items, unmet = partial(told.items, PAPER), partial(told.unmet, PAPER)


def test_algorithm_1_at_infinite_width_meets_all():
    assert unmet(ThreeStage()) == set()
    assert unmet(StageOne()) == set()


def test_figure_1_trains_all_at_once_by_steps_at_finite_width():
    assert unmet(Simultaneous()) == {"Definition 5.1", "flow", "layers"}
    assert items(Simultaneous())["m"].value == 128


@pytest.mark.parametrize(
    ("changes", "item"),
    [
        ({"omega": 0.5}, "ω"),  # 0.5 > 0.3
        ({"bias": 1.0}, "b"),
        ({"bias": 0.0}, "b"),
        ({"width": 10**6}, "Definition 5.1"),
        ({"population": 1000}, "samples"),
        ({"rule": "gd"}, "flow"),
        ({"K": 3}, "K"),
        ({"L": 4}, "L"),
        ({"T1": 1.35}, "T1"),  # 1/2 + (e − 1)/2 = 1.359
        ({"T1_level": 0.0}, "T1"),
    ],
)
def test_each_can_fail(changes, item):
    assert unmet(ThreeStage(**changes)) == {item}


def test_finite_widths_must_outgrow_logarithms_and_the_accuracy():
    narrow = ThreeStage(width=8, omega=1e-4, epsilon=0.01)
    assert unmet(narrow) == {"Definition 5.1", "m", "ε"}  # 8 < ln 10⁴, 64 < 100
    assert items(narrow)["ε"].slack == pytest.approx(0.64)


def test_scores_must_be_bounded_up_to_T2():
    """Read from the run, and by a run of Algorithm 1 alone."""
    table = xr.DataArray(
        np.array([[[0.0], [-2.0], [3.0]]]), dims=("seed", "stage", "x")
    )
    setting = {"setting": json.dumps(asdict(ThreeStage()))}
    run = xr.Dataset({"score_at_end": table}, attrs=setting)
    (item,) = PAPER.run_conditions(run)
    assert (item.value, item.met, item.slack) == (2.0, False, 0.5)
    other = {"setting": json.dumps(asdict(Simultaneous()))}
    assert PAPER.run_conditions(run.assign_attrs(other)) == []


def test_stage_1_must_outlast_the_switch():
    least = items(ThreeStage())["T1"].least
    assert least == pytest.approx(0.5 + (math.e - 1) / 2)
    assert unmet(ThreeStage(T1=1.36)) == set()
    # With a level the time is whatever the level takes.
    assert unmet(ThreeStage(T1=0.1, T1_level=0.2)) == set()


def test_attention_alone_has_one_layer_and_fixed_neurons():
    alone = Simultaneous(trains="scores", value_scale=0.5, width="infinite")
    assert unmet(alone) == {"flow", "w(0)"}
    assert items(Simultaneous(batch=16))["samples"].value == 16


def test_what_is_computed_has_none():
    assert PAPER.conditions(asdict(Concentration())) == []
