import json
import math
from dataclasses import replace

import numpy as np
import pytest

from attnflow.papers.vit import settings, stages
from attnflow.papers.vit.sizes import sizes
from attnflow.papers.vit.stages import STAGES, formulas, stage_table
from tests.papers.vit.courses import SETTING, course, cut

REGIMES = ("benign", "harmful")


def rows_of(run, regime=None):
    if regime is None:
        return {row.name: row for row in stage_table(run)}
    return {name: stage.row(run) for name, stage in STAGES[regime].items()}


@pytest.mark.parametrize("regime", REGIMES)
def test_known_times_are_found(regime):
    run = course(regime)
    assert stages.regime_of(run) == regime
    rows = rows_of(run)
    assert list(rows) == ["T1", "T2", "T_att", "T3"]
    times = {name: row.detected for name, row in rows.items()}
    assert times["T1"] == pytest.approx(0.9)
    assert times["T2"] == pytest.approx(100)
    # Between the records 880 and 900 the share is not quite linear.
    assert times["T_att"] == pytest.approx(900, abs=0.1)
    assert times["T3"] == pytest.approx(2000)
    winner = "signal" if regime == "benign" else "strong noise"
    assert all(row.note.startswith(f"{regime}: ") for row in rows.values())
    assert f"the {winner}'s value is 3M times" in rows["T1"].note


@pytest.mark.parametrize("regime", REGIMES)
def test_the_loser_never_separates(regime):
    other = REGIMES[1 - REGIMES.index(regime)]
    rows = rows_of(course(regime), other)
    assert rows["T1"].detected is None and "not reached" in rows["T1"].note
    assert rows["T_att"].detected is None and "not reached" in rows["T_att"].note
    assert rows["T2"].detected == pytest.approx(100)


def test_values_are_those_of_each_samples_own_tokens():
    values = stages.values_at(course()).sel(time=500.0).isel(seed=0)
    assert values.dims == ("sample", "key_position")
    # y V of the signal is positive in both samples; noise has the signs it was given.
    expected = [[0.5, 1e-4, -1e-4]] * 2
    np.testing.assert_allclose(values.values, expected)
    one_class = stages.values_at(course(label=(1.0, 1.0))).sel(time=500.0)
    np.testing.assert_allclose(one_class.values[0, :, 0], 0.5)


def test_one_sample_that_lags_holds_the_stage_back():
    run = course()
    value = run["pair_value"].copy(deep=True)
    value[{"sample": 1, "key_position": 2}] = 0.01
    held = run.assign(pair_value=value)
    # 3M = 9 times 0.01 is reached by t/1000 at t = 90.
    assert rows_of(held)["T1"].detected == pytest.approx(90)
    value[{"sample": 1}] *= -1
    assert rows_of(run.assign(pair_value=value))["T1"].detected is None


def test_the_end_of_a_run_between_two_records_is_its_time():
    loss_reached = STAGES["benign"]["T3"]
    run = cut(course(seeds=2), 1990, loss=0.0499)
    assert loss_reached(run).times.tolist() == [1990.0, 1990.0]
    event = loss_reached(cut(course(), 1234, loss=0.081))
    assert event.median is None
    assert "up to time 1220, above 0.05" in event.note
    recorded = cut(course(), 2000, loss=0.05)
    assert loss_reached(recorded).times == pytest.approx([2000.0])


def test_the_end_is_no_time_for_what_may_lie_in_a_hole():
    """The loss is 0.1 at t = 1000, among records that are unknown."""
    run = cut(course(), 2000, loss=0.05)
    hole = (run["time"] < 900) | (run["time"] > 1100)
    assert np.isnan(
        stages.loss_reached(0.1)(run.assign(loss=run["loss"].where(hole))).times
    )


def test_what_was_not_recorded_is_not_known():
    run = course()
    rows = rows_of(run.drop_vars(["pair_value", "loss"]))
    assert "pair_value not recorded" in rows["T1"].note
    assert "loss not recorded" in rows["T3"].note
    assert rows["T_att"].detected is not None
    assert stage_table(run.drop_vars("attention")) == []
    assert stage_table(run.isel(time=0, drop=True)) == []


def test_the_regime_is_that_of_most_seeds():
    both = course(seeds=3)
    attention = both["attention"].copy(deep=True)
    swapped = attention.isel(key_position=[1, 0, 2]).values
    attention[:2] = swapped[:2]
    assert stages.regime_of(both.assign(attention=attention)) == "harmful"
    attention[1] = both["attention"][1]
    assert stages.regime_of(both.assign(attention=attention)) == "benign"


def test_formulas_at_plain_sizes():
    """M = 2, N = 4, d_h = 16, σ_p² d = 1: by hand."""
    theory = settings.Theory(
        samples=4, length=2, key_width=16, strength=4e6, ratio=10.0, target=0.01
    )
    size = sizes(theory)
    assert size.signal**2 == pytest.approx(1e6)
    unit = size.learning_rate
    large = math.log(6 * 16 * 4 / 0.1)
    steps = {n: t.time for n, t in formulas.benign(size).items()}
    assert steps["T1"] == pytest.approx(
        10 * 2 * 7 * 4 / (unit * 2 * (4e6 - 60 * 4 * 100))
    )
    assert steps["T2"] == pytest.approx(1 / (unit * 1e6 * large))
    assert steps["T3"] == pytest.approx(100 / (unit * 1e6))
    assert steps["T3 ours"] == pytest.approx(200 / (unit * 1e6))
    steps = {n: t.time for n, t in formulas.harmful(size).items()}
    assert steps["T1"] == pytest.approx(4 * 2 * 7 * 4 / (unit * 2 * (100 - 48)))
    assert steps["T2"] == pytest.approx(4 / (unit * large))
    assert steps["T3"] == pytest.approx(400 / unit)
    assert steps["T3 ours"] == pytest.approx(4 / unit)


def test_formulas_without_a_time_say_why():
    size = sizes(SETTING)
    low = formulas.benign(replace(size, signal=1.0))["T1"]
    assert low.time is None
    assert low.reason.startswith("negative by formula: N‖μ‖² = 2 is not above")
    alike = formulas.harmful(replace(size, strong=size.weak))["T1"]
    assert alike.time is None and "C_p² = 1 is not above 24M = 72" in alike.reason
    weak = replace(SETTING, strength=1.0)
    row = rows_of(course(setting=weak))["T1"]
    assert row.formula is None and "negative by formula" in row.note
    assert row.detected == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("readout", "gain"),
    [
        ("default16-fixed", 1 / 768),
        ("default16-trained", 1 / 768),
        ("default-fixed", 1 / 3),
        ("unit-fixed", 1.0),
    ],
)
def test_formulas_know_the_reading_of_the_readout(readout, gain):
    setting = settings.Train(samples=2, length=3, readout=readout, snr=1e3)
    run = course().assign_attrs(setting=json.dumps(vars(setting)))
    row = rows_of(run)["T3"]
    expected = 1 / (0.1 * 0.01 * 6.4e3**2 * gain)
    assert row.formula == pytest.approx(expected)
    assert ("w_O fixed" in row.note) == (readout == "default16-trained")
    assert f"{2 * expected:.4g} (ours)" in row.note
