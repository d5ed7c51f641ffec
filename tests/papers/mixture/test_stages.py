import json
import math

import numpy as np
import pytest

from attnflow.papers.mixture import PAPER, formulas
from attnflow.papers.mixture.figures.stage_three import STAGE3
from attnflow.papers.mixture.stages import (
    alignment_time,
    convergence_margins,
    shading,
    stage_one_time,
    stage_table,
)
from attnflow.schema.declarations import Request

SMALL = {"steps": 60.0, "records": 13, "width": 16}


def rows_of(run):
    return {row.name: row for row in stage_table(run)}


def with_setting(run, **changes):
    setting = json.loads(run.attrs["setting"]) | changes
    return run.assign_attrs(setting=json.dumps(setting))


@pytest.fixture(scope="module")
def infinite(evidence_of):
    return evidence_of("overview")["infinite"]


@pytest.fixture(scope="module")
def staged(runner):
    """All of Algorithm 1 by descent, with stages that end at fixed times."""
    return runner.run(PAPER, STAGE3.needs["run"])


def test_closed_forms_beside_what_is_detected(infinite):
    rows = rows_of(infinite)
    assert list(rows) == [
        "t_neuron",
        "t_consistent",
        "t_onset",
        "t_attention",
        "t_conflict",
        "t_learned",
    ]
    for name in ("t_neuron", "t_consistent", "t_onset"):
        assert rows[name].detected == pytest.approx(rows[name].formula, rel=0.02)
    assert rows["t_attention"].formula is None
    # An early run at width 512, seed 0, had 14, 141, 1016, 900 and 1262 steps.
    detected = [rows[name].detected for name in rows]
    assert detected == pytest.approx([14, 141, 811, 1016, 900, 1262], rel=0.02)


def test_rows_say_what_they_mean_and_spread_over_seeds(evidence_of):
    row = rows_of(evidence_of("overview")["finite"])["t_learned"]
    assert row.note == "conflicting loss falls to 0.1"
    assert row.spread is not None and row.spread[0] < row.detected < row.spread[1]


def test_stages_of_more_groups_are_detected_without_formulas(evidence_of):
    rows = rows_of(evidence_of("figure5")["run"])
    assert all(row.formula is None for row in rows.values())
    assert rows["t_neuron"].detected < rows["t_consistent"].detected
    assert rows["t_consistent"].detected < rows["t_learned"].detected


def test_what_was_not_trained_has_no_row(evidence_of):
    rows = rows_of(evidence_of("figure3")["sd 1"])
    assert "t_neuron" not in rows and "t_attention" in rows
    assert all(row.formula is None for row in rows.values())
    assert "not reached" in rows["t_learned"].note


@pytest.mark.parametrize(
    "overrides",
    [{"rule": "momentum"}, {"L": 4}, {"trains": "values"}, {"value_scale": 0.1}],
    ids=str,
)
def test_no_closed_form_where_it_would_not_hold(infinite, overrides):
    assert all(
        row.formula is None for row in stage_table(with_setting(infinite, **overrides))
    )


def test_the_bias_and_the_rate_enter(infinite):
    faster = rows_of(with_setting(infinite, learning_rate=0.2))
    assert faster["t_neuron"].formula == pytest.approx(formulas.switch_time(0.5) / 0.2)
    biased = rows_of(with_setting(infinite, bias=0.7))
    assert biased["t_neuron"].formula == pytest.approx((1 + math.expm1(1.0)) / 0.2)


def test_a_run_without_conflicting_samples(runner):
    run = runner.run(PAPER, Request("figure1", {**SMALL, "L": 2}))
    assert list(map(str, run["group"].values)) == ["consistent"]
    assert "t_conflict" not in rows_of(run) and "t_neuron" in rows_of(run)


def test_a_run_that_recorded_nothing_of_it(runner):
    run = runner.run(PAPER, Request("figure1", {**SMALL, "record": ("output",)}))
    assert stage_table(run) == []


def test_nothing_trained_nothing_in_the_table(runner):
    request = Request("construction", {"groups": (2,), "biases": (0.5,)})
    assert stage_table(runner.run(PAPER, request)) == []


# Algorithm 1


def test_stages_of_algorithm_1(staged):
    rows = rows_of(staged)
    assert list(rows) == ["T_half", "T1", "T2", "T3"]
    assert rows["T_half"].formula == pytest.approx(13.5914, abs=1e-4)
    assert rows["T_half"].detected == pytest.approx(rows["T_half"].formula, rel=0.05)
    assert rows["T1"].detected == rows["T1"].formula == 100
    assert (rows["T2"].detected, rows["T3"].detected) == (1550, 30000)
    assert rows["T2"].formula is rows["T3"].formula is None, "their ends were given"


def test_formulas_where_stages_end_by_what_happens(staged):
    epsilon = 0.003
    rows = rows_of(with_setting(staged, T2=None, T3=None, epsilon=epsilon))
    length = formulas.stage_two_duration(0.1, 0.1934643, 1.0)
    assert rows["T2"].formula == pytest.approx(10 * (10 + length), rel=1e-6)
    # The main score is 1 within a few per cent of that time.
    assert rows["T2"].formula == pytest.approx(rows["T2"].detected, rel=0.04)
    loss = staged["loss"].isel(seed=0)
    crossed = float(staged["time"][np.flatnonzero(loss.values < epsilon)[0]])
    assert rows["T3"].formula == pytest.approx(crossed, rel=0.05)


def test_the_margin_is_that_of_all_samples_or_none(staged):
    (margin,) = convergence_margins(staged)
    assert margin == pytest.approx(0.4334, abs=0.01)
    assert convergence_margins(with_setting(staged, population="orbits")) is None
    assert convergence_margins(staged.drop_vars("label_at_end")) is None


def test_no_formula_for_more_groups(staged):
    rows = rows_of(with_setting(staged, K=3, T2=None, T3=None))
    assert "T_half" not in rows
    assert all(row.formula is None for row in rows.values())


def test_a_seed_that_failed_has_a_reason(staged):
    """It stopped in stage 2, so that its later stages end at the same time."""
    both = staged.isel(seed=[0, 0]).assign_coords(seed=[0, 1]).copy(deep=True)
    both["outcome"] = ("seed", np.array(["finished", "event-not-reached"]))
    both["stage_end"][1] = [100.0, 5000.0, 5000.0]
    rows = rows_of(both)
    assert rows["T1"].detected == 100 and rows["T1"].note == "stage 1 ends"
    assert rows["T2"].detected is None
    assert "not reached in 1 of 2 seeds (seed 1" in rows["T2"].note


@pytest.mark.slow
def test_stage_1_alone(evidence_of):
    rows = rows_of(evidence_of("stage1-closed-form")["alone"])
    assert rows["T_half"].detected == pytest.approx(rows["T_half"].formula, abs=1e-12)
    assert rows["T1"].detected == 10


# Closed forms


@pytest.mark.parametrize("bias", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("time", [0.01, 0.5, 1.0, 3.0, 30.0, 400.0])
def test_times_invert_the_closed_form_of_stage_1(bias, time):
    v, c = (float(x[0]) for x in formulas.stage_one(np.array([time]), bias))
    output = c + 2 * v + bias if time > formulas.switch_time(bias) else 4 * v
    assert stage_one_time(output, bias) == pytest.approx(time, rel=1e-9)
    assert alignment_time(v, bias) == pytest.approx(time, rel=1e-9)


def test_shades_end_where_samples_are_learned(infinite):
    edges, names = shading(infinite)
    assert edges == pytest.approx([141, 1266], abs=1)
    assert len(names) == 3
