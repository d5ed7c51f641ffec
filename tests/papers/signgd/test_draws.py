"""Draws of noise and of initial weights, against Lemmas C.2 to C.8."""

from itertools import combinations

import numpy as np
import pytest

from attnflow.papers.signgd.computations import Draws
from attnflow.papers.signgd.systems import draws
from attnflow.papers.signgd.systems.draws import _splits


def drawn(**changes):
    return draws(vars(Draws(**changes)), [0, 1])


@pytest.mark.parametrize("count", [4, 5])
def test_the_worst_splits_are_those_of_all_sets(count):
    norms = np.random.default_rng(0).uniform(1, 2, count)
    surplus = 1 if count % 2 else 2
    sums = [
        (2 * sum(part) - norms.sum()) / surplus
        for part in combinations(norms, (count + surplus) // 2)
    ]
    assert _splits(norms) == pytest.approx([min(sums), max(sums)])


def test_short_noise_leaves_its_bounds_and_long_noise_does_not():
    """At s = 80, setting (a), as C-LC.4-1 says; and other lines hold there."""
    short = drawn(draws=50, embed=2000)["margin"]
    outside = (short.sel(line="C.4 norm 1") < 0).mean()
    assert 0.6 < outside < 0.9
    assert (short.sel(line="C.8 noise") > 0).all()
    assert (drawn(draws=20, support=10_000)["margin"] > 0).all()


def test_products_have_the_law_of_whole_vectors():
    """Means of the margins, against vectors of d = 400 with supports side by side."""
    sizes = {"samples": 4, "support": 50, "embed": 400, "key_neurons": 10}
    ours = drawn(draws=400, **sizes)["margin"].sel(line="C.8 noise").mean().item()
    rng, theirs = np.random.default_rng(7), []
    bound = 2 * np.sqrt(np.log(12 * 10 * 4 / 0.1)) * 2
    for _ in range(800):
        noise = np.zeros((4, 400))
        for i in range(4):
            noise[i, 1 + 50 * i : 51 + 50 * i] = rng.normal(0, 2 / np.sqrt(50), 50)
        products = np.abs(rng.normal(size=(2, 10, 400)) @ noise.T)
        theirs.append(np.log(bound / products.max()))
    # Means of 800 numbers of deviation 0.13 each.
    assert ours == pytest.approx(np.mean(theirs), abs=0.03)


def test_how_often_supports_cover_the_signal():
    run = drawn(samples=4, support=3, draws=1, support_draws=100_000)
    expected = 1 - (1 - 3 / 48**2) ** 4
    assert run["touched"].mean().item() / 1e5 == pytest.approx(expected, rel=0.1)
