"""Stages: formulas, and detectors on known series."""

import json
from dataclasses import asdict

import numpy as np
import pytest
import xarray as xr

from attnflow.experiments import run
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.settings import Flows, Scalar
from attnflow.papers.scansnap.stages import formula_times, series, stage_table
from attnflow.papers.scansnap.stages.formulas import scale_of
from attnflow.papers.scansnap.systems.decoder import Decoder
from attnflow.schema.settings import canonical_json

DIMS = {
    "attention_speed": ("seed", "time"),
    "drive_integral": ("seed", "time"),
    "error_norm": ("seed", "time", "class"),
    "margin": ("seed", "time", "class"),
    "score": ("seed", "time", "query", "token"),
    "score_velocity": ("seed", "time", "query", "token"),
    "attention_per_class": ("seed", "time", "class", "token"),
}


def run_recipe(id, **changes):
    recipe = PAPER.recipe(id)
    return run(recipe.experiment(recipe.with_overrides(changes)))


def rows(dataset):
    return {row.name: row for row in stage_table(dataset)}


def hand_written_run(
    setting, system, time, tokens=("common0", "distinct0@0"), **tables
):
    """A run of one seed, one query and one class, written by hand."""
    shaped = {
        name: (DIMS[name], np.reshape(t, (1, len(time), *_inner(name, tokens))))
        for name, t in tables.items()
    }
    recorded = ("seed", "time"), np.ones((1, len(time)), bool)
    coords = {"seed": [0], "time": time, "token": list(tokens), "query": ["query0"]}
    attrs = {"setting": canonical_json(asdict(setting)), "system": system}
    return xr.Dataset({**shaped, "recorded": recorded}, coords, attrs)


def _inner(name, tokens):
    sizes = {"class": 1, "query": 1, "token": len(tokens)}
    return tuple(sizes[d] for d in DIMS[name][2:])


@pytest.fixture(scope="module")
def steps():
    """Figure 4, left, by steps."""
    return run_recipe("figure4-left")


def test_formulas():
    setting = Scalar(vocabulary=34, value_rate=2.0)
    times = formula_times(asdict(setting))
    decoder = Decoder(10, 34, 2.0, 1.0)
    assert times["scan_end"] == pytest.approx(5 * np.log(34))
    assert times["decoder_snap"] == pytest.approx(decoder.peak)
    assert times["snap"] == pytest.approx(decoder.snap)


def test_detectors():
    """Peaks and slopes of series that are written down."""
    time = np.concatenate([[0.0], np.geomspace(0.1, 1e4, 601)])
    peaked = time / 30 * np.exp(1 - time / 30)
    # A power of 2 up to t = 100, and a logarithm from there on.
    z = np.where(time < 100, time**2, 1e4 * (1 + np.log(np.maximum(time, 100) / 100)))
    pair = np.stack([-z, z], axis=1)
    speed = np.stack([0 * time, time / 7 * np.exp(1 - time / 7)], axis=1)
    share = np.minimum(0.3 + 0.001 * time, 0.6)
    dataset = hand_written_run(
        Flows(),
        "J: test",
        time,
        error_norm=peaked,
        margin=np.ones_like(time),
        score=pair,
        score_velocity=speed,
        attention_per_class=np.stack([1 - share, share], axis=1),
    )
    table = rows(dataset)
    # Records are 2% apart.
    assert table["decoder_snap"].detected == pytest.approx(30, rel=0.02)
    assert table["attention_snap"].detected == pytest.approx(7, rel=0.02)
    assert table["slow_growth"].detected == pytest.approx(100, rel=0.03)
    # Between t and 2t attention moves by 0.6 − share(t): 0.01 is left at t = 290.
    assert table["frozen"].detected == pytest.approx(290, rel=0.02)
    assert table["decoder_snap"].note.startswith("J")


@pytest.mark.slow
def test_detectors_in_j_and_q():
    """D1 near γ's peak; D2 at 1.28 and 5.1 in J, 0.74 in Q, in units of K/η_Y."""
    expected = {("figure3", 1.0): 1.28, ("figure3", 0.1): 5.1, ("figure3-q", 1.0): 0.74}
    for (id, rate), snap in expected.items():
        table = rows(run_recipe(id, score_rate=rate, records=601, until=1e4))
        peak = table["decoder_snap"]
        assert peak.detected == pytest.approx(peak.formula, rel=0.03)
        # Records are 2.7% apart.
        assert table["attention_snap"].detected / 10 == pytest.approx(snap, rel=0.03)
        assert table["slow_growth"].detected > table["attention_snap"].detected
        assert table["snap"].formula > table["scan_end"].formula > peak.formula
        assert peak.note.startswith(id[-1].upper() if "-" in id else "J")


def test_growth_of_the_scalar_model_slows():
    """d ln h²/d ln t = 1 has one root u, and t is a function of it."""
    time = np.concatenate([[0.0], np.geomspace(1e-2, 1e5, 2001)])
    for vocabulary, root in ((100, 6.65), (1000, 8.60)):
        setting = Scalar(vocabulary=vocabulary)
        drive = Decoder(10, vocabulary, 1.0, 1.0).drive_integral(
            time, scale_of(vars(setting))
        )
        table = rows(hand_written_run(setting, "C: test", time, drive_integral=drive))
        assert table["slow_growth"].detected / 10 == pytest.approx(root, abs=0.01)
        assert "needs attention_per_class" in table["frozen"].note


def test_steps_of_momentum_are_ten_times_as_fast(steps):
    table = rows(steps)
    assert table["scan_end"].formula == pytest.approx(2 * np.log(34) / 10)
    assert "10 times as fast" in table["scan_end"].note
    assert 10 < table["frozen"].detected < 50
    assert table["attention_snap"].detected is None


def test_steps_of_adam_are_no_time_of_a_flow(steps):
    setting = json.loads(steps.attrs["setting"]) | {"rule": "adam"}
    adam = steps.assign_attrs(setting=json.dumps(setting))
    assert rows(adam)["scan_end"].formula is None


def test_drift_of_attention(steps):
    drift = series.attention_drift(steps)
    attention = steps["attention_per_class"].isel(seed=0)
    distance = (
        abs(attention.sel(time=16) - attention.sel(time=8)).sum("token").mean() / 2
    )
    assert float(drift.sel(time=8)[0]) == pytest.approx(float(distance))
    assert float(drift["time"].max()) == 50


def test_two_records_are_too_few(steps):
    table = rows(steps.isel(time=[0, -1]))
    assert table["scan_end"].formula == pytest.approx(2 * np.log(34) / 10)
    for name in ("decoder_snap", "attention_snap", "slow_growth", "frozen"):
        assert table[name].detected is None
        assert "needs 3 records" in table[name].note


def test_the_top_token():
    """The distinct token of the first class with most attention, and its query."""
    share = [[[[0.5, 0.2, 0.3, 0.0], [0.6, 0.0, 0.0, 0.4]]]]
    dataset = xr.Dataset(
        {
            "attention_per_class": (("seed", "time", "class", "token"), share),
            "recorded": (("seed", "time"), [[True]]),
        },
        {"token": ["token0", "token1", "token2", "token3"]},
        {"setting": json.dumps({"query": [1, 0]})},
    )
    assert series.query_of(dataset) == "query1"
    assert series.top_token(dataset) == "token2"


def test_computations_have_no_stages():
    assert stage_table(run_recipe("figure8", steps=5)) == []
