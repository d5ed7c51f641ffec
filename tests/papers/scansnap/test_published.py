"""Published numbers, replayed with the authors' random streams."""

import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.figures.published import MEANS, SPREADS

pytest.importorskip("torch")


def run_published(id, seeds, **changes):
    recipe = PAPER.recipe(id)
    setting = recipe.with_overrides({"stream": "published", **changes})
    return run(recipe.experiment(setting), seeds=seeds)


def test_logged_losses_of_figure_4():
    losses = run_published("figure4-left", [2])["batch_loss"].isel(seed=0)
    logged = losses.sel(time=[10, 48, 98]).values
    np.testing.assert_allclose(logged, [0.01295, 2.51e-5, 2.22e-5], rtol=0.005)
    assert float(losses[0]) == pytest.approx(3.52636, abs=1e-5)


def test_attention_of_figure_4():
    """The first class after 100 steps, seeds 2, 3 and 4."""
    left = run_published("figure4-left", [2, 3, 4]).isel({"class": 0, "time": -1})
    right = run_published("figure4-right", [2, 3, 4]).isel({"class": 0, "time": -1})
    np.testing.assert_allclose(
        left["distinct_entropy"], [1.906, 1.959, 1.979], atol=1e-3
    )
    np.testing.assert_allclose(
        right["distinct_entropy"], [2.094, 2.071, 2.092], atol=5e-3
    )
    np.testing.assert_allclose(left["common_mass"], [0.36, 0.40, 0.43], atol=5e-3)


@pytest.mark.parametrize(("rate", "favourites"), [(0.1, [3] * 3), (1.0, [9] * 3)])
def test_favourites_of_adam(rate, favourites):
    adam = run_published("figure5", [2, 3, 4], score_rate=rate, value_rate=rate)
    last = adam["attention_per_class"].isel({"class": 0, "time": -1})
    tokens = [t for t in last["token"].values if str(t).endswith("@0")]
    np.testing.assert_array_equal(
        last.sel(token=tokens).values.argmax(axis=1), favourites
    )


@pytest.mark.slow
@pytest.mark.parametrize("queries", [3, 5])
def test_figure_6(queries):
    """Every published mean and spread of a panel, ten seeds."""
    grid = run_published("figure6", range(1, 11), queries=(queries,))
    entropy = grid["mean_distinct_entropy"].isel(queries=0)
    np.testing.assert_allclose(entropy.mean("seed"), MEANS[queries], atol=1e-3)
    np.testing.assert_allclose(entropy.std("seed", ddof=1), SPREADS[queries], atol=1e-3)


@pytest.mark.slow
def test_recall_of_figures_11_and_12():
    grid = run_published("figure6", range(1, 11), queries=(1,), score_rates=(1.0,))
    recall = grid["recall"].mean("seed").isel(queries=0, score_rate=0)
    at = [0.5, 0.75, 1, 1.25, 1.5, 2, 3]
    np.testing.assert_allclose(
        recall.sel(ratio=1.0, threshold=at),
        [1, 0.82, 0.50, 0.36, 0.26, 0.16, 0.07],
        atol=0.006,
    )
    np.testing.assert_allclose(
        recall.sel(ratio=10.0, threshold=at),
        [1, 1, 0.64, 0.25, 0.13, 0.04, 0],
        atol=0.006,
    )
