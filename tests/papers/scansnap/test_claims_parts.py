"""Computations and statistics that claims of `scansnap` use, against known results."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.scansnap import computations as settings
from attnflow.papers.scansnap.claims.statistics import favourites
from attnflow.papers.scansnap.systems import (
    decoder_courses,
    gradient_check,
    modified_updates,
    random_classes,
)
from attnflow.papers.scansnap.systems.decoder import Decoder

SEEDS = (0, 1)


def test_the_written_gradient_moves_what_it_may():
    """Only the query's row of Z, and tokens of the context in Y, have a gradient."""
    gradients = gradient_check.gradients(asdict(settings.Gradients()), SEEDS)
    nonzero = (gradients["scores_written"] != 0).any("column").isel(seed=0).values
    assert nonzero.nonzero()[0].tolist() == [10]
    # Contexts have neither of the last two tokens.
    assert (gradients["values_written"].isel(row=slice(-2, None)) == 0).all()
    np.testing.assert_allclose(
        gradients["scores_written"], gradients["scores_autodiff"], atol=1e-14
    )


def test_contexts_come_near_their_limit():
    few = replace(settings.LongSequences(), lengths=(128, 2048), samples=500)
    distance = gradient_check.long_sequences(asdict(few), SEEDS)["distance"]
    ratio = distance.isel(length=0) / distance.isel(length=1)
    # √(2047/127) = 4.01, and 500 draws give it to a few per cent.
    np.testing.assert_allclose(ratio, 4.01, rtol=0.1)


def test_one_sample_moves_one_row():
    once = replace(settings.Decorrelated(), steps=1)
    updates = modified_updates.decorrelated(asdict(once), SEEDS)
    for update in (updates.isel(seed=i) for i in range(len(SEEDS))):
        visited = int(np.argmax(update["visits"].values))
        rows = np.abs(update["rows"].values).max(axis=1)
        assert rows[visited] > 0.1
        assert np.delete(rows, visited) == pytest.approx(0, abs=1e-14)


def test_features_are_unit_vectors_without_negative_entries():
    draw = np.random.default_rng(0)
    sizes = settings.Decorrelated()
    random = modified_updates.random_features(draw, 4, 30)
    sharing = modified_updates.sharing_features(draw, sizes)
    for features in (random, sharing):
        assert (features >= 0).all()
        np.testing.assert_allclose(np.linalg.norm(features, axis=0), 1)


def test_features_that_share_a_token_meet_assumption_2():
    sizes = settings.Decorrelated()
    for seed in range(20):
        draw = np.random.default_rng(seed)
        features = modified_updates.sharing_features(draw, sizes)
        values = np.abs(np.linalg.eigvalsh(features.T @ features - np.eye(3)))
        assert values.min() >= 6 / np.sqrt(sizes.vocabulary)
        assert values.max() < 1 / 3


def test_a_first_sample_leaves_attention_alone():
    """Y is 0 at first, and so is what flows back."""
    once = replace(settings.SingleSamples(), steps=1)
    twice = replace(settings.SingleSamples(), steps=3)
    assert (modified_updates.single_samples(asdict(once), SEEDS)["score"] == 0).all()
    later = modified_updates.single_samples(asdict(twice), SEEDS)["score"]
    assert (later.sel(token="common0") < 0).all()


def test_the_decoders_course():
    short = settings.DecoderCourses((34, 1000), first=0.1, last=50.0, records=21)
    courses = decoder_courses.decoder_courses(asdict(short), SEEDS[:1]).isel(seed=0)
    np.testing.assert_allclose(courses["log_odds"], courses["closed"], rtol=1e-10)
    for M in (34, 1000):
        decoder = Decoder(1, M, value_rate=1.0, score_rate=1.0)
        course = courses.sel(vocabulary=M)
        np.testing.assert_allclose(
            course["speed"], decoder.speed(course["clock"].values), rtol=1e-9
        )
        upper = float(course["upper_root"])
        assert upper == pytest.approx((1 + decoder.omega1) * np.log(M), rel=1e-9)


def test_eigenvalues_of_equal_correlations():
    sizes = decoder_courses.assumption(asdict(settings.Assumption()), SEEDS[:1])
    K, ratio = sizes["classes"].values[:, None], sizes["ratio"].values
    formula = 6 * (K - 1) / (K * np.sqrt(ratio))
    np.testing.assert_allclose(sizes["largest"][0], formula, rtol=1e-12)


def test_random_classes_have_one_common_token():
    table = random_classes.draw_table(settings.RandomClasses(), 3)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    np.testing.assert_array_equal((table > 0).sum(axis=0), [3, 1, 1, 1, 1, 1, 1])


def test_every_computation_has_its_function():
    names = {type(recipe.setting).__name__ for recipe in settings.COMPUTATIONS}
    assert names == set(settings.FUNCTIONS)


def test_favourites():
    names = ["common0", "distinct0@0", "distinct1@0", "distinct0@1", "distinct1@1"]
    table = np.zeros((1, 2, 2, 5))
    table[0, 1, 0] = [0.9, 0.02, 0.08, 0, 0]
    table[0, 1, 1] = [0.9, 0, 0, 0.08, 0.02]
    run = xr.Dataset(
        {"attention_per_class": (("seed", "time", "class", "token"), table)},
        {"token": names},
    )
    np.testing.assert_array_equal(favourites(run, -1), [[1, 0]])


def test_favourites_that_are_not_known():
    """Attention that was not recorded has no favourite."""
    table = np.full((1, 1, 1, 2), np.nan)
    run = xr.Dataset(
        {"attention_per_class": (("seed", "time", "class", "token"), table)},
        {"token": ["distinct0@0", "distinct1@0"]},
    )
    assert np.isnan(favourites(run, -1)).all()


def test_visits_leave_hoeffdings_band_rarely():
    few = settings.Visits(samples=400)
    drawn = modified_updates.visits(asdict(few), SEEDS)
    assert (drawn["visits_outside"] < 0.05 * 400).all()
    # A band for δ = 0.99 is a third as wide, and its bound no bound any more.
    wide = modified_updates.visits(asdict(replace(few, delta=0.99)), SEEDS)
    assert (wide["visits_outside"] > drawn["visits_outside"]).all()
    assert (wide["theta_outside"] >= drawn["theta_outside"]).all()
