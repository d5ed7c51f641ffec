"""Measures of runs and boundaries of maps that claims of `vit` use."""

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.vit import boundary as b
from attnflow.papers.vit.claims import figure1, measures, times, updates
from attnflow.papers.vit.settings import Map, Train
from attnflow.papers.vit.sizes import sizes
from attnflow.papers.vit.stages import loss_reached, others, values_at
from tests.papers.vit.courses import SETTING, course, cut


def paired(run):
    """The course with scores, and ‖w_O‖² = 1."""
    scores = run["attention"].copy(data=np.log(run["attention"].clip(1e-9).values))
    gain = xr.ones_like(run["loss"]).expand_dims("head", 2)
    return run.assign(pair_score=scores, readout_gain=gain)


def test_the_time_of_a_loss():
    run = cut(course(seeds=2), 1990, loss=0.0499)
    # The loss is 100/t: 0.1 at t = 1000; its last record is at 1980.
    assert loss_reached(0.1)(run).times == pytest.approx([1000, 1000], rel=1e-3)
    assert loss_reached(0.05)(run).times.tolist() == [1990, 1990]
    assert np.isnan(loss_reached(0.01)(run).times).all()


def test_a_table_where_the_loss_falls_to_targets():
    """The loss is 100/t; what is never reached is not known."""
    run = cut(course(), 1990, loss=0.0499)
    table = measures.at_losses(run, run["time"] + 0 * run["loss"], (0.5, 0.05, 0.01))
    assert table["1/ε"].values.tolist() == pytest.approx([2, 20, 100])
    assert table.isel(seed=0).values[:2].tolist() == [200, 1980]
    assert np.isnan(table.isel(seed=0).values[2])


def test_records_between_the_ends_of_stages():
    """T1 is 0.9, T2 100; a stage that never ends has no records."""
    run = course()
    inside = measures.during("T1", "T2")(run).isel(seed=0)
    assert run["time"].values[inside.values].tolist() == [*range(1, 51), 60, 80, 100]
    stopped = cut(run, 60, loss=0.2)
    assert not measures.during("T1", "T3")(stopped).any()
    assert not measures.up_to("T3")(stopped).any()
    assert measures.up_to("T3")(run).all()


def test_what_is_read_at_the_target_is_not_known_before():
    done, missed = cut(course(), 1990, loss=0.05), cut(course(), 1990, loss=0.06)
    assert measures.at_target(done, "loss").values.tolist() == [0.05]
    assert np.isnan(measures.at_target(missed, "loss").values).all()


@pytest.mark.parametrize(("regime", "power"), [("benign", 5e7), ("harmful", 0.5)])
def test_values_of_the_winner_and_their_unit(regime, power):
    setting = replace(SETTING, strength=1e8 if regime == "benign" else 1.0)
    run = paired(course(regime, setting=setting))
    value = measures.winner(run).sel(time=500.0)
    np.testing.assert_allclose(value.values, 0.5)
    rest = others(values_at(run), regime).sel(time=500.0)
    assert rest.sizes["key_position"] == 2
    np.testing.assert_allclose(abs(rest).values, 1e-4)
    # ‖μ‖² = 1e8/2, σ_p² d = 1 and N = 2.
    rate = sizes(setting).learning_rate
    np.testing.assert_allclose(measures.unit(run).values, rate * power)
    # At t = 500 the winner's value is 0.5, 3M times the others' is 9e-4.
    lead = measures.lead(run).sel(time=500.0)
    np.testing.assert_allclose(lead.values, 0.5 / 9e-4)


def test_the_gap_of_scores_is_that_of_attention():
    run = paired(course())
    gap = measures.gaps(run).sel(time=500.0)
    # Attention is 5/6 on the signal and 1/12 on each of the others.
    np.testing.assert_allclose(gap.values, np.log(10))
    assert gap.sizes["key_position"] == 2


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
    fit = figure1.boundary(run)
    assert fit.exponent == pytest.approx(-0.5, abs=0.01)
    assert fit.constant == pytest.approx(707, rel=0.01)
    assert b.strength(b.losses(run)).shape == (3, 2000)


@pytest.mark.parametrize("sigma", [2.0, 8.0])
def test_the_control_with_strong_noise(sigma):
    """N‖μ‖²/(σ̃_p²d) = N · SNR² (σ_p/σ̃_p)²."""
    control = figure1.strong_control(phase_map(700.0, sigma=sigma))
    assert control == pytest.approx(707 * (0.2 / sigma) ** 2, rel=0.01)


def test_steps_count_only_where_the_target_was_reached():
    done, missed = cut(course(), 1990, loss=0.05), cut(course(), 1990, loss=0.06)
    assert measures.over_formula(done) == pytest.approx(
        1990 / (2 / (sizes(SETTING).learning_rate * 5e7 * 0.05))
    )
    assert np.isnan(measures.over_formula(missed)).all()


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
        assert size.regime == regime, request


def test_the_bound_on_steps_of_noise_by_hand():
    """One token that alone is attended to moves by η σ̃_p² d (−ℓ')/N at most."""
    run = paired(course("harmful"))
    still = run.assign(margin=xr.zeros_like(run["label"]))
    step = updates.noise_ratio(still, crossed=False).isel(seed=0)
    size = sizes(SETTING)
    pulled = 0.5 * 3 * (50 / 150)
    bound = 2 * size.learning_rate * size.ratio**2 / (2 * 3) * pulled
    # From t = 50 to 60 the strong noise's value grows by 0.01.
    assert step.sel(time=50.0).isel(key_position=0).values == pytest.approx(
        0.01 / bound
    )
    looser = updates.noise_ratio(still, crossed=True).isel(seed=0)
    assert (looser <= step).all()
