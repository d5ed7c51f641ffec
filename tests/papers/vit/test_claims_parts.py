"""Statistics of runs and boundaries of maps that claims of `vit` use."""

import json

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.vit.claims import condition, maps, statistics, times, updates
from attnflow.papers.vit.settings import Map, Train
from attnflow.papers.vit.sizes import sizes
from attnflow.papers.vit.stages import values_at
from tests.papers.vit.courses import SETTING, course, cut


def paired(run):
    """The course with values at positions, scores, and ‖w_O‖² = 1."""
    label = run["label"].isel(time=0, drop=True)
    pairs = (label * values_at(run)).expand_dims("head", 3)
    scores = run["attention"].copy(data=np.log(run["attention"].clip(1e-9).values))
    gain = xr.ones_like(run["loss"]).expand_dims("head", 2)
    return run.assign(pair_value=pairs, pair_score=scores, readout_gain=gain)


def test_the_time_of_a_loss():
    run = cut(course(seeds=2), 1990, loss=0.0499)
    # The loss is 100/t: 0.1 at t = 1000; its last record is at 1980.
    assert statistics.time_of_loss(run, 0.1) == pytest.approx([1000, 1000], rel=1e-3)
    assert statistics.time_of_loss(run, 0.05).tolist() == [1990, 1990]
    assert np.isnan(statistics.time_of_loss(run, 0.01)).all()


def test_records_up_to_a_time_of_each_seed():
    run = course(seeds=2)
    late = statistics.at(run, np.array([10.5, 119.0]))
    assert late["time"].values.tolist() == [10, 100]
    early = statistics.at(run, np.array([np.nan, 0.0]))
    assert early["time"].values.tolist() == [0, 0]
    stopped = statistics.at(cut(run, 95, loss=0.2), np.array([2000.0, 90.0]))
    assert stopped["time"].values.tolist() == [80, 80]


def test_records_between_two_times():
    run = cut(course(), 95, loss=0.2)
    inside = statistics.within(run, np.array([45.0]), np.array([200.0])).isel(seed=0)
    assert run["time"].values[inside.values].tolist() == [46, 47, 48, 49, 50, 60, 80]


@pytest.mark.parametrize(("regime", "power"), [("benign", 5e7), ("harmful", 0.5)])
def test_values_of_the_winner_and_their_unit(regime, power):
    run = paired(course(regime))
    value = statistics.winner(run, regime).sel(time=500.0)
    np.testing.assert_allclose(value.values, 0.5)
    rest = statistics.others(values_at(run), regime).sel(time=500.0)
    assert rest.sizes["key_position"] == 2
    np.testing.assert_allclose(abs(rest).values, 1e-4)
    # SETTING: ‖μ‖² = 1e8/2, σ_p² d = 1 and N = 2.
    rate = sizes(SETTING).learning_rate
    np.testing.assert_allclose(statistics.unit(run, regime).values, rate * power)


def test_the_gap_of_scores_is_that_of_attention():
    run = paired(course())
    gap = statistics.gaps(run, "benign").sel(time=500.0)
    # Attention is 5/6 on the signal and 1/12 on each of the others.
    np.testing.assert_allclose(gap.values, np.log(10))
    assert gap.sizes["key_position"] == 2


def test_an_unknown_margin_does_not_hold():
    check = statistics.held(np.array([0.1, np.nan, -0.2]), "any")
    assert check.held == (True, False, False)


def phase_map(constant, *, sigma=4.0, seeds=3):
    """Maps that are 0.4 below N · SNR² = constant · (1 + s/100) and 0 above."""
    setting = Map(samples=(4, 8, 16), snr_count=2000, sigma_strong=sigma)
    counts = np.array(setting.samples)
    ratios = np.linspace(setting.snr_low, setting.snr_high, setting.snr_count)
    control = counts[:, None] * ratios**2
    loss = [
        np.where(control < constant * (1 + s / 100), 0.4, 0.0) for s in range(seeds)
    ]
    return xr.Dataset(
        {"test_loss": (("seed", "samples", "snr"), np.array(loss))},
        {"seed": range(seeds), "samples": counts, "snr": ratios},
        {"setting": json.dumps(vars(setting))},
    )


def test_the_boundary_of_a_map_that_is_known():
    run = phase_map(700.0)
    fit = maps.boundary(run)
    assert fit.exponent == pytest.approx(-0.5, abs=0.01)
    assert fit.constant == pytest.approx(707, rel=0.01)
    assert maps.control(run).shape == (3, 2000)


@pytest.mark.parametrize("sigma", [2.0, 8.0])
def test_the_control_with_strong_noise(sigma):
    """N‖μ‖²/(σ̃_p²d) = N · SNR² (σ_p/σ̃_p)²."""
    control = maps.strong_control(phase_map(700.0, sigma=sigma))
    assert control == pytest.approx(707 * (0.2 / sigma) ** 2, rel=0.01)


def test_steps_count_only_where_the_target_was_reached():
    done, missed = cut(course(), 1990, loss=0.05), cut(course(), 1990, loss=0.06)
    assert condition.over_formula(done, "benign") == pytest.approx(
        1990 / (2 / (sizes(SETTING).learning_rate * 5e7 * 0.05))
    )
    assert np.isnan(condition.over_formula(missed, "benign")).all()


@pytest.mark.parametrize("regime", ["benign", "harmful"])
def test_ladders_stay_in_their_regime(regime):
    """N‖μ‖²/(σ̃_p²d), whose boundary is at 2.5, on every rung."""
    runs = times.BENIGN if regime == "benign" else times.HARMFUL
    for request in runs.values():
        base = {"length": 4, "embed": 2048, "sigma_p": 0.05, "sigma_strong": 1.0}
        base |= (
            {"samples": 16, "signal": 25.0}
            if regime == "benign"
            else {
                "samples": 10,
                "signal": 15.0,
            }
        )
        size = sizes(Train(**{**base, **request.overrides}))
        control = size.strength / size.ratio**2
        assert (control > 2.5) == (regime == "benign"), request


def test_the_bound_on_steps_of_noise_by_hand():
    """One token that alone is attended to moves by η σ̃_p² d (−ℓ')/N at most."""
    run = paired(course("harmful"))
    still = run.assign(margin=xr.zeros_like(run["label"]))
    step = updates._ratio(still, crossed=False).isel(seed=0)
    size = sizes(SETTING)
    pulled = 0.5 * 3 * (50 / 150)
    bound = 2 * size.learning_rate * size.ratio**2 / (2 * 3) * pulled
    # From t = 50 to 60 the strong noise's value grows by 0.01.
    assert step.sel(time=50.0).isel(key_position=0).values == pytest.approx(
        0.01 / bound
    )
    looser = updates._ratio(still, crossed=True).isel(seed=0)
    assert (looser <= step).all()
