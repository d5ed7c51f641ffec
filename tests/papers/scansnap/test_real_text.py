"""Real text: a small run, and figures and claims on synthetic attention."""

import json

import numpy as np
import pytest
import xarray as xr

import attnflow as af
from attnflow.claims import Verdict, verify
from attnflow.data.deep_samples import WordWindows
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.deep_experiments import text
from attnflow.papers.scansnap.deep_settings import Text
from attnflow.papers.scansnap.text_runs import (
    COURSES,
    FREQUENT,
    KINDS,
    LONG,
    OF_THREE,
    ONE_LAYER,
    by_rate,
    drift,
    entropy,
    late_drift,
    on_frequent,
    share_of_uniform,
    uniform_entropy,
)
from attnflow.runs.runner import Runner
from attnflow.testing import all_sentences, check_claim

LENGTH = 14
FIRST = {0.5: 2.2, 1.0: 2.1, 2.0: 1.5, 5.0: 0.4}
"""Entropies after training, by rate."""


def synthetic_run(request, level, *, layers=1, moving=0.3, frequent=0.5):
    """A run whose first layer's entropy ends at a level, and whose maps swing.

    Frequent words end with so many times the attention that they began with.
    """
    seeds, times = len(request.seeds), np.array([0.0, 600.0, 1200.0])
    shown = request.experiment == "wikitext-notebook"
    name, dim = ("shown", "shown_sample") if shown else ("test", "test_sample")
    levels = np.full((seeds, 3, layers, LENGTH), 2.4)
    levels[:, -1, 0] = level
    maps = np.zeros((seeds, 3, layers, 2, 1, LENGTH, LENGTH))
    maps[..., 0] = 1.0
    maps[:, 1, ..., :2] = 1 - moving, moving
    words = np.full((seeds, 3, layers, 2 * FREQUENT), 1.0)
    words[:, -1, 0, : FREQUENT + 1] = frequent
    dims = ("seed", "time", "layer", dim, "head")
    setting = {"parametrisation": "encoder", "length": LENGTH, "learning_rate": 5.0}
    return xr.Dataset(
        {
            "attention_entropy_by_query": ((*dims[:3], "query_position"), levels),
            f"{name}_attention": ((*dims, "query_position", "key_position"), maps),
            "attention_by_word": ((*dims[:3], "word"), words),
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
def at_rates():
    return {
        name: synthetic_run(request, FIRST[request.overrides["learning_rate"]])
        for name, request in by_rate(*KINDS).items()
    }


@pytest.fixture(scope="module")
def courses():
    return {
        name: synthetic_run(request, 0.4, layers=request.overrides.get("layers", 1))
        for name, request in (COURSES | LONG).items()
    }


@pytest.fixture(scope="module")
def evidence(at_rates, courses):
    (long,) = (synthetic_run(request, 0.4, frequent=2.0) for request in LONG.values())
    # Maps swing at every record, and later at one of four.
    slower = long.isel(time=[0, 1, 2, 2, 2, 1, 1])
    return {
        "E-Fig7-10": at_rates,
        "E-Fig7-10-freeze": {name: courses[name] for name in COURSES},
        "E-R-text": dict.fromkeys(LONG, slower),
    }


@pytest.mark.parametrize("id", ["E-Fig7-10", "E-Fig7-10-freeze", "E-R-text"])
def test_claims(id, evidence):
    check_claim(PAPER.claim(id), evidence[id])


def test_claims_and_figures_read_the_same_runs():
    requests = {**PAPER.exhibit("figure10").needs, **PAPER.exhibit("figure7").needs}
    for id in ("E-Fig7-10", "E-Fig7-10-freeze"):
        assert all(r in requests.values() for r in PAPER.claim(id).needs.values())


def test_maps_that_stand_still_are_frozen():
    still = {name: synthetic_run(r, 0.4, moving=0.0) for name, r in COURSES.items()}
    row = verify(PAPER.claim("E-Fig7-10-freeze"), PAPER, lambda needs: still)
    assert row.verdict is Verdict.HOLDS


def test_figure_10(at_rates):
    exhibit = PAPER.exhibit("figure10")
    assert all(all_sentences(exhibit, at_rates).values())
    assert len(exhibit.display(at_rates).draw().axes) == 2
    assert exhibit.display(at_rates).values()[ONE_LAYER]["η = 5"]["entropy"] == 0.4
    flat = {n: r.isel(time=[0, 0]) for n, r in at_rates.items()}
    assert not any(all_sentences(exhibit, flat).values())


def test_figure_7(courses):
    exhibit = PAPER.exhibit("figure7")
    answers = all_sentences(exhibit, courses)
    assert {text for text, yes in answers.items() if not yes} == set(exhibit.differs)
    axes = [
        ax
        for ax in exhibit.display(courses).draw().axes
        if ax.get_label() != "<colorbar>"
    ]
    assert len(axes) == 15
    numbers = exhibit.display(courses).values()
    assert numbers[OF_THREE]["entropy, layer 2, after"] == pytest.approx(2.4)
    assert numbers[ONE_LAYER]["attention to frequent words, after / before"] == 0.5
    start = {n: r.isel(time=[0, 0]) for n, r in courses.items()}
    still = all_sentences(exhibit, start)
    assert {text for text, yes in still.items() if yes} == set(exhibit.differs)


def test_what_is_read_off_runs(courses):
    run = courses[ONE_LAYER]
    assert entropy(run).values[0].tolist() == [2.4, 2.4, pytest.approx(0.4)]
    # From one key to another, and back.
    assert np.allclose(drift(run), 0.3)
    assert np.allclose(late_drift(run), 0.3)
    assert uniform_entropy(run) == pytest.approx(np.log([11, 12, 13, 14]).mean())
    assert np.allclose(share_of_uniform(run) * uniform_entropy(run), entropy(run))
    # The word for all others is not among the frequent ones.
    assert on_frequent(run)[0].values.tolist() == [1.0, 1.0, 0.5]


def test_without_the_data_claims_are_unchecked(tmp_path, monkeypatch):
    from attnflow.data import deep_samples

    monkeypatch.setenv("ATTNFLOW_DATA", str(tmp_path))
    monkeypatch.setattr(deep_samples, "_numbers", deep_samples._numbers.__wrapped__)
    bare = deep_samples.known_words.__wrapped__
    monkeypatch.setattr(deep_samples, "known_words", bare)
    runner = Runner(store=False)
    gather = lambda needs: runner.gather(PAPER, needs)  # noqa: E731
    row = verify(PAPER.claim("E-Fig7-10"), PAPER, gather)
    assert row.verdict is Verdict.UNCHECKED
    assert "attnflow data fetch wikitext-2" in row.note


@pytest.mark.parametrize("name", ["layers", "steps", "records"])
def test_wrong_settings(name):
    with pytest.raises(ValueError, match=name):
        Text(**{name: 0})


def test_rates_of_two_groups(data_at_hand):
    """The first ReLU layer moves twice as far with twice the rate, and no other."""
    sizes = {"vocabulary": 50, "embed": 8, "hidden": 6, "length": 12, "dropout": 0.0}
    sizes |= {"steps": 1, "records": 1, "test_samples": 3, "layers": 2}
    moves = []
    for rate in (None, 10.0):
        model = text(Text(**sizes, hidden_rate=rate)).model
        ((system, state),) = model.members((0,), None)
        moves.append(system.direction(state)["values"])
    for name, one in moves[0].items():
        factor = np.ones_like(one)
        if name in ("W_1", "b_1", "W_2", "b_2"):
            factor[0] = 2.0
        np.testing.assert_allclose(moves[1][name], factor * one, rtol=1e-5)


def test_shown_windows_are_of_the_training_text(data_at_hand):
    windows = WordWindows(50, 12, columns=4)
    shown, every = windows.shown(0), windows.training(0).tokens
    np.testing.assert_array_equal(shown, every[400:404])
    late = WordWindows(50, 12, columns=4, shown_batch=10**6).shown(0)
    np.testing.assert_array_equal(late, every[-4:])


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
    attention = run["attention_by_word"].sel(layer="1")
    assert np.allclose(attention.sum("word"), 1.0, atol=1e-5)
    # Before training all words get some that have a word after them, and no others.
    windows = WordWindows(50, 12, test_samples=3)
    occurring = {
        windows.words[number] for number in windows.test(0).tokens[:, :-1].ravel()
    }
    assert set(attention["word"].values[attention[0, 0] > 0]) == occurring
