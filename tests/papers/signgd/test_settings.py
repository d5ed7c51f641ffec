import math

import pytest

from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.settings import Lattice, Train
from attnflow.papers.signgd.sizes import sizes


@pytest.mark.parametrize(
    "row, support, orthogonal",
    [("a", 80, True), ("b", 80, False), ("c", 800, True), ("d", 800, False)],
)
def test_rows_of_table_3(row, support, orthogonal):
    size = sizes(PAPER.recipe(f"setting-{row}").setting)
    assert (size.samples, size.support, size.orthogonal) == (20, support, orthogonal)
    assert (size.key_neurons, size.value_neurons) == (100, 20)
    assert size.sigma_p == pytest.approx(2 / math.sqrt(support))
    assert size.sigma_0 == pytest.approx(0.1 / math.sqrt(2000))
    assert size.strength == pytest.approx(2 * math.sqrt(support))


def test_rows_at_another_dimension():
    size = sizes(Train(row="c", embed=1000))
    assert (size.samples, size.support, size.key_neurons) == (10, 400, 50)
    assert size.sigma_0 == pytest.approx(0.1 / math.sqrt(1000))


def test_what_is_given_goes_before_the_fractions():
    setting = PAPER.recipe("setting-a").with_overrides(
        {"support": "5", "sigma_p": "0.5", "orthogonal": "no", "learning_rate": "1e-3"}
    )
    size = sizes(setting)
    assert (size.support, size.sigma_p, size.orthogonal) == (5, 0.5, False)
    assert size.learning_rate == 1e-3 and size.samples == 20


def test_sizes_of_a_runs_own_dictionary():
    assert sizes(vars(Train())) == sizes(Train())
    assert sizes(vars(Lattice())) == sizes(Lattice())


@pytest.mark.parametrize(
    "id, rate",
    [
        ("setting-a", 1e-4),
        ("adam", 1e-4),
        ("gd", 0.1),
        ("gd-length10", 1.0),
        ("slow-start", 1e-7),
    ],
)
def test_rates_of_appendix_b(id, rate):
    assert sizes(PAPER.recipe(id).setting).learning_rate == rate


def test_optimisers_of_appendix_b():
    adam = PAPER.recipe("adam").setting
    assert (adam.beta1, adam.beta2, adam.epsilon) == (0.9, 0.999, 1e-15)
    for id in ("adam-d", "adam-length10"):
        assert PAPER.recipe(id).setting.beta2 == 0.99
    assert {
        PAPER.recipe(f"{n}length10").setting.length for n in ("", "adam-", "gd-")
    } == {10}


def test_the_lattice_resolves_its_first_stage():
    """A thousand steps move a noise inner product by about its initial size."""
    size = sizes(Lattice())
    initial = size.sigma_0 * size.sigma_p * math.sqrt(size.support)
    move = 1000 * size.learning_rate * size.strength
    assert move == pytest.approx(initial)
    assert size.growth == 1e-3


def test_steps_that_are_recorded():
    few = Train(steps=1003, dense=4, every=5, fine=20, coarse=200)
    expected = [*range(5), 5, 10, 15, 20, 200, 400, 600, 800, 1000, 1003]
    assert few.recorded_steps == tuple(expected)
    assert Train(steps=3).recorded_steps == (0, 1, 2, 3)
    # Inner products of 100 neurons and 21 tokens, twice: 8 MB a seed.
    assert len(Train().recorded_steps) == 61 + 108 + 70


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"embed": 40}, "fractions need embed=100"),
        ({"samples": 0}, "samples is 0"),
        ({"support": 0}, "support is 0"),
        ({"sigma_p": 0.0}, "sigma_p is 0.0"),
        ({"sigma_0": -1.0}, "sigma_0 is -1.0"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
    ],
)
def test_sizes_that_make_no_sense(changes, words):
    with pytest.raises(ValueError, match=words):
        sizes(Train(**changes))


def test_growth_that_skips_the_stages():
    with pytest.raises(ValueError, match=r"growth is 0\.5"):
        sizes(Lattice(growth=0.5))


@pytest.mark.parametrize("name", ["steps", "every", "coarse", "heads"])
def test_counts_are_positive(name):
    with pytest.raises(ValueError, match=f"{name} is 0"):
        Train(**{name: 0})


def test_wrong_words_get_what_is_allowed():
    recipe = PAPER.recipe("setting-a")
    with pytest.raises(ValueError, match="rule must be 'flow' or 'gd' or 'momentum'"):
        recipe.with_overrides({"rule": "sgd"})
    with pytest.raises(ValueError, match="embed"):
        recipe.with_overrides({"embeded": "3"})
