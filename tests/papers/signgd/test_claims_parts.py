"""Parts of the claims of `signgd`: statistics of runs, fits, the rate law."""

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.signgd.claims import fits, statistics
from attnflow.papers.signgd.claims.adam import limit
from attnflow.papers.signgd.claims.adam_rate import adam_rate
from attnflow.papers.signgd.claims.evidence import RUNGS, SUPPORTS
from attnflow.papers.signgd.settings import Lattice
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import clock_of, keys_turn, series, steps_at
from tests.papers.signgd.courses import course


def falling(loss):
    """A run of two seeds with one loss, recorded from step 0 to 2000."""
    times = np.arange(0.0, 2001.0, 20.0)
    both = np.stack([loss(times), 2 * loss(times)])
    return xr.Dataset({"loss": (("seed", "time"), both)}, {"time": times})


@pytest.mark.parametrize("rate", [1e-4, 4.5e-3])
def test_an_exponential_is_distinguished_from_a_power(rate):
    falls = fits.falls(falling(lambda t: np.exp(-rate * t)), 1000)
    assert fits.column(falls, "rate") == pytest.approx([rate, rate])
    assert (fits.column(falls, "exponential") < 1e-9).all()
    assert (fits.column(falls, "algebraic") > 1e-4).all()


def test_a_power_is_distinguished_from_an_exponential():
    falls = fits.falls(falling(lambda t: (1 + t) ** -2.0), 1000)
    assert fits.column(falls, "power") == pytest.approx([2.0, 2.0], rel=2e-3)
    assert (
        10 * fits.column(falls, "algebraic") < fits.column(falls, "exponential")
    ).all()


def test_a_loss_that_is_no_number_has_no_fit():
    falls = fits.falls(falling(lambda t: np.where(t < 1500, 1.0, 0.0)), 1000)
    assert np.isnan(fits.column(falls, "rate")).all()


@pytest.mark.parametrize(
    "beta2, printed", [(0.9, 0.00443), (0.95, 0.00423), (0.99, 0.00296)]
)
def test_the_rate_law_at_signgds_rate_in_setting_a(beta2, printed):
    """Roots of the law to three digits; SignGD's loss falls at a rate of 0.0046."""
    rate = 0.00462
    root = adam_rate(rate, beta2)
    assert root == pytest.approx(printed, rel=0.01)
    inside = (1 - beta2 * np.exp(2 * root)) / (1 - beta2)
    assert root == pytest.approx(rate * np.sqrt(inside), rel=1e-9)
    assert root < min(rate, limit(beta2))


def test_the_rate_law_by_a_scalar_model():
    """Adam with β1 = 0 on a gradient that is e^{−x} of what it has moved x."""
    step, beta2, second, positions = 0.01, 0.98, 0.0, []
    x = 0.0
    for t in range(1, 4001):
        gradient = np.exp(-x)
        second = beta2 * second + (1 - beta2) * gradient**2
        x += step * gradient / np.sqrt(second / (1 - beta2**t))
        positions.append(x)
    measured = (positions[-1] - positions[-1001]) / 1000
    assert measured == pytest.approx(adam_rate(step, beta2), rel=0.01)


def test_no_rate_from_a_loss_that_grows():
    assert np.isnan(adam_rate(-1e-3, 0.9))


def test_records_nearest_to_a_time_of_each_seed():
    run = course(seeds=3)
    times = np.array([10.2, 148.0, 700.0])
    values = statistics.at(run, times, "value")["value"].sel(token="noise1", head=0)
    # Mean value noise of the first sample is t − 3; records are 5 apart late.
    assert values.values[:2] == pytest.approx([7.0, 147.0])
    assert np.isnan(values.values[2])


def test_a_growing_rate_has_a_clock_of_its_own():
    run, growth = course(setting=Lattice()), Lattice().growth
    clock = statistics.on_clock(run)["time"].values
    assert clock == pytest.approx(clock_of(run["time"].values, growth))
    turn = statistics.when(run, keys_turn(run)).values
    assert steps_at(turn, growth) == pytest.approx(keys_turn(run).times)


def test_what_lies_between_two_times_of_a_growing_rate():
    run, growth = course(setting=Lattice(growth=0.02)), 0.02
    low, high = clock_of(np.array([55.0, 59.0]), growth)
    inside = statistics.between(run, low, high).isel(seed=0)
    assert run["time"].values[inside.values].tolist() == [55, 56, 57, 58, 59]


def test_a_share_among_pairs_is_not_known_where_one_of_them_is_not():
    dims = ("seed", *series.PAIR)
    product = xr.DataArray(np.array([1.0, -1.0, np.nan]).reshape(1, 1, 1, 3), dims=dims)
    first_two = xr.DataArray([[[[True, True, False]]]], dims=dims)
    assert statistics.share_among(product, first_two).item() == 0.5
    assert np.isnan(statistics.share_among(product, xr.ones_like(first_two)).item())


def test_every_rung_has_the_sizes_that_are_printed():
    """`evidence.LADDER`; each misses Condition 3.1 by no more than these constants."""
    assert [request.overrides["support"] for request in RUNGS.values()] == [*SUPPORTS]
    for request in RUNGS.values():
        size = sizes(Lattice(**request.overrides))
        grown = size.support / 1e6
        dimension = float(size.support**2 * size.samples**4)
        assert (size.samples, size.key_neurons, size.value_neurons) == (9, 20, 20)
        assert size.samples == pytest.approx(6e-5 * size.key_neurons**4, rel=0.07)
        noise = size.sigma_p * np.sqrt(size.support)
        assert noise == pytest.approx(2 * grown**0.25)
        assert noise >= 0.0246 * size.samples**2
        assert size.key_neurons >= 0.36 * np.log(dimension)
        largest = 9e-5 * grown**-0.25 / (size.strength * np.sqrt(size.key_neurons))
        assert size.sigma_0 == pytest.approx(largest, rel=0.01)
