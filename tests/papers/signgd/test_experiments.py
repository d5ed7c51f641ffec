"""Experiments built from settings, and the stages of small runs."""

import numpy as np
import pytest

from attnflow.experiments import Computation, SystemExperiment, run
from attnflow.papers.signgd import PAPER, stages
from attnflow.papers.signgd.experiments import lattice, train
from attnflow.papers.signgd.settings import Lattice, Train
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import series, stage_table
from attnflow.training.rules import Adam, GradientDescent, SignGD

SERIES = ("value", "key_neuron", "query_neuron", "attention")
SMALL = {"embed": 200, "steps": 12, "test_samples": 0, "record": SERIES}


TRAINED = (Train, Lattice)


@pytest.mark.parametrize("id", [recipe.id for recipe in PAPER.recipes])
def test_every_recipe_builds(id):
    recipe = PAPER.recipe(id)
    experiment = recipe.experiment(recipe.setting)
    assert experiment.paper == "signgd"
    if not isinstance(recipe.setting, TRAINED):
        deep = isinstance(experiment, SystemExperiment)
        assert isinstance(experiment, Computation) or deep
        return
    (stage,) = experiment.stages
    rule = {"adam": Adam, "gd": GradientDescent}.get(
        getattr(recipe.setting, "rule", "signgd"), SignGD
    )
    assert isinstance(stage.rule, rule)
    assert stage.rule.learning_rate == sizes(recipe.setting).learning_rate
    assert experiment.grid.times(whole=True)[-1] == stage.until
    assert experiment.problem.heads == getattr(recipe.setting, "heads", 1)


def test_initial_entries_have_the_papers_scale():
    initial = train(Train()).initial
    assert initial.omega / initial.width**0.5 == pytest.approx(0.1 / 2000**0.5)
    assert initial.values.scale == pytest.approx(0.1 / 2000**0.5)


def test_the_linear_layer_starts_at_both_signs():
    values = train(Train(head="learnable")).initial.values
    assert (values.output, values.output_scale) == ("banks", 1 / 20)


def test_gradient_descent_keeps_its_neurons():
    """It commutes with rotations, but single neurons are recorded."""
    made = run(train(Train(**SMALL, rule="gd")), seeds=(0,))
    assert made.attrs["form"] == "coordinates"
    assert "single rows" in made.attrs["form_reason"]


def test_what_is_recorded_where():
    full = train(Train()).observables
    assert {"test_loss", "zero_signs", "key_neuron"} <= set(full)
    bare = train(Train(test_samples=0, form="weights")).observables
    assert set(full) - set(bare) == {
        *("test_loss", "test_accuracy", "zero_signs", "tied_signs", "signs_count"),
        *("log_mean_key_gradient", "log_mean_query_gradient"),
    }


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"support": 5000}, "support is 5000"),
        ({"samples": 7}, "samples is 7"),
        ({"supports": "disjoint", "row": "c"}, "Disjoint supports"),
        ({"length": 1}, "length is 1"),
        ({"noise_tokens": 2}, "noise_tokens is 2"),
    ],
)
def test_data_that_cannot_be_drawn(changes, words):
    with pytest.raises(ValueError, match=words):
        train(Train(**changes))


def test_a_lattice_without_a_horizon():
    with pytest.raises(ValueError, match=r"support=1e6"):
        lattice(Lattice(support=1, sigma_p=0.5))


@pytest.fixture(scope="module")
def disjoint():
    recipe = PAPER.recipe("disjoint")
    setting = recipe.with_overrides(SMALL | {"sigma_p": 0.5})
    return run(recipe.experiment(setting), seeds=[0, 1])


def test_noise_moves_by_one_length_on_disjoint_supports(disjoint):
    """Equation (9): the length is that of the token, for every neuron and step."""
    for table in ("key_neuron", "query_neuron"):
        moves = abs(series.noise(disjoint, table).diff("time"))
        least, most = (getattr(moves, f)(["time", "neuron"]) for f in ("min", "max"))
        np.testing.assert_allclose(least, most, rtol=1e-12)
        signal = abs(series.signal(disjoint, table).diff("time"))
        # Equation (8); an even number of votes may be tied.
        np.testing.assert_allclose(signal.where(signal > 0), 1e-4, rtol=1e-9)


def test_a_run_has_all_rows_of_the_table(disjoint):
    rows = stage_table(disjoint)
    assert [row.name for row in rows][:3] == ["T1", "T2_SGN", "T2"]
    assert all(row.note for row in rows)


@pytest.fixture(scope="module")
def small_lattice():
    """Steps of a hundredth of the time passed, and a record of each."""
    setting = Lattice(support=10**5, growth=0.01, records=3001, record=SERIES)
    return run(lattice(setting), seeds=[0, 1, 2])


def test_keys_queries_and_all_turn_at_one_two_four(small_lattice):
    """Of seeds without pairs that swing: with steps of 1%, times are good to 2%."""
    calm = stages.two_cycles(small_lattice).values == 0
    assert calm.any()
    detectors = (stages.keys_turn, stages.queries_turn, stages.all_follow)
    times = [stages.clock_times(small_lattice, f(small_lattice)) for f in detectors]
    keys, queries, everything = np.array(times)[:, calm]
    np.testing.assert_allclose(queries / keys, 2, rtol=0.02)
    np.testing.assert_allclose(everything / keys, 4, rtol=0.03)
    ours = stages.stage_formulas(small_lattice)["T4-"].time
    np.testing.assert_allclose(keys / ours, 1, rtol=0.02)


def test_the_clock_of_a_run_is_that_of_its_rule(small_lattice):
    """Values move by twice their length times the rate, whose sum is the clock."""
    value = series.value_noise(small_lattice).isel(head=0, token=0)
    moves = value - value.isel(time=0)
    clock = stages.clock_of(small_lattice["time"].values, 0.01)
    length = (moves / clock).isel(time=slice(1, None))
    # Rounding of two thousand sums.
    np.testing.assert_allclose(length / length.isel(time=-1), 1.0, rtol=1e-11)
