"""Draws without weights: their laws, with noise, in the limit and without."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import ks_2samp, kstest
from tests.core import STEP_ROUNDINGS, TABLES, experiment

from attnflow.experiments import run
from attnflow.models.forms import Chain, Initial, Neurons, Vector
from attnflow.models.forms.initial_values import bartlett_factor
from attnflow.models.forms.scores import score_factor
from attnflow.training import Grid
from attnflow.training.rules import GradientDescent

WIDTH, COUNT, SCALE = 40, 9, 0.3
CHAINS = {
    "vector": Vector(SCALE),
    "fixed output": Chain(WIDTH, SCALE, 0.5, trained=False),
    "trained output": Chain(WIDTH, SCALE, 0.5),
    "neurons": Neurons(WIDTH, COUNT, SCALE, 0.2),
    "neurons by law": Neurons(WIDTH, COUNT, SCALE, 0.2, 0.4, "law"),
}
# E|β|², or what stands for it where one vector or matrix gives the values.
SEEN = {
    "vector": 1.0,
    "fixed output": WIDTH * 0.5**2,
    "trained output": WIDTH * 0.5**2,
    "neurons": WIDTH * 0.2**2 * COUNT,
    "neurons by law": WIDTH * 0.2**2 * COUNT * 0.4**2,
}
pytestmark = pytest.mark.usefixtures("precise")


def sampled(chain, draw, heads=3000, *, rank=3, gram=True, seed=0):
    """Heads are independent copies."""
    key = jax.random.key(seed)
    return CHAINS[chain].sampled(heads, rank, gram=gram, key=key, draw=draw)


@pytest.mark.parametrize("chain", CHAINS)
def test_without_noise_the_state_is_the_mean_of_the_law(chain):
    part, expected = sampled(chain, "expected", 1)
    other, drawn = sampled(chain, "bartlett")
    spread = np.asarray(drawn).std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - expected[0]) <= 5 * spread).all()
    error = np.std(other.gain) / np.sqrt(len(drawn)) + 1e-12
    assert abs(np.mean(other.gain) - float(part.gain[0])) <= 5 * error
    assert not np.asarray(part.table(expected)).any()


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("gram", [True, False])
def test_in_the_limit_values_alone_are_noisy(chain, gram):
    part, state = sampled(chain, "limit", gram=gram)
    values = np.asarray(part.table(state))
    size = SCALE * np.sqrt(SEEN[chain])
    assert kstest(values.ravel() / size, "norm").pvalue > 1e-3
    assert np.ptp(part.gain) == 0
    if isinstance(CHAINS[chain], Vector) or chain == "fixed output":
        return
    full = state if gram else state.swapaxes(-1, -2) @ state
    diagonal = np.array([SCALE**2 * WIDTH] * 3 + [SEEN[chain]])
    assert np.abs(np.diagonal(full, axis1=1, axis2=2) / diagonal - 1).max() < 1e-14
    assert np.abs(full[:, :3, :3] - diagonal[0] * np.eye(3)).max() < 1e-14 * diagonal[0]


@pytest.mark.parametrize("chain", ["trained output", "neurons"])
def test_wide_weights_have_the_limit(chain):
    """Values and their rates under a fixed force, by Kolmogorov and Smirnov.

    At width 2000 the law of a value differs from the limit's by O(1/width) and that of
    a rate by O(width^-1/2) of its noise, below what 1000 draws can tell.
    """
    from dataclasses import replace

    force = jnp.array([[1.0, -0.5, 0.2]])
    samples = []
    for draw in ("bartlett", "limit"):
        wide = replace(CHAINS[chain], width=2000)
        key = jax.random.key(3)
        part, state = wide.sampled(1000, 3, gram=True, key=key, draw=draw)
        velocity = part.velocity(state, jnp.broadcast_to(force, (1000, 3)))
        # The noise of a rate is that of b, and of A_V, relative to their means.
        samples.append((part.table(state)[:, 1], part.table(velocity)[:, 1]))
    assert ks_2samp(samples[0][0], samples[1][0]).pvalue > 1e-3
    means = [np.mean(rate) for _, rate in samples]
    noise = np.std(samples[0][1]) / np.sqrt(1000)
    assert abs(means[0] - means[1]) < 5 * noise
    assert np.std(samples[1][1]) < 1e-13 * abs(means[1])


def test_scores_are_at_their_expectation():
    for draw in ("limit", "expected"):
        initial = Initial(width=40, omega=0.7, draw=draw)
        factor = score_factor(initial, 2, 3, key=jax.random.key(0), draw=draw)
        assert np.abs(factor - 0.7 * np.eye(6)).max() == 0


@pytest.mark.parametrize("form", ["gram", "transport"])
@pytest.mark.parametrize("width", [40, "infinite"])
@pytest.mark.parametrize("draw", ["limit", "expected", "bartlett", "auto"])
def test_every_draw_trains(form, width, draw):
    values = CHAINS["neurons"]
    initial = Initial(width=width, omega=0.3, values=values, draw=draw)
    # A step that is small against the curvature of every draw.
    changes = {"rule": GradientDescent(0.01), "until": 3, "grid": Grid(stop=3, count=2)}
    dataset = run(experiment(initial=initial, form=form, **changes), seeds=(0, 1))
    start = dataset.isel(time=0)
    quiet = draw == "expected"
    assert bool((start["value"] == 0).all()) == quiet
    still = width == "infinite" or draw in ("limit", "expected")
    assert bool((np.abs(start["score"]) == 0).all()) == still
    # Seeds side by side need not round alike; others are other numbers altogether.
    gap = float(np.abs(dataset["loss"].diff("seed")).max())
    size = float(np.abs(dataset["loss"]).max())
    rounding = 3 * STEP_ROUNDINGS * np.finfo(float).eps * size
    assert gap <= rounding if quiet else gap > 1e6 * rounding


def test_forms_of_one_seed_share_the_limit():
    initial = Initial(width=40, omega=0.3, values=CHAINS["neurons"], draw="limit")
    datasets = [run(experiment(initial=initial, form=f)) for f in ("gram", "transport")]
    for name in TABLES:
        assert np.abs(datasets[0][name] - datasets[1][name]).max() < 1e-12


def test_no_noise_is_symmetric_in_the_groups():
    """Data and initial state treat the groups alike, for all time."""
    initial = Initial(width=40, omega=0.3, values=Chain(40, 0.1, 0.1), draw="expected")
    dataset = run(experiment(initial=initial, rule=GradientDescent(0.3)))
    value = dataset["value"].isel(seed=0, time=-1)
    assert float(np.abs(value.sel(token="c1") - value.sel(token="c2")).max()) < 1e-14
    assert float(np.abs(value.sel(token="c1")).max()) > 1e-3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"draw": "weights", "width": "infinite"}, "width is infinite"),
        ({"draw": "limit", "form": "weights"}, "no weights: use form='gram'"),
        ({"draw": "expected", "form": "weights"}, "no weights: use form='gram'"),
        ({"draw": "limit", "values": Chain(2, 0.1, 0.1)}, "width 2 is not large"),
        ({"draw": "bartlett", "values": Vector(0.1, "uniform")}, "is 'uniform'"),
        ({"draw": "bartlett", "values": Chain(2, 0.1, 0.1)}, "below the tokens' rank"),
    ],
)
def test_draws_that_there_are_not(changes, message):
    form = changes.pop("form", "gram")
    with pytest.raises(ValueError, match=message):
        run(experiment(form=form, initial=Initial(**{"width": 40, **changes})))


def test_laws_without_a_wishart_matrix_draw_weights():
    values = Vector(0.1, "uniform")
    assert Initial(width=10**6, values=values).drawn_as(4, 4) == "weights"
    assert Initial(width=10**6, values=Vector(0.1)).drawn_as(4, 4) == "bartlett"
    limit = Initial(width=40, values=values, draw="limit", law="uniform")
    assert limit.drawn_as(4, 4) == "limit"


@pytest.mark.usefixtures("precise")
def test_more_rows_than_an_integer_holds():
    """At 10^20 rows a factor is their root times the identity, up to its root."""
    factor = np.asarray(bartlett_factor(10**20, 3, 1, key=jax.random.key(0)))[0]
    np.testing.assert_allclose(factor, 1e10 * np.eye(3), rtol=1e-9, atol=10)
