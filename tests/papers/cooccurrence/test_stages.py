import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import solve_ivp

from attnflow.papers.cooccurrence import PAPER
from attnflow.papers.cooccurrence.stages import (
    all_correct,
    clock_times,
    loss_reaches,
    signal_margins,
    stage_table,
)
from attnflow.papers.cooccurrence.stages.formulas import (
    LABELS,
    NAMED,
    SHARES,
    counts_machine,
)
from attnflow.schema.declarations import Request

RECORDED = ("loss", "value", "margin", "value_rate", "readout_gain")
NAMES = ["T_half", "T1", "T_sig", "T_star"]


def rows_of(run):
    return {row.name: row for row in stage_table(run)}


def detected(row):
    assert row.detected is not None, row.note
    return row.detected


def with_setting(run, **changes):
    setting = json.loads(run.attrs["setting"]) | changes
    return run.assign_attrs(setting=json.dumps(setting))


@pytest.fixture(scope="module", params=[60.0, 6000.0, 1e7], ids="n={:g}".format)
def noise_free(runner, request):
    """Records so near to one another that lines between them are the curve."""
    overrides = {
        "horizon": 30.0,
        "first_record": 1.0,
        "records": 401,
        "record": RECORDED,
    }
    overrides |= {"samples": request.param}
    return runner.run(PAPER, Request("quotient", overrides, seeds=1))


@pytest.fixture(scope="module")
def long(runner):
    """The same to where the loss is 1/m."""
    overrides = {"width": 10**5, "records": 401, "record": RECORDED}
    return runner.run(PAPER, Request("quotient", overrides, seeds=1))


@pytest.fixture(scope="module")
def descent(runner):
    overrides = {"steps": 3000.0, "records": 151, "test_samples": 0, "record": RECORDED}
    return runner.run(PAPER, Request("figure1", overrides, seeds=2))


def frozen_attention(samples, length, end):
    """Named and filler readouts at uniform attention with b = 1: our own oracle.

    A token's velocity is the sum of label times logistic weight over the samples that
    hold it, over n. Fillers have a velocity of 1/n each, r_k of them in a sample.
    """
    slots = length - NAMED.sum(axis=1)

    def margins(state):
        named, fillers = state[..., :3], state[..., 3:]
        return LABELS * (named @ NAMED.T + slots * fillers)

    def velocity(_, state):
        pull = LABELS / (1 + np.exp(margins(state)))
        return np.concatenate([(SHARES * pull) @ NAMED, pull / samples], axis=-1)

    options = {"rtol": 1e-10, "atol": 1e-12, "dense_output": True}
    solution = solve_ivp(velocity, (0, end), np.zeros(7), method="DOP853", **options)
    times = np.linspace(0, end, 200_001)[1:]
    states = solution.sol(times).T
    rates = velocity(0, states)
    ahead = -rates[:, 2] - rates[:, :2].max(axis=1)
    right = margins(states).min(axis=1)
    signal = (LABELS * (states[:, :3] @ NAMED.T)).min(axis=1)
    return [times[np.flatnonzero(row <= 0)[-1]] for row in (ahead, right, signal)]


def test_phase_one_against_an_oracle(noise_free):
    """At width 10^6 attention is frozen up to 1e-7, and b is constant to 1e-4."""
    samples = json.loads(noise_free.attrs["setting"])["samples"]
    rows = rows_of(noise_free)
    gain = float(noise_free["readout_gain"].isel(time=0).squeeze())
    times = [detected(rows[name]) * gain for name in NAMES[:3]]
    assert times == pytest.approx(frozen_attention(samples, 5, 30.0), rel=5e-4)


def test_the_table_says_both_clocks_and_the_formula(noise_free):
    row = rows_of(noise_free)["T1"]
    gain = float(noise_free["readout_gain"].isel(time=0).squeeze())
    assert row.formula == pytest.approx(20 / gain, rel=1e-12)
    assert f"b0·t = {detected(row) * gain:.4g}" in row.note
    assert "C_T1 = 20" in row.note
    assert clock_times(noise_free, all_correct(noise_free)) == pytest.approx(
        [detected(row) * gain]
    )


def test_small_loss_is_where_the_machine_says(long):
    """b·t·Loss is |w*|² up to terms of order log(t)/t."""
    row = rows_of(long)["T_star"]
    assert row.detected == pytest.approx(row.formula, rel=5e-3)
    assert "the level is 1e-05" in row.note


def test_the_machine_is_that_of_the_computation():
    from attnflow.papers.cooccurrence.systems.counts_machine import machine

    for samples, length in ((60.0, 5), (30.0, 20), (1e7, 40)):
        ours = counts_machine({"samples": samples, "length": length})
        assert ours.norm_squared == pytest.approx(machine(samples, length).norm_squared)


def test_descents_count_steps_and_carry_the_caveat(descent):
    rows = rows_of(descent)
    assert list(rows) == NAMES
    # Twenty seeds of two other programs: 1170 to 1990.
    assert all(1100 < time < 2050 for time in all_correct(descent).times)
    # |a|² σ1² m = 1/9 in the mean, and a step is of time 0.01.
    assert rows["T1"].formula == pytest.approx(20 * 9 / 0.01)
    assert "|a|²σ0²m is 2 b0" in rows["T1"].note
    assert detected(rows["T_half"]) < detected(rows["T1"])


def test_what_did_not_happen_has_its_reason(descent):
    row = rows_of(descent)["T_star"]
    assert row.detected is None
    assert "not reached in 2 of 2 seeds" in row.note and "up to time 3000" in row.note


def test_what_was_not_recorded_is_not_known(descent):
    rows = rows_of(descent.drop_vars(["margin", "value_rate", "value"]))
    for name, series in (
        ("T_half", "value_rate"),
        ("T1", "margin"),
        ("T_sig", "value"),
    ):
        assert rows[name].detected is None
        assert f"{series} not recorded" in rows[name].note
    assert rows["T1"].formula is not None


def test_without_the_gain_there_is_no_clock(descent):
    rows = rows_of(descent.drop_vars("readout_gain"))
    assert rows["T1"].detected == rows_of(descent)["T1"].detected
    assert "b0·t =" not in rows["T1"].note


@pytest.mark.parametrize("rule", ["momentum", "adam", "signgd"])
def test_no_formula_for_rules_that_do_not_follow_the_flow(descent, rule):
    rows = stage_table(with_setting(descent, rule=rule))
    assert all(row.formula is None and "b0·t =" not in row.note for row in rows)


def test_margins_of_0_are_not_right(descent):
    """A noise-free run begins there, and a frozen one stays."""
    row = rows_of(descent.assign(margin=0 * descent["margin"]))["T1"]
    assert row.detected is None and "not reached" in row.note


def test_a_dip_postpones_what_is_for_good(descent):
    margin = descent["margin"].copy(deep=True)
    margin[:, 140, 7] = -0.1
    late = all_correct(descent.assign(margin=margin)).times
    assert (late > float(descent["time"][140])).all()


def test_the_level_is_the_users(descent):
    with_level = with_setting(descent, level=0.5)
    assert loss_reaches(with_level).times == pytest.approx(
        replace(loss_reaches, level=0.5)(descent).times, rel=1e-5
    )
    assert "the level is 0.5" in rows_of(with_level)["T_star"].note


def test_a_run_that_ended_at_its_level(descent):
    """It has no record of that loss, but an end."""
    is_recorded = xr.zeros_like(descent["recorded"])
    is_recorded[:, :10] = True
    run = with_setting(descent.assign(recorded=is_recorded), level=0.5)
    last = 0 * run["loss_at_end"] + 0.5
    run = run.assign(loss_at_end=last, end_time=0 * run["end_time"] + 193.0)
    assert loss_reaches(run).times.tolist() == [193.0, 193.0]
    assert replace(loss_reaches, level=0.4)(run).reached == (False, False)


def test_signal_margins_by_type(descent):
    value = descent["value"].isel(head=0, time=-1, seed=0)
    first, second, common = value.sel(token=["mu1", "mu2", "mu3"]).values
    margins = signal_margins(descent).isel(time=-1, seed=0)
    for kind, expected in (
        ("both", first + second + common),
        ("first", -(first + common)),
        ("second", -(second + common)),
        ("neither", -common),
    ):
        assert float(margins.sel(group=kind)) == pytest.approx(expected)


def test_nothing_trained_nothing_in_the_table(runner):
    request = Request("token-svm", {"samples": (60.0,), "lengths": (5,)}, seeds=1)
    assert stage_table(runner.run(PAPER, request)) == []
