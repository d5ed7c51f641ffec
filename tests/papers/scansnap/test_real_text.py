"""Real text: a small run, and figures and claims on made-up attention."""

import json

import numpy as np
import pytest
import xarray as xr

import attnflow as af
from attnflow.claims import Verdict
from attnflow.claims.verify import verify
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.deep_settings import Text
from attnflow.papers.scansnap.text_runs import (
    BY_RATE,
    COURSES,
    drift,
    entropy,
    last_entropies,
    uniform_entropy,
)
from attnflow.runner import Runner
from attnflow.testing import check_claim

LENGTH = 14
FIRST = {0.5: 2.2, 1.0: 2.1, 2.0: 1.5, 5.0: 0.4}
"""Entropies after training, by rate."""


def made_up(request, level, *, layers=1, moving=0.3):
    """A run whose first layer's entropy ends at a level, and whose maps swing."""
    seeds, times = len(request.seeds), np.array([0.0, 600.0, 1200.0])
    levels = np.full((seeds, 3, layers, LENGTH), 2.4)
    levels[:, -1, 0] = level
    maps = np.zeros((seeds, 3, layers, 2, 1, LENGTH, LENGTH))
    maps[..., 0] = 1.0
    maps[:, 1, ..., :2] = 1 - moving, moving
    dims = ("seed", "time", "layer", "test_sample", "head")
    setting = {"parametrisation": "encoder", "length": LENGTH}
    return xr.Dataset(
        {
            "attention_entropy_by_query": ((*dims[:3], "query_position"), levels),
            "test_attention": ((*dims, "query_position", "key_position"), maps),
            "test_loss": (dims[:2], np.ones((seeds, 3))),
        },
        {
            "seed": list(request.seeds),
            "time": times,
            "layer": [str(k + 1) for k in range(layers)],
        },
        {"setting": json.dumps(setting)},
    )


@pytest.fixture(scope="module")
def by_rate():
    return {
        name: made_up(request, FIRST[request.overrides["learning_rate"]])
        for name, request in BY_RATE.items()
    }


@pytest.fixture(scope="module")
def courses():
    return {
        name: made_up(request, 0.4, layers=request.overrides["layers"])
        for name, request in COURSES.items()
    }


def test_claims(by_rate, courses):
    check_claim(PAPER.claim("E-Fig7-10"), by_rate)
    check_claim(PAPER.claim("E-Fig7-10-freeze"), courses)


def test_maps_that_stand_still_are_frozen():
    still = {name: made_up(r, 0.4, moving=0.0) for name, r in COURSES.items()}
    row = verify(PAPER.claim("E-Fig7-10-freeze"), "scansnap", lambda needs: still)
    assert row.verdict is Verdict.HOLDS


def test_figure_10(by_rate):
    exhibit = PAPER.exhibit("figure10")
    assert all(exhibit.seen(by_rate).values())
    assert len(exhibit.draw(by_rate).axes) == 1
    assert exhibit.values(by_rate)["encoder, one layer"]["η = 5"]["entropy"] == 0.4
    flat = {n: r.isel(time=[0, 0]) for n, r in by_rate.items()}
    assert not any(exhibit.seen(flat).values())


def test_figure_7(courses):
    exhibit = PAPER.exhibit("figure7")
    assert all(exhibit.seen(courses).values())
    assert len(exhibit.draw(courses).axes) == 8
    start = {n: r.isel(time=[0, 0]) for n, r in courses.items()}
    assert not any(exhibit.seen(start).values())


def test_what_is_read_off_runs(courses, by_rate):
    run = courses["1 layer"]
    assert entropy(run).values.tolist() == [[2.4, 2.4, pytest.approx(0.4)]]
    # From one key to another, and back.
    assert np.allclose(drift(run), 0.3)
    assert uniform_entropy(run) == pytest.approx(np.log([11, 12, 13, 14]).mean())
    assert last_entropies(by_rate, "encoder, one layer").shape == (4, 5)


def test_without_the_data_claims_are_unchecked(tmp_path, monkeypatch):
    from attnflow.data import word_windows

    monkeypatch.setenv("ATTNFLOW_DATA", str(tmp_path))
    monkeypatch.setattr(word_windows, "_numbers", word_windows._numbers.__wrapped__)
    bare = word_windows.known_words.__wrapped__
    monkeypatch.setattr(word_windows, "known_words", bare)
    runner = Runner(store=False)
    gather = lambda needs: runner.gather(PAPER, needs)  # noqa: E731
    row = verify(PAPER.claim("E-Fig7-10"), "scansnap", gather)
    assert row.verdict is Verdict.UNCHECKED
    assert "attnflow data fetch wikitext-2" in row.note


@pytest.mark.parametrize("name", ["layers", "steps", "records"])
def test_wrong_settings(name):
    with pytest.raises(ValueError, match=name):
        Text(**{name: 0})


def test_a_small_run(data_at_hand):
    run = af.run(
        "scansnap/wikitext-plain",
        store=False,
        vocabulary=50,
        embed=8,
        length=12,
        steps=4,
        records=2,
        test_samples=3,
    )
    assert run["time"].values.tolist() == [0, 2, 4]
    assert (run["batch_loss"][:, -1] < run["batch_loss"][:, 0]).all()
    level = entropy(run)[0, 0]
    assert level == pytest.approx(np.log([10, 11]).mean(), abs=0.05)
